"""A tournament on a server: its entrants, the start of its rounds, and its directors' decisions.

The lobby hosts the games, and decisions are kept in the tournament's folder, so a server that was
killed goes on with both.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import compress
from pathlib import Path

import structlog
from msgspec.structs import replace

from bot.registry import SeatError
from bot.seat_text import parse_seat
from harness.matches.config import TournamentConfig
from harness.matches.folder import (
    Arranged,
    Corrected,
    EndedEarly,
    Joined,
    MatchFolder,
    Paused,
    Resumed,
    Withdrawn,
)
from harness.matches.pairings import Round
from harness.matches.report import write_summary
from harness.matches.results import GameResult, PlannedGame
from harness.matches.standings import arrangements, round_game, standings
from harness.matches.tournament import Tournament
from lexicons.text import did_you_mean
from protocol.channel import Channel
from protocol.codec import fit_into_frame
from protocol.errors import PeerError, wrong_role
from protocol.link import Link
from protocol.messages import (
    Direct,
    Error,
    Goodbye,
    Message,
    Seek,
    Seeking,
    StandingList,
    Standings,
)
from protocol.parts import MAX_SENTENCE, Arrangement, Presence, RoundGame

from .hello import welcome
from .lobby import Lobby
from .names import alike
from .players import PresentPlayer
from .tokens import forbidden

log = structlog.get_logger(__name__)

MOST_LISTED = 1_000
"""Entrants, and games of a round, in a ``standing_list``."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A tournament that a server is to run."""

    config: TournamentConfig
    files: MatchFolder
    directors: Callable[[], Mapping[str, str]]
    """Returns the hashes of the directors' tokens, by name, as they are now."""
    is_open: bool
    """Whether names that are not registered may join."""
    wait_s: float
    """How long the first round waits for entrants that are not here."""
    notice: Callable[[str], None]
    """Takes a sentence when a process of a local seat takes long."""
    entrants: Mapping[str, str] | None = None
    """Hashes of the tokens that registered names were given, by name; None: the server's token file
    has all."""
    hidden: tuple[Path, ...] = ()
    """Files of the server that local seats must not see, beside the tournament's folder."""


class TournamentDirection:
    """A tournament, its entrants who come and go, and its directors."""

    def __init__(self, plan: Plan, lobby: Lobby) -> None:
        self.plan = plan
        self._files = plan.files
        self._lobby = lobby
        self._links: set[Link] = set()
        """The directors' connections."""
        begun = any(isinstance(decision, Round) for decision in plan.files.decisions)
        self._waits = not (begun or plan.files.results)
        """Whether the first round waits for entrants."""
        self._late = False
        """Whether it is to wait no longer than for two entrants."""
        self.tournament = Tournament(
            plan.config,
            lobby.hosting.tables.main.lexicon,
            plan.files,
            self._finished,
            plan.notice,
            enough=lambda: lobby.closing,
            hidden=plan.hidden,
            directed=True,
            hold=lambda: self._files.paused is not None or self._waits,
            away=self._away,
            paired=self._announce_round,
        )
        self._queue = self.tournament.queue
        self._schedule = self._queue.schedule

    async def play(self) -> None:
        """Run the tournament until the server closes; raises as ``Tournament.play``."""
        loop = asyncio.get_running_loop()
        timer = loop.call_later(self.plan.wait_s, self._wait_no_longer)
        self._begin_if_all_are_here()
        try:
            await self.tournament.play(self._lobby)
        finally:
            timer.cancel()

    async def close(self) -> None:
        """Let all players go if the tournament is over, and write its summary."""
        self._summarize()
        if self._queue.is_complete():
            await self._lobby.players.dismiss_all("done", "the tournament is over")

    def _summarize(self) -> None:
        if not self._files.results:
            return
        try:
            write_summary(self.plan.config, self._files)
        except OSError as error:  # it is made from what is kept, and is written again later
            log.error("summary not written", reason=str(error))

    # --- entrants -------------------------------------------------------------------------------

    def _entrant(self, name: str) -> int | None:
        """Return the number of the entrant of a name; None if there is none."""
        names = self._schedule.config.names
        return names.index(name) if name in names else None

    def check_player(self, name: str) -> bool:
        """Check that somebody may log in to play; return whether it becomes an entrant by that.

        Raises:
            PeerError: ``forbidden``, or ``busy`` if no more can enter; the connection is to be
                closed.
        """
        if (entrant := self._entrant(name)) is not None:
            if self._schedule.config.is_guest(entrant):
                return False
            raise forbidden(f"{name!r} is a player of the server's own")
        if self._queue.over:
            raise forbidden("the tournament is over")
        if not self.plan.is_open:
            raise forbidden(f"{name!r} is not registered in this tournament; ask who directs it")
        if self.entrants >= MOST_LISTED:
            full = f"no more than {MOST_LISTED:,} can enter"
            raise PeerError("busy", full, retry="no", close=1013)
        if wrong := self._wrong_name(name):
            raise forbidden(wrong)
        return True

    def _wrong_name(self, name: str) -> str:
        """Return what is wrong with the name of a guest that would enter, if anything."""
        try:
            parse_seat(f"guest:{name}")
        except SeatError as error:
            return str(error)
        like = alike(name, self._schedule.config.names)
        return f"{name!r} looks like the entrant {like!r}; choose another name" if like else ""

    @property
    def entrants(self) -> int:
        """Number of entrants, including those that have withdrawn."""
        return len(self._schedule.config.seats)

    def arrived(self, name: str) -> None:
        """Note that a player is here: registered, or joining now; late, or back.

        Raises:
            PeerError: ``host_error``: it can't join, since that can't be written down.
        """
        entrant = self._entrant(name)
        with _keeping():
            if entrant is None:
                self._join(name)
            elif entrant not in self._files.withdrawn:
                self._queue.welcome_back(entrant)
        self._begin_if_all_are_here()

    def seek(self, player: PresentPlayer, wish: Seek) -> None:
        """Answer a player who seeks games: the tournament pairs it.

        Raises:
            PeerError: it names an opponent, or has withdrawn.
        """
        if self._entrant(player.name) in self._files.withdrawn:
            raise PeerError("withdrawn", "you have withdrawn from the tournament", retry="no")
        if wish.opponent is not None:
            why = "the tournament says who plays whom; seek without an opponent"
            raise PeerError("bad_opponent", why)
        player.send_message(Seeking(games=wish.games, held_back=self._waits_for() or None))

    def _join(self, name: str, why: str = "") -> None:
        self._schedule.join(Joined(name, why))
        self._lobby.hosting.log_line(f"{name} joins the tournament")
        self._queue.look_again()

    def _begin_if_all_are_here(self) -> None:
        """Begin the first round if there are two entrants, and all are here or the wait is over.

        Only a plan that lists two entrants or more begins before the wait is over.
        """
        playing, listed = self.entrants - len(self._files.withdrawn), len(self.plan.config.seats)
        all_here = listed > 1 and not self._away()
        if self._waits and playing > 1 and (self._late or all_here):
            self._waits = False
        self._queue.look_again()

    def _away(self) -> list[int]:
        """Return the entrants that are not connected, and have no bye in the next round."""
        upcoming = len(self._schedule.rounds) + 1
        rest = {other.entrants for other in self._files.arranged if other.round == upcoming}
        everybody = range(self.entrants)
        return [
            other for other in everybody if self._presence(other) == "away" and (other,) not in rest
        ]

    def _wait_no_longer(self) -> None:
        self._late = True
        self._begin_if_all_are_here()

    # --- what is told ---------------------------------------------------------------------------

    def _announce_round(self, paired: Round | None) -> None:
        if paired is None and not self._queue.over:
            self._lobby.hosting.log_line(self._waits_for())
            self._send_waits()
        elif paired is None:
            self._lobby.hosting.log_line(
                "the tournament is over; its results can still be corrected"
            )
            self._summarize()
        else:
            names = self._schedule.config.names
            pairs = [
                f"{names[pairing.first]} – {names[pairing.second]}" for pairing in paired.pairings
            ]
            byes = [
                f"{pairing.names[0]} has {'half a point a game' if pairing.half else 'a bye'}"
                for pairing in self._arranged(paired.number)
                if len(pairing.names) == 1 and pairing.round == paired.number
            ]
            absent = [f"{names[entrant]} is absent" for entrant in self._queue.absences.reasons]
            self._lobby.hosting.log_line(
                f"round {paired.number}: {', '.join(pairs + byes + absent)}"
            )
        self._send_directors()

    def _send_waits(self) -> None:
        """Tell players who are here why no game begins."""
        for player in self._lobby.players:
            player.send_message(Seeking(held_back=self._waits_for()))

    def _finished(self, result: GameResult) -> None:
        self._send_directors()
        for entrant in self._files.withdrawn:
            self._let_go(entrant)

    def _waits_for(self) -> str:
        """Return what the next game or round waits for, beside games; empty: nothing."""
        if self._queue.over:
            return ""
        if (paused := self._files.paused) is not None:
            return f"the tournament is paused by {paused.why}"[:MAX_SENTENCE]
        if self._files.ended:
            return "no further round is paired: a director has ended it"
        if not all(map(self._queue.has_result, self._queue.planned)):
            return ""
        away = () if self._waits else self._away()
        if self._schedule.lacks_entrants(self._queue.absences.reasons, away):
            return (
                f"round {len(self._schedule.rounds) + 1} waits until two entrants can be paired: "
                "those who are away or absent come back by logging in; 'join NAME' has an entrant "
                "come, or come back; 'end' ends the tournament"
            )
        if self._waits:
            who = ", ".join(self._schedule.config.names[entrant] for entrant in self._away())
            begins = f"round 1 waits for {who or 'more entrants'}; 'resume' begins it for two"
            return begins[:MAX_SENTENCE]
        return ""

    def _send_directors(self, corrected: int | None = None) -> None:
        if self._links:
            listed = self.standing_list(corrected=corrected)
            for link in self._links:
                link.send(listed)

    def standing_list(self, shown: int | None = None, corrected: int | None = None) -> StandingList:
        """Return the standings and games of a round, as many of them as a message can hold.

        By default, those of the current round, games that are played again, and one ``corrected``.

        Raises:
            PeerError: ``bad_direction``: the round has not begun.
        """
        rounds, files = self._schedule.rounds, self._files
        table = standings(self.plan.config, files)
        planned = self._queue.planned.values()
        number = rounds[-1].number if rounds else 0
        has_result = self._queue.has_result
        if shown is not None and not 1 <= shown <= number:
            raise _refused(f"round {shown} has not begun; the last that has is {number}")
        of_round = [
            game
            for game in planned
            if game.round == (shown or number)
            or (shown is None and (game.number == corrected or not has_result(game.number)))
        ]
        results = {result.number: result for result in files.counting()}
        waits = self._waits_for()
        if corrected and self._later_round_is_paired(corrected):
            way_out = "" if self._queue.over else "withdraw who should not be in it"
            stays = f"round {number} is paired already and stays"
            waits = "; ".join(filter(None, (stays, way_out, waits)))[:MAX_SENTENCE]
        rows = tuple(
            standing.row(self._presence(standing.entrant)) for standing in table[:MOST_LISTED]
        )
        arranged = tuple(self._arranged(shown or number))[:MOST_LISTED]
        games = tuple(
            self._listed(game, results.get(game.number)) for game in of_round[:MOST_LISTED]
        )
        return fit_into_frame(
            lambda most: StandingList(
                round=number,
                rounds=self._schedule.last_round(),
                paused=self._files.paused is not None,
                over=self._queue.over,
                waits=waits,
                rows=rows[:most],
                games=games[:most],
                arranged=arranged[:most],
            ),
            MOST_LISTED,
        )

    def _later_round_is_paired(self, game: int) -> bool:
        """Return whether a knockout has a round after that of a game."""
        is_knockout = self._schedule.config.format == "knockout"
        return is_knockout and self._queue.planned[game].round < self._schedule.rounds[-1].number

    def _arranged(self, number: int) -> Iterator[Arrangement]:
        names, rounds = self._schedule.config.names, self._schedule.rounds
        return arrangements(number, rounds, names, self._files.arranged)

    def _presence(self, entrant: int) -> Presence:
        if entrant in self._files.withdrawn:
            return "withdrawn"
        if entrant in self._queue.absences.reasons:
            return "absent"
        config = self._schedule.config
        is_here = not config.is_guest(entrant) or self._lobby.players.is_here(config.names[entrant])
        return "here" if is_here else "away"

    def _listed(self, planned: PlannedGame, result: GameResult | None) -> RoundGame:
        if result is not None and self._queue.has_result(planned.number):
            return round_game(result)
        names = self._schedule.config.names
        first, second = names[planned.entrant(0)], names[planned.entrant(1)]
        game = RoundGame(number=planned.number, players=(first, second))
        book = self.tournament.playing.get(planned.number)
        if book is None or book.ended is not None:
            return game
        return replace(game, scores=book.scores, game=book.opened.game)

    # --- directors ------------------------------------------------------------------------------

    async def serve(
        self,
        channel: Channel,
        name: str,
        attach: Callable[[Link], None],
        check: Callable[[], object],
    ) -> None:
        """Carry out a director's acts, and send it the standings, until it leaves.

        ``attach`` takes the link, which may be dismissed. ``check`` is called before each act, and
        raises PeerError if the director is none any more.
        """

        def receive(message: Message, _at_ms: int) -> None:
            match message:
                case Error() | Goodbye():
                    pass
                case Standings():
                    link.send(self.standing_list())
                case Direct():
                    check()
                    self.direct(message, name)
                case _:
                    raise wrong_role(message, "a director")

        link = Link(channel, receive)
        attach(link)
        link.send(welcome())
        self._lobby.hosting.log_line(f"{name}, a director, is here, from {channel.peer}")
        self._links.add(link)
        try:
            await link.run()
        finally:
            self._links.discard(link)

    def direct(self, message: Direct, by: str) -> None:
        """Carry out a director's act, and send all directors the standings after it.

        Raises:
            PeerError: it can't be done; nothing has changed.
        """
        why = f"{by}: {message.why}" if message.why else by
        with _keeping():
            match message:
                case Direct(action="pause"):
                    if self._files.paused:
                        raise _refused("the tournament is paused already")
                    self._files.decide(Paused(why))
                    self._send_waits()
                case Direct(action="resume"):
                    is_held = self._files.paused is not None or self._files.ended
                    if not is_held and not self._waits:
                        raise _refused("the tournament is not paused")
                    if is_held:
                        self._files.decide(Resumed(why))
                    self._wait_no_longer()
                case Direct(action="end"):
                    if self._files.ended or self._queue.over:
                        raise _refused("the tournament is over already")
                    self._files.decide(EndedEarly(why))
                    self._queue.look_again()
                case Direct(action="withdraw", name=str(name)):
                    entrant = self._known(name)
                    if entrant in self._files.withdrawn:
                        raise _refused(f"{name} has withdrawn already")
                    if self._queue.over:
                        why = "correct a game if a result is wrong"
                        raise _refused(f"the tournament is over; {why}")
                    self._files.decide(Withdrawn(entrant, why))
                    self._let_go(entrant)
                    self._begin_if_all_are_here()
                case Direct(action="join", name=str(name)):
                    self._direct_to_join(name, why)
                case Direct(action="release", name=str(name)):
                    try:
                        self._lobby.release(name, why)
                    except ValueError as error:
                        raise _refused(str(error)) from None
                case Direct(action="bye", name=str(name), number=int(number)):
                    self._arrange(number, (name,), message.void, why)
                case Direct(action="pair", name=str(name), opponent=str(other)):
                    following = len(self._schedule.rounds) + 1
                    self._arrange(following, (name, other), message.void, why)
                case Direct(action="correct", number=int(number)):
                    self._correct(number, message.scores, why)
                case _:
                    needs = "needs more: a name, a number or an opponent"
                    raise PeerError("bad_direction", f"{message.action} {needs}")
        self._lobby.hosting.log_line(f"{by} directs: {_in_words(message)}")
        self._send_directors(message.number if message.action == "correct" else None)

    def _known(self, name: str) -> int:
        if (entrant := self._entrant(name)) is None:
            meant = did_you_mean(name, self._schedule.config.names)
            raise PeerError("unknown_entrant", f"no entrant is called {name!r}{meant}")
        return entrant

    def _arrange(self, number: int, names: tuple[str, ...], void: bool, why: str) -> None:
        """Set a pair, or give a bye, in a round of a Swiss; or take that back."""
        config, rounds = self._schedule.config, self._schedule.rounds
        registered = {self._known(name): name for name in names}
        entrants = tuple(sorted(registered))
        what = f"{' – '.join(names)} in round {number}"
        of_round = [
            arrangement for arrangement in self._files.arranged if arrangement.round == number
        ]
        if config.format != "swiss":
            raise _refused(f"{what}: only in a Swiss are there such byes and pairs")
        if not 1 <= number <= config.rounds:
            raise _refused(f"{what}: the last round is {config.rounds}")
        if void:
            if entrants not in (arrangement.entrants for arrangement in of_round):
                raise _refused(f"{what}: there is no such bye or pair to take back")
        elif len(registered) < len(names):
            raise _refused(f"{what}: an entrant can't play itself")
        else:
            busy = {
                arrangement for paired in rounds[number - 1 : number] for arrangement in paired.byes
            }
            busy.update(
                *(
                    arrangement
                    for paired in rounds[number - 1 : number]
                    for arrangement in paired.pairings
                )
            )
            for entrant, name in registered.items():
                presence = self._presence(entrant)
                if entrant in busy:
                    raise _refused(f"{what}: {name} is paired or has a bye in it, which stays")
                if any(entrant in arrangement.entrants for arrangement in of_round):
                    why = "has a bye or an opponent set for it; take that back with void"
                    raise _refused(f"{what}: {name} {why}")
                if presence == "withdrawn" or (presence == "absent" and len(names) == 2):
                    raise _refused(f"{what}: {name} is {presence}; have it join first")
        self._files.decide(Arranged(number, entrants, void, why))
        self._begin_if_all_are_here()

    def _let_go(self, entrant: int) -> None:
        name, decisions = self._schedule.config.names[entrant], reversed(self._files.decisions)
        why = next(
            decision.why
            for decision in decisions
            if isinstance(decision, Withdrawn) and decision.entrant == entrant
        )
        sentence = f"you are withdrawn from the tournament by {why}"[:MAX_SENTENCE]
        self._lobby.players.dismiss(name, "withdrawn", sentence)

    def _direct_to_join(self, name: str, why: str) -> None:
        """Let a name join, or an entrant that is absent or has withdrawn come back."""
        format = self._schedule.config.format
        is_over = self._queue.over
        entrant = self._entrant(name)
        if entrant in self._files.withdrawn:
            if format == "knockout" or is_over:
                when = "only during the tournament, and not in a knockout"
                raise _refused(f"an entrant that has withdrawn can come back {when}")
            self._queue.take_back(entrant, why)
        elif entrant in self._queue.absences.reasons:
            self._queue.take_back(entrant, why)
        elif entrant is not None:
            raise _refused(f"{name} is an entrant already")
        elif format != "swiss" or is_over:
            raise _refused("only a Swiss tournament that is not over can be joined")
        elif wrong := self._wrong_name(name):
            raise PeerError("bad_direction", wrong)
        else:
            self._join(name, why)

    def _correct(self, number: int, scores: tuple[int, int] | None, why: str) -> None:
        if (planned := self._queue.planned.get(number)) is None:
            raise PeerError("unknown_game", f"there is no game {number}; see the standings")
        if not self._queue.has_result(number):
            raise PeerError("unknown_game", f"game {number} is not over yet; correct it then")
        gone, names = self._queue.gone(planned), self._schedule.config.names
        if scores is None and any(gone):
            who = " and ".join(names[result] for result in compress(planned.players, gone))
            raise _refused(f"game {number} can't be played again before {who} join; or give scores")
        if scores is not None and planned.first == 1:
            scores = scores[1], scores[0]
        game = next(
            result.game for result in reversed(self._files.results) if result.number == number
        )
        self._files.decide(Corrected(number, game, scores, why))
        if scores is None:
            self.tournament.play_again(number, game)
        if self._queue.over:  # before that, games are on, and their clocks would wait for it
            self._summarize()


@contextmanager
def _keeping() -> Iterator[None]:
    """Raise PeerError in place of OSError: the tournament's folder can't be written."""
    try:
        yield
    except OSError as error:
        log.error("decision not kept", reason=str(error))
        why = f"the tournament's folder can't be written: {error.strerror or error}"
        raise PeerError("host_error", why, retry="later") from None


def _refused(sentence: str) -> PeerError:
    return PeerError("bad_direction", sentence, retry="no")


def _in_words(message: Direct) -> str:
    """Return an act as it is typed, and its reason."""
    is_void = message.void or (message.action == "correct" and message.scores is None)
    typed = message.action, message.name, message.opponent, message.number
    why = f"({message.why})" if message.why else None
    parts = [*typed, *(message.scores or ()), "void" if is_void else None, why]
    return " ".join(str(part) for part in parts if part is not None)

"""A tournament on a server: its entrants, the start of its rounds, and its directors' decisions.

The lobby hosts the games, and decisions are kept in the tournament's folder, so a server that was
killed goes on with both.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TypeVar

import structlog
from msgspec.structs import replace

from bot.registry import SeatError
from bot.seat_text import parse_seat
from harness.matches.config import TournamentConfig
from harness.matches.folder import (
    CORRECTED,
    Corrected,
    Joined,
    MatchFolder,
    Paused,
    Resumed,
    Withdrawn,
)
from harness.matches.pairings import Round
from harness.matches.report import write_summary
from harness.matches.results import GameResult, PlannedGame
from harness.matches.standings import standings
from harness.matches.tournament import Tournament
from lexicons.text import did_you_mean
from protocol.channel import Channel
from protocol.codec import of_a_frame
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
from protocol.parts import Presence, RoundGame

from .hello import welcome
from .lobby import Lobby
from .players import Player
from .tokens import forbidden

log = structlog.get_logger(__name__)

_T = TypeVar("_T")

MOST_LISTED = 1_000
"""Entrants, and games of a round, in a ``standing_list``."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A tournament that a server is to run."""

    config: TournamentConfig
    files: MatchFolder
    directors: Mapping[str, str]
    """Hashes of the directors' tokens, by name."""
    is_open: bool
    """Whether names that are not registered may join."""
    wait_s: float
    """How long the first round waits for entrants that are not here."""
    notice: Callable[[str], None]
    """Takes a sentence when a process of a local seat takes long."""
    hidden: tuple[Path, ...] = ()
    """Files of the server that local seats must not see, beside the tournament's folder."""


class Direction:
    """A tournament, its entrants who come and go, and its directors."""

    def __init__(self, plan: Plan, lobby: Lobby) -> None:
        self._plan = plan
        self._files = plan.files
        self.directors = plan.directors
        """Hashes of their tokens, by name."""
        self._lobby = lobby
        self._links: set[Link] = set()
        """The directors' connections."""
        begun = any(isinstance(it, Round) for it in plan.files.decisions)
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
            hold=lambda: self._files.paused or self._waits,
            paired=self._tell_round,
        )
        self._queue = self.tournament.queue
        self._schedule = self._queue.schedule

    async def play(self) -> None:
        """Run the tournament until the server closes; raises as ``Tournament.play``."""
        loop = asyncio.get_running_loop()
        timer = loop.call_later(self._plan.wait_s, self._wait_no_longer)
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
            write_summary(self._plan.config, self._files)
        except OSError as error:  # it is made from what is kept, and is written again later
            log.error("summary not written", reason=str(error))

    # --- entrants -------------------------------------------------------------------------------

    def _entrant(self, name: str) -> int | None:
        """Return the number of the guest of a name; None if no guest has it."""
        names = self._schedule.config.names
        at = names.index(name) if name in names else None
        return at if at is not None and self._schedule.config.is_guest(at) else None

    def check_player(self, name: str) -> bool:
        """Check that somebody may log in to play; return whether it becomes an entrant by that.

        Raises:
            PeerError: ``forbidden``, or ``busy`` if no more can enter; the connection is to be
                closed.
        """
        if self._entrant(name) is not None:
            return False
        if name in self._schedule.config.names:
            raise forbidden(f"{name!r} is a player of the server's own")
        if not self._plan.is_open or self._queue.over:
            raise forbidden(f"{name!r} is not registered in this tournament")
        if self.entrants >= MOST_LISTED:
            full = f"no more than {MOST_LISTED:,} can enter"
            raise PeerError("busy", full, retry="no", close=1013)
        if wrong := _wrong_name(name):
            raise forbidden(wrong)
        return True

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

    def seek(self, player: Player, wish: Seek) -> None:
        """Answer a player who seeks games: the tournament pairs it.

        Raises:
            PeerError: it names an opponent, or has withdrawn.
        """
        if self._entrant(player.name) in self._files.withdrawn:
            raise PeerError("withdrawn", "you have withdrawn from the tournament", retry="no")
        if wish.opponent is not None:
            raise PeerError(
                "bad_opponent", "the tournament says who plays whom; seek without an opponent"
            )
        player.tell(Seeking(games=wish.games))

    def _join(self, name: str) -> None:
        self._schedule.join(Joined(name))
        self._lobby.hosting.tell(f"{name} joins the tournament")
        self._queue.look_again()

    def _begin_if_all_are_here(self) -> None:
        """Begin the first round if there are two entrants, and all are here or the wait is over.

        Only a plan that lists two entrants or more begins before the wait is over.
        """
        config = self._schedule.config
        playing = [it for it in range(len(config.seats)) if it not in self._files.withdrawn]
        listed = len(self._plan.config.seats) > 1
        all_here = listed and all(self._presence(entrant) == "here" for entrant in playing)
        if self._waits and len(playing) > 1 and (self._late or all_here):
            self._waits = False
            self._queue.look_again()

    def _wait_no_longer(self) -> None:
        self._late = True
        self._begin_if_all_are_here()

    # --- what is told ---------------------------------------------------------------------------

    def _tell_round(self, paired: Round | None) -> None:
        if paired is None:
            self._lobby.hosting.tell("the tournament is over; its results can still be corrected")
            self._summarize()
        else:
            names = self._schedule.config.names
            pairs = [f"{names[it.first]} – {names[it.second]}" for it in paired.pairings]
            byes = [f"{names[entrant]} has a bye" for entrant in paired.byes]
            absent = [f"{names[entrant]} is absent" for entrant in self._queue.absences.reasons]
            self._lobby.hosting.tell(f"round {paired.number}: {', '.join(pairs + byes + absent)}")
        self._tell_directors()

    def _finished(self, result: GameResult) -> None:
        self._tell_directors()
        for entrant in self._files.withdrawn:
            self._let_go(entrant)

    def _tell_directors(self) -> None:
        if self._links:
            listed = self.standing_list()
            for link in self._links:
                link.send(listed)

    def standing_list(self) -> StandingList:
        """Return the standings and current games, as many of them as a message can hold."""
        rounds, files = self._schedule.rounds, self._files
        table = standings(self._plan.config, files)
        planned = self._queue.planned.values()
        number = rounds[-1].number if rounds else 0
        has_result = self._queue.has_result
        shown = [it for it in planned if it.round == number or not has_result(it.number)]
        results = {result.number: result for result in files.counting()}
        rows = tuple(of.row(self._presence(of.entrant)) for of in table[:MOST_LISTED])
        games = tuple(self._listed(it, results.get(it.number)) for it in shown[:MOST_LISTED])
        return of_a_frame(
            lambda most: StandingList(
                round=number,
                rounds=self._schedule.last_round(),
                paused=self._files.paused,
                over=self._queue.over,
                rows=rows[:most],
                games=games[:most],
            ),
            MOST_LISTED,
        )

    def _presence(self, entrant: int) -> Presence:
        if entrant in self._files.withdrawn:
            return "withdrawn"
        if entrant in self._queue.absences.reasons:
            return "absent"
        config = self._schedule.config
        is_here = not config.is_guest(entrant) or self._lobby.players.is_here(config.names[entrant])
        return "here" if is_here else "away"

    def _listed(self, planned: PlannedGame, result: GameResult | None) -> RoundGame:
        names = self._schedule.config.names
        first, second = names[planned.entrant(0)], names[planned.entrant(1)]
        game = RoundGame(number=planned.number, players=(first, second))
        if result is not None and self._queue.has_result(planned.number):
            a, b = (seat.score for seat in result.sides)
            return replace(
                game,
                scores=(a, b) if planned.first == 0 else (b, a),
                outcome="corrected" if result.note == CORRECTED else result.outcome,
            )
        book = self.tournament.playing.get(planned.number)
        if book is None or book.ended is not None:
            return game
        return replace(game, scores=book.scores, game=book.opened.game)

    # --- directors ------------------------------------------------------------------------------

    async def serve(self, channel: Channel, name: str) -> None:
        """Carry out a director's acts, and send it the standings, until it leaves."""

        def hear(message: Message, _at_ms: int) -> None:
            match message:
                case Error() | Goodbye():
                    pass
                case Standings():
                    link.send(self.standing_list())
                case Direct():
                    self.direct(message, name)
                case _:
                    raise wrong_role(message, "a director")

        link = Link(channel, hear)
        link.send(welcome())
        self._lobby.hosting.tell(f"{name}, a director, is here, from {channel.peer}")
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
            match message.action:
                case "pause":
                    self._pause(why)
                case "resume":
                    self._resume(why)
                case "withdraw":
                    self._withdraw(_given(message.name, "withdraw needs the entrant's name"), why)
                case "join":
                    self._direct_to_join(_given(message.name, "join needs a name"))
                case "correct":
                    number = _given(message.number, "correct needs the number of a game")
                    self._correct(number, message.scores, why)
        self._lobby.hosting.tell(f"{by} directs: {_in_words(message)}")
        self._tell_directors()

    def _pause(self, why: str) -> None:
        if self._files.paused:
            raise PeerError("bad_direction", "the tournament is paused already", retry="no")
        self._files.decide(Paused(why))

    def _resume(self, why: str) -> None:
        if not self._files.paused and not self._waits:
            raise PeerError("bad_direction", "the tournament is not paused", retry="no")
        if self._files.paused:
            self._files.decide(Resumed(why))
        self._wait_no_longer()
        self._queue.look_again()

    def _withdraw(self, name: str, why: str) -> None:
        names = self._schedule.config.names
        if name not in names:
            raise PeerError(
                "unknown_entrant", f"no entrant is called {name!r}{did_you_mean(name, names)}"
            )
        entrant = names.index(name)
        if entrant in self._files.withdrawn:
            raise PeerError("bad_direction", f"{name} has withdrawn already", retry="no")
        self._files.decide(Withdrawn(entrant, why))
        self._let_go(entrant)
        self._begin_if_all_are_here()
        self._queue.look_again()

    def _let_go(self, entrant: int) -> None:
        name = self._schedule.config.names[entrant]
        self._lobby.players.dismiss(name, "withdrawn", "you have withdrawn from the tournament")

    def _direct_to_join(self, name: str) -> None:
        config = self._schedule.config
        entrant = config.names.index(name) if name in config.names else None
        if entrant in self._files.withdrawn:
            self._take_back(entrant)
            return
        if entrant in self._queue.absences.reasons:
            self._queue.welcome_back(entrant)
            return
        if entrant is not None:
            raise PeerError("bad_direction", f"{name} is an entrant already", retry="no")
        if config.format != "swiss" or self._queue.over:
            why = "only a Swiss tournament that is not over can be joined"
            raise PeerError("bad_direction", why, retry="no")
        if wrong := _wrong_name(name):
            raise PeerError("bad_direction", wrong)
        self._join(name)

    def _take_back(self, entrant: int) -> None:
        if self._schedule.config.format == "knockout" or self._queue.over:
            raise PeerError(
                "bad_direction",
                "an entrant that has withdrawn can come back only during the tournament, and not "
                "in a knockout",
                retry="no",
            )
        self._queue.take_back(entrant)

    def _correct(self, number: int, scores: tuple[int, int] | None, why: str) -> None:
        planned = self._queue.planned.get(number)
        if planned is None or not self._queue.has_result(number):
            raise PeerError("unknown_game", f"game {number} has no result that can be corrected")
        if scores is not None and planned.first == 1:
            scores = scores[1], scores[0]
        game = next(it.game for it in reversed(self._files.results) if it.number == number)
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


def _wrong_name(name: str) -> str:
    """Return what is wrong with a guest's name, if anything."""
    try:
        parse_seat(f"guest:{name}")
    except SeatError as error:
        return str(error)
    return ""


def _given(value: _T | None, sentence: str) -> _T:
    """Return what an act needs, or refuse the act."""
    if value is None:
        raise PeerError("bad_direction", sentence)
    return value


def _in_words(message: Direct) -> str:
    parts = [message.action, message.name]
    if message.action == "correct":
        scores = message.scores
        parts += [f"game {message.number}", f"{scores[0]} to {scores[1]}" if scores else "void"]
    return " ".join(filter(None, chain(parts, [message.why and f"({message.why})"])))

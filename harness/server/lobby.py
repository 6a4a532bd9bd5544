"""The lobby: who seeks a game, who is paired with whom, and what follows a game for its players."""

from __future__ import annotations

import asyncio
from asyncio import FIRST_COMPLETED
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import structlog
from msgspec.structs import replace

from harness.arbiter.database import JournalError
from harness.arbiter.host import GameHost
from harness.arbiter.journal import Journal
from harness.arbiter.journal_reading import read_past
from harness.arbiter.lease import LeaseLost
from harness.arbiter.records import Ended
from harness.arbiter.scorebook import Scorebook
from harness.arbiter.seat import Seat
from harness.figures import counted
from harness.seats.seats import GuestSeat
from lexicons.text import did_you_mean
from protocol.errors import PeerError, wrong_role
from protocol.link import Link
from protocol.messages import Error, GameMessage, Info, Resume, Seek, Seeking
from protocol.parts import PlayerHere, TimeControl

from .admission import Admissions, block_of
from .hosting import Hosting
from .ladder.settings import LABEL, LOOK_AGAIN_S
from .players import Player, Players
from .seeking import FirstMoves, Waiting
from .tables import TableKind
from .tokens import Gatekeeper

if TYPE_CHECKING:
    from .ladder.ladder import Ladder

log = structlog.get_logger(__name__)

MOST_COMPARED = 32
"""Longest unknown name that is compared with bots' names, since comparing takes time."""
GIVEN_UP_S = 0.2
"""Interval between checks, while games end, whether another host has taken one over."""
PAST_GAMES = 50
"""Past games that are read at the start to learn who moved first."""


@dataclass(eq=False)
class Lobby:
    """Brings the players of one server together in games."""

    hosting: Hosting
    time: TimeControl
    max_games: int
    """Games at once; more wait."""
    gatekeeper: Gatekeeper
    """Knows which names could log in."""
    admissions: Admissions
    """Limit how often a name and an address may seek, and an address's games and lent bots."""
    closing: bool = False
    paused: str | None = None
    """Why no game begins; None: games begin."""
    players: Players = field(default_factory=Players)
    _lent: Counter[str] = field(default_factory=Counter)
    """Built-in bots lent to arbiters, by address block; each takes the place of a game."""
    _pairing: asyncio.Handle | None = None
    """The next look at the seeks, at most one in a turn of the loop."""
    _looking: asyncio.TimerHandle | None = None
    """The next look at players who wait on the ladder for a better opponent."""
    _tasks: dict[str, asyncio.Task[None]] = field(default_factory=dict)
    _first_moves: FirstMoves = field(default_factory=FirstMoves)

    def __post_init__(self) -> None:
        self.waiting = Waiting(lambda name: self._has_room(self.players[name].address))

    @property
    def ladder(self) -> Ladder | None:
        """The ladder, which pairs players that name no opponent."""
        return self.waiting.ladder

    # --- players --------------------------------------------------------------------------------

    def arrive(self, player: Player, link: Link) -> Link | None:
        """Log a player in; return the older connection that this replaces."""
        older = self.players.arrive(player, link)
        if older is not None:
            self._stop_seeking(player)  # the newer connection seeks for itself
        return older

    def depart(self, player: Player, link: Link, why: str) -> None:
        """Note the end of a player's connection."""
        for seat in player.seats.values():
            seat.leave(link, why)
        if player.link is link:
            player.link = None
            self._stop_seeking(player)
            self.players.forget(player)

    def games_of(self, player: Player) -> tuple[str, ...]:
        """Return the games that a player may resume."""
        return tuple(game for game in player.seats if not self.hosting.games[game].is_told)

    def present(self) -> Iterator[PlayerHere]:
        """Yield the players that are connected or have a game."""
        for player in self.players:
            yield PlayerHere(
                name=player.name,
                address=player.peer if player.link else "",
                seeking=player.name in self.waiting,
                games=tuple(player.seats),
            )

    def pause(self, why: str | None) -> None:
        """Stop beginning games, for a reason; None: begin games again."""
        self.paused = why
        if why is None:
            self.pair_soon()

    def _stop_seeking(self, player: Player) -> None:
        player.rest = None
        self.waiting.withdraw(player.name)

    def resume(self, player: Player, link: Link, message: GameMessage) -> None:
        """Have a player take up a game, whose messages then go to its seat (``Link.bind``).

        Raises:
            PeerError: the player has no seat in that game, or says something in it that only
                those say who have taken it up.
        """
        host = self.hosting.find(message.game)
        if host is not None and host.is_told and player.name in host.guests:
            if not isinstance(message, Info):  # it crossed with the end
                link.send(host.game_over())
            return
        seat = player.seats.get(message.game)
        if seat is None:
            raise PeerError(
                "unknown_game",
                f"{player.name} has no seat in a game {message.game!r} that is on",
                retry="no",
                game=message.game,
            )
        if isinstance(message, Resume):
            seat.sit(link, message.game, seen=message.seen)
        elif seat.is_on(link):
            raise wrong_role(message, "a player")
        else:
            raise PeerError(
                "out_of_turn",
                "this connection has not taken up the game; send 'resume' first",
                game=message.game,
            )

    # --- bots that play elsewhere ---------------------------------------------------------------

    @contextmanager
    def lend(self, address: str) -> Iterator[None]:
        """Reserve a game's place for a bot that is lent to an address.

        Raises:
            PeerError: no place is free, or the address has as many bots as it may.
        """
        block, most = block_of(address), self.admissions.config.lent_per_address
        if self._lent[block] >= most:
            has = f"{block} has {counted(most, 'lent bot')}, the most for one address"
            raise PeerError("busy", has, retry="later", close=1013)
        if self._pairing is not None:
            self._pairing.cancel()
            self._pair()  # players already waiting come first
        if self.closing or self._is_full:
            why = "the server is closing" if self.closing else self.paused
            why = "no core is free for a bot" if why is None else f"no game begins now: {why}"
            raise PeerError("busy", why, retry="later", close=1013)
        if not self._has_room(address):
            raise PeerError("busy", self._as_many_as_it_may(address), retry="later", close=1013)
        self._lent[block] += 1
        self._hold_back(address)
        try:
            yield
        finally:
            self._lent[block] -= 1
            self._lent += Counter()  # drops blocks that have none
            self.pair_soon()

    @property
    def lent(self) -> int:
        """Number of bots that are lent."""
        return self._lent.total()

    @property
    def _is_full(self) -> bool:
        return self.paused is not None or len(self.hosting.games) + self.lent >= self.max_games

    # --- places of an address -------------------------------------------------------------------

    def _has_room(self, address: str) -> bool:
        """Return whether players of an address may have another game now.

        A player of a resumed game counts once it is back: the journal keeps no addresses.
        """
        has = len(self.players.games_from(address)) + self._lent[block_of(address)]
        return has < self.admissions.most_games(address, self.max_games)

    @staticmethod
    def _as_many_as_it_may(address: str) -> str:
        return f"{block_of(address)} has the most games and lent bots that an address may have"

    def _hold_back(self, address: str) -> None:
        """Hold back the seeks of an address that may have no more games, and tell its players."""
        if self._has_room(address):
            return
        block = block_of(address)
        held = self.waiting.hold_back(lambda name: block_of(self.players[name].address) == block)
        for name, wish in held.items():
            self._tell_sought(self.players[name], wish)

    # --- seeking --------------------------------------------------------------------------------

    def seek(self, player: Player, wish: Seek) -> None:
        """Register a seek, and start the games that are possible.

        Raises:
            PeerError: the server is closing, the opponent or table is unknown, the player is in a
                game, or it may not seek now.
        """
        if self.closing:
            raise PeerError("closing", "the server is closing; no new games", retry="later")
        if wish.opponent == player.name:
            raise PeerError("bad_opponent", "nobody plays against themselves")
        rated = self.ladder if wish.opponent is None else None
        if rated is None:
            kind = self.hosting.tables.find(wish.table)
            self._check_bot(wish.opponent, kind)
            wish = replace(wish, table=kind.name)
        absent = self._absent(wish.opponent)
        if absent and not self.gatekeeper.may_come(wish.opponent or ""):
            raise PeerError("bad_opponent", absent)
        for game in player.seats:
            host = self.hosting.games[game]
            if not host.is_over:
                one, other = host.book.opened.players
                against = other if one == player.name else one
                way_out = "send resume with it, or resign there, and seek when it is over"
                why = f"you are in game {game} against {against}: {way_out}"
                raise PeerError("busy", why, retry="later")
        self.admissions.check_seek(player.name, player.address)
        if rated is not None:
            rated.check(player.name, wish)
        player.rest = None
        self.waiting.put(player.name, wish)
        self._tell_sought(player, wish)
        self.pair_soon()

    def _tell_sought(self, player: Player, wish: Seek) -> None:
        """Tell a player what it seeks, and why that may take long."""
        table, held_back = wish.table if self.hosting.tables.names else None, None
        if self.ladder is not None and wish.opponent is None:
            table = self.ladder.table_of(wish).name
        if self.waiting.is_held_back(player.name):
            has = self._as_many_as_it_may(player.address)
            held_back = f"{has}; your game begins when one of them is over"
        player.tell(
            Seeking(
                opponent=wish.opponent,
                games=wish.games,
                absent=self._absent(wish.opponent),
                table=table,
                held_back=held_back,
            )
        )

    def _check_bot(self, name: str | None, kind: TableKind) -> None:
        """Raise PeerError if a name is that of a bot that does not play at a table."""
        if name is None or name in kind.bots or not self.hosting.tables.has_bot(name):
            return
        tables = ", ".join(each.name for each in self.hosting.tables if name in each.bots)
        raise PeerError("bad_opponent", f"{name} does not play at {kind.name}, but at: {tables}")

    def _absent(self, name: str | None) -> str | None:
        """Return a sentence if nobody of a name is here; a player with a running game counts."""
        tables = self.hosting.tables
        if name is None or name in self.players or tables.has_bot(name):
            return None
        meant = _meant(name, tuple(tables.main.bots)) if len(name) <= MOST_COMPARED else ""
        return f"nobody called {name!r} is here{meant}"

    def pair_soon(self) -> None:
        """Schedule one look at the new seeks, however many come in this turn of the loop."""
        if self._pairing is None:
            self._pairing = asyncio.get_running_loop().call_soon(self._pair)

    def _pair(self) -> None:
        self._pairing = None
        self.waiting.let_go()
        seeks = self.waiting.seeks.untried()
        while not (self.closing or self._is_full):
            name, wish = next(seeks, (None, None))
            if name is None or wish is None:
                break
            kind = self.hosting.tables.find(wish.table)
            if wish.opponent is not None and wish.opponent in kind.bots:
                self._seat(kind, self.players[name], None, wish.opponent)
            elif (other := self.waiting.seeks.partner(name)) is not None:
                self._seat(kind, self.players[name], self.players[other], other)
        if self.ladder is not None:
            self._pair_rated(self.ladder)

    def _seat(self, kind: TableKind, player: Player, other: Player | None, opponent: str) -> None:
        for seeker in (player, other):
            if seeker is not None:
                self._seated(seeker, self.waiting.seeks.pop(seeker.name))
        sides: list[dict[str, Any]] = [
            {"kind": "guest", "name": player.name},
            {"kind": "bot" if other is None else "guest", "name": opponent},
        ]
        if self._first_moves.moves_second(player.name, opponent):
            sides.reverse()
        self._begin(kind, kind.time or self.time, {"sides": sides})

    def _seated(self, player: Player, wish: Seek | None) -> None:
        """Keep what is left of a player's seek for after the game."""
        assert wish is not None, "it seeks"
        left = wish.games - 1
        player.rest = replace(wish, games=left) if left else None

    def _begin(self, kind: TableKind, time: TimeControl, label: dict[str, Any]) -> None:
        book = self.hosting.new_book(kind, time, label)
        self._open(book, self.hosting.seats(book.opened, label), label, fresh=True)
        for side in label["sides"]:
            if side["kind"] == "guest":
                self._hold_back(self.players[side["name"]].address)

    def _pair_rated(self, ladder: Ladder) -> None:
        """Begin games of the ladder; look again soon if somebody waits for a better opponent."""
        is_shut = self.closing or self._is_full
        free = 0 if is_shut else self.max_games - len(self.hosting.games) - self.lent
        for rated in ladder.pair(free):
            for side in rated.sides:
                if side["kind"] == "guest":
                    wish = ladder.take_wish(side["name"])
                    self._seated(self.players[side["name"]], wish)
            kind = self.hosting.tables.find(rated.kind)
            self._begin(kind, rated.time, {"sides": list(rated.sides), LABEL: rated.table})
        if self._looking is not None:
            self._looking.cancel()
        self._looking = None
        if ladder.waits and not (self.closing or self._is_full):
            loop = asyncio.get_running_loop()
            self._looking = loop.call_later(LOOK_AGAIN_S, self.pair_soon)

    # --- games ----------------------------------------------------------------------------------

    def restore_all(self) -> None:
        """Resume the games of the journal; their players will reconnect.

        Raises:
            JournalError: the journal can't be read; then no game is resumed.
        """
        with suppress(JournalError):
            for past in reversed(read_past(self.journal.address, PAST_GAMES).games):
                if past.ended.seq:  # it began
                    self._first_moves.note(*past.opened.players)
        for book, label in tuple(self.hosting.restored()):
            if self.ladder is not None and isinstance(label.get(LABEL), str):
                self.ladder.goes_on(label)
            self._open(book, self.hosting.seats(book.opened, label), label, fresh=False)

    @property
    def journal(self) -> Journal:
        """Where games are kept."""
        return self.hosting.journal

    async def host(self, book: Scorebook, seats: tuple[Seat, Seat]) -> None:
        """Play a game of the journal to its end; its guests are players of this lobby."""
        begins = "begins" if book.game is None else "goes on"
        self.hosting.tell(f"game {book.opened.game} {begins}: {' – '.join(book.opened.players)}")
        await self._open(book, seats, {}, fresh=False)

    def _open(
        self, book: Scorebook, seats: tuple[Seat, Seat], label: dict[str, Any], *, fresh: bool
    ) -> asyncio.Task[None]:
        """Begin or resume a game, and return its task; a ``fresh`` game is stored first."""
        game = book.opened.game
        guests: list[Player] = []
        for seat in seats:
            if isinstance(seat, GuestSeat):
                guest = self.players.named(seat.name)
                guest.seats[game] = seat
                if guest.link is not None:
                    seat.sit(guest.link, game)
                guests.append(guest)
        host = self.hosting.open(book, seats)
        task = self._tasks[game] = asyncio.create_task(self._play(host, label, guests, fresh=fresh))
        task.add_done_callback(lambda _task: self._tasks.pop(game))
        return task

    async def _play(
        self, host: GameHost, label: dict[str, Any], guests: list[Player], *, fresh: bool
    ) -> None:
        try:
            ended, took_s = await self.hosting.play(host, label, fresh=fresh)
            if host.book.game is not None:  # else a player could decline until it moves first
                self._first_moves.note(*host.book.opened.players)
            self._note_absences(host, ended, guests, took_s)
        except LeaseLost:  # if it was begun, another host goes on with it
            log.error("game given up", game=host.game)
        except JournalError as error:
            log.error("game not begun", game=host.game, reason=str(error))
            lost = Error(code="host_error", message="the game can't be kept", retry="later")
            for guest in guests:
                guest.rest = None
                guest.tell(lost)
        finally:
            for guest in guests:
                guest.seats.pop(host.game, None)
                self.players.forget(guest)
            if self.ladder is not None and isinstance(label.get(LABEL), str):
                self.ladder.over(host.game, label, host.book.ended)
        self.waiting.let_go()  # before the players of this game, which seek on below
        for guest in guests:
            self._seek_on(guest)
        self.pair_soon()

    def _note_absences(
        self, host: GameHost, ended: Ended, guests: list[Player], waited_s: float
    ) -> None:
        """Charge players that were not ready for a game for the time that others waited."""
        players = host.book.opened.players
        absent = {players[fault.seat] for fault in ended.faults if fault.code == "no_show"}
        for guest in guests:
            if guest.name in absent:
                self.admissions.note_absence(guest.name, guest.address, waited_s)

    def _seek_on(self, guest: Player) -> None:
        """Renew the seek of a player who asked for several games."""
        busy = guest.seats or guest.name in self.waiting  # or it has sought again already
        if guest.rest is not None and guest.link is not None and not (busy or self.closing):
            wish, guest.rest = guest.rest, None
            try:
                self.admissions.check_seek(guest.name, guest.address)
                self.waiting.put(guest.name, wish)
                if self.waiting.is_held_back(guest.name):
                    self._tell_sought(guest, wish)
            except PeerError as refusal:
                guest.tell(refusal.reply)

    async def drain(self, patience_s: float, at_once: asyncio.Event) -> int:
        """Start no game, wait for running ones or ``at_once``; return how many are unfinished."""
        self.closing = True
        if self._tasks:
            over = asyncio.ensure_future(asyncio.wait(self._tasks.values()))
            hurry = asyncio.ensure_future(at_once.wait())
            await asyncio.wait((over, hurry), timeout=patience_s, return_when=FIRST_COMPLETED)
            over.cancel()
            hurry.cancel()
        left: set[str] = set()
        tasks = pending = set(self._tasks.values())
        while pending:
            for game, host in self.hosting.games.items():
                if game not in left and (not host.is_over or host.is_given_up):
                    left.add(game)
                    self._tasks[game].cancel()
            # Finished games may still be stopping their seats, or be given up now.
            _, pending = await asyncio.wait(pending, timeout=GIVEN_UP_S)
        await asyncio.gather(*tasks, return_exceptions=True)
        return len(left)


@lru_cache(maxsize=1_024)
def _meant(name: str, bots: tuple[str, ...]) -> str:
    """Return which bot may be meant; cached, since players seek again and comparing is slow."""
    return did_you_mean(name, bots)

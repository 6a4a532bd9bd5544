"""The players present, their seeks, and the running games.

A player is known by name; its connections come and go and the newest counts. Its games stay while
it is away.
"""

from __future__ import annotations

import asyncio
import secrets
from asyncio import FIRST_COMPLETED
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import structlog
from msgspec.structs import replace

from bot.registry import did_you_mean
from bot.seat.link import Link
from harness.arbiter.clock import LOCAL_READY_MS
from harness.arbiter.host import GameHost
from harness.arbiter.journal import Journal
from harness.arbiter.journal_file import JournalError
from harness.arbiter.journal_reading import KeptGame
from harness.arbiter.lag import LagMeter
from harness.arbiter.records import Draws, Ended, Opened, new_game, verdict
from harness.arbiter.scorebook import Scorebook
from harness.arbiter.seat import Seat
from harness.seats.seats import GuestSeat
from lexicons.store import Lexicon
from protocol.errors import PeerError
from protocol.messages import Error, GameList, GameMessage, Message, Resume, Seek, Seeking
from protocol.parts import ListedGame, PlayerHere, TimeControl

from .ladder.settings import LABEL, LOOK_AGAIN_S
from .seeking import Seeks

if TYPE_CHECKING:
    from .ladder.ladder import Ladder

log = structlog.get_logger(__name__)

KEPT_GAMES = 64
"""Finished games that can still be watched."""

MOST_COMPARED = 32
"""Length of an unknown name that is compared with those of bots; a comparison takes time."""


@dataclass(eq=False)
class Player:
    """A player seen since the server started, or with running games."""

    name: str
    link: Link | None = None
    peer: str | None = None
    seats: dict[str, GuestSeat] = field(default_factory=dict)
    """Its seats in running games, by game."""
    rest: Seek | None = None
    """Its seek after the present game."""

    @property
    def address(self) -> str:
        """The address that it was last seen at."""
        return (self.peer or "").rpartition(":")[0]

    def tell(self, message: Message) -> None:
        """Send it a message, if it is connected."""
        if self.link is not None:
            self.link.send(message)


@dataclass(eq=False)
class Lobby:
    """The players, seeks and games of one server."""

    lexicon: Lexicon
    time: TimeControl
    journal: Journal
    lag: LagMeter
    """Measures the server's own loop."""
    bots: Mapping[str, Callable[[], Seat]]
    """Makes a seat for a built-in bot, by name."""
    max_games: int
    """Games at once; more wait."""
    may_come: Callable[[str], bool] = lambda _name: True
    """Whether a player of a name could be admitted."""
    check_seek: Callable[[str, str], None] = lambda _name, _address: None
    """Raises PeerError if a player of a name, at an address, may not seek a game now."""
    note_absence: Callable[[str, str, float], None] = lambda _name, _address, _seconds: None
    """Takes the name and address of a player that let its opponent wait in vain, and how long."""
    has_token: Callable[[str], bool] = lambda _name: False
    """Whether whoever plays under a name has shown its token."""
    tell: Callable[[str], None] = lambda _sentence: None
    """Takes a sentence about each game that begins or ends, with names as players chose them."""
    ladder: Ladder | None = None
    """Pairs those who seek anyone."""
    games: dict[str, GameHost] = field(default_factory=dict)
    ended: Callable[[Scorebook, Ended], None] = lambda _book, _ended: None
    """Takes each game that ends."""
    closing: bool = False
    set_aside: int = 0
    """Games of the journal that can't go on here."""
    paused: str | None = None
    """Why no game begins."""
    _past: deque[GameHost] = field(default_factory=lambda: deque(maxlen=KEPT_GAMES))
    _lent: int = 0
    """Built-in bots that play elsewhere; each takes the place of a game."""
    _players: dict[str, Player] = field(default_factory=dict)
    _seeks: Seeks = field(default_factory=Seeks)
    _pairing: asyncio.Handle | None = None
    """The next look at the seeks, once a turn of the loop."""
    _looking: asyncio.TimerHandle | None = None
    """The next look at those who wait on the ladder though somebody is free."""
    _tasks: dict[str, asyncio.Task[None]] = field(default_factory=dict)

    # --- players --------------------------------------------------------------------------------

    def player(self, name: str) -> Player:
        """Return the player of a name, known or new."""
        return self._players.setdefault(name, Player(name))

    def arrive(self, player: Player, link: Link) -> Link | None:
        """Log a player in; return the older connection that this replaces."""
        older, player.link, player.peer = player.link, link, link.channel.peer
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
            self._forget(player)

    def is_here(self, name: str) -> bool:
        """Return whether a player is connected."""
        player = self._players.get(name)
        return player is not None and player.link is not None

    def has_game(self, name: str) -> bool:
        """Return whether a player has a seat in a game."""
        player = self._players.get(name)
        return player is not None and bool(player.seats)

    def dismiss(self, name: str, code: str, message: str) -> Link | None:
        """Say goodbye to a player who is here and in no game; return the connection."""
        player = self._players.get(name)
        if player is None or player.link is None or player.link.closing or player.seats:
            return None
        player.link.dismiss(1000, code, message)
        return player.link

    async def dismiss_all(self, code: str, message: str) -> None:
        """Say goodbye to all players who are in no game."""
        links = [self.dismiss(name, code, message) for name in self._players]
        await asyncio.gather(*(link.flush() for link in links if link is not None))

    def kick(self, name: str, message: str) -> bool:
        """Close a player's connection; its games go on. Return whether it was here."""
        player = self._players.get(name)
        if player is None or player.link is None:
            return False
        player.link.dismiss(1008, "kicked", message)
        return True

    def present(self) -> Iterator[PlayerHere]:
        """Yield who is here, or has a game."""
        for player in self._players.values():
            yield PlayerHere(
                name=player.name,
                address=(player.peer or "") if player.link else "",
                seeking=self._seeks_a_game(player.name),
                games=tuple(player.seats),
            )

    def pause(self, why: str | None) -> None:
        """Begin no game, for a reason; None: begin games again."""
        self.paused = why
        if why is None:
            self.pair_soon()

    def _stop_seeking(self, player: Player) -> None:
        player.rest = None
        self._seeks.pop(player.name)
        if self.ladder is not None:
            self.ladder.pop(player.name)

    def _forget(self, player: Player) -> None:
        if player.link is None and not player.seats:
            self._players.pop(player.name, None)

    def used_from(self, name: str) -> str | None:
        """Return the address of a name's last connection, if the name is in use."""
        player = self._players.get(name)
        return player.peer if player is not None and (player.link or player.seats) else None

    def hear(self, player: Player, link: Link, message: GameMessage, at_ms: int) -> None:
        """Pass a player's message on to its game.

        Raises:
            PeerError: the player is not in that game.
        """
        seat = player.seats.get(message.game)
        if seat is None:
            past = self.find(message.game)
            if past is not None and player.name in past.guests:
                link.send(past.verdict())  # the game ended in its absence
                return
            raise PeerError(
                "unknown_game",
                f"{player.name} has no seat in a game {message.game!r} that is on",
                retry="no",
                game=message.game,
            )
        if isinstance(message, Resume):
            seat.sit(link, seen=message.seen)
        elif seat.is_on(link):
            seat.take(message, at_ms)
        else:
            raise PeerError(
                "out_of_turn",
                "this connection has not taken up the game; send 'resume' first",
                game=message.game,
            )

    # --- bots that play elsewhere ---------------------------------------------------------------

    @contextmanager
    def lend(self) -> Iterator[None]:
        """Reserve a game's place for a bot that plays elsewhere.

        Raises:
            PeerError: no place is free.
        """
        if self._pairing is not None:
            self._pairing.cancel()
            self._pair()  # who waits already comes first
        if self.closing or self._is_full:
            raise PeerError("busy", "no core is free for a bot", retry="later", close=1013)
        self._lent += 1
        try:
            yield
        finally:
            self._lent -= 1
            self.pair_soon()

    @property
    def lent(self) -> int:
        """How many bots play elsewhere."""
        return self._lent

    @property
    def _is_full(self) -> bool:
        return self.paused is not None or len(self.games) + self._lent >= self.max_games

    # --- seeking --------------------------------------------------------------------------------

    def seek(self, player: Player, wish: Seek) -> None:
        """Register a seek, and start the games that are possible.

        Raises:
            PeerError: the server is closing, or there is no such opponent.
        """
        if self.closing:
            raise PeerError("closing", "the server is closing; no new games", retry="later")
        if wish.opponent == player.name:
            raise PeerError("bad_opponent", "nobody plays against themselves")
        absent = self._absent(wish.opponent)
        if absent and not self.may_come(wish.opponent or ""):
            raise PeerError("bad_opponent", absent)
        if any(not self.games[game].book.ended for game in player.seats):
            raise PeerError("busy", "you are in a game; seek when it is over", retry="later")
        self.check_seek(player.name, player.address)
        table = None
        if self.ladder is not None and wish.opponent is None:
            table = self.ladder.check(player.name, wish)
        player.rest = None
        self._put(player.name, wish)
        player.tell(Seeking(opponent=wish.opponent, games=wish.games, absent=absent, table=table))
        self.pair_soon()

    def _put(self, name: str, wish: Seek) -> None:
        """Take a player's seek, in place of an earlier one."""
        if self.ladder is None:
            self._seeks.put(name, wish)
        elif wish.opponent is None:
            self._seeks.pop(name)
            self.ladder.put(name, wish)
        else:
            self.ladder.pop(name)
            self._seeks.put(name, wish)

    def _absent(self, name: str | None) -> str | None:
        """Return a sentence if nobody of a name is here; a player with a running game is."""
        if name is None or name in self._players or name in self.bots:
            return None
        meant = _meant(name, tuple(self.bots)) if len(name) <= MOST_COMPARED else ""
        return f"nobody called {name!r} is here{meant}"

    def pair_soon(self) -> None:
        """Look at new seeks once in this turn of the loop, however many there are."""
        if self._pairing is None:
            self._pairing = asyncio.get_running_loop().call_soon(self._pair)

    def _pair(self) -> None:
        self._pairing = None
        seeks = self._seeks.untried()
        while not (self.closing or self._is_full):
            name, wish = next(seeks, (None, None))
            if name is None or wish is None:
                break
            if wish.opponent is not None and wish.opponent in self.bots:
                self._seat(self._players[name], None, wish.opponent)
            elif (other := self._seeks.partner(name)) is not None:
                self._seat(self._players[name], self._players[other], other)
        if self.ladder is not None:
            self._pair_rated(self.ladder)

    def _seat(self, player: Player, other: Player | None, opponent: str) -> None:
        for seeker in (player, other):
            if seeker is not None:
                self._seated(seeker, self._seeks.pop(seeker.name))
        sides: list[dict[str, Any]] = [
            {"kind": "guest", "name": player.name},
            {"kind": "bot" if other is None else "guest", "name": opponent},
        ]
        if secrets.randbelow(2):
            sides.reverse()
        self._begin(self.time, {"sides": sides})

    def _seated(self, player: Player, wish: Seek | None) -> None:
        """Keep what is left of a player's seek for after the game."""
        assert wish is not None, "it seeks"
        left = wish.games - 1
        player.rest = replace(wish, games=left) if left else None

    def _begin(self, time: TimeControl, label: dict[str, Any]) -> None:
        first, second = (side["name"] for side in label["sides"])
        if any(side["kind"] == "bot" for side in label["sides"]):
            time = _with_time_to_compile(time)
        opened = new_game((first, second), self.lexicon, time, Draws.fresh())
        self._run(Scorebook(opened, self.lexicon), label, fresh=True)

    def _pair_rated(self, ladder: Ladder) -> None:
        """Begin games of the ladder; look again soon if somebody waits for a better opponent."""
        is_shut = self.closing or self._is_full
        free = 0 if is_shut else self.max_games - len(self.games) - self._lent
        for rated in ladder.pair(free):
            for side in rated.sides:
                if side["kind"] == "guest":
                    wish = ladder.take_wish(side["name"])
                    self._seated(self._players[side["name"]], wish)
            self._begin(rated.time, {"sides": list(rated.sides), LABEL: rated.table})
        if self._looking is not None:
            self._looking.cancel()
        self._looking = None
        if ladder.waits and not (self.closing or self._is_full):
            loop = asyncio.get_running_loop()
            self._looking = loop.call_later(LOOK_AGAIN_S, self.pair_soon)

    # --- games ----------------------------------------------------------------------------------

    def restore_all(self) -> None:
        """Resume the games of the journal; their players will reconnect.

        A game that can't go on stays in the journal, for a server that can play it.
        """
        for kept in self.journal.unfinished(lambda error: self._put_aside(str(error))):
            if wrong := self._restore(kept):
                self._put_aside(f"game {kept.game} can't go on: {wrong}")

    def _put_aside(self, why: str) -> None:
        self.set_aside += 1
        self.tell(f"{why}; it is set aside, and stays in the journal")

    def _restore(self, kept: KeptGame) -> str | None:
        """Resume a game; return why it can't go on, if so."""
        opened = kept.records[0]
        assert isinstance(opened, Opened), "a game's first record is its setup"
        try:
            sides = kept.label["sides"]
            if tuple(side["name"] for side in sides) != opened.players:
                return f"it is between {', '.join(opened.players)}, and its label says otherwise"
            bots = [side["name"] for side in sides if side["kind"] == "bot"]
            if lacking := [name for name in bots if name not in self.bots]:
                return f"no bot is called {lacking[0]!r} here now"
            if opened.lexicon_checksum != self.lexicon.checksum:
                return f"its words are those of {opened.lexicon}, and were others then"
            book = Scorebook.restored(kept.records, kept.note, self.lexicon)
        except Exception as error:  # damage has any shape; the other games go on
            log.error("game not restored", game=kept.game, reason=repr(error))
            return f"its records can't be played ({error or type(error).__name__})"
        log.info("game restored", game=kept.game, turns=len(book.turns))
        self.tell(f"game {kept.game} goes on: {' – '.join(opened.players)}")
        self._run(book, kept.label, fresh=False)
        return None

    def _run(self, book: Scorebook, label: dict[str, Any], *, fresh: bool) -> None:
        seats = [
            self.bots[side["name"]]() if side["kind"] == "bot" else GuestSeat(side["name"])
            for side in label["sides"]
        ]
        self._open(book, (seats[0], seats[1]), label, fresh=fresh)

    async def host(self, book: Scorebook, seats: tuple[Seat, Seat]) -> None:
        """Play a game that the journal has, to its end; its guests are players of this lobby."""
        begins = "begins" if book.game is None else "goes on"
        self.tell(f"game {book.opened.game} {begins}: {' – '.join(book.opened.players)}")
        await self._open(book, seats, {}, fresh=False)

    def _open(
        self, book: Scorebook, seats: tuple[Seat, Seat], label: dict[str, Any], *, fresh: bool
    ) -> asyncio.Task[None]:
        """Begin a game or go on with it; a ``fresh`` one is to be stored first."""
        game = book.opened.game
        guests: list[Player] = []
        for seat in seats:
            if isinstance(seat, GuestSeat):
                guest = self.player(seat.name)
                guest.seats[game] = seat
                if guest.link is not None:
                    seat.sit(guest.link)
                guests.append(guest)
        names = frozenset(guest.name for guest in guests)
        unproven = frozenset(name for name in names if not self.has_token(name))
        host = GameHost(book, seats, self.journal, self.lag, names, unproven)
        self.games[game] = host
        task = self._tasks[game] = asyncio.create_task(self._play(host, label, guests, fresh=fresh))
        task.add_done_callback(lambda _task: self._tasks.pop(game))
        return task

    async def _play(
        self, host: GameHost, label: dict[str, Any], guests: list[Player], *, fresh: bool
    ) -> None:
        loop = asyncio.get_running_loop()
        try:
            if fresh:
                await self.journal.create(host.book.opened, label)
                self.tell(f"game {host.game} begins: {' – '.join(host.book.opened.players)}")
            began = loop.time()
            await host.run()
            self._note_absences(host, guests, loop.time() - began)
            self._tell_end(host)
        except JournalError as error:
            log.error("game not begun", game=host.game, reason=str(error))
            lost = Error(code="host_error", message="the game can't be kept", retry="later")
            for guest in guests:
                guest.rest = None
                guest.tell(lost)
        finally:
            self._past.append(self.games.pop(host.game))
            for guest in guests:
                guest.seats.pop(host.game, None)
            if self.ladder is not None and LABEL in label:
                self.ladder.over(host.game, label, host.book.ended)
        for guest in guests:
            self._seek_on(guest)
            self._forget(guest)
        self.pair_soon()

    def _note_absences(self, host: GameHost, guests: list[Player], waited_s: float) -> None:
        """Have those who were not ready for a game pay for the time of those who were."""
        players, ended = host.book.opened.players, host.book.ended
        faults = ended.faults if ended is not None else ()
        absent = {players[fault.seat] for fault in faults if fault.code == "no_show"}
        for guest in guests:
            if guest.name in absent:
                self.note_absence(guest.name, guest.address, waited_s)

    def _tell_end(self, host: GameHost) -> None:
        players, ended = host.book.opened.players, host.book.ended
        if ended is not None:
            self.ended(host.book, ended)
            self.tell(f"game {host.game} is over: {' – '.join(players)}, {verdict(players, ended)}")

    def _seek_on(self, guest: Player) -> None:
        """Renew the seek of a player who asked for several games."""
        busy = guest.seats or self._seeks_a_game(guest.name)  # sought anew while this was closing
        if guest.rest is not None and guest.link is not None and not (busy or self.closing):
            wish, guest.rest = guest.rest, None
            try:
                self.check_seek(guest.name, guest.address)
                self._put(guest.name, wish)
            except PeerError as refusal:
                guest.tell(refusal.reply)

    def _seeks_a_game(self, name: str) -> bool:
        return name in self._seeks or (self.ladder is not None and name in self.ladder)

    def find(self, game: str) -> GameHost | None:
        """Return a running or recently finished game."""
        past = (host for host in self._past if host.game == game and host.book.ended)
        return self.games.get(game) or next(past, None)

    def listed(self) -> GameList:
        """Return the list of running games."""
        games = tuple(
            ListedGame(
                game=host.game,
                players=host.book.opened.players,
                scores=host.book.scores,
                turns=len(host.book.turns),
            )
            for host in self.games.values()
        )
        return GameList(games=games[:500])

    async def drain(self, patience_s: float, at_once: asyncio.Event) -> int:
        """Start no game, wait for running ones or ``at_once``; return how many are unfinished."""
        self.closing = True
        if self._tasks:
            over = asyncio.ensure_future(asyncio.wait(self._tasks.values()))
            hurry = asyncio.ensure_future(at_once.wait())
            await asyncio.wait((over, hurry), timeout=patience_s, return_when=FIRST_COMPLETED)
            over.cancel()
            hurry.cancel()
        left = [game for game, host in self.games.items() if host.book.ended is None]
        for game in left:
            self._tasks[game].cancel()
        # Finished games may still be stopping their seats.
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)
        return len(left)


def _with_time_to_compile(time: TimeControl) -> TimeControl:
    return replace(time, ready_ms=max(time.ready_ms, LOCAL_READY_MS))


@lru_cache(maxsize=1_024)
def _meant(name: str, bots: tuple[str, ...]) -> str:
    """Ask which bot was meant; players seek again and again, and comparing takes time."""
    return did_you_mean(name, bots)

"""The lobby: who seeks a game, who is paired with whom, and what follows a game for its players."""

from __future__ import annotations

import asyncio
from asyncio import FIRST_COMPLETED
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import structlog
from msgspec.structs import replace

from engine.notation.cgp import read_cgp
from harness.arbiter.database import JournalError
from harness.arbiter.host import GameHost
from harness.arbiter.journal import Journal
from harness.arbiter.journal_reading import read_past
from harness.arbiter.lease import LeaseLost
from harness.arbiter.scorebook import Scorebook
from harness.arbiter.seat import Seat
from harness.figures import counted, minutes, some
from harness.seats.seats import GuestSeat
from lexicons.text import did_you_mean
from protocol.channel import now_ms
from protocol.errors import PeerError, wrong_role
from protocol.link import Link
from protocol.messages import Error, GameMessage, Info, Resume, Seek, Seeking
from protocol.parts import PlayerHere, TimeControl

from .admission import Admissions, block_of, is_here, network_of
from .hosting import Hosting
from .ladder.settings import LABEL, LOOK_AGAIN_S
from .page_analysis.live_games import ON, is_on
from .players import Players, PresentPlayer
from .seeking import FirstMoves, Waiting
from .tables import TableKind
from .tokens import Gatekeeper, Holder

if TYPE_CHECKING:
    from .ladder.ladder import Ladder

log = structlog.get_logger(__name__)

MOST_COMPARED = 32
"""Longest unknown name that is compared with bots' names, since comparing takes time."""
GIVEN_UP_S = 0.2
"""Interval between checks, while games end, whether another host has taken one over."""
PAST_GAMES = 50
"""Past games that are read at the start to learn who moved first."""

MOST_GAMES = "{} has the most games and lent bots that it may have"

NOT_RATED = (
    "the game that begins now is not rated: both players have one token, or come from one network, "
    "and so count as one owner's"
)

_meant = lru_cache(maxsize=1_024)(did_you_mean)
"""Cached, since players seek again and comparing is slow."""


@dataclass(eq=False)
class Loan:
    """A bot that is lent to an arbiter, in the place of a game."""

    take_back: Callable[[], bool] = lambda: False
    """Takes the bot back if it has no game; returns whether it is on its way."""


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
    lacks_place: bool = False
    """Whether players wait for a place that a lent bot has, and for nothing else."""
    _loans: dict[str, list[Loan]] = field(default_factory=dict)
    """Bots lent to arbiters, by address block; each takes the place of a game."""
    _pairing: asyncio.Handle | None = None
    """The next look at the seeks, at most one in a turn of the loop."""
    _looking: asyncio.TimerHandle | None = None
    """The next look at players who wait on the ladder for a better opponent."""
    _untold: dict[str, Seek] = field(default_factory=dict)
    """Seeks whose players are told, after the next look, if no place is left for their game."""
    _tasks: dict[str, asyncio.Task[None]] = field(default_factory=dict)
    _first_moves: FirstMoves = field(default_factory=FirstMoves)
    _casual: dict[str, TableKind] = field(default_factory=dict)
    """The tables of players that seek a casual game, by name."""

    def __post_init__(self) -> None:
        self.hosting.keeps = self._keeps_thoughts
        self.waiting = Waiting(lambda name: self._has_room(self.players[name].address))

    @property
    def ladder(self) -> Ladder | None:
        """The ladder, which pairs players that name no opponent."""
        return self.waiting.ladder

    # --- players --------------------------------------------------------------------------------

    def arrive(self, player: PresentPlayer, link: Link) -> Link | None:
        """Log a player in; return the older connection that this replaces."""
        older = self.players.arrive(player, link)
        if older is not None:
            self._stop_seeking(player)  # the newer connection seeks for itself
        return older

    def depart(self, player: PresentPlayer, link: Link, why: str) -> None:
        """Note the end of a player's connection."""
        for seat in player.seats.values():
            seat.leave(link, why)
        if player.link is link:
            player.link = None
            self._stop_seeking(player)
            self.players.forget(player)

    def games_of(self, player: PresentPlayer) -> tuple[str, ...]:
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

    def release(self, name: str, why: str) -> None:
        """Forget whose a name is, and send away who is here with it.

        Raises:
            ValueError: it stands in the token file, or nobody has used it.
        """
        was_claimed = self.gatekeeper.release(name)
        if not self.players.release(name, f"the name was released by {why}") and not was_claimed:
            raise ValueError(f"nobody has come with the name {name}")

    def pause(self, why: str | None) -> None:
        """Stop beginning games; ``why`` says by whom, and the reason. None: begin games again."""
        self.paused = None if why is None else f"paused by {why}"
        if why is None:
            self.pair_soon()

    def owners(self, name: str) -> frozenset[str]:
        """Return what tells whose a player is: the hash of its token, and its network.

        Nothing tells it of players on this machine, and of those that never came.
        """
        address = self.players[name].address if name in self.players else ""
        if not address or is_here(address):
            return frozenset()
        return frozenset(filter(None, (network_of(address), self.gatekeeper.hash_of(name))))

    def _stop_seeking(self, player: PresentPlayer) -> None:
        player.rest = None
        self._casual.pop(player.name, None)
        self.waiting.withdraw(player.name)

    def resume(self, player: PresentPlayer, link: Link, message: GameMessage) -> None:
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
            why = f"{player.name} has no seat in a game {message.game!r} that is on"
            raise PeerError("unknown_game", why, retry="no", game=message.game)
        if isinstance(message, Resume):
            seat.sit(link, message.game, seen=message.seen)
        elif seat.is_on(link):
            raise wrong_role(message, "a player")
        else:
            why = "this connection has not taken up the game; send 'resume' first"
            raise PeerError("out_of_turn", why, game=message.game)

    # --- bots that play elsewhere ---------------------------------------------------------------

    @contextmanager
    def lend(self, address: str) -> Iterator[Loan]:
        """Reserve a game's place for a bot that is lent to an address.

        Raises:
            PeerError: no place is free, or the address or all together have as many bots as they
                may.
        """
        block, config = block_of(address), self.admissions.config
        most = config.lent_per_address
        if len(self._loans.get(block, ())) >= most:
            has = f"{block} has {counted(most, 'lent bot')}, the most for one address"
            raise PeerError("busy", has, retry="later", close=1013)
        if self._pairing is not None:
            self._pairing.cancel()
            self._pair()  # players already waiting come first
        if self.closing or self._is_full:
            why = "the server is closing" if self.closing else self.paused
            why = "no core is free for a bot" if why is None else f"no game begins now: {why}"
            raise PeerError("busy", why, retry="later", close=1013)
        if self.lent >= (most := config.most_lent(self.max_games)):
            why = f"lent bots have {most} of {self.max_games} places; the others are for players"
            raise PeerError("busy", why, retry="later", close=1013)
        if not self._has_room(address):
            raise PeerError("busy", MOST_GAMES.format(block), retry="later", close=1013)
        loan = Loan()
        self._loans.setdefault(block, []).append(loan)
        self._hold_back(address)
        try:
            yield loan
        finally:
            self._loans[block].remove(loan)
            if not self._loans[block]:
                del self._loans[block]
            self.pair_soon()

    def _take_back(self) -> None:
        """Take a lent bot back if players wait for its place and it is between games.

        If all are in games, the first that has ended its game is taken back (``lacks_place``).
        """
        self.lacks_place = False
        if self.closing or self.paused is not None or not (self._is_full and self._loans):
            return
        if (pair := self._next_pair()) is not None:
            self.waiting.seeks.try_again(pair[0])
        self.lacks_place = pair is not None or (
            self.ladder is not None and self.ladder.could_pair()
        )
        if self.lacks_place:
            any(loan.take_back() for loans in self._loans.values() for loan in loans)

    @property
    def lent(self) -> int:
        """Number of bots that are lent."""
        return sum(map(len, self._loans.values()))

    @property
    def _is_full(self) -> bool:
        return self.paused is not None or len(self.hosting.games) + self.lent >= self.max_games

    # --- places of an address -------------------------------------------------------------------

    def _has_room(self, address: str) -> bool:
        """Return whether players of an address may have another game now.

        A player of a resumed game counts once it is back: the journal keeps no addresses.
        """
        lent = self._loans.get(block_of(address), ())
        has = len(self.players.games_from(address)) + len(lent)
        return has < self.admissions.most_games(address, self.max_games)

    def _hold_back(self, address: str) -> None:
        """Hold back the seeks of an address that may have no more games, and tell its players."""
        if self._has_room(address):
            return
        block = block_of(address)
        held = self.waiting.hold_back(lambda name: block_of(self.players[name].address) == block)
        for name, wish in held.items():
            self._tell_sought(self.players[name], wish)

    # --- seeking --------------------------------------------------------------------------------

    def seek(self, player: PresentPlayer, wish: Seek) -> None:
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
            tables, opponent = self.hosting.tables, wish.opponent
            kind = tables.find(wish.table)
            if opponent and opponent not in kind.bots and tables.has_bot(opponent):
                known = ", ".join(each.name for each in tables if opponent in each.bots)
                why = f"{opponent} does not play at {kind.name}, but at: {known}"
                raise PeerError("bad_opponent", why)
            if kind.casual is None:
                wish = replace(wish, table=kind.name)
            else:
                self._check_casual(player, wish, kind)
                wish = replace(wish, games=1)
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
        self._check_seek(player)
        if rated is not None:
            rated.check(player.name, wish)
        player.rest = None
        self._casual.pop(player.name, None)
        if rated is None and kind.casual is not None:
            self._casual[player.name] = kind
        self.waiting.put(player.name, wish)
        self._tell_sought(player, wish)
        if not self._is_full:
            self._untold[player.name] = wish
        self.pair_soon()

    def _check_casual(self, player: PresentPlayer, wish: Seek, kind: TableKind) -> None:
        """Check that a casual game may begin: against a bot, not in a position of a game here.

        Raises:
            PeerError: it may not.
        """
        if wish.opponent not in kind.bots:
            raise PeerError("bad_opponent", "a casual game is against a bot of this server")
        opening = None if kind.casual is None else kind.casual.opening
        if opening is not None:
            position = read_cgp(opening, kind.rules)
            if is_on(self.hosting, self.players, position, kind.rules, player.address):
                raise PeerError("forbidden", ON, retry="later")

    def _check_seek(self, player: PresentPlayer) -> None:
        """Check that a player, and its address, may seek another game now; PeerError if not."""
        self.admissions.check_journal(player.address, self.max_games)
        self.admissions.check_seek(player.name, player.address)

    def _tell_sought(self, player: PresentPlayer, wish: Seek, not_rated: str | None = None) -> None:
        """Tell a player what it seeks, why that may take long, and why its game isn't rated."""
        table = wish.table if self.hosting.tables.names else None
        if self.ladder is not None and wish.opponent is None:
            table = self.ladder.table_of(wish).name
        player.tell(
            Seeking(
                opponent=wish.opponent,
                games=wish.games,
                absent=self._absent(wish.opponent),
                table=table,
                held_back=self._why_held_back(player),
                not_rated=not_rated,
            )
        )

    def _why_held_back(self, player: PresentPlayer) -> str | None:
        """Return a sentence if there is no place for a player's game: which games have them."""
        if self.paused is not None:
            return f"no game begins now: {self.paused}"
        is_full, own = self._is_full, self.players.games_from(player.address)
        if not (is_full or self.waiting.is_held_back(player.name)):
            return None
        hosts = [host for game, host in self.hosting.games.items() if is_full or game in own]
        names = [" – ".join(host.book.opened.players) for host in hosts]
        for number, host in enumerate(hosts[:3]):  # the oldest, which ``some`` shows
            clocks, more_ms = host.book.clocks(now_ms()), host.book.opened.time.max_overtime_ms
            for name, clock_ms in zip(host.book.opened.players, clocks, strict=True):
                if name in host.guests and not self.players.is_here(name):
                    left = minutes(max(0, clock_ms + more_ms) / 1_000)
                    way_out = "it may come back by that name, or an admin may void the game"
                    names[number] += f" ({name} is away and has {left} left; {way_out})"
        has = MOST_GAMES.format("the server" if is_full else block_of(player.address))
        return f"{has}{': ' * bool(names)}{some(names)}; your game begins when one of them is over"

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
        while not (self.closing or self._is_full):
            if (pair := self._next_pair()) is None:
                break
            name, opponent, kind, is_bot = pair
            kind_of_other = "bot" if is_bot else "guest"
            sides = [{"kind": "guest", "name": name}, {"kind": kind_of_other, "name": opponent}]
            seat = None if kind.casual is None else kind.casual.seat
            for host in self.hosting.games.values():
                if {name, opponent} == {*host.book.opened.players}:
                    self._note_first(host.book)  # told that it is over, but not ended here yet
            if seat == 1 or (seat is None and self._first_moves.moves_second(name, opponent)):
                sides.reverse()
            time = kind.time or self.time
            self._begin(kind, time, {"sides": sides}, self.waiting.seeks.pop)
        if self.ladder is not None:
            self._pair_rated(self.ladder)
        for name, wish in self._untold.items():
            if self._is_full and name in self.waiting and not self.waiting.is_held_back(name):
                self._tell_sought(self.players[name], wish)
        self._untold.clear()
        self._take_back()

    def _next_pair(self) -> tuple[str, str, TableKind, bool] | None:
        """Return the next player with an opponent, where, and whether that is a bot; or None.

        Its seek and those that were passed over for want of an opponent count as tried.
        """
        for name, wish in self.waiting.seeks.untried():
            kind = self._casual.get(name) or self.hosting.tables.find(wish.table)
            is_bot = wish.opponent in kind.bots
            opponent = wish.opponent if is_bot else self.waiting.seeks.partner(name)
            if opponent is not None:
                return name, opponent, kind, is_bot
        return None

    def _begin(
        self,
        kind: TableKind,
        time: TimeControl,
        label: dict[str, Any],
        take_wish: Callable[[str], Seek | None],
        not_rated: str | None = None,
    ) -> None:
        """Begin a game; what is left of its players' seeks is kept for after it.

        They are told why it is ``not_rated``, if they sought one that is.
        """
        names = [side["name"] for side in label["sides"] if side["kind"] == "guest"]
        guests = [self.players[name] for name in names]
        for guest in guests:
            wish = take_wish(guest.name)
            self._casual.pop(guest.name, None)
            assert wish is not None, "it seeks"
            if not_rated is not None:
                self._tell_sought(guest, wish, not_rated)
            guest.rest = replace(wish, games=wish.games - 1) if wish.games > 1 else None
        book = self.hosting.new_book(kind, time, label)
        for side in label["sides"]:
            if side["kind"] == "guest":
                side.update(self.players[side["name"]].holder.marks(book.opened.secret))
        self._open(book, self.hosting.seats(book.opened, label), label, fresh=True)
        for address in {block_of(guest.address): guest.address for guest in guests}.values():
            self.admissions.note_game(address, self.max_games)
            self._hold_back(address)

    def _pair_rated(self, ladder: Ladder) -> None:
        """Begin games of the ladder; look again soon if somebody waits for a better opponent."""
        is_shut = self.closing or self._is_full
        free = 0 if is_shut else self.max_games - len(self.hosting.games) - self.lent
        for paired in ladder.pair(free):
            kind = self.hosting.tables.find(paired.kind)
            label: dict[str, Any] = {"sides": list(paired.sides)}
            if paired.is_rated:
                label[LABEL] = paired.table
            not_rated = None if paired.is_rated else NOT_RATED
            if not_rated is not None:
                names = " – ".join(side["name"] for side in paired.sides)
                self.hosting.tell(f"{names} count as one owner's: their game is not rated")
            self._begin(kind, paired.time, label, ladder.take_wish, not_rated)
        if self._looking is not None:
            self._looking.cancel()
        self._looking = None
        if ladder.waits and not self.closing and (self._loans or not self._is_full):
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
                if past.ended.seq and past.opened.opening is None:  # it began
                    self._first_moves.note(*past.opened.players)
        for book, label in tuple(self.hosting.restored()):
            if self.ladder is not None and isinstance(label.get(LABEL), str):
                self.ladder.goes_on(label)
            for side in label["sides"]:
                holder = Holder.of_marks(side, book.opened.secret)
                if side["kind"] == "guest" and (holder.secret_hash or holder.block):
                    self.players.named(side["name"]).holder = holder
            self._open(book, self.hosting.seats(book.opened, label), label, fresh=False)

    @property
    def journal(self) -> Journal:
        """Where games are kept."""
        return self.hosting.journal

    def _keeps_thoughts(self, game: str, by: str, name: str, size: int) -> bool:
        """Return whether thoughts of so many bytes may be kept on a player's account.

        If they are its own and may not, the player is told, once for each login.
        """
        player = self.players[name]
        if self.admissions.keeps_thoughts(player.address, size, self.max_games):
            return True
        if by == name and not player.knows_limit:
            player.knows_limit = True
            full = f"{block_of(player.address)} has filled its part of the journal for this hour"
            why = f"{full}, so thoughts in your games are not kept now; games go on"
            player.tell(Error(code="busy", message=why, retry="later", game=game))
        return False

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
        guests: list[PresentPlayer] = []
        for seat in seats:
            if isinstance(seat, GuestSeat):
                guest = self.players.named(seat.name)
                guest.seats[game] = seat
                if guest.link is not None:
                    seat.sit(guest.link, game)
                guests.append(guest)
        host = self.hosting.open(book, seats, label)
        task = self._tasks[game] = asyncio.create_task(self._play(host, label, guests, fresh=fresh))
        task.add_done_callback(lambda _task: self._tasks.pop(game))
        return task

    def _note_first(self, book: Scorebook) -> None:
        """Note who moves first, if the game began: else one could decline to move first."""
        if book.game is not None and book.opened.opening is None:
            self._first_moves.note(*book.opened.players)

    async def _play(
        self, host: GameHost, label: dict[str, Any], guests: list[PresentPlayer], *, fresh: bool
    ) -> None:
        try:
            ended, took_s = await self.hosting.play(host, label, fresh=fresh)
            players = host.book.opened.players
            self._note_first(host.book)
            if host.book.turns:
                self.gatekeeper.claims.note_use(guest.name for guest in guests)
            absent = {players[fault.seat] for fault in ended.faults if fault.code == "no_show"}
            for guest in guests:
                if guest.name in absent:
                    self.admissions.note_absence(guest.name, guest.address, took_s)
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

    def _seek_on(self, guest: PresentPlayer) -> None:
        """Renew the seek of a player who asked for several games."""
        busy = guest.seats or guest.name in self.waiting  # or it has sought again already
        if guest.rest is not None and guest.link is not None and not (busy or self.closing):
            wish, guest.rest = guest.rest, None
            try:
                self._check_seek(guest)
                self.waiting.put(guest.name, wish)
                self._untold[guest.name] = wish
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

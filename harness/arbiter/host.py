"""The shell around one table: real time, real seats, a real journal.

The table works on a book of its own. ``GameHost`` makes its records durable, then has its own book
follow, then sends messages, then starts the next clock: so nobody reads or is told what may yet be
lost. All events go through one inbox, so a game is one task that handles one event at a time. A
fault of the host itself (full disk, bug) voids the game; nobody loses.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TypeAlias

import msgspec
import structlog

from protocol.channel import now_ms
from protocol.errors import PeerError
from protocol.messages import Message
from protocol.nonces import new_nonce
from protocol.parts import Outcome, Style

from . import views
from .audience import Audience, Spectator
from .database import JournalError
from .journal import Journal
from .lag import LagMeter
from .lease import LeaseLost
from .records import Began, ClockNote, Commitments, Ended, Record, RefusedMove, Thought, TurnRecord
from .scorebook import Scorebook
from .seat import Came, Gone, Happening, Noted, Ruled, Said, Seat, TimeGift
from .table import Effects, Sends, Table
from .views import OWNER, Viewer

log = structlog.get_logger(__name__)

NOTE_EVERY_MS = 250
"""Interval between the journal's notes of running clocks."""

KeepsThoughts: TypeAlias = Callable[[str, str, str, int], bool]
"""Takes a game, who thinks, the guest on whose account, and how many bytes; returns whether they
may be kept."""


class GameHost:
    """One game from its first offer, or its last record in the journal, to its end.

    ``journal`` contains its first record already. ``guests`` are players of a server, which may ask
    for the verdict afterwards. Players in ``unproven`` have not shown that they own their name, so
    no style is read or kept under it. ``keeps`` decides about thoughts on a guest's account.
    """

    def __init__(
        self,
        book: Scorebook,
        seats: tuple[Seat, Seat],
        journal: Journal,
        lag: LagMeter,
        guests: frozenset[str] = frozenset(),
        unproven: frozenset[str] = frozenset(),
        *,
        keeps: KeepsThoughts = lambda _game, _by, _guest, _size: True,
    ) -> None:
        self.book = book
        """The game as far as it is durable."""
        self.game = book.opened.game
        self.guests = guests
        self.is_given_up = False
        """Whether another host has the game; then it stands still, whatever its book says."""
        self.is_told = False
        """Whether the game is over and its guests are told; others tell those that come later."""
        self.is_casual = False
        """Whether its person may have help, such as an analysis of its position."""
        self._unproven = unproven
        self._keeps = keeps
        self._seats = seats
        self._journal = journal
        self._lag = lag
        self._inbox: asyncio.Queue[tuple[int, Happening]] = asyncio.Queue()
        self._spectators = Audience()
        self._owners = Audience()
        """The host's own screens."""
        self._table = Table(
            book.copy(),
            now_ms(),
            (self._known_style(0), self._known_style(1)),
            (self._own_nonce(0), self._own_nonce(1)),
        )
        self._next_note_ms = 0

    async def run(self) -> Ended:
        """Play the game; the seats are stopped when this returns."""
        log.info("game opened", game=self.game, players=self.book.opened.players)
        try:
            for number, seat in enumerate(self._seats):
                seat.start(self._reporter(number))
            while not self._table.over:
                await self._carry_out(await self._next_effects())
            for number, style in enumerate(self.book.styles):  # what our own players learned
                opponent = self.book.opened.players[1 - number]
                is_own = opponent not in self._unproven and not self.is_casual  # no hint's moves
                if style and self._seats[number].is_ours and is_own:
                    self._journal.keep_style(opponent, style)
        except asyncio.CancelledError:  # the server stops; the game goes on from here in another
            if self._table.book.clock_runs:
                self._note(now_ms())
            raise
        except LeaseLost:
            await self._give_up()
        except JournalError as error:
            log.error("journal", game=self.game, reason=str(error))
            await self._abandon("the game can't be kept")
        except Exception as error:
            log.exception("host error", game=self.game)
            await self._abandon(f"the host failed ({type(error).__name__})")
        finally:
            if self.book.ended is not None and not self.is_given_up:
                self.is_told = True
                while not self._inbox.empty():  # guests who came back while it was written
                    number, happening = self._inbox.get_nowait()
                    is_guest = self.book.opened.players[number] in self.guests
                    is_late = is_guest and not self._table.is_attached(number)
                    if isinstance(happening, Came) and is_late:
                        self._seats[number].send(self.game_over())
            stops = (seat.stop() for seat in self._seats)
            for failed in await asyncio.gather(*stops, return_exceptions=True):
                if isinstance(failed, Exception):
                    log.error("seat not stopped", game=self.game, exc_info=failed)
        await asyncio.gather(self._spectators.told(), self._owners.told())
        assert self.book.ended is not None
        log.info("game over", game=self.game, outcome=self.book.ended.outcome)
        return self.book.ended

    @property
    def is_over(self) -> bool:
        """Whether the game has ended, although its end may still be being written."""
        return self._table.over

    def game_over(self) -> Message:
        """Return the verdict of the finished game."""
        return views.game_over(self.book)

    # --- whoever runs the server ----------------------------------------------------------------

    def end(self, outcome: Outcome, why: str, winner: int | None = None) -> None:
        """End the game; ``winner`` is the seat that wins it if that is not decided otherwise."""
        self._inbox.put_nowait((0, Ruled(outcome, why, winner)))

    def give(self, seat: int, ms: int, why: str) -> None:
        """Give a seat time; it is told with its next event."""
        self._inbox.put_nowait((seat, TimeGift(ms, why)))

    # --- spectators -----------------------------------------------------------------------------

    def watch(self, spectator: Spectator, recipient: Viewer) -> None:
        """Show a spectator, or the host's own screen, the game so far, and each later event."""
        for message in views.watched(self.book, now_ms(), recipient):
            spectator(message)
        if self.book.ended is None:
            (self._owners if recipient == OWNER else self._spectators).join(spectator)

    def unwatch(self, spectator: Spectator) -> None:
        """Stop showing a spectator the game."""
        self._spectators.leave(spectator)
        self._owners.leave(spectator)

    # --- the loop -------------------------------------------------------------------------------

    def _reporter(self, seat: int) -> Callable[[Happening], None]:
        inbox = self._inbox  # not self, which has the seat: a cycle would keep the game
        return lambda happening: inbox.put_nowait((seat, happening))

    async def _next_effects(self) -> Effects:
        wake_at = self._table.deadline()
        assert wake_at is not None, "a game that is on has a deadline"
        if self._table.book.clock_runs:
            wake_at = min(wake_at, self._next_note_ms)
        wait_ms = wake_at - now_ms()
        if wait_ms <= 0:  # also while the inbox is never empty
            return await self._time_passed()
        try:
            async with asyncio.timeout(wait_ms / 1_000):
                seat, happening = await self._inbox.get()
        except TimeoutError:
            return await self._time_passed()
        return self._take(seat, happening)

    async def _time_passed(self) -> Effects:
        """Note the clocks; call the game if a deadline has passed and no message came before it.

        Tasks that carry bytes already received run first, so that a busy loop never turns a timely
        move into a loss.
        """
        now = now_ms()
        if self._table.book.clock_runs and now >= self._next_note_ms:
            self._note(now)
        deadline = self._table.deadline()
        if deadline is None or now < deadline:
            return Effects()
        for _ in range(4):
            await asyncio.sleep(0)
        for _ in range(self._inbox.qsize()):  # only what has arrived by now
            await self._carry_out(self._take(*self._inbox.get_nowait()))
            if self._table.over:
                return Effects()
        return self._table.tick(now_ms())

    def _take(self, seat: int, happening: Happening) -> Effects:
        match happening:
            case Came(seen=seen, last_lines=last_lines):
                return self._table.attach(seat, now_ms(), seen=seen, last_lines=last_lines)
            case Gone(why=why, failure=failure, evidence=evidence):
                if failure is None:
                    return self._table.detach(seat, why)
                if failure == "host_error":
                    return self._table.end(failure, why, now_ms())
                return self._table.fail(seat, failure, why, now_ms(), evidence)
            case Ruled(outcome=outcome, why=why, winner=winner):
                self._table.book.was_voided = True
                return self._table.end(outcome, why, now_ms(), winner)
            case TimeGift(ms=ms, why=why):
                given = self._table.give(seat, ms, why)
                if given.records:  # the last note lacks it: a restart would charge it
                    self._note(now_ms())
                return given
            case Noted(code=code, message=message, evidence=evidence):
                return self._table.note(seat, code, message, evidence)
            case Said(message=message, at_ms=at_ms, round_trip_ms=round_trip_ms):
                try:
                    late_ms = self._lag.late_at(at_ms)
                    return self._table.receive(
                        seat, message, at_ms, round_trip_ms, late_ms, now_ms()
                    )
                except PeerError as error:
                    self._seats[seat].refuse(error)
                    return Effects()

    async def _carry_out(self, effects: Effects) -> None:
        if effects.records:
            await self._append(effects.records)
            if any(isinstance(record, RefusedMove | Commitments) for record in effects.records):
                self._table.excuse(now_ms())  # the seat can do nothing until then
        self.book.follow(self._table.book)
        if any(isinstance(record, Began) for record in effects.records):
            log.info("game began", game=self.game)
        self._tell(effects.sends)
        self._tell_owners(effects.records)
        for seat in effects.restart:
            log.info("seat restarted", game=self.game, seat=seat)
            self._seats[seat].restart()
        if any(isinstance(record, TurnRecord | Began) for record in effects.records):
            now = now_ms()
            self._next_note_ms = now + NOTE_EVERY_MS
            await self._carry_out(self._table.begin_turn(now))

    async def _append(self, records: Sequence[Record]) -> None:
        if any(isinstance(each, Thought) and not self._is_kept(each) for each in records):
            return  # thoughts are still told; the room that is left is for moves
        await self._journal.append(self.game, records, last=self._table.over)

    def _is_kept(self, thought: Thought) -> bool:
        """Return whether the journal takes a thought, on its guest's account.

        What a player of this host thinks is on its opponent's account: without it, it would not.
        """
        players = self.book.opened.players
        by = players[thought.seat]
        for name in (by, players[1 - thought.seat]):
            if name in self.guests:
                size = len(msgspec.json.encode(thought))
                return self._journal.has_room and self._keeps(self.game, by, name, size)
        return self._journal.has_room

    def _tell(self, sends: Sends) -> None:
        for recipient, message in sends:
            if recipient is not None:
                self._seats[recipient].send(message)
            else:
                self._spectators.tell(message)

    def _tell_owners(self, records: Sequence[Record]) -> None:
        for record in records if self._owners else ():
            for message in views.on_own_screen(self.book, record, now_ms()):
                self._owners.tell(message)

    def _note(self, now: int) -> None:
        self._next_note_ms = now + NOTE_EVERY_MS
        book = self._table.book
        self._journal.note(ClockNote(game=self.game, clocks=book.clocks(now), seq=book.next_seq))

    def _own_nonce(self, seat: int) -> str | None:
        """Return a nonce if the seat is the host's own: the host could tell its player anything."""
        return new_nonce() if self._seats[seat].is_ours else None

    # --- how opponents play ---------------------------------------------------------------------

    def _known_style(self, seat: int) -> Style | None:
        """Return an opponent's style from the journal, for our own players only."""
        opponent = self.book.opened.players[1 - seat]
        if not self._seats[seat].is_ours or opponent in self._unproven:
            return None
        return self._journal.style_of(opponent)

    # --- the host's own faults ------------------------------------------------------------------

    async def _abandon(self, reason: str) -> None:
        """Void the game as it was before what could not be stored, unless it is over."""
        log.error("game void", game=self.game, reason=reason)
        self._table.book.follow(self.book)
        effects = self._table.end("host_error", reason, now_ms())
        try:
            if effects.records:
                await self._append(effects.records)
        except LeaseLost:
            await self._give_up()
        except JournalError as error:
            log.error("verdict not kept, the game stays open", game=self.game, reason=str(error))
        self.book.follow(self._table.book)
        self._tell(effects.sends)
        self._tell_owners(effects.records)

    async def _give_up(self) -> None:
        """Stand still until the server stops: another host goes on, and nobody is told anything."""
        log.error("game given up", game=self.game)
        self.is_given_up = True
        await asyncio.get_running_loop().create_future()

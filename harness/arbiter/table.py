"""The arbiter of one game, without I/O: it is told what happens and when, and says what to do.

A ``Table`` seats two players at a ``Scorebook``. Its inputs are messages with the millisecond at
which their bytes arrived, seats that come and go, and the passing of time; its output is
``Effects``: records to be made durable, then messages to be sent, as
``harness.arbiter.table_messages`` words them. It reads no clock and touches no socket, so whole
games with every kind of misconduct are played in tests in no time.

Between a move and the next player's turn nobody's clock runs: the caller makes the records
durable, sends the messages, and then calls ``begin_turn``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from engine.rules.rules import IllegalMove
from protocol.errors import PeerError
from protocol.messages import Decline, Info, Message, Move, Ready, Resign, Resume
from protocol.parts import Outcome, Style
from protocol.session import ArbiterSession, Repeated

from .records import Failed, Record, Thought
from .scorebook import Scorebook
from .table_messages import Sends, TableSeat, TableSeats

__all__ = ["ATTEMPTS", "Effects", "Table"]

ATTEMPTS = 3
"""Moves against the rules in one turn that lose the game."""

MAX_THOUGHTS = 64
"""``info`` messages kept of one turn; a seat may send more, the journal does not grow with them."""

MAX_DISCONNECTS = 100
"""Lost connections of a seat that are kept on record."""


@dataclass(slots=True)
class Effects:
    """What is to be done, in this order: keep, send, restart."""

    records: list[Record] = field(default_factory=list)
    """To be durable before anything is sent."""
    sends: Sends = field(default_factory=list)
    restart: list[int] = field(default_factory=list)
    """Seats whose process is to be started again."""


class Table:
    """One game and its two seats.

    Args:
        book: the game, new or restored from a journal.
        now_ms: the time, in milliseconds of a monotonic clock that all later calls use too. The
            seats have until ``ready_ms`` after it to be ready; in a restored game the clock of
            each seat stands still as long, or until that seat is back.
        known_styles: what each seat is told of how its opponent plays, by seat; nobody else is.
    """

    def __init__(
        self,
        book: Scorebook,
        now_ms: int,
        known_styles: tuple[Style | None, Style | None] = (None, None),
    ) -> None:
        self.book = book
        self.game = book.opened.game
        self._seats = TableSeats(book, known_styles, ATTEMPTS)
        self._hold_until = now_ms + book.opened.time.ready_ms
        self._thoughts = 0

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return self.book.ended is not None

    def deadline(self) -> int | None:
        """The first millisecond at which ``tick`` has something to do."""
        if self.over:
            return None
        flag = self.book.flag_falls()
        return self._hold_until if flag is None else flag

    def watched(self, now_ms: int) -> list[Message]:
        """What a spectator who comes now has to know: the game so far, and how it ended."""
        return self._seats.watched(now_ms)

    def verdict(self) -> Message:
        """Tell how the game ended; it has to be over."""
        return self._seats.verdict()

    # --- what happens to a table ----------------------------------------------------------------

    def attach(self, seat: int, now_ms: int, *, seen: int = -1) -> Effects:
        """A seat has come, or come back; it is offered the game from event ``seen`` + 1 on."""
        effects = Effects()
        side = self._seats[seat]
        side.session = ArbiterSession()
        self._seats.offer(side, now_ms, seen, effects.sends)
        return effects

    def detach(self, seat: int, why: str) -> Effects:
        """A seat's connection is lost. Its clock, if it runs, runs on."""
        side = self._seats[seat]
        if side.session is None or self.over:
            return Effects()
        side.session, side.live = None, False
        side.disconnects += 1
        if side.disconnects > MAX_DISCONNECTS:
            return Effects()
        return Effects([Failed(seat=seat, code="disconnect", message=why)])

    def fail(
        self, seat: int, code: Outcome, message: str, now_ms: int, evidence: str = ""
    ) -> Effects:
        """A local seat's process died (``crash``) or hangs (``stall``); once it is restarted.

        The evidence goes into the record and to nobody at the table.
        """
        effects = Effects()
        if self.over:
            return effects
        failed = Failed(seat=seat, code=code, message=message, evidence=evidence)
        effects.records.append(failed)
        self.book.take(failed)
        side = self._seats[seat]
        side.session, side.live = None, False
        side.failures += 1
        if side.failures == 1:
            effects.restart.append(seat)
        elif self.book.game is None:
            self._end_without_game([seat], message, now_ms, effects)
        else:
            self._end(code, 1 - seat, message, now_ms, effects)
        return effects

    def note(self, seat: int, code: str, message: str, evidence: str) -> Effects:
        """Something was wrong with what a seat said: kept for the result, and nothing more."""
        if self.over:
            return Effects()
        failed = Failed(seat=seat, code=code, message=message, evidence=evidence)
        self.book.take(failed)
        return Effects([failed])

    def void(self, message: str, now_ms: int, *, replace: bool = False) -> Effects:
        """The host itself has failed: nobody loses.

        With ``replace`` also where the game has ended, if nobody was told of it yet.
        """
        effects = Effects()
        if replace:
            self.book.ended = None
        if not self.over:
            self._end("host_error", None, message, now_ms, effects)
        return effects

    def tick(self, now_ms: int) -> Effects:
        """Time has passed."""
        effects = Effects()
        deadline = self.deadline()
        if deadline is None or now_ms < deadline:
            return effects
        if self.book.game is None:
            late = [side.number for side in self._seats if not side.live]
            self._end_without_game(late, "not ready in time", now_ms, effects)
        elif not self.book.clock_runs:
            return self.begin_turn(now_ms)
        else:
            self._flag(now_ms, effects)
        return effects

    def begin_turn(self, now_ms: int) -> Effects:
        """Start the clock of the seat to move, and tell it so.

        In a restored game a seat that is not back yet is waited for, even if the other was
        quicker and has moved: that it is away is the host's fault.
        """
        effects = Effects()
        if self.book.on_turn is None or self.book.clock_runs:
            return effects
        side = self._seats[self.book.on_turn]
        if side.been_live or now_ms >= self._hold_until:
            self.book.start_clock(now_ms)
            self._seats.ask(side, now_ms, effects.sends)
        return effects

    def receive(
        self, seat: int, message: Message, now_ms: int, lag_ms: int = 0, host_lag_ms: int = 0
    ) -> Effects:
        """A seat's message arrived at ``now_ms``, having spent ``lag_ms`` on the way.

        Raises:
            PeerError: the seat may not say this now; it gets the reply, the game goes on.
        """
        effects = Effects()
        side = self._seats[seat]
        if side.session is None:
            raise PeerError("out_of_turn", "nobody sits here on this connection", retry="no")
        match side.session.receive(message):
            case Ready(nonce=nonce):
                self._seat_is_ready(side, nonce, now_ms, effects)
            case Decline(code=code, message=reason):
                why = f"declined, {code}: {reason}"
                if self.book.game is None:
                    self._end_without_game([seat], why, now_ms, effects)
                else:
                    self._end("resign", 1 - seat, why, now_ms, effects)
            case Move() as move:
                self._seat_moves(side, move, now_ms, (lag_ms, host_lag_ms), effects)
            case Resign():
                self._end("resign", 1 - seat, "", now_ms, effects)
            case Info() as info:
                self._seat_thinks(seat, info, effects)
            case Resume(seen=seen):
                self._seats.offer(side, now_ms, seen, effects.sends)
            case Repeated(message=repeated):
                answer = self._seats.answer_again(side, repeated, now_ms)
                effects.sends.append((seat, answer))
        return effects

    # --- getting ready --------------------------------------------------------------------------

    def _seat_is_ready(self, side: TableSeat, nonce: str, now_ms: int, effects: Effects) -> None:
        side.live = side.been_live = True
        if self.book.game is None:
            side.nonce = nonce
            if all(other.live for other in self._seats):
                self._begin(now_ms, effects)
            return
        self._seats.catch_up(side, effects.sends)
        if side.number == self.book.on_turn:
            self.book.start_clock(now_ms)
            self._seats.ask(side, now_ms, effects.sends)

    def _begin(self, now_ms: int, effects: Effects) -> None:
        effects.records.append(self.book.begin((self._seats[0].nonce, self._seats[1].nonce)))
        self._seats.began(now_ms, effects.sends)

    # --- a turn ---------------------------------------------------------------------------------

    def _seat_moves(
        self, side: TableSeat, move: Move, now_ms: int, lags: tuple[int, int], effects: Effects
    ) -> None:
        book = self.book
        let_off = min(lags[0], book.opened.time.lag_ms) + lags[1]
        if book.elapsed(now_ms) - let_off > book.limit().ms:
            self._flag(now_ms, effects)
            return
        try:
            turn = book.play(move.move, now_ms, *lags)
        except IllegalMove as error:
            self._refuse(side, move, error, now_ms, effects)
            return
        self._thoughts = 0
        effects.records.append(turn)
        self._seats.played(turn, effects.sends)
        assert book.game is not None
        if book.game.over is not None:
            self._end(book.game.over.reason, None, "", now_ms, effects)

    def _refuse(
        self, side: TableSeat, move: Move, error: IllegalMove, now_ms: int, effects: Effects
    ) -> None:
        refused = self.book.refuse(move.move, error)
        effects.records.append(refused)
        if refused.attempt < ATTEMPTS:
            self._seats.refuse(side, refused, now_ms, effects.sends)
            return
        message = f"{move.move}: {error}"
        self.book.accuse(side.number, "illegal", message)
        self._end("illegal", 1 - side.number, message, now_ms, effects)

    def _seat_thinks(self, seat: int, info: Info, effects: Effects) -> None:
        self._thoughts += 1
        if self._thoughts <= MAX_THOUGHTS:
            thought = Thought(
                seq=info.seq,
                seat=seat,
                text=info.text,
                candidates=info.candidates,
                belief=info.belief,
            )
            self.book.take(thought)
            effects.records.append(thought)

    # --- the end --------------------------------------------------------------------------------

    def _flag(self, now_ms: int, effects: Effects) -> None:
        book = self.book
        seat, limit = book.on_turn, book.limit()
        assert seat is not None
        message = f"{book.elapsed(now_ms)} ms used where {limit.ms} ms were left"
        if self._seats[seat].session is None:
            times = self._seats[seat].disconnects
            book.accuse(seat, "disconnect", f"away when time ran out, connection lost {times}×")
        if limit.outcome == "no_show":
            self._end_without_game([seat], f"no first move, {message}", now_ms, effects)
        else:
            book.accuse(seat, "time", message)
            self._end("time", 1 - seat, message, now_ms, effects)

    def _end_without_game(
        self, absent: Sequence[int], message: str, now_ms: int, effects: Effects
    ) -> None:
        for seat in absent:
            self.book.accuse(seat, "no_show", message)
        other = self._seats[1 - absent[0]]
        winner = other.number if len(absent) == 1 and other.been_live else None
        self._end("no_show", winner, message, now_ms, effects)

    def _end(
        self, outcome: Outcome, winner: int | None, message: str, now_ms: int, effects: Effects
    ) -> None:
        effects.records.append(self.book.end(outcome, winner, message, now_ms))
        self._seats.ended(effects.sends)

"""The arbiter of one game, without I/O: it takes events with their times and returns effects.

Its inputs are messages with the millisecond of their arrival, seats that come and go, and the
passing of time; ``Effects`` are records to be made durable, then messages to be sent. It reads no
clock and touches no socket, so tests play whole games with every kind of misconduct in no time.

Between a move and the next player's turn no clock runs: ``begin_turn`` comes after all effects.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import msgspec

from engine.rules.rules import IllegalMove
from protocol.errors import PeerError
from protocol.messages import (
    Accept,
    Challenge,
    Decline,
    Info,
    Message,
    Move,
    NewGame,
    Ready,
    Resign,
    Resume,
    Reveal,
)
from protocol.parts import OUTCOMES, Accusation, Outcome, Style, thoughts_of
from protocol.session import Answer, ArbiterSession, FromArbiter, Repeated

from . import views
from .nonces import Nonces
from .records import Began, Failed, Given, Record, RefusedMove, Thought, TurnRecord
from .scorebook import ATTEMPTS, Scorebook, accusation
from .views import EVERYBODY, Recipient

MAX_THOUGHTS = 64
"""``info`` messages recorded per turn; further ones are ignored, so the journal stays small."""

MOST_THOUGHT_BYTES = 1 << 20
"""Bytes of ``info`` recorded per game and seat; a restored game counts anew."""

MAX_DISCONNECTS = 100

REVEAL_MS = 10_000
"""Time to reveal a nonce that is committed to: it takes no thought, and the opponent waits."""

Sends: TypeAlias = tuple[tuple[Recipient, Message], ...]
"""Messages, each to a seat or (``None``) to every spectator."""


@dataclass(frozen=True, slots=True)
class Effects:
    """What the caller must do, in this order: record, send, restart."""

    records: tuple[Record, ...] = ()
    """To be durable before anything is sent."""
    sends: Sends = ()
    restart: tuple[int, ...] = ()

    def __add__(self, later: Effects) -> Effects:
        return Effects(
            self.records + later.records, self.sends + later.sends, self.restart + later.restart
        )


@dataclass(slots=True)
class _Side:
    number: int
    session: ArbiterSession | None = None
    live: bool = False
    """Whether it has reported ready since it last came."""
    has_been_live: bool = False
    """Whether it has ever reported ready to this table; False at first in a restored game."""
    failures: int = 0
    disconnects: int = 0
    thought_bytes: int = 0
    """Bytes of its thoughts so far, recorded or not."""
    last_lines: Callable[[], str] = str
    offered_seq: int = 0
    """The number of the next event when it was last offered the game."""

    def leave(self) -> None:
        self.session, self.live = None, False


class Table:
    """One game, new or restored from a journal, and its two seats.

    ``now_ms`` is on the monotonic clock of all later calls. Seats must be ready within
    ``ready_ms``; in a restored game each seat's clock stands still as long, or until that seat is
    back. ``known_styles`` has, by seat, its opponent's style; sent to that seat only.
    ``own_nonces`` has the nonces of the host's own seats, which are committed to before anybody is
    offered the game, unless the journal has some.
    """

    def __init__(
        self,
        book: Scorebook,
        now_ms: int,
        known_styles: tuple[Style | None, Style | None],
        own_nonces: tuple[str | None, str | None],
    ) -> None:
        self.book = book
        self._nonces = Nonces(book, own_nonces)
        self._known_styles = known_styles
        self._seats = _Side(0), _Side(1)
        self._hold_until = now_ms + book.opened.time.ready_ms
        self._taken_ms = now_ms
        """When the last message, or seat that came, was taken up."""

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return self.book.ended is not None

    def deadline(self) -> int | None:
        """Return the first millisecond at which ``tick`` has something to do."""
        if self.over:
            return None
        flag_ms, challenge_ms = self.book.flag_falls(), self.book.challenge_ends()
        if flag_ms is None:  # no clock runs while the table waits for a seat
            return self._hold_until
        return flag_ms if challenge_ms is None else min(flag_ms, challenge_ms)

    def excuse(self, now_ms: int) -> None:
        """Put off all deadlines by what it took to carry out the last event, until ``now_ms``.

        That is not counted from a message's arrival: what waits behind a seat's own messages waits
        in that seat's time.
        """
        ms = now_ms - self._taken_ms
        self._hold_until += ms
        self.book.excuse(ms)

    def is_attached(self, seat: int) -> bool:
        """Return whether a seat is connected, so that it is told what happens."""
        return self._seats[seat].session is not None

    # --- events --------------------------------------------------------------------------------

    def attach(
        self, seat: int, now_ms: int, *, seen: int = -1, last_lines: Callable[[], str] = str
    ) -> Effects:
        """Offer a seat that has come, or come back, the game from event ``seen`` + 1 on."""
        self._seats[seat].session = ArbiterSession(self.book.opened.game)
        self._seats[seat].last_lines = last_lines
        self._taken_ms = now_ms
        own = self._nonces.fix_own()
        committed = Effects() if own is None else self._record(own)
        return committed + self._offer(seat, now_ms, seen)

    def detach(self, seat: int, why: str) -> Effects:
        """Note the loss of a seat's connection; its clock runs on."""
        side = self._seats[seat]
        if side.session is None or self.over:
            return Effects()
        side.leave()
        side.disconnects += 1
        if side.disconnects > MAX_DISCONNECTS:
            return Effects()
        return self.note(seat, "disconnect", why)

    def fail(
        self, seat: int, code: Outcome, message: str, now_ms: int, evidence: str = ""
    ) -> Effects:
        """Note that a local seat's process died (``crash``) or hangs (``stall``); restart it once.

        The evidence is recorded and sent to nobody.
        """
        if self.over:
            return Effects()
        noted = self.note(seat, code, message, evidence)
        side = self._seats[seat]
        side.leave()
        side.failures += 1
        if side.failures == 1:
            return noted + Effects(restart=(seat,))
        if self._may_be_left:
            return noted + self._end_without_game([seat], message, now_ms)
        return noted + self.end(code, message, now_ms, 1 - seat)

    def note(self, seat: int, code: str, message: str, evidence: str = "") -> Effects:
        """Record a fault of a seat without any other effect."""
        if self.over:
            return Effects()
        return self._record(Failed(seat=seat, code=code, message=message, evidence=evidence))

    def grant(self, seat: int, ms: int, why: str) -> Effects:
        """Give a seat time that was lost by no fault of its own."""
        return Effects() if self.over else self._record(Given(seat=seat, ms=ms, message=why))

    def tick(self, now_ms: int) -> Effects:
        """Act on the passing of time."""
        deadline = self.deadline()
        if deadline is None or now_ms < deadline:
            return Effects()
        if self.book.game is None:
            return self._late(now_ms)
        if not self.book.clock_runs:
            return self.begin_turn(now_ms)
        flag = self.book.flag_falls()
        return self._flag(now_ms) if flag == deadline else self._accept(now_ms)

    def begin_turn(self, now_ms: int) -> Effects:
        """Start the clock of the seat to move, and ask it for a move.

        In a restored game the clock of a seat that has not come back yet starts at the end of
        ``_hold_until``: its absence is the host's fault.
        """
        seat = self.book.on_turn
        if seat is None or self.book.clock_runs:
            return Effects()
        if not self._seats[seat].has_been_live and now_ms < self._hold_until:
            return Effects()
        return self._ask(seat, now_ms)

    def receive(
        self,
        seat: int,
        message: Message,
        now_ms: int,
        round_trip_ms: int = 0,
        host_lag_ms: int = 0,
        taken_ms: int | None = None,
    ) -> Effects:
        """Handle a seat's message that arrived at ``now_ms``.

        Of ``round_trip_ms``, the network's, the turn isn't charged for ``lag_ms`` of the time
        control at most. The message is taken up at ``taken_ms``, by default at once.

        Raises:
            PeerError: the message is not allowed now; the seat gets the reply, the game goes on.
        """
        session, book = self._seats[seat].session, self.book
        self._taken_ms = now_ms if taken_ms is None else taken_ms
        if session is None:
            raise PeerError("out_of_turn", "nobody sits here on this connection", retry="no")
        attempt = book.attempt if seat == book.on_turn else 1
        match session.receive(message, book.next_seq, attempt):
            case Ready() as ready:
                return self._seat_is_ready(seat, ready, now_ms)
            case Reveal(nonce=nonce):
                self._nonces.reveal(seat, nonce)
                return self._settle_draws(seat, now_ms)
            case Decline(code=code, message=reason):
                why = f"declined, {code}: {reason}"
                if self._may_be_left:
                    return self._end_without_game([seat], why, now_ms)
                return self.end("resign", why, now_ms, 1 - seat)
            case Move(move=text):
                return self._seat_moves(seat, text, now_ms, round_trip_ms, host_lag_ms)
            case Challenge(words=words):
                return self._seat_challenges(seat, words, now_ms, round_trip_ms, host_lag_ms)
            case Accept() if book.is_open:
                return self._accept(now_ms, round_trip_ms, host_lag_ms)
            case Resign():
                return self.end("resign", "", now_ms, 1 - seat)
            case Info() as info if len(book.thoughts) < MAX_THOUGHTS:
                thought = Thought(seq=info.seq, seat=seat, **thoughts_of(info))
                side = self._seats[seat]
                side.thought_bytes += len(msgspec.json.encode(thought))
                if side.thought_bytes <= MOST_THOUGHT_BYTES:
                    return self._record(thought)
            case Resume(seen=seen):
                return self._offer(seat, now_ms, seen)
            case Repeated(message=repeated):
                return Effects(sends=((seat, self._answer_again(seat, repeated)),))
        return Effects()

    def _record(self, record: Record) -> Effects:
        self.book.take(record)
        return Effects(records=(record,))

    # --- messages -------------------------------------------------------------------------------

    def _send(self, recipient: Recipient, *messages: FromArbiter) -> Effects:
        """Send to spectators or a ready seat; others get it with an offer, or once ready."""
        if recipient is None:
            return Effects(sends=tuple((None, message) for message in messages))
        side = self._seats[recipient]
        if side.session is None:
            return Effects()
        return Effects(
            sends=tuple(
                (recipient, side.session.send(message))
                for message in messages
                if side.live or self.over or isinstance(message, NewGame)
            )
        )

    def _send_to_all(self, message_for: Callable[[Recipient], FromArbiter]) -> Effects:
        first, second, spectators = (self._send(to, message_for(to)) for to in EVERYBODY)
        return first + second + spectators

    def _offer(self, seat: int, now_ms: int, seen: int) -> Effects:
        self._seats[seat].live = False
        if self.over:
            return self._send(seat, views.game_over(self.book))
        style = self._known_styles[seat]
        offer = views.new_game(self.book, seat, now_ms, seen=seen, known_style=style)
        self._seats[seat].offered_seq = offer.seq
        return self._send(seat, offer)

    def _ask(self, seat: int, now_ms: int) -> Effects:
        self.book.start_clock(now_ms)
        return self._send(seat, views.your_turn(self.book, now_ms, seat))

    def _answer_again(self, seat: int, message: Answer) -> Message:
        """Answer a repeated move as before; raise PeerError if it was not this seat's to move."""
        book = self.book
        if book.ended is not None and message.seq >= book.ended.seq:
            return views.game_over(book)
        if message.seq == book.next_seq and not isinstance(message, Resign):  # refused before
            for refusal in book.refusals:
                if (refusal.seq, refusal.attempt) == (message.seq, message.attempt):
                    return views.refused(book, refusal, self._taken_ms)
        for turn in book.turns:
            if turn.seq == message.seq and turn.charged == seat:
                return views.played(book, turn, seat)
        why, game = f"event {message.seq} was not this seat's to move", book.opened.game
        raise PeerError("out_of_turn", why, retry="no", game=game, seq=message.seq)

    # --- the nonces -----------------------------------------------------------------------------

    @property
    def _may_be_left(self) -> bool:
        """Whether nobody can know the draws yet: if a seat leaves then, there was no game."""
        return self.book.game is None and not self.book.commitments.are_open

    def _settle_draws(self, seat: int, now_ms: int) -> Effects:
        """Begin, or ask for nonces, as far as both seats allow after a message of ``seat``."""
        both_live = all(side.live for side in self._seats)
        nonces = self._nonces.both
        if both_live and nonces is not None:
            return self._begin(nonces, now_ms)
        if self.book.commitments.are_open:
            return self._ask_to_reveal(seat)
        if not both_live:
            return Effects()
        self._hold_until = now_ms + REVEAL_MS
        fixed = self._record(self._nonces.fixed())
        return fixed + self._ask_to_reveal(0) + self._ask_to_reveal(1)

    def _ask_to_reveal(self, seat: int) -> Effects:
        if self._nonces.knows(seat):
            return Effects()
        return self._send(seat, views.committed(self.book))

    def _late(self, now_ms: int) -> Effects:
        """End a game that could not begin in time."""
        if self._may_be_left:
            away = [side.number for side in self._seats if not side.live]
            return self._end_without_game(away, "not ready in time", now_ms)
        late = [
            table_seat.number
            for table_seat in self._seats
            if not (table_seat.live and self._nonces.knows(table_seat.number))
        ]
        message = "committed itself to a nonce and did not reveal it in time"
        faults = [accusation(seat, "unrevealed", message) for seat in late]
        if len(late) == 2:
            return self._end_without_game(late, message, now_ms, faults)
        return self.end("time", message, now_ms, 1 - late[0], faults)

    # --- the game -------------------------------------------------------------------------------

    def _seat_is_ready(self, seat: int, ready: Ready, now_ms: int) -> Effects:
        side, book = self._seats[seat], self.book
        side.live = side.has_been_live = True
        if book.game is None:
            self._nonces.take_ready(seat, ready)
            return self._settle_draws(seat, now_ms)
        caught_up = self._send(seat, *views.missed(book, seat, side.offered_seq))
        return caught_up + self._ask(seat, now_ms) if seat == book.on_turn else caught_up

    def _begin(self, nonces: tuple[str, str], now_ms: int) -> Effects:
        began = self._record(Began(nonces=nonces))
        return began + self._send_to_all(lambda to: views.started(self.book, to, now_ms))

    def _seat_moves(
        self, seat: int, move: str, now_ms: int, round_trip_ms: int, host_lag_ms: int
    ) -> Effects:
        book = self.book
        if self._took_ms(now_ms, round_trip_ms, host_lag_ms) > book.limit():
            return self._flag(now_ms)
        accepted = Effects()
        try:
            if book.is_open:
                if book.ends_if_accepted:
                    return self._accept(now_ms, round_trip_ms, host_lag_ms)  # whatever it says
                book.after(move)
                accepted = self._accept_open_play()
            turn = book.play(move, now_ms, round_trip_ms, host_lag_ms)
        except IllegalMove as error:
            return self._refuse(seat, move, error, now_ms)
        return accepted + self._announce(turn, now_ms)

    def _seat_challenges(
        self, seat: int, words: Sequence[str], now_ms: int, round_trip_ms: int, host_lag_ms: int
    ) -> Effects:
        book, took_ms = self.book, self._took_ms(now_ms, round_trip_ms, host_lag_ms)
        if took_ms > book.limit():
            return self._flag(now_ms)
        try:
            ruling = book.ruling(words, took_ms)
        except IllegalMove as error:
            return self._refuse(seat, "challenge", error, now_ms)
        turn = book.judge(ruling, now_ms, round_trip_ms, host_lag_ms)
        drawn = self._send_drawn(book.turns[-2]) if ruling.stands else Effects()
        return drawn + self._announce(turn, now_ms)

    def _took_ms(self, now_ms: int, round_trip_ms: int, host_lag_ms: int) -> int:
        let_off = min(round_trip_ms, self.book.opened.time.lag_ms) + host_lag_ms
        return self.book.elapsed(now_ms) - let_off

    def _announce(self, turn: TurnRecord, now_ms: int) -> Effects:
        """Tell everybody of an event that the book has, and end the game if it did."""
        sends = self._send_to_all(lambda to: views.played(self.book, turn, to))
        return Effects(records=(turn,)) + sends + self._end_if_over(now_ms)

    def _end_if_over(self, now_ms: int) -> Effects:
        over = self.book.game.over if self.book.game else None
        return Effects() if over is None else self.end(over.reason, "", now_ms)

    def _accept(self, now_ms: int, round_trip_ms: int = 0, host_lag_ms: int = 0) -> Effects:
        """Accept the open play; if it ends the game, charge at most the time to challenge it."""
        book, challenge_ends_ms = self.book, self.book.challenge_ends()
        took_ms = max(self._took_ms(now_ms, round_trip_ms, host_lag_ms), 0)
        if challenge_ends_ms is not None:
            # The allowance for lag, and the millisecond after the end, are not charged.
            most_ms = book.elapsed(challenge_ends_ms - 1 - book.opened.time.lag_ms)
            took_ms = min(took_ms, most_ms)
        ended_ms = now_ms - book.elapsed(now_ms) + took_ms
        return self._accept_open_play() + self._end_if_over(ended_ms)

    def _accept_open_play(self) -> Effects:
        """Accept the open play as it is; the clock of the seat to move runs on."""
        record = self.book.accept()
        return Effects(records=(record,)) + self._send_drawn(self.book.turns[-1])

    def _send_drawn(self, play: TurnRecord) -> Effects:
        return self._send(play.seat, views.drawn(self.book, play))

    def _refuse(self, seat: int, move: str, error: IllegalMove, now_ms: int) -> Effects:
        refusal = RefusedMove(
            seq=self.book.next_seq,
            seat=seat,
            attempt=self.book.attempt,
            move=move,
            code=error.code,
            message=str(error),
        )
        effects = self._record(refusal)
        if refusal.attempt < ATTEMPTS:
            return effects + self._send(seat, views.refused(self.book, refusal, self._taken_ms))
        message = f"{move}: {error}"
        fault = accusation(seat, "illegal", message)
        return effects + self.end("illegal", message, now_ms, 1 - seat, [fault])

    # --- the end --------------------------------------------------------------------------------

    def _flag(self, now_ms: int) -> Effects:
        seat, limit = self.book.on_turn, self.book.limit()
        assert seat is not None
        message = f"{self.book.elapsed(now_ms)} ms used where {limit} ms were left"
        faults: list[Accusation] = []
        if self._seats[seat].session is None:
            times = self._seats[seat].disconnects
            away = f"away when time ran out, connection lost {times}×"
            faults.append(accusation(seat, "disconnect", away))
        if not self.book.is_open and (lines := self._seats[seat].last_lines()):
            # The note accuses the seat, so the end does not do it again.
            noted = self.note(seat, "time", message, lines)
            return noted + self.end("time", message, now_ms, 1 - seat, faults)
        faults.append(accusation(seat, "time", message))
        return self.end("time", message, now_ms, 1 - seat, faults)

    def _end_without_game(
        self, absent: Sequence[int], message: str, now_ms: int, faults: Sequence[Accusation] = ()
    ) -> Effects:
        faults = [*faults, *(accusation(seat, "no_show", message) for seat in absent)]
        winner = 1 - absent[0] if len(absent) == 1 else None  # even if it was not ready yet
        return self.end("no_show", message, now_ms, winner, faults)

    def end(
        self,
        outcome: Outcome,
        message: str,
        now_ms: int,
        winner: int | None = None,
        faults: Sequence[Accusation] = (),
    ) -> Effects:
        """End the game, unless it is over.

        A play that could still be challenged is accepted first. If that play ends the game, the
        game ends by it, and not by ``outcome``. ``winner`` is for outcomes that the score does not
        decide.
        """
        if self.over:
            return Effects()
        accepted = Effects()
        if self.book.is_open and OUTCOMES[outcome].won_by != "nobody":
            accepted = self._accept_open_play()
            by_rules = self.book.game.over if self.book.game else None
            if by_rules is not None:
                outcome, winner, message, faults = by_rules.reason, None, "", ()
        ended = self.book.end(outcome, winner, message, now_ms, faults)
        verdict = views.game_over(self.book)
        return accepted + Effects(records=(ended,)) + self._send_to_all(lambda _to: verdict)

"""The time plan of a turn; nothing else plans time.

A turn has three ends, counted from the arrival of the question:

* ``deadline_ms``: the planned end. The clock's time, plus future increments and less a small
  reserve for the turns after the last tile is drawn, is divided among the likely turns before that.
  All get the same, but late turns twice as much, since a better search gains most there. Time that
  a turn does not need stays on the clock for later turns.
* ``stretch_ms``: the end of a close decision: twice the share, but never more than half of the
  clock's time above that reserve.
* ``last_ms``: the latest moment for an answer. Until then the turn costs only time.

No turn is planned into overtime while there is time on the clock. A minute of overtime costs 10
points as soon as its first millisecond is used. It lengthens a search of two minutes by half, which
decides only between nearly equal moves, and would have to find a move 10 points better to pay. A
minute that has begun is paid for, and its rest is divided like a clock of its own; the next must
not begin. If overtime loses the game, its limit is kept too.

Each end keeps a margin: some milliseconds by which a busy machine may wake this process late, plus
twice the round trip. That is the connection's or, if it is more, the time that the arbiter's clock
charged for a recent turn beyond the time it took here (``LagSeen``). If the clock shows less than
the margin, the answer goes out at once.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from bot.player import Budget, View
from protocol.channel import now_ms
from protocol.messages import Played

TILES_A_ROUND = 9
"""Tiles that both players draw together in one turn each."""

LATE_BAG = 14
"""Most tiles in the bag of a late turn."""

LATE_SHARES = 2
"""Shares of a late turn; an earlier turn has one share."""

LATE_TURNS = 2
"""Turns planned once the bag is empty: nine players in ten have no more left."""

RESERVE = 40
"""Divisor of the initial clock: a fortieth is kept for those turns, or an even share if less."""

STRETCH = 2
"""Multiple of its share that a turn with a close decision may take."""

MARGIN_MS = 50
"""Time that a busy machine may take to wake a waiting process."""

MINUTE_MS = 60_000


def plan(
    view: View,
    deadline_ms: int,
    *,
    asked_ms: int | None = None,
    round_trip_ms: int = 0,
    clock: Callable[[], int] = now_ms,
) -> Budget:
    """Return the budget of a turn.

    Args:
        view: the game at the start of the turn, with both clocks.
        deadline_ms: time from the question until the arbiter rules the game lost.
        asked_ms: arrival of the question, by ``clock``; by default now.
        round_trip_ms: the measured round trip to the arbiter, or what recent turns were charged for
            it if that is more.
        clock: returns the time in milliseconds.
    """
    asked = clock() if asked_ms is None else asked_ms
    margin = margin_ms(round_trip_ms)
    free = view.clocks[view.seat]  # what costs neither points nor the game
    if free <= 0:  # the rest of the minute that this turn pays for anyway
        free = min(MINUTE_MS - (-free) % MINUTE_MS, free + view.time.max_overtime_ms)
    bank = max(0, free - margin)
    turns = turns_left(view)
    spare = bank
    if view.bag:
        spare -= min(view.time.initial_ms // RESERVE, bank * LATE_TURNS // (turns + LATE_TURNS))
    longest = deadline_ms - view.time.margin_ms  # the arbiter's margin is not planned with
    last = max(0, min(bank, longest - min(margin, longest // 5)))
    half = min(spare // 2, last)
    own, all_shares = _shares(view.bag), sum(map(_shares, _bags(view)))
    share = (spare + view.time.increment_ms * (turns - 1)) * own // all_shares - round_trip_ms
    share = max(0, min(share, half))
    return Budget(asked + share, asked + last, clock, stretch_ms=asked + min(STRETCH * share, half))


def pondering(view: View, clock: Callable[[], int] = now_ms) -> Budget:
    """Return a budget as long as the opponent's turn can be; cancel it when the opponent moves."""
    time = view.time
    longest = max(0, view.clocks[view.opponent] + time.max_overtime_ms) + time.margin_ms
    return Budget(clock() + longest, clock=clock)


def margin_ms(round_trip_ms: int) -> int:
    """Return the margin between an answer and the end of a clock, in milliseconds."""
    return MARGIN_MS + 2 * round_trip_ms


def turns_left(view: View) -> int:
    """Estimate the player's turns until the bag is empty, or, once it is, to the end of the game.

    This turn counts. The estimate is one more than the tiles suggest: in 300 games of ``static``
    against itself a player had 0.3 to 0.5 turns more on average, and in one case of ten 1 to 1.5
    more.
    """
    return len(_bags(view))


def _bags(view: View) -> list[int]:
    """Return the likely numbers of tiles in the bag at these turns."""
    return [*range(view.bag, 0, -TILES_A_ROUND), 0] if view.bag else LATE_TURNS * [0]


def _shares(bag: int) -> int:
    return LATE_SHARES if bag <= LATE_BAG else 1


class LagSeen:
    """The extra time of turns by the arbiter's clock: transit, and waits for a core.

    The largest extra time of the last few turns counts. A repeated question, as after a lost
    connection or a restart, counts from its last arrival.
    """

    def __init__(self) -> None:
        self._seq: int | None = None
        self._asked_ms = 0
        self._clock_ms = 0
        self._took_ms: int | None = None
        self._recent: deque[int] = deque([0], maxlen=4)

    @property
    def ms(self) -> int:
        """The largest extra time of the last few turns, in milliseconds."""
        return max(self._recent)

    def asked(self, seq: int, clock_ms: int, at_ms: int) -> None:
        """Note a question's arrival; the player's clock showed ``clock_ms`` when it was sent."""
        self._seq, self._clock_ms, self._asked_ms, self._took_ms = seq, clock_ms, at_ms, None

    def answered(self, at_ms: int) -> None:
        """Note an answer's departure."""
        self._took_ms = at_ms - self._asked_ms

    def forget(self) -> None:
        """Leave this turn out, since its answer is sent again: time disconnected is not lag."""
        self._took_ms = None

    def played(self, turn: Played, increment_ms: int) -> None:
        """Compare with the arbiter's clock after our turn."""
        if turn.seq == self._seq and self._took_ms is not None:
            charged = self._clock_ms + increment_ms - turn.clocks[turn.seat]
            self._recent.append(max(0, charged + turn.lag_ms - self._took_ms))

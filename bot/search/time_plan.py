"""How long to think about a move: the one place where that is decided.

A turn has three ends, counted from the arrival of the question:

* ``deadline_ms``: when it is planned to be over. The time on the clock, with the increments that
  will come and without a small reserve for the turns after the last tile is drawn, is shared
  evenly over the turns that are likely to come before that. What a turn does not need, because its
  search was certain early, stays on the clock, so later turns get more by themselves.
* ``stretch_ms``: until when a turn whose decision is still close may go on: twice its share, but
  never more than half of what is on the clock above that reserve.
* ``last_ms``: when an answer has to go out. Up to there the turn costs nothing but time.

Nothing is ever planned into overtime while there is time on the clock. A minute of it costs 10
points as soon as its first millisecond is used. A minute more lengthens a search by half where a
turn has two, which settles only what was nearly equal; to be worth 10 points it would have to
find a move that much better. Once a minute has begun it is paid for, and its rest is shared like
a clock of its own; the next must not begin. Where overtime loses the game its limit is kept too.

Each end keeps a margin to what must not happen: some milliseconds in which a busy machine may wake
this process late, and twice the time that messages are on their way. That is the connection's lag
or, if it is more, what the arbiter's clock charged for recent turns beyond what they took here
(``LagSeen``). A clock shorter than the margin is for an answer at once.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from bot.player import Budget, View
from protocol.channel import now_ms
from protocol.messages import Played
from protocol.parts import TimeControl

__all__ = ["LagSeen", "margin_ms", "plan", "pondering", "turns_left"]

TILES_A_ROUND = 9
"""What two players draw in a turn of each."""

LATE_TURNS = 2
"""Turns to plan for when the bag is empty: nine players in ten have no more left."""

RESERVE = 40
"""A fortieth of the clock that the game begins with is kept for those, if that is not more than
they would get if all turns were alike."""

STRETCH = 2
"""How many shares a turn may take whose decision is close."""

MARGIN_MS = 50
"""For the time that a busy machine takes to wake a process that waits."""

MINUTE_MS = 60_000


def plan(
    view: View,
    deadline_ms: int,
    *,
    asked_ms: int | None = None,
    lag_ms: int = 0,
    clock: Callable[[], int] = now_ms,
) -> Budget:
    """Give a turn its time.

    Args:
        view: the game at the beginning of the turn, with both clocks.
        deadline_ms: how long after the arbiter asked the game is lost, as he said.
        asked_ms: when his question arrived, on ``clock``; now if not given.
        lag_ms: the way to him and back, as measured.
        clock: what the budget goes by.
    """
    asked = clock() if asked_ms is None else asked_ms
    margin = margin_ms(lag_ms)
    bank = max(0, _free_ms(view.clocks[view.seat], view.time) - margin)
    spare = bank - _reserve_ms(view, bank)
    longest = deadline_ms - view.time.margin_ms  # the arbiter's patience is not for planning with
    last = max(0, min(bank, longest - min(margin, longest // 5)))
    half = min(spare // 2, last)
    turns = turns_left(view)
    share = (spare + view.time.increment_ms * (turns - 1)) // turns - lag_ms
    share = max(0, min(share, half))
    return Budget(asked + share, asked + last, clock, stretch_ms=asked + min(STRETCH * share, half))


def pondering(view: View, clock: Callable[[], int] = now_ms) -> Budget:
    """Give the time that the opponent can take for his turn at most; it ends when he moves."""
    time = view.time
    his = max(0, view.clocks[view.opponent] + time.max_overtime_ms) + time.margin_ms
    return Budget(clock() + his, clock=clock)


def margin_ms(lag_ms: int) -> int:
    """Say how long before a clock runs out an answer has to be on its way."""
    return MARGIN_MS + 2 * lag_ms


def turns_left(view: View) -> int:
    """Guess how many turns there will be before the bag is empty, this one among them, or after.

    It is one more than the tiles say. In 300 games of ``static`` against itself a player had 0.3
    to 0.5 more on average, and in one case of ten 1 to 1.5 more.
    """
    return -(-view.bag // TILES_A_ROUND) + 1 if view.bag else LATE_TURNS


def _reserve_ms(view: View, bank: int) -> int:
    """Say how much of the clock is kept for the turns after the bag is empty."""
    if not view.bag:
        return 0
    alike = bank * LATE_TURNS // (turns_left(view) + LATE_TURNS)
    return min(view.time.initial_ms // RESERVE, alike)


def _free_ms(left_ms: int, time: TimeControl) -> int:
    """Say how long it is until time costs something: points, or the game."""
    if left_ms > 0:
        return left_ms
    begun = MINUTE_MS - (-left_ms) % MINUTE_MS  # the whole minute that the next millisecond begins
    return min(begun, left_ms + time.max_overtime_ms)


class LagSeen:
    """How much longer the arbiter's clock says that turns took than they took here.

    The way of the messages is in it, and the time that either process waits for a core. The
    longest of the last few turns counts. A turn that is asked again, after a lost connection or by
    a seat that had to be restarted, counts from the last time it was asked.
    """

    def __init__(self) -> None:
        self._seq: int | None = None
        self._asked_ms = 0
        self._clock_ms = 0
        self._took_ms: int | None = None
        self._recent: deque[int] = deque([0], maxlen=4)

    @property
    def ms(self) -> int:
        """The longest of late."""
        return max(self._recent)

    def asked(self, seq: int, clock_ms: int, at_ms: int) -> None:
        """The question arrived; when it was sent there was so much on the own clock."""
        self._seq, self._clock_ms, self._asked_ms, self._took_ms = seq, clock_ms, at_ms, None

    def answered(self, at_ms: int) -> None:
        """A move goes out."""
        self._took_ms = at_ms - self._asked_ms

    def played(self, turn: Played, increment_ms: int) -> None:
        """The arbiter says what a turn of ours has left on the clock."""
        if turn.seq == self._seq and self._took_ms is not None:
            charged = self._clock_ms + increment_ms - turn.clocks[turn.seat]
            self._recent.append(max(0, charged + turn.lag_ms - self._took_ms))

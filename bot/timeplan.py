"""How long to think about a move: the one place where that is decided.

The plan is simple. The time on the clock is shared evenly over the turns that are likely to come,
as the tiles that are left tell; in overtime a turn gets a moment. Nothing is kept for positions
that deserve more thought, and the opponent's time is not used: whoever plans better does so here.

A budget has two ends. At ``deadline_ms`` the turn should be over. At ``last_ms`` an answer has to
go out: while there is time on the clock that is when it would run out, since overtime costs
points, and else the moment at which the game would be lost; in either case less a margin for the
way to the arbiter.
"""

from __future__ import annotations

from collections.abc import Callable

from protocol.channel import now_ms

from .player import Budget, View

__all__ = ["margin_ms", "plan", "turns_left"]

TILES_A_TURN = 4.5
"""What a good player lays down in a turn of his, on average."""

FEWEST_TURNS = 3
"""The share of a turn is never more than a third, however few tiles are left."""

OVERTIME_MS = 500
"""A turn in overtime: its minute is paid for, the next should not begin."""


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
    margin = margin_ms(deadline_ms, lag_ms)
    latest = max(0, deadline_ms - margin)
    on_clock = view.clocks[view.seat] - margin
    if on_clock > 0:
        latest = min(latest, on_clock)
        share = on_clock // turns_left(view)
    else:
        share = OVERTIME_MS
    return Budget(asked + min(share, latest), asked + latest, clock)


def margin_ms(deadline_ms: int, lag_ms: int) -> int:
    """Say how long before a deadline to answer: 0.2 s and the way there, at most a fifth of it."""
    return min(200 + lag_ms, deadline_ms // 5)


def turns_left(view: View) -> int:
    """Guess how many turns the player still has, this one among them."""
    tiles = sum(view.unseen) + len(view.rack)
    return max(FEWEST_TURNS, round(tiles / 2 / TILES_A_TURN))

"""The end of a game worked out against the clock, in slices that can be looked at in between.

The solvers of ``engine.endgame`` and ``engine.preendgame`` know no time: each slice is so many
nodes, sized by the speed of the last one. Whoever drives it decides after each slice what is told,
and may leave off:

    for _ in slices(solver, budget):
        budget.offer(...)
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Protocol

from bot.player import Budget

__all__ = ["Solving", "slices"]

SLICE_MS = 5.0
FIRST_SLICE = 20  # nodes; the first ones take the longest
FASTER = 3.0  # so much longer a slice may be than the last: the first ones are slow for once


class Solving(Protocol):
    """What is worked out bit by bit: an ``EndgameSolver`` or a ``PreEndgame``."""

    @property
    def is_over(self) -> bool:
        """Whether there is nothing more to be done."""

    def advance(self, nodes: int, /) -> int:
        """Look at so many nodes; give how many it were, 0 when it is over."""


def slices(solving: Solving, budget: Budget) -> Iterator[None]:
    """Work in slices of a few milliseconds, until it is over or the turn should be.

    Args:
        solving: what is worked out; it has begun.
        budget: says until when; it may be cancelled from any thread.
    """
    nodes = FIRST_SLICE
    while not solving.is_over and (left_ms := budget.remaining_ms()):
        began = time.perf_counter()
        done = solving.advance(nodes)
        took_ms = max((time.perf_counter() - began) * 1_000, 0.001)
        yield  # in any case: a slice may do nothing but see that it is over
        if not done:
            return
        slice_ms = min(SLICE_MS, max(left_ms / 2, 1.0))
        nodes = max(1, int(done * min(slice_ms / took_ms, FASTER)))

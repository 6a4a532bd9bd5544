"""The best moves so far: a short sorted list, and the equity needed to get in.

The order is by equity, and among equals by the packed move (``engine.kernels.moves``), whatever the
order of offers.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from lexicons.jit import helper, record_dtype

__all__ = ["MAX_KEPT", "TOP_MOVES", "TopMovesRecord", "keep_only", "offer"]

MAX_KEPT = 128

TOP_MOVES = record_dtype(
    [
        ("limit", np.int64),
        ("enough", np.int64),  # the search ends at this count
        ("count", np.int64),
        ("threshold", np.int64),  # lowest useful equity, thousandths of a point
        ("moves", np.uint64, (MAX_KEPT,)),  # packed, best first
        ("equities", np.int32, (MAX_KEPT,)),  # thousandths of a point
        ("scores", np.int32, (MAX_KEPT,)),  # points
        ("subracks", np.uint8, (MAX_KEPT,)),  # of the rack, that each plays
    ],
)
TopMovesRecord: TypeAlias = Any


@helper
def keep_only(top: TopMovesRecord, limit: Any, threshold: Any, enough: Any) -> None:
    """Empty the list, and set its limits."""
    top.limit = limit
    top.enough = enough
    top.threshold = threshold
    top.count = 0


@helper
def offer(top: TopMovesRecord, equity: Any, score: Any, move: Any, subrack: Any) -> None:
    """Keep a move if it is among the best so far."""
    if equity < top.threshold:
        return
    at = top.count
    if at == top.limit:
        at -= 1
        if equity == top.equities[at] and move > top.moves[at]:
            return
    else:
        top.count = at + 1
    while at > 0 and (
        top.equities[at - 1] < equity
        or (top.equities[at - 1] == equity and top.moves[at - 1] > move)
    ):
        top.equities[at] = top.equities[at - 1]
        top.scores[at] = top.scores[at - 1]
        top.moves[at] = top.moves[at - 1]
        top.subracks[at] = top.subracks[at - 1]
        at -= 1
    top.equities[at] = equity
    top.scores[at] = score
    top.moves[at] = move
    top.subracks[at] = subrack
    if top.count == top.limit:
        top.threshold = max(top.threshold, np.int64(top.equities[top.limit - 1]))

"""The best moves found so far: a short list in order, and what a move has to be worth to get in.

The order is by equity, and among equals by the packed move (``engine.kernels.moves``), whatever the
order in which they are found.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from lexicons.jit import helper, record_dtype

__all__ = ["FOUND", "MAX_KEPT", "Found1", "keep_only", "offer"]

MAX_KEPT = 128

FOUND = record_dtype(
    [
        ("limit", np.int64),  # how many moves to keep, the best ones
        ("enough", np.int64),  # the search ends when so many were found
        ("count", np.int64),  # how many are kept
        ("threshold", np.int64),  # equities below it are of no use, thousandths of a point
        ("moves", np.uint64, (MAX_KEPT,)),  # packed, best first
        ("equities", np.int32, (MAX_KEPT,)),  # thousandths of a point
        ("scores", np.int32, (MAX_KEPT,)),  # points
        ("parts", np.uint8, (MAX_KEPT,)),  # of the rack that each plays
    ],
)
Found1: TypeAlias = Any
"""A record of ``FOUND`` in a kernel."""


@helper
def keep_only(found: Found1, limit: Any, threshold: Any, enough: Any) -> None:
    """Begin with nothing found."""
    found.limit = limit
    found.enough = enough
    found.threshold = threshold
    found.count = 0


@helper
def offer(found: Found1, equity: Any, score: Any, move: Any, part: Any) -> None:
    """Keep a move if it is among the best so far; equals are ordered by the packed move."""
    if equity < found.threshold:
        return
    at = found.count
    if at == found.limit:
        at -= 1
        if equity == found.equities[at] and move > found.moves[at]:
            return
    else:
        found.count = at + 1
    while at > 0 and (
        found.equities[at - 1] < equity
        or (found.equities[at - 1] == equity and found.moves[at - 1] > move)
    ):
        found.equities[at] = found.equities[at - 1]
        found.scores[at] = found.scores[at - 1]
        found.moves[at] = found.moves[at - 1]
        found.parts[at] = found.parts[at - 1]
        at -= 1
    found.equities[at] = equity
    found.scores[at] = score
    found.moves[at] = move
    found.parts[at] = part
    if found.count == found.limit:
        found.threshold = max(found.threshold, np.int64(found.equities[found.limit - 1]))

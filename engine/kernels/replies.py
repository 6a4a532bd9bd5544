"""The other side's best plays on the board as it is, and their footprints.

The best few of two kinds are kept: plays that go out, by their points, and others, by a guess of
their worth. A reply survives a move that stays off its footprint (``engine.kernels.footprint``). A
reply that goes out is a floor of what the other side gets; a guess orders moves.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from lexicons.jit import helper, record_dtype

from .board import BoardRecord
from .footprint import mark_footprint
from .line_cache import MAX_LINES

__all__ = [
    "NOT_OUT",
    "REPLIES",
    "RepliesRecord",
    "best_reply",
    "best_way_out",
    "clear_replies",
    "mark_replies",
    "note_reply",
    "note_way_out",
]

NOT_OUT = 10
"""Points: cost of not going out, as in static equity (``engine.movegen.evaluation``)."""

_KEPT = 8

_BEST = record_dtype(
    [
        ("count", np.int64),
        ("worths", np.int64, (_KEPT,)),  # points, the highest first
        ("moves", np.uint64, (_KEPT,)),
        ("footprints", np.uint64, (_KEPT, MAX_LINES)),
    ],
)
REPLIES = record_dtype(
    [
        ("ways_out", _BEST),  # by their points
        ("others", _BEST),  # by a guess
        ("none", np.int64),  # worth of having no reply
    ],
)
RepliesRecord: TypeAlias = Any


@helper
def clear_replies(replies: RepliesRecord, points: Any) -> None:
    """Drop all replies; ``points`` sums the rack of the side that replies."""
    replies.ways_out.count = 0
    replies.others.count = 0
    replies.none = -2 * points - NOT_OUT


@helper
def note_way_out(replies: RepliesRecord, score: Any, move: Any) -> None:
    """Note a play of all tiles left."""
    _note(replies.ways_out, score, move)


@helper
def note_reply(replies: RepliesRecord, score: Any, left: Any, move: Any) -> None:
    """Note a play that keeps tiles of ``left`` points."""
    _note(replies.others, score - 2 * left - NOT_OUT, move)


@helper
def _note(best: Any, worth: Any, move: Any) -> None:
    at = best.count
    if at == _KEPT:
        if worth <= best.worths[_KEPT - 1]:
            return
        at -= 1
    else:
        best.count = at + 1
    while at > 0 and best.worths[at - 1] < worth:
        best.worths[at] = best.worths[at - 1]
        best.moves[at] = best.moves[at - 1]
        at -= 1
    best.worths[at] = worth
    best.moves[at] = move


@helper
def mark_replies(replies: RepliesRecord, board: BoardRecord) -> None:
    """Mark the footprints of all replies noted."""
    for nth in range(replies.ways_out.count):
        mark_footprint(board, replies.ways_out.moves[nth], replies.ways_out.footprints[nth])
    for nth in range(replies.others.count):
        mark_footprint(board, replies.others.moves[nth], replies.others.footprints[nth])


@helper
def best_way_out(replies: RepliesRecord, line: Any, squares: Any) -> Any:
    """Return the points of the dearest way out kept that survives tiles on a line; −1: none."""
    best = replies.ways_out
    for nth in range(best.count):
        if not best.footprints[nth, line] & squares:
            return best.worths[nth]
    return np.int64(-1)


@helper
def best_reply(replies: RepliesRecord, line: Any, squares: Any) -> Any:
    """Guess the worth of the best other reply that survives tiles on places of a line."""
    best = replies.others
    for nth in range(best.count):
        if not best.footprints[nth, line] & squares:
            return best.worths[nth]
    if best.count == _KEPT:
        return best.worths[_KEPT - 1]  # there are more
    return replies.none

"""What the other side could answer, as the board is: its dearest plays, and their footprints.

Of two kinds the best few are kept: plays that go out, by their points, and others, by what they are
worth at a guess. Those whose footprint a move does not touch (``engine.kernels.footprint``) are
still there after it. A reply that goes out is a floor of what the other side gets; a guess orders
moves.
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
"""Points: what it costs not to go out, as static equity has it (``engine.movegen.evaluation``)."""

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
        ("none", np.int64),  # what it is worth to have no reply
    ],
)
RepliesRecord: TypeAlias = Any
"""A record of ``REPLIES`` in a kernel."""


@helper
def clear_replies(replies: RepliesRecord, points: Any) -> None:
    """Begin with no reply of a side that has tiles of so many points."""
    replies.ways_out.count = 0
    replies.others.count = 0
    replies.none = -2 * points - NOT_OUT


@helper
def note_way_out(replies: RepliesRecord, score: Any, move: Any) -> None:
    """Take note of a play of all tiles that are left."""
    _note(replies.ways_out, score, move)


@helper
def note_reply(replies: RepliesRecord, score: Any, left: Any, move: Any) -> None:
    """Take note of a play that leaves tiles of so many points."""
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
    """Mark the footprints of all that were noted."""
    for nth in range(replies.ways_out.count):
        mark_footprint(board, replies.ways_out.moves[nth], replies.ways_out.footprints[nth])
    for nth in range(replies.others.count):
        mark_footprint(board, replies.others.moves[nth], replies.others.footprints[nth])


@helper
def best_way_out(replies: RepliesRecord, line: Any, squares: Any) -> Any:
    """Return the points of the dearest way out that tiles on some places of a line leave; −1: none.

    There may be others than those that were kept.
    """
    best = replies.ways_out
    for nth in range(best.count):
        if not best.footprints[nth, line] & squares:
            return best.worths[nth]
    return np.int64(-1)


@helper
def best_reply(replies: RepliesRecord, line: Any, squares: Any) -> Any:
    """Guess what the best other reply is worth that tiles on some places of a line leave."""
    best = replies.others
    for nth in range(best.count):
        if not best.footprints[nth, line] & squares:
            return best.worths[nth]
    if best.count == _KEPT:
        return best.worths[_KEPT - 1]  # there are more
    return replies.none

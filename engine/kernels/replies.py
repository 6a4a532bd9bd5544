"""The other side's best plays on the board as it is, and the squares on which they depend.

The best few of two kinds are kept: plays that go out, by their points, and others, by a guess of
their worth. A reply that goes out is a floor of what the other side gets; a guess orders moves.

A placement stays legal, and keeps its score, as long as no tile is put on its *footprint*: the
squares that it covers, those before and behind its word, and those at the ends of the words that it
makes across. So a reply survives every move that avoids its footprint, without playing either.

A footprint is a set of places for each line, in both directions (``engine.kernels.board``): one
look at a move's own line shows whether it touches the footprint.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from lexicons.jit import helper, record_dtype

from .board import MAX_LINES, BoardRecord, other_direction
from .crosses import first_square
from .moves import column_of, is_down, row_of, tile_count
from .racks import NOT_OUT

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
    """Return the points of the best way out kept that survives tiles on places of a line; or −1."""
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


_ONE = np.uint64(1)


@helper
def line_of(side: Any, move: Any) -> Any:
    """Return the line along which a placement runs."""
    return side + 1 + column_of(move) if is_down(move) else 1 + row_of(move)


@helper
def mark_footprint(board: BoardRecord, move: Any, footprint: Any) -> None:
    """Overwrite ``footprint``, bits by line, with that of a legal placement."""
    squares, side = board.squares, board.side
    for line in range(2 * side):
        footprint[line] = 0
    square = first_square(side, move)
    _mark(side, square - 1, footprint)
    for _ in range(tile_count(move)):
        while squares[square].letter:
            square += 1
        _mark(side, square, footprint)
        for step in (-side, side):
            end = square + step
            while squares[end].letter:
                end += step
            _mark(side, end, footprint)
        square += 1
    while squares[square].letter:
        square += 1
    _mark(side, square, footprint)


@helper
def _mark(side: Any, square: Any, footprint: Any) -> None:
    footprint[square // side] |= _ONE << np.uint64(square % side)
    turned = other_direction(side, square)
    footprint[turned // side] |= _ONE << np.uint64(turned % side)

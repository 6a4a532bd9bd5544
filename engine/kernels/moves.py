"""A move as one 64-bit integer, so that lists of moves are arrays; and the best moves so far.

=====  ================================================================
bits
61     a pass
60     an exchange
59     direction of a placement, 0 across
58–54  row of the first square of its word, from 0
53–49  column of that square
48–0   seven tiles of 7 bits, the first highest: letter in bits 0–5 and
       bit 6 for a blank; 0: none. Tiles placed are in the order of the
       squares, tiles exchanged are sorted (a blank: bit 6 alone)
=====  ================================================================

The best moves are a short list, sorted by equity and then by the integer, the smaller first:
placements before exchanges, across before down, then by row, column and tiles.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from lexicons.bits import lowest_bit
from lexicons.jit import helper, record_dtype

MAX_PLACED = 7
TILE_BITS = 7
COLUMN_SHIFT = MAX_PLACED * TILE_BITS
ROW_SHIFT = COLUMN_SHIFT + 5
DIRECTION_SHIFT = ROW_SHIFT + 5
SIDE_MASK = 31
EXCHANGE = np.uint64(1 << 60)
PASS_MOVE = np.uint64(1 << 61)
TILES_MASK = np.uint64((1 << COLUMN_SHIFT) - 1)
BLANK_CODE = np.uint64(1 << (TILE_BITS - 1))
LETTER_MASK = BLANK_CODE - np.uint64(1)
CODE_MASK = np.uint64((1 << TILE_BITS) - 1)  # of one tile
MAX_KEPT = 128

TOP_MOVES = record_dtype(
    [
        ("limit", np.int64),
        ("count", np.int64),
        ("threshold", np.int64),  # lowest useful equity, thousandths of a point
        ("moves", np.uint64, (MAX_KEPT,)),  # packed, best first
        ("equities", np.int32, (MAX_KEPT,)),  # thousandths of a point
        ("scores", np.int32, (MAX_KEPT,)),  # points
        ("subracks", np.uint8, (MAX_KEPT,)),  # masks of the rack's tiles that each uses
    ],
)
TopMovesRecord: TypeAlias = Any


@helper
def tile_count(move: Any) -> Any:
    """Count the tiles of a placement or an exchange."""
    tiles = move & TILES_MASK
    if not tiles:
        return np.int64(0)
    return np.int64(MAX_PLACED) - np.int64(lowest_bit(tiles)) // TILE_BITS


@helper
def move_tile(move: Any, at: Any) -> Any:
    """Return the code of tile ``at``, from 0: its letter, with ``BLANK_CODE`` for a blank."""
    return move >> np.uint64(TILE_BITS * (MAX_PLACED - 1 - at)) & CODE_MASK


@helper
def is_down(move: Any) -> Any:
    """Return whether a placement runs down."""
    return move >> np.uint64(DIRECTION_SHIFT) & np.uint64(1)


@helper
def row_of(move: Any) -> Any:
    """Return the row of a placement's first square, from 0."""
    return np.int64(move >> np.uint64(ROW_SHIFT)) & SIDE_MASK


@helper
def column_of(move: Any) -> Any:
    """Return the column of a placement's first square, from 0."""
    return np.int64(move >> np.uint64(COLUMN_SHIFT)) & SIDE_MASK


@helper
def left_justified(tiles: Any, count: Any) -> Any:
    """Shift ``count`` tiles, the last in the lowest bits, to a move's tile bits."""
    return tiles << np.uint64(TILE_BITS * (MAX_PLACED - count))


@helper
def where_packed(side: Any, square: Any) -> Any:
    """Pack the direction and the first square of a word (``engine.kernels.board``)."""
    line, place = square // side, square % side
    row, column, down = line - 1, place - 1, 0
    if line >= side:
        row, column, down = place - 1, line - side - 1, 1
    return np.uint64(down << DIRECTION_SHIFT | row << ROW_SHIFT | column << COLUMN_SHIFT)


@helper
def keep_only(top: TopMovesRecord, limit: Any, threshold: Any) -> None:
    """Empty the list, and set its limits."""
    top.limit = limit
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

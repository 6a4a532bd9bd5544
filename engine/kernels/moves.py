"""A move as one 64-bit integer, so that lists of moves are arrays and equal moves compare equal.

=====  ================================================================
bits
61     a pass
60     an exchange
59     direction of a placement, 0 across
58–54  row of the first square of its word, from 0
53–49  column of that square
48–0   seven tiles of 7 bits, the first highest: letter in bits 0–5 and
       bit 6 for a blank; 0 none. Those placed, by square, or those
       exchanged, sorted (a blank: bit 6 alone)
=====  ================================================================

Among moves of equal worth the smaller integer comes first: placements before exchanges, across
before down, then by row, column and tiles.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lexicons.bits import lowest_bit
from lexicons.jit import helper

__all__ = [
    "BLANK_CODE",
    "COLUMN_SHIFT",
    "DIRECTION_SHIFT",
    "EXCHANGE",
    "LETTER_MASK",
    "MAX_PLACED",
    "PASS_MOVE",
    "ROW_SHIFT",
    "SIDE_MASK",
    "TILES_MASK",
    "TILE_BITS",
    "left_justified",
    "move_tile",
    "tile_count",
    "where_packed",
]

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

_TILE_MASK = np.uint64((1 << TILE_BITS) - 1)


@helper
def tile_count(move: Any) -> Any:
    """Count the tiles of a placement or an exchange."""
    tiles = move & TILES_MASK
    if not tiles:
        return np.int64(0)
    return np.int64(MAX_PLACED) - np.int64(lowest_bit(tiles)) // TILE_BITS


@helper
def move_tile(move: Any, at: Any) -> Any:
    """Return the code of a move's tile, from 0: its letter, with ``BLANK_CODE`` for a blank."""
    return move >> np.uint64(TILE_BITS * (MAX_PLACED - 1 - at)) & _TILE_MASK


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

"""Footprints: the squares on which a placement depends.

A placement stays legal, and keeps its score, as long as no tile is put on the squares that it
covers, those before and behind its word, and those at the ends of the words that it makes across.
So two moves that avoid each other's footprints are compatible, without playing either.

A footprint is a set of places for each line, in both directions (``engine.kernels.board``): one
look at a move's own line shows whether it touches the footprint.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lexicons.jit import helper

from .board import BoardRecord, other_direction
from .crosses import first_square
from .moves import (
    COLUMN_SHIFT,
    DIRECTION_SHIFT,
    ROW_SHIFT,
    SIDE_MASK,
    tile_count,
)

__all__ = ["line_of", "mark_footprint"]

_ONE = np.uint64(1)


@helper
def line_of(side: Any, move: Any) -> Any:
    """Return the line along which a placement runs."""
    if move >> np.uint64(DIRECTION_SHIFT) & _ONE:
        return side + 1 + (np.int64(move >> np.uint64(COLUMN_SHIFT)) & SIDE_MASK)
    return 1 + (np.int64(move >> np.uint64(ROW_SHIFT)) & SIDE_MASK)


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

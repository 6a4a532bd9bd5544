"""Conversion between moves and the kernels' packed moves."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from operator import itemgetter

import numpy as np

from engine.kernels.moves import (
    BLANK_CODE,
    CODE_MASK,
    COLUMN_SHIFT,
    DIRECTION_SHIFT,
    EXCHANGE,
    LETTER_MASK,
    MAX_PLACED,
    PASS_MOVE,
    ROW_SHIFT,
    SIDE_MASK,
    TILE_BITS,
)
from engine.rules.moves import PASS, PLAYED_THROUGH, Direction, Exchange, Move, Pass, Place
from engine.rules.position import Board, Rack
from lexicons.alphabet import BLANK, BLANK_FLAG, EMPTY
from lexicons.arrays import U8, U64

_TILE_SHIFTS = np.arange((MAX_PLACED - 1) * TILE_BITS, -1, -TILE_BITS, dtype=np.uint64)


def unpack(packed: U64, board: Board) -> Iterator[Move]:
    """Yield packed moves (``engine.kernels.moves``) on a board as values, in their order."""
    codes = packed[:, None] >> _TILE_SHIFTS & CODE_MASK
    # The last column, always PLAYED_THROUGH, stands for every square played through.
    tiles = np.full((len(packed), MAX_PLACED + 1), PLAYED_THROUGH, np.uint8)
    tiles[:, :MAX_PLACED] = codes & LETTER_MASK | (codes & BLANK_CODE) << np.uint64(1)
    placed = np.count_nonzero(tiles, axis=1)
    squares = board.array()
    words = lru_cache(maxsize=None)(partial(_word_at, squares))
    where = packed >> np.uint64(COLUMN_SHIFT)
    others = packed >= EXCHANGE
    for index, (count, other, row) in enumerate(
        zip(placed.tolist(), others.tolist(), tiles.tolist(), strict=True)
    ):
        if not other:
            first_row, first_column, direction, in_order = words(int(where[index]), count)
            yield Place(first_row, first_column, direction, in_order(row))
        elif packed[index] == PASS_MOVE:
            yield PASS
        else:
            yield Exchange(tuple(sorted(tile & int(LETTER_MASK) for tile in row[:count])))


def pack(move: Move) -> int:
    """Pack a move of up to seven tiles (``engine.kernels.moves``)."""
    match move:
        case Pass():
            return int(PASS_MOVE)
        case Exchange(tiles=tiles):
            codes = [tile if tile != BLANK else int(BLANK_CODE) for tile in sorted(tiles)]
            where = int(EXCHANGE)
        case Place():
            codes = [tile & ~BLANK_FLAG | (tile & BLANK_FLAG) >> 1 for tile in move.placed]
            where = move.direction << DIRECTION_SHIFT | move.row << ROW_SHIFT
            where |= move.column << COLUMN_SHIFT
    for nth, code in enumerate(codes):
        where |= code << TILE_BITS * (MAX_PLACED - 1 - nth)
    return where


def leaves_of(subracks: U8, rack: Rack) -> Iterator[Rack]:
    """Return the leaves of the subracks used (bit ``n``: tile ``n`` of the sorted rack is used)."""
    cached_leave = lru_cache(maxsize=None)(
        lambda subrack: tuple(tile for index, tile in enumerate(rack) if not subrack >> index & 1)
    )
    return map(cached_leave, subracks.tolist())


def _word_at(
    squares: U8, where: int, placed: int
) -> tuple[int, int, Direction, Callable[[list[int]], tuple[int, ...]]]:
    direction = Direction(where >> (DIRECTION_SHIFT - COLUMN_SHIFT))
    row, column = where >> (ROW_SHIFT - COLUMN_SHIFT) & SIDE_MASK, where & SIDE_MASK
    line = squares[row, column:] if direction is Direction.ACROSS else squares[row:, column]
    order: list[int] = []
    used = 0
    for occupied in (line != EMPTY).tolist():
        if not occupied and used == placed:
            break
        order.append(MAX_PLACED if occupied else used)
        used += not occupied
    return row, column, direction, itemgetter(*order)

"""All legal moves of a position, with their scores.

``legal_moves`` is the one function to call. It lays the position out for the kernel of
``engine.movegen``, grows the arrays until every move fits, and gives moves as values. Scores are
points; leave values and all else that tells a good move from a bad one are for others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from itertools import combinations
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from engine.movegen import (
    COLUMN_SHIFT,
    DIRECTION_SHIFT,
    FRAME,
    FRAMES_BEYOND_SIDE,
    MAX_PLACED,
    ROW_SHIFT,
    SIDE_MASK,
    SQUARE,
    TILE_BITS,
    Search,
    Squares,
    find_placements,
)
from engine.moves import PASS, PLAYED_THROUGH, Direction, Exchange, Move, Place
from engine.position import Board, Position, Rack, bag_count
from engine.rules import Rules, standard_rules
from lexicons.alphabet import BLANK, BLANK_FLAG, EMPTY, MAX_LETTERS
from lexicons.jit import on_warm_up
from lexicons.kwg import NARROW, WordGraph
from lexicons.layout import BoardLayout
from lexicons.store import Lexicon

__all__ = ["ScoredMove", "legal_moves", "warm_up"]

# Room for nearly every position with no, one, two blanks; a page that is not touched costs nothing.
_FIRST_CAPACITIES = (1 << 12, 1 << 16, 1 << 20)
_BORDER = 2
_TILE_SHIFTS = np.arange((MAX_PLACED - 1) * TILE_BITS, -1, -TILE_BITS, dtype=np.uint64)
_TILE_MASK = np.uint64((1 << TILE_BITS) - 1)
_BLANK_BIT = np.uint64(1 << (TILE_BITS - 1))
_LETTER_MASK = _BLANK_BIT - np.uint64(1)


class ScoredMove(NamedTuple):
    """A move and the points it scores; exchanges and the pass score 0."""

    move: Move
    score: int


def legal_moves(position: Position, lexicon: Lexicon, rules: Rules) -> list[ScoredMove]:
    """List everything the player on turn may do, each once.

    Placements come first, by score (highest first), then across before down, then by row, column
    and placed tiles. Exchanges follow, every distinct choice of tiles, fewest first, if the bag
    has enough; the pass comes last. A single tile that makes a word both ways is given across.

    Raises:
        ValueError: a rack of more than seven tiles, a tile that the distribution lacks, or more
            of a tile in sight than it has.
    """
    rack = position.racks[position.on_turn]
    moves: list[ScoredMove] = []
    if rack:
        _check_rack(rack, len(rules.distribution.counts))
        packed, scores = _placements(position.board, rack, lexicon.graph, rules)
        moves.extend(map(ScoredMove, _unpack(packed, position.board), scores.tolist()))
        bag = bag_count(position, rules)
        if bag >= rules.exchange_minimum:
            moves.extend(ScoredMove(exchange, 0) for exchange in _exchanges(rack, bag))
    moves.append(ScoredMove(PASS, 0))
    return moves


@on_warm_up
def warm_up() -> None:
    """Compile the kernel, or load it, by a search for no words at all."""
    rules = standard_rules()
    _placements(Board.empty(rules.layout), (1,), WordGraph(np.zeros(2, np.uint32)), rules)


def _check_rack(rack: Rack, tiles: int) -> None:
    if len(rack) > MAX_PLACED:
        raise ValueError(f"a rack of {len(rack)} tiles; moves hold at most {MAX_PLACED}")
    if not all(0 <= tile < tiles for tile in rack):
        raise ValueError(f"the rack {rack} has a tile beyond the {tiles} of the distribution")


def _placements(
    board: Board, rack: Rack, graph: WordGraph, rules: Rules
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.int32]]:
    """Give the packed placements (``engine.movegen``) and their scores, in order."""
    search = _search(board, rack, graph, rules)
    capacity = _FIRST_CAPACITIES[min(rack.count(BLANK), 2)]
    while True:
        packed = np.empty(capacity, np.uint64)
        scores = np.empty(capacity, np.int32)
        count = int(find_placements(search, packed, scores))
        if count <= capacity:
            break
        capacity = count
    packed, scores = packed[:count], scores[:count]
    order = np.lexsort((packed, -scores))
    return packed[order], scores[order]


def _search(board: Board, rack: Rack, graph: WordGraph, rules: Rules) -> Search:
    points = np.zeros(MAX_LETTERS + 1, np.int32)
    points[: len(rules.distribution.points)] = rules.distribution.points
    side = max(board.layout.rows, board.layout.columns) + _BORDER
    return Search(
        nodes=_read_only(np.ascontiguousarray(graph.in_layout(NARROW).nodes, np.uint32)),
        squares=_squares(board, points),
        frames=np.recarray(side + FRAMES_BEYOND_SIDE, FRAME),
        points=points,
        rack=np.bincount(rack, minlength=MAX_LETTERS + 1).astype(np.uint8),
        side=side,
        bonus=rules.bingo_bonus,
        bonus_tiles=rules.rack_size,
    )


def _squares(board: Board, points: npt.NDArray[np.int32]) -> Squares:
    tiles = board.array()
    squares = _empty_squares(board.layout).copy()
    if not tiles.any():
        return squares  # the only anchor is the start square
    side = max(tiles.shape) + _BORDER
    letters = _planes(tiles & ~np.uint8(BLANK_FLAG), side)
    squares.letter = letters
    shown = np.where(tiles & BLANK_FLAG, BLANK, tiles)
    squares.value = _planes(np.where(tiles, points[shown], 0), side)
    occupied = letters != 0
    beside = np.zeros_like(occupied)
    for step in (1, side):
        beside[step:] |= occupied[:-step]
        beside[:-step] |= occupied[step:]
    squares.anchor = beside & ~occupied & squares.on_board
    return squares


@lru_cache(maxsize=16)
def _empty_squares(layout: BoardLayout) -> Squares:
    """Lay an empty board out; not to be modified."""
    shape = (layout.rows, layout.columns)
    side = max(shape) + _BORDER
    start = np.zeros(shape, np.bool_)
    start[layout.start] = True
    squares = np.recarray(2 * side * side, SQUARE)
    squares.fill(0)
    squares.on_board = _planes(np.ones(shape, np.bool_), side)
    squares.anchor = _planes(start, side)
    for field in ("letter_multiplier", "word_multiplier"):
        squares[field] = _planes(np.reshape(getattr(layout, f"{field}s"), shape), side)
    return squares


def _planes(grid: npt.NDArray[Any], side: int) -> npt.NDArray[Any]:
    """Lay a board's squares out as the kernel has them: both ways, with a border, flat."""
    rows, columns = grid.shape
    planes = np.zeros((2, side, side), grid.dtype)
    planes[Direction.ACROSS, 1 : rows + 1, 1 : columns + 1] = grid
    planes[Direction.DOWN, 1 : columns + 1, 1 : rows + 1] = grid.T
    return planes.reshape(-1)


def _read_only(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Give a view of the one type, read-only, that the kernel is compiled for."""
    view = array.view()
    view.flags.writeable = False
    return view


def _unpack(packed: npt.NDArray[np.uint64], board: Board) -> Iterator[Place]:
    """Give packed placements as values."""
    codes = packed[:, None] >> _TILE_SHIFTS & _TILE_MASK
    # The column behind the placed tiles stands for every square that is played through.
    tiles = np.full((len(packed), MAX_PLACED + 1), PLAYED_THROUGH, np.uint8)
    tiles[:, :MAX_PLACED] = codes & _LETTER_MASK | (codes & _BLANK_BIT) << np.uint64(1)
    placed = np.count_nonzero(tiles, axis=1)
    squares = board.array()
    words = lru_cache(maxsize=None)(partial(_word_at, squares))
    where = packed >> np.uint64(COLUMN_SHIFT)
    for at, count, row in zip(where.tolist(), placed.tolist(), tiles.tolist(), strict=True):
        first_row, first_column, direction, in_order = words(at, count)
        yield Place(first_row, first_column, direction, in_order(row))


def _word_at(
    squares: npt.NDArray[np.uint8], where: int, placed: int
) -> tuple[int, int, Direction, Callable[[list[int]], tuple[int, ...]]]:
    """Unpack where a word begins; give also what puts its placed tiles on its squares."""
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


def _exchanges(rack: Rack, bag: int) -> Iterator[Exchange]:
    """Give every distinct choice of tiles, fewest first, then by tile number."""
    for size in range(1, min(len(rack), bag) + 1):
        for choice in sorted(set(combinations(sorted(rack), size))):
            yield Exchange(choice)

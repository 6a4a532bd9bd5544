"""The board in kernels: squares in both directions, tiles placed and undone.

The board is kept twice, as it is and transposed, each with a border of one square and as wide as
the longer side: a word always runs from ``square`` to ``square + 1`` and is crossed from
``square - side`` to ``square + side``. The index of a square is
``(direction * side + line) * side + place``, lines and places from 1. Squares off the board are
empty and fit no letter, so they need no tests.

Every change is written down, so that it can be undone, and marks its line in ``changed_lines``:
whatever was computed for that line is out of date.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from engine.rules.moves import Direction
from engine.rules.position import Board
from engine.rules.rules import Rules, check_points
from lexicons.alphabet import BLANK, BLANK_FLAG, MAX_LETTERS
from lexicons.jit import helper, record_dtype
from lexicons.layout import MAX_SIDE

from .moves import MAX_PLACED

NO_CROSSING = -1
_BORDER = 2
BORDERED = MAX_SIDE + _BORDER
MAX_LINES = 2 * BORDERED  # rows and columns
# A tile changes itself, its four neighbours and two ends of crossing words, in both directions:
# there is room to undo a full board.
_CHANGES = 16 * MAX_SIDE * MAX_SIDE

SQUARE = record_dtype(
    [
        ("cross_set", np.uint64),  # bit n: letter n makes a word across, or nothing crosses
        ("cross_score", np.int16),  # points of the crossing tiles, or NO_CROSSING
        ("value", np.uint8),
        ("letter", np.uint8),  # of the tile here; 0: none
        ("letter_multiplier", np.uint8),
        ("word_multiplier", np.uint8),
        ("on_board", np.bool_),  # false: border
        ("anchor", np.bool_),  # empty; every placement covers an anchor
    ],
)
BOARD = record_dtype(
    [
        ("squares", SQUARE, (2 * BORDERED * BORDERED,)),  # the first 2 × side² are in use
        ("changed_lines", np.uint64),  # bit direction × side + line
        ("side", np.int64),  # the longer side, with the border
        ("start", np.int64),  # across: the square that the first play covers
        ("letters", np.int64),
        ("any_letter", np.uint64),  # the cross-set of a square that nothing crosses
        ("bonus", np.int64),  # points for placing ``bonus_tiles``
        ("bonus_tiles", np.int64),
        ("points", np.int32, (MAX_LETTERS + 1,)),  # by tile, the blank first
        ("changes", np.int64),  # number written down
        ("changed_square", np.int32, (_CHANGES,)),
        ("square_before", SQUARE, (_CHANGES,)),
    ],
)

BoardRecord: TypeAlias = Any  # mypy knows nothing of the fields of records


@helper
def other_direction(side: Any, square: Any) -> Any:
    """Return the same square's index in the other direction."""
    line, place = square // side, square % side
    if line < side:
        return (side + place) * side + line
    return place * side + line - side


@helper
def write_down(board: BoardRecord, square: Any) -> None:
    """Write down a square, and mark its line, before it changes."""
    at = board.changes
    before, now = board.square_before[at], board.squares[square]
    board.changed_square[at] = square
    before.cross_set = now.cross_set
    before.cross_score = now.cross_score
    before.value = now.value
    before.letter = now.letter
    before.anchor = now.anchor
    board.changes = at + 1
    board.changed_lines |= np.uint64(1) << np.uint64(square // board.side)


@helper
def undo_to(board: BoardRecord, changes: Any) -> None:
    """Undo all changes made since ``board.changes`` had the value ``changes``."""
    while board.changes > changes:
        at = board.changes - 1
        square = board.changed_square[at]
        before, now = board.square_before[at], board.squares[square]
        now.cross_set = before.cross_set
        now.cross_score = before.cross_score
        now.value = before.value
        now.letter = before.letter
        now.anchor = before.anchor
        board.changed_lines |= np.uint64(1) << np.uint64(square // board.side)
        board.changes = at


@helper
def forget_changes(board: BoardRecord) -> None:
    """Drop all undo information."""
    board.changes = 0


@helper
def put_tile(board: BoardRecord, square: Any, letter: Any, value: Any) -> None:
    """Put a tile on an empty square, in both directions; cross-sets are not updated."""
    side = board.side
    for _ in range(2):
        write_down(board, square)
        here = board.squares[square]
        here.letter = letter
        here.value = value
        here.anchor = False
        _anchor(board, square - 1)
        _anchor(board, square + 1)
        _anchor(board, square - side)
        _anchor(board, square + side)
        square = other_direction(side, square)


@helper
def _anchor(board: BoardRecord, square: Any) -> None:
    here = board.squares[square]
    if here.on_board and not here.letter and not here.anchor:
        write_down(board, square)
        here.anchor = True


@helper
def is_empty(board: BoardRecord) -> Any:
    """Return whether a board is empty: the start square is an anchor without neighbours."""
    squares, start, side = board.squares, board.start, board.side
    beside = squares[start - 1].letter | squares[start + 1].letter
    across = squares[start - side].letter | squares[start + side].letter
    return squares[start].anchor and not beside | across


@helper
def clear_board(board: BoardRecord) -> None:
    """Take every tile off, and drop undo information; the start is the only anchor."""
    for square in range(2 * board.side * board.side):
        here = board.squares[square]
        here.letter = 0
        here.value = 0
        here.anchor = False
        here.cross_score = NO_CROSSING
        here.cross_set = board.any_letter if here.on_board else np.uint64(0)
    board.squares[board.start].anchor = True
    board.squares[other_direction(board.side, board.start)].anchor = True
    board.changed_lines = ~np.uint64(0)
    board.changes = 0


def new_board(rules: Rules) -> npt.NDArray[Any]:
    """Return an array of one ``BOARD`` with premiums and points; ``clear_board`` completes it.

    Raises:
        ValueError: racks of more tiles than kernels can hold, or premium squares that multiply so
            much that scores may not fit their integers.
    """
    if rules.rack_size > MAX_PLACED:
        raise ValueError(
            f"racks of {rules.rack_size} tiles; the move generator takes at most {MAX_PLACED}"
        )
    check_points(rules)
    boards = np.zeros(1, BOARD)
    layout, distribution = rules.layout, rules.distribution
    shape = (layout.rows, layout.columns)
    side = max(shape) + _BORDER
    squares = boards["squares"][0]
    letters = len(distribution.alphabet)
    boards["side"] = side
    boards["start"] = (layout.start[0] + 1) * side + layout.start[1] + 1
    boards["letters"] = letters
    boards["any_letter"] = (1 << letters + 1) - 2
    boards["bonus"] = rules.bingo_bonus
    boards["bonus_tiles"] = rules.rack_size
    boards["points"][0, : len(distribution.points)] = distribution.points
    used = squares[: 2 * side * side]
    used["on_board"] = _planes(np.ones(shape, np.bool_), side)
    for field in ("letter_multiplier", "word_multiplier"):
        used[field] = _planes(np.reshape(getattr(layout, f"{field}s"), shape), side)
    return boards


def set_up(boards: npt.NDArray[Any], board: Board) -> None:
    """Lay a board's tiles out in an array from ``new_board``; cross-sets are not updated."""
    tiles = board.array()
    record = boards[0]
    side = int(record["side"])
    squares = boards["squares"][0, : 2 * side * side]
    squares["letter"] = _planes(tiles & ~np.uint8(BLANK_FLAG), side)
    shown = np.where(tiles & BLANK_FLAG, BLANK, tiles)
    squares["value"] = _planes(np.where(tiles, record["points"][shown], 0), side)
    occupied = squares["letter"] != 0
    squares["anchor"] = False
    if occupied.any():
        beside = np.zeros_like(occupied)
        for step in (1, side):
            beside[step:] |= occupied[:-step]
            beside[:-step] |= occupied[step:]
        squares["anchor"] = beside & ~occupied & squares["on_board"]
    else:
        start = int(record["start"])
        squares["anchor"][start] = True
        squares["anchor"][(side + start % side) * side + start // side] = True
    boards["changes"] = 0
    boards["changed_lines"] = (1 << 64) - 1


def _planes(grid: npt.NDArray[Any], side: int) -> npt.NDArray[Any]:
    rows, columns = grid.shape
    planes = np.zeros((2, side, side), grid.dtype)
    planes[Direction.ACROSS, 1 : rows + 1, 1 : columns + 1] = grid
    planes[Direction.DOWN, 1 : columns + 1, 1 : rows + 1] = grid.T
    return planes.reshape(-1)

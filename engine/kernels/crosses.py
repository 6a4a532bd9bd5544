"""Cross-sets: which letters make a word across a square, given the tiles above and below it.

Appel and Jacobson (The World's Fastest Scrabble Program, 1988). With each goes the cross-score, the
points of the crossing tiles. A play changes them only at the ends of the words that it makes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lexicons.alphabet import BLANK
from lexicons.bits import lowest_bit, lowest_set
from lexicons.jit import helper
from lexicons.memory import word_at
from lexicons.search_graph import (
    DAWG_ROOT,
    GADDAG_ROOT,
    child_of,
    ends_word,
    first_child,
    letters_after,
)
from lexicons.word_map import WordsRecord

from .board import (
    NO_CROSSING,
    BoardRecord,
    other_direction,
    put_tile,
    write_down,
)
from .moves import (
    BLANK_CODE,
    LETTER_MASK,
    column_of,
    is_down,
    move_tile,
    row_of,
    tile_count,
)

_ONE = np.uint64(1)
_NOTHING = np.uint64(0)


@helper
def cross_everywhere(board: BoardRecord, words: WordsRecord) -> None:
    """Compute every cross-set of a board that is set up; the board is modified in place."""
    side = board.side
    for square in range(side, side * (2 * side - 1)):
        here = board.squares[square]
        if here.on_board and not here.letter:
            _cross(board, words, square)
    board.changes = 0


@helper
def first_square(side: Any, move: Any) -> Any:
    """Return the first square of a placement's word, in the placement's direction."""
    row, column = row_of(move), column_of(move)
    if is_down(move):
        return (side + column + 1) * side + row + 1
    return (row + 1) * side + column + 1


@helper
def play(board: BoardRecord, words: WordsRecord, move: Any) -> None:
    """Play a placement and update anchors, cross-sets and cross-scores; undo with ``undo_to``."""
    first = first_square(board.side, move)
    square = first
    put = _NOTHING  # bit n: a new tile n squares after the first
    for at in range(tile_count(move)):
        while board.squares[square].letter:
            square += 1
        code = move_tile(move, at)
        letter = np.int64(code & LETTER_MASK)
        put_tile(board, square, letter, board.points[BLANK if code & BLANK_CODE else letter])
        put |= _ONE << np.uint64(square - first)
    # After all tiles are down: a cross-set depends on everything up to the next gap.
    _cross_ends(board, words, other_direction(board.side, first))
    while put:
        _cross_ends(board, words, first + np.int64(lowest_bit(put)))
        put &= put - _ONE


@helper
def _cross_ends(board: BoardRecord, words: WordsRecord, square: Any) -> None:
    side = board.side
    for step in (-side, side):
        end = square + step
        while board.squares[end].letter:
            end += step
        if board.squares[end].on_board:
            write_down(board, end)
            _cross(board, words, end)


@helper
def _cross(board: BoardRecord, words: WordsRecord, square: Any) -> None:
    squares, side = board.squares, board.side
    here = squares[square]
    above, below = squares[square - side].letter != 0, squares[square + side].letter != 0
    if not above and not below:
        here.cross_set = board.any_letter
        here.cross_score = NO_CROSSING
    elif above:
        here.cross_set, here.cross_score = _after_tiles(board, words, square, below)
    else:
        here.cross_set, here.cross_score = _before_tiles(board, words, square)


@helper
def _after_tiles(board: BoardRecord, words: WordsRecord, square: Any, below: bool) -> Any:
    """Go down the DAWG by the tiles above; then try each letter with the tiles below."""
    squares, side = board.squares, board.side
    at = square - side
    while squares[at].letter:
        at -= side
    at += side
    points: Any = np.int64(0)
    node = word_at(words.nodes, DAWG_ROOT)
    while at != square:
        points += np.int64(squares[at].value)
        node = child_of(words, node, squares[at].letter)
        at += side
    fitting = _NOTHING
    left = letters_after(node, words.shift)
    index = first_child(node, words.shift)
    while left:
        child = word_at(words.nodes, index)
        if below:
            at = square + side
            while child and squares[at].letter:
                child = child_of(words, child, squares[at].letter)
                at += side
        if ends_word(child, words.shift):
            fitting |= lowest_set(left)
        left &= left - _ONE
        index += _ONE
    at = square + side
    while squares[at].letter:
        points += np.int64(squares[at].value)
        at += side
    return fitting, points


@helper
def _before_tiles(board: BoardRecord, words: WordsRecord, square: Any) -> Any:
    """Go down the GADDAG by the tiles below, last first; take the letters that end a word."""
    squares, side = board.squares, board.side
    at = square + side
    points: Any = np.int64(0)
    while squares[at].letter:
        points += np.int64(squares[at].value)
        at += side
    at -= side
    node = word_at(words.nodes, GADDAG_ROOT)
    while at != square:
        node = child_of(words, node, squares[at].letter)
        at -= side
    fitting = _NOTHING
    left = letters_after(node, words.shift)
    index = first_child(node, words.shift)
    if node & _ONE:  # the separator comes first
        index += _ONE
    while left:
        if ends_word(word_at(words.nodes, index), words.shift):
            fitting |= _ONE << np.uint64(lowest_bit(left))
        left &= left - _ONE
        index += _ONE
    return fitting, points

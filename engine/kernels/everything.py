"""Every placement on a board, found with a GADDAG.

The method is Gordon's (A Faster Scrabble Move Generation Algorithm, 1994): a word is built from an
anchor, an empty square beside a tile, first to the left and then, behind the separator, to the
right. Cross-sets are Appel and Jacobson's (``engine.kernels.crosses``).

What a partial word takes along is a node of the graph, the tiles still on the rack as a mask, and
the sums of what has been placed, so that nothing has to be taken back. Partial words wait on a
stack, and only where a tile that is left can be placed next. (Calls of itself would read better,
but numba cannot keep them on disk: what it loads from there crashes.)
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from engine.kernels.board import NO_CROSSING
from engine.kernels.moves import BLANK_CODE, MAX_PLACED, TILE_BITS, left_justified, where_packed
from engine.kernels.placing import Desk1
from lexicons.alphabet import BLANK
from lexicons.bits import bit_count, lowest_bit
from lexicons.jit import helper
from lexicons.memory import address_of, put_byte, put_int, put_word, word_at
from lexicons.search_graph import (
    GADDAG_ROOT,
    SEPARATOR,
    WORD_ENDS,
    child_of,
    first_child,
)
from lexicons.word_map import Words1

__all__ = ["LISTED", "MOST_PARTIALS", "PARTIAL", "Listed1", "find_everything", "list_into"]

LISTED = np.dtype(
    [
        ("moves", np.uint64),  # address of an array of uint64: packed moves
        ("scores", np.uint64),  # … of int32: points
        ("parts", np.uint64),  # … of uint8: which of the rack's tiles are placed
        ("capacity", np.int64),  # length of each
        ("count", np.int64),  # how many moves there are; those beyond the capacity are not written
        ("before", np.int64),  # the anchor before this one in its line: nothing is placed there
        ("anchor", np.int64),
    ],
    align=True,
)
# A word that is being built: what has been placed, and what may be placed next and where.
PARTIAL = np.dtype(
    [
        ("naturals", np.uint64),  # the letters that tiles left may put on the square
        ("blanks", np.uint64),  # those that a blank may stand for there
        ("node", np.uint64),  # of the graph, not its index
        ("held", np.uint64),  # which of the rack's tiles are left
        ("packed", np.uint64),  # the tiles placed, the last of the word in the lowest bits
        ("square", np.int64),  # next to the word; an empty one
        ("start", np.int64),  # of the word, once its left end is fixed; before that 0
        ("placed", np.int64),  # number of tiles placed
        ("main", np.int64),  # points of the word's letters
        ("multiplier", np.int64),  # of the word
        ("crossing", np.int64),  # points of the crossing words
    ]
)
# Two for each tile placed: to go on to the left, and to the right.
MOST_PARTIALS = 2 * MAX_PLACED + 2

Listed1: TypeAlias = Any
"""A record of ``LISTED`` in a kernel."""

_ONE = np.uint64(1)
_NOTHING = np.uint64(0)


def list_into(
    desk: npt.NDArray[Any],
    moves: npt.NDArray[np.uint64],
    scores: npt.NDArray[np.int32],
    parts: npt.NDArray[np.uint8],
) -> None:
    """Have an array of one ``DESK`` list moves in arrays of one length, which the caller keeps."""
    listed = desk["listed"]
    listed["moves"] = address_of(moves)
    listed["scores"] = address_of(scores)
    listed["parts"] = address_of(parts)
    listed["capacity"] = len(moves)


@helper
def find_everything(desk: Desk1, words: Words1) -> None:
    """List every placement in ``desk.listed``, in no particular order, each once.

    A single tile that makes a word both ways is given across.
    """
    board, listed = desk.board, desk.listed
    listed.count = 0
    side = board.side
    for line in range(1, 2 * side):
        listed.before = 0
        for square in range(line * side + 1, line * side + side):
            if board.squares[square].anchor:
                listed.anchor = square
                _build_words(desk, words)
                listed.before = square


@helper
def _build_words(desk: Desk1, words: Words1) -> None:
    """Build every word whose first anchor in its line is ``desk.listed.anchor``."""
    rack, board = desk.rack, desk.board
    whole = (_ONE << np.uint64(rack.size)) - _ONE
    root = word_at(words.nodes, GADDAG_ROOT)
    top = _go_left(desk, words, -1, desk.listed.anchor, root, whole, _NOTHING, 0, 0, 1, 0)
    while top >= 0:
        partial = desk.partials[top]
        here = board.squares[partial.square]
        if partial.naturals:
            letter = lowest_bit(partial.naturals)
            partial.naturals &= partial.naturals - _ONE
            tiles = partial.held & rack.bits[letter]
            points = board.points[letter] * here.letter_multiplier
            code = letter
        else:
            letter = lowest_bit(partial.blanks)
            partial.blanks &= partial.blanks - _ONE
            tiles = partial.held & rack.bits[BLANK]
            points = board.points[BLANK] * here.letter_multiplier
            code = letter | BLANK_CODE
        if not partial.naturals | partial.blanks:
            top -= 1
        below = bit_count(partial.node & ((_ONE << letter) - _ONE))
        node = word_at(words.nodes, first_child(partial.node) + below)
        held = partial.held & ~(tiles & (~tiles + _ONE))
        placed = partial.placed + 1
        main = partial.main + points
        multiplier = partial.multiplier * here.word_multiplier
        crossing = partial.crossing
        if here.cross_score != NO_CROSSING:
            crossing += (points + here.cross_score) * here.word_multiplier
        if partial.start:
            packed = partial.packed << np.uint64(TILE_BITS) | code
            top = _go_right(
                desk,
                words,
                top,
                partial.start,
                partial.square + 1,
                node,
                held,
                packed,
                placed,
                main,
                multiplier,
                crossing,
            )
        else:
            packed = partial.packed | code << np.uint64(TILE_BITS * partial.placed)
            top = _go_left(
                desk,
                words,
                top,
                partial.square - 1,
                node,
                held,
                packed,
                placed,
                main,
                multiplier,
                crossing,
            )


@helper
def _go_left(
    desk: Desk1,
    words: Words1,
    top: Any,
    square: Any,
    node: Any,
    held: Any,
    packed: Any,
    placed: Any,
    main: Any,
    multiplier: Any,
    crossing: Any,
) -> Any:
    """Go on to the left of what a node spells, which ends at the anchor, and turn right there.

    ``top`` is the last of the waiting partial words; gives what is the last then.
    """
    squares, listed = desk.board.squares, desk.listed
    while squares[square].letter:
        node = child_of(words.nodes, node, squares[square].letter)
        main += squares[square].value
        square -= 1
    if square != listed.before:
        top = _wait(desk, top, 0, square, node, held, packed, placed, main, multiplier, crossing)
    if placed:
        after = listed.anchor + 1
        if node & WORD_ENDS and not squares[after].letter and square + 1 < listed.anchor:
            _add(desk, square + 1, held, packed, placed, main, multiplier, crossing)
        if node & SEPARATOR:
            node = word_at(words.nodes, first_child(node))
            top = _go_right(
                desk,
                words,
                top,
                square + 1,
                after,
                node,
                held,
                packed,
                placed,
                main,
                multiplier,
                crossing,
            )
    return top


@helper
def _go_right(
    desk: Desk1,
    words: Words1,
    top: Any,
    start: Any,
    square: Any,
    node: Any,
    held: Any,
    packed: Any,
    placed: Any,
    main: Any,
    multiplier: Any,
    crossing: Any,
) -> Any:
    """Go on to the right of what a node spells, which begins at ``start``; as ``_go_left``."""
    squares = desk.board.squares
    while squares[square].letter:
        node = child_of(words.nodes, node, squares[square].letter)
        main += squares[square].value
        square += 1
    if node & WORD_ENDS:
        _add(desk, start, held, packed, placed, main, multiplier, crossing)
    return _wait(desk, top, start, square, node, held, packed, placed, main, multiplier, crossing)


@helper
def _wait(
    desk: Desk1,
    top: Any,
    start: Any,
    square: Any,
    node: Any,
    held: Any,
    packed: Any,
    placed: Any,
    main: Any,
    multiplier: Any,
    crossing: Any,
) -> Any:
    """Let a partial word wait, if some tile can be placed next; give what is the last then."""
    rack = desk.rack
    fitting = node & desk.board.squares[square].cross_set
    naturals = fitting & rack.letters[held]
    blanks = fitting if held & rack.bits[BLANK] else _NOTHING
    if naturals | blanks:
        top += 1
        partial = desk.partials[top]
        partial.naturals = naturals
        partial.blanks = blanks
        partial.start = start
        partial.square = square
        partial.node = node
        partial.held = held
        partial.packed = packed
        partial.placed = placed
        partial.main = main
        partial.multiplier = multiplier
        partial.crossing = crossing
    return top


@helper
def _add(
    desk: Desk1,
    start: Any,
    held: Any,
    packed: Any,
    placed: Any,
    main: Any,
    multiplier: Any,
    crossing: Any,
) -> None:
    """List a placement, unless it is a single tile that makes a word across and was found there."""
    board, listed = desk.board, desk.listed
    crossed = board.squares[listed.anchor].cross_score != NO_CROSSING
    if placed == 1 and crossed and start >= board.side * board.side:
        return
    at = np.uint64(listed.count)
    if listed.count < listed.capacity:
        bonus = board.bonus if placed == board.bonus_tiles else 0
        whole = (_ONE << np.uint64(desk.rack.size)) - _ONE
        move = where_packed(board.side, start) | left_justified(packed, placed)
        put_word(listed.moves, at, np.int64(move))
        put_int(listed.scores, at, main * multiplier + crossing + bonus)
        put_byte(listed.parts, at, np.int64(whole ^ held))
    listed.count += 1

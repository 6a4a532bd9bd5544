"""Every placement on a board, found with a GADDAG: the kernel behind ``engine.generate``.

The method is Gordon's (A Faster Scrabble Move Generation Algorithm, 1994): a word is built from an
anchor, an empty square beside a tile, first to the left and then, behind the separator, to the
right. Cross-sets are Appel and Jacobson's (The World's Fastest Scrabble Program, 1988): for each
square the letters that make words of the tiles above and below it.

**Squares** are one flat array. The board is there twice, as it is and transposed, each time with a
border of one square and as wide as the longer side, so that a word always runs from ``square`` to
``square + 1`` and is crossed from ``square - side`` to ``square + side``: index
``(direction * side + line) * side + place``, lines and places from 1. What lies off the board is
an empty square that nothing fits, and needs no tests of its own.

**Records.** Squares and the frames of the search are arrays of records and not many arrays: a
record is passed to a helper as a bare pointer, whereas each array of a tuple costs an atomic count
up and down a call. The search is ten times as fast for it.

**Moves** are packed into 64 bits so that they sort by direction, row, column and tiles:

=====  ============================================================
bits
59     direction, 0 across
58–54  row of the first square of the word, from 0
53–49  its column
48–0   seven placed tiles of 7 bits in the order of the squares, the
       first highest: letter in bits 0–5, bit 6 for a blank; 0 none
=====  ============================================================
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from lexicons.jit import helper, kernel
from lexicons.kwg import ACCEPTS, CHILD, LAST, TILE_SHIFT

__all__ = [
    "COLUMN_SHIFT",
    "DIRECTION_SHIFT",
    "FRAME",
    "FRAMES_BEYOND_SIDE",
    "MAX_PLACED",
    "ROW_SHIFT",
    "SIDE_MASK",
    "SQUARE",
    "TILE_BITS",
    "Search",
    "find_placements",
]

MAX_PLACED = 7
TILE_BITS = 7
COLUMN_SHIFT = MAX_PLACED * TILE_BITS
ROW_SHIFT = COLUMN_SHIFT + 5
DIRECTION_SHIFT = ROW_SHIFT + 5
SIDE_MASK = 31

_SEPARATOR = 0
_BLANK = 0
_BLANK_FLAG = 1 << (TILE_BITS - 1)
# Sets of tiles are bits by tile number; bit 0 is the blank on a rack, the separator in the graph.
_LOWEST_BIT = np.uint64(1)
_BLANK_BIT = _LOWEST_BIT << np.uint64(_BLANK)
_SEPARATOR_BIT = _LOWEST_BIT << np.uint64(_SEPARATOR)
_ANY_LETTER = ~_LOWEST_BIT
_NONE_TAKEN = 255
_UNCROSSED = -1
FRAMES_BEYOND_SIDE = 2  # frames beyond one a square: the turn, and what lies behind the last

SQUARE = np.dtype(
    [
        ("cross_set", np.uint64),  # written by the kernel: bit n, letter n makes a word across
        ("cross_score", np.int32),  # written by the kernel: points of the crossing tiles, or -1
        ("value", np.int32),  # points of the tile here
        ("letter_multiplier", np.int32),
        ("word_multiplier", np.int32),
        ("letter", np.uint8),  # of the tile here, 0 none
        ("on_board", np.bool_),  # not of the border
        ("anchor", np.bool_),  # empty, and one of those of which a placement covers at least one
    ],
    align=True,
)
# A frame stands for one square of the word that is being built. Its sums and tiles are those
# placed before its own square.
FRAME = np.dtype(
    [
        ("as_itself", np.uint64),  # the letters that may lie on the square, or the separator
        ("as_blank", np.uint64),  # those that a blank may stand for there
        ("held", np.uint64),  # the tiles on the rack
        ("packed", np.uint64),  # the tiles placed, the last of them in the lowest bits
        ("option", np.uint32),  # tried next: its node × 2, 1 more for it as a blank; 0: none left
        ("square", np.int32),
        ("start", np.int32),  # first square of the word, known behind the separator
        ("main", np.int32),  # points of the word's letters
        ("multiplier", np.int32),  # of the word
        ("crossing", np.int32),  # points of the crossing words
        ("placed", np.uint8),  # number of tiles placed
        ("taken", np.uint8),  # which tile of the rack lies on the square just now
        ("rightward", np.bool_),  # behind the separator
    ],
    align=True,
)

U8: TypeAlias = npt.NDArray[np.uint8]
U32: TypeAlias = npt.NDArray[np.uint32]
U64: TypeAlias = npt.NDArray[np.uint64]
I32: TypeAlias = npt.NDArray[np.int32]
Int: TypeAlias = int | np.integer[Any]
Squares: TypeAlias = Any  # record arrays and records: mypy knows nothing of their fields
Frames: TypeAlias = Any
_Square: TypeAlias = Any
_Frame: TypeAlias = Any


class Search(NamedTuple):
    """A position as the kernel reads it. Every array is C-contiguous."""

    nodes: U32  # KWG word graph; read-only
    squares: Squares  # [2 * side * side] of SQUARE; cross_set and cross_score are written
    frames: Frames  # [side + FRAMES_BEYOND_SIDE] of FRAME, scratch
    points: I32  # [64] by tile, the blank first
    rack: U8  # [64] counts by tile; changed and restored
    side: int  # longer side of the board, with the border
    bonus: int  # points for placing ``bonus_tiles``
    bonus_tiles: int


@kernel
def find_placements(search: Search, moves: U64, scores: I32) -> Int:
    """Write every placement, packed, and its score, in no particular order; give their number.

    ``moves`` and ``scores`` are modified in place. Placements beyond their length are counted
    and not written: the caller comes again with longer arrays. A single tile that makes a word
    both ways is given across only.
    """
    side, squares = search.side, search.squares
    _fill_crossings(search)
    _begin(search)
    count: Int = 0
    for line in range(2 * side):
        before = 0
        for square in range(line * side, line * side + side):
            if squares[square].anchor:
                count = _build_from(search, square, before, moves, scores, count)
                before = square
    return count


@helper
def _tile(node: Int) -> Int:
    return np.int64(node >> TILE_SHIFT)  # signed: numba makes a float of a uint64 and an int64


@helper
def _find(nodes: U32, first: Int, tile: Int) -> Int:
    """Give the node with this tile among the siblings from ``first`` on, 0 if there is none."""
    at: Int = np.int64(first)
    while at != 0:
        node = nodes[np.uint64(at)]
        found = _tile(node)
        if found == tile:
            return at
        at = 0 if found > tile or node & LAST else at + 1
    return 0


@helper
def _fill_crossings(search: Search) -> None:
    side, squares = search.side, search.squares
    for at in range(len(squares)):
        square = squares[at]
        square.cross_set = 0
        square.cross_score = _UNCROSSED
        if square.on_board and not square.letter:
            if squares[at - side].letter or squares[at + side].letter:
                _cross(search.nodes, squares, side, at)
            else:
                square.cross_set = _ANY_LETTER


@helper
def _cross(nodes: U32, squares: Squares, side: Int, square: Int) -> None:
    """Work out the letters that complete the word across ``square``, and the points beside it."""
    at = square
    while squares[at - side].letter:
        at -= side
    points = 0
    first: Int = np.int64(nodes[0] & CHILD)
    while at != square:  # the part before the square, through the DAWG
        points += squares[at].value
        node = _find(nodes, first, squares[at].letter)
        first = np.int64(nodes[node] & CHILD) if node else 0
        at += side
    at += side
    while squares[at].letter:
        points += squares[at].value
        at += side
    fitting = np.uint64(0)
    while first:
        node = nodes[first]
        if _ends_word(nodes, squares, side, node, square + side):
            fitting |= np.uint64(1) << np.uint64(_tile(node))
        first = 0 if node & LAST else first + 1
    squares[square].cross_set = fitting
    squares[square].cross_score = points


@helper
def _ends_word(nodes: U32, squares: Squares, side: Int, node: Int, square: Int) -> bool:
    """Tell whether a word goes on from ``node`` with just the tiles from ``square`` onward."""
    while squares[square].letter:
        found = _find(nodes, node & CHILD, squares[square].letter)
        if not found:
            return False
        node = nodes[found]
        square += side
    return node & ACCEPTS != 0


@helper
def _begin(search: Search) -> None:
    """Clear the frames; the first holds nothing but the rack."""
    for depth in range(len(search.frames)):
        frame = search.frames[depth]
        frame.taken = _NONE_TAKEN
    first = search.frames[0]
    first.held = 0
    for tile in range(len(search.rack)):
        if search.rack[tile]:
            first.held |= _LOWEST_BIT << np.uint64(tile)
    first.placed = 0
    first.packed = 0
    first.rightward = False
    first.start = 0
    first.main = 0
    first.multiplier = 1
    first.crossing = 0


@helper
def _build_from(
    search: Search, anchor: Int, before: Int, moves: U64, scores: I32, count: Int
) -> Int:
    """Find the placements whose first anchor in the line is ``anchor``; give the new count.

    ``before`` is the anchor before it in the line. Nothing is placed there: those placements
    were found from that anchor already.
    """
    nodes, squares, frames = search.nodes, search.squares, search.frames
    rack, points, side = search.rack, search.points, search.side
    depth = 0
    _open(squares, frames[0], nodes[1] & CHILD, anchor, before)
    while depth >= 0:
        frame, after = frames[depth], frames[depth + 1]
        _take_back(rack, frame)
        square = squares[frame.square]
        option = _next_option(nodes, frame)
        if option == 0:
            depth -= 1
            continue
        node = nodes[np.uint64(option >> 1)]
        _pass_on(frame, after)
        if _tile(node) == _SEPARATOR:
            after.rightward = True
            after.start = frame.square + 1  # this square stays empty
            following = anchor + 1
        else:
            if not square.letter:
                _put(rack, points, square, frame, after, _tile(node), option & 1)
            else:
                after.main += square.value
            if node & ACCEPTS:
                first = frame.start if frame.rightward else frame.square
                last = frame.square if frame.rightward else anchor
                if _is_play(squares, side, after, first, last):
                    if count < moves.size:
                        bonus = search.bonus if after.placed == search.bonus_tiles else 0
                        scores[count] = after.main * after.multiplier + after.crossing + bonus
                        moves[count] = _packed(side, after, first)
                    count += 1
            following = frame.square + (1 if frame.rightward else -1)
        if node & CHILD:
            _open(squares, after, node & CHILD, following, before)
            depth += 1
    return count


@helper
def _open(squares: Squares, frame: _Frame, first: Int, square: Int, before: Int) -> None:
    """Begin with a square: the siblings from ``first`` on are what may lie there."""
    record = squares[square]
    frame.square = square
    frame.option = first << 1
    if record.letter:
        frame.as_itself = _LOWEST_BIT << np.uint64(record.letter)
        frame.as_blank = 0
    else:
        fitting = np.uint64(0) if square == before else record.cross_set
        frame.as_itself = fitting & frame.held | _SEPARATOR_BIT
        frame.as_blank = fitting if frame.held & _BLANK_BIT else np.uint64(0)


@helper
def _next_option(nodes: U32, frame: _Frame) -> Int:
    """Give the next option of a frame that can be taken, and step past it; 0 when none can."""
    # One way out, at the end: with more, numba counts a use of ``nodes`` (a third of all time).
    as_itself, as_blank = frame.as_itself, frame.as_blank
    option: Int = np.int64(frame.option)
    after: Int = np.int64(0)
    while option:
        node = nodes[np.uint64(option >> 1)]
        tile = np.uint64(_tile(node))
        blank = option & 1
        sibling = 0 if node & LAST else (option | 1) + 1
        after = sibling if blank or not as_blank else option + 1
        if (as_blank if blank else as_itself) >> tile & _LOWEST_BIT:
            break
        # Tiles ascend: where no tile of this number or above can be taken, the rest is skipped.
        option = after if (as_itself | as_blank) >> tile else 0
    frame.option = after if option else 0
    return option


@helper
def _pass_on(frame: _Frame, after: _Frame) -> None:
    """Let the next frame hold what this one does."""
    after.held = frame.held
    after.placed = frame.placed
    after.packed = frame.packed
    after.rightward = frame.rightward
    after.start = frame.start
    after.main = frame.main
    after.multiplier = frame.multiplier
    after.crossing = frame.crossing


@helper
def _put(
    rack: U8, points: I32, square: _Square, frame: _Frame, after: _Frame, tile: Int, blank: Int
) -> None:
    """Place a tile of the rack on a frame's square; ``rack`` and both frames are modified."""
    taken = _BLANK if blank else tile
    frame.taken = taken
    rack[taken] -= 1
    if rack[taken] == 0:
        after.held = frame.held & ~(_LOWEST_BIT << np.uint64(taken))
    code = np.uint64(tile | (_BLANK_FLAG if blank else 0))
    if frame.rightward:
        after.packed = frame.packed << np.uint64(TILE_BITS) | code
    else:
        after.packed = frame.packed | code << np.uint64(TILE_BITS * frame.placed)
    after.placed = frame.placed + 1
    value = points[taken] * square.letter_multiplier
    after.main = frame.main + value
    after.multiplier = frame.multiplier * square.word_multiplier
    if square.cross_score != _UNCROSSED:
        crossing = (value + square.cross_score) * square.word_multiplier
        after.crossing = frame.crossing + crossing


@helper
def _take_back(rack: U8, frame: _Frame) -> None:
    if frame.taken != _NONE_TAKEN:
        rack[frame.taken] += 1
        frame.taken = _NONE_TAKEN


@helper
def _is_play(squares: Squares, side: Int, held: _Frame, first: Int, last: Int) -> bool:
    """Tell whether what a frame holds is a placement that is to be given: it ends where tiles end,
    is no single letter, and is no single tile that makes a word across and is found there.
    """
    if first == last or squares[first - 1].letter or squares[last + 1].letter:
        return False
    if held.placed > 1 or first < side * side:
        return True
    square = np.int64(first)
    while squares[square].letter:
        square += 1
    return bool(squares[square].cross_score == _UNCROSSED)


@helper
def _packed(side: Int, held: _Frame, first: Int) -> Int:
    """Pack the placement that a frame holds; ``first`` is the first square of its word."""
    line, place = np.int64(first) // side, np.int64(first) % side
    row, column, down = line - 1, place - 1, 0
    if line >= side:
        row, column, down = place - 1, line - side - 1, 1
    where = down << DIRECTION_SHIFT | row << ROW_SHIFT | column << COLUMN_SHIFT
    tiles: Int = held.packed << np.uint64(TILE_BITS * (MAX_PLACED - held.placed))
    return np.uint64(where) | tiles

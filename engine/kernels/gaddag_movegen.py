"""Every placement on a board, found with a GADDAG.

The method is Gordon's (A Faster Scrabble Move Generation Algorithm, 1994): a word is built from an
anchor, first to the left and then, behind the separator, to the right. An anchor here is the last
tile of a run, or a crossed empty square beside no tile of its line. Gordon starts on the empty
squares beside a run. Starting with the run, whose tiles are given, few letters fit next to it:
1,930 tiles are tried in a position without a blank, not 4,440.

A partial word is a node of the graph, the tiles still held as a mask, and sums: nothing has to be
undone. It waits on a stack while a letter is tried, if more letters remain. A square is entered
only if a tile that is left fits there and leads on.

Each letter is tried once: a blank stands for it only if the rack has no such tile. For complete
words ``engine.kernels.listing`` assigns the blanks in every way.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from lexicons.alphabet import BLANK, MAX_LETTERS
from lexicons.arrays import I32, U8, U64
from lexicons.bits import bit_count, lowest_bit, lowest_set
from lexicons.jit import helper, record_dtype
from lexicons.memory import address_of, word_at
from lexicons.search_graph import GADDAG_ROOT, SEPARATOR, child_of, ends_word, first_child
from lexicons.word_map import WordsRecord

from .board import NO_CROSSING, BoardRecord
from .listing import CROSSED_SHIFT, CROSSING_SHIFT, GaddagRecord, complete
from .moves import (
    BLANK_CODE,
    MAX_PLACED,
    TILE_BITS,
    where_packed,
)
from .racks import SUBRACK_COUNT, RackRecord
from .shadow_movegen import StateRecord

_LINE = 32  # places of a line with its border, and spare

CELL = record_dtype(
    [
        ("cross_set", np.uint64),  # 0 also where an earlier anchor has found every word
        ("letter", np.uint64),
        ("weight", np.uint64),  # sums for each point of a tile placed here
        ("sums", np.uint64),  # of the tile, or of the crossing tiles
        ("word_multiplier", np.uint64),  # 1 where a tile lies
        ("multiplier", np.uint64),  # product from here to the anchor, or from behind it to here
        ("anchor", np.bool_),  # empty, with a tile beside it or across
    ],
)
PARTIAL = record_dtype(
    [
        ("candidates", np.uint64),  # letters still to be tried
        ("place", np.uint64),  # the empty square next to the word
        ("node", np.uint64),  # the node's 64-bit word, not its index
        ("held", np.uint64),  # mask of the tiles left
        ("packed", np.uint64),  # the tiles placed, the last in the lowest bits
        ("sums", np.uint64),
    ],
)
# Unsigned except for counts: in numba a signed with an unsigned integer makes a float.
GADDAG_SEARCH = record_dtype(
    [
        ("nodes", np.uint64),  # address of the graph
        ("shift", np.uint64),  # the lowest bit of the indexes in it
        ("moves", np.uint64),  # addresses of the output arrays
        ("scores", np.uint64),
        ("subracks", np.uint64),
        ("capacity", np.int64),  # their length
        ("count", np.int64),  # of placements; beyond the capacity not written
        ("whole", np.uint64),
        ("blanks", np.uint64),  # mask of the blanks
        ("natural", np.uint64),  # letters of the other tiles
        ("bits", np.uint64, (MAX_LETTERS + 1,)),  # by letter: mask of its tiles
        ("points", np.uint64, (2 * (MAX_LETTERS + 1),)),  # by letter, with BLANK_CODE or without
        ("letters", np.uint64, (SUBRACK_COUNT,)),  # by mask: letters that its tiles can be
        ("bonus", np.uint64),
        ("bonus_tiles", np.uint64),
        ("down", np.bool_),  # direction of the line
        ("where", np.uint64),  # a move's direction and first square, for place 1 of the line
        ("where_step", np.uint64),  # … what each further place adds
        ("anchor", np.uint64),
        ("cells", CELL, (_LINE,)),
        ("left", PARTIAL, (MAX_PLACED + 1,)),
        ("right", PARTIAL, (MAX_PLACED + 1,)),
        ("dearer", np.uint64, (MAX_PLACED,)),  # by tile: points beyond a blank's
        ("stand_ins", np.uint64, (MAX_LETTERS + 1,)),  # by letter: tiles that must be blanks
    ],
)
_ONE = np.uint64(1)
_NOTHING = np.uint64(0)
_TILE_BITS = np.uint64(TILE_BITS)


def list_into(
    state: npt.NDArray[Any],
    moves: U64,
    scores: I32,
    subracks: U8,
) -> None:
    """Set the output arrays of a ``SEARCH_STATE`` array; of equal length, kept by the caller."""
    listed = state["gaddag"]
    listed["moves"] = address_of(moves)
    listed["scores"] = address_of(scores)
    listed["subracks"] = address_of(subracks)
    listed["capacity"] = len(moves)


@helper
def list_placements(state: StateRecord, words: WordsRecord) -> None:
    """List every placement once in ``state.gaddag``; a single tile that makes two words is across.

    Cross-sets and the rack must be filled in, and the output arrays set by ``list_into``.
    """
    board, search = state.board, state.gaddag
    look_up_graph(search, words)
    look_up_points(search, board)
    search.count = 0
    look_up_rack(search, board, state.rack)
    side = board.side
    for line in range(1, side - 1):
        list_line(search, board, line)
    for line in range(side + 1, 2 * side - 1):
        list_line(search, board, line)


@helper
def list_line(search: GaddagRecord, board: BoardRecord, line: Any) -> None:
    """List the placements along a line; line numbers as in ``engine.kernels.board``."""
    search.down = line >= board.side
    if _take_line(search, board, line * board.side):
        _search_line(search, np.uint64(board.side - 1))


@helper
def look_up_graph(search: GaddagRecord, words: WordsRecord) -> None:
    """Copy what the search needs of the words."""
    search.nodes, search.shift = words.nodes, words.shift


@helper
def look_up_points(search: GaddagRecord, board: BoardRecord) -> None:
    """Copy the bonus and the points of tiles from the board to the search."""
    search.bonus = np.uint64(board.bonus)
    search.bonus_tiles = np.uint64(board.bonus_tiles)
    blank_flag = np.uint64(BLANK_CODE)
    for tile in range(MAX_LETTERS + 1):  # 0 is the blank itself
        search.points[tile] = np.uint64(board.points[tile])
        search.points[np.uint64(tile) | blank_flag] = np.uint64(board.points[BLANK])


@helper
def look_up_rack(search: GaddagRecord, board: BoardRecord, rack: RackRecord) -> None:
    """Copy into one place what the search needs of a rack."""
    subracks = 1 << rack.held
    search.whole = np.uint64(subracks - 1)
    search.blanks = rack.bits[BLANK]
    search.natural = rack.letters[subracks - 1]
    for letter in range(MAX_LETTERS + 1):
        search.bits[letter] = rack.bits[letter]
    for subrack in range(subracks):
        any_letter = np.uint64(subrack) & search.blanks != _NOTHING
        search.letters[subrack] = board.any_letter if any_letter else rack.letters[subrack]


@helper
def _take_line(search: GaddagRecord, board: BoardRecord, first: Any) -> Any:
    search.where = where_packed(board.side, first + 1)
    search.where_step = where_packed(board.side, first + 2) - search.where
    has_anchor = False
    for place in range(board.side):
        here, cell = board.squares[first + place], search.cells[place]
        cell.cross_set = here.cross_set
        cell.letter = np.uint64(here.letter)
        cell.anchor = here.anchor
        has_anchor |= here.anchor
        by_letter, by_word = np.uint64(here.letter_multiplier), np.uint64(here.word_multiplier)
        cell.word_multiplier = by_word
        cell.weight = by_letter
        cell.sums = _NOTHING
        if here.letter:
            cell.word_multiplier = _ONE
            cell.sums = np.uint64(here.value)
        elif here.cross_score != NO_CROSSING:
            cell.weight = by_letter | by_letter * by_word << CROSSING_SHIFT
            crossing = np.uint64(here.cross_score) * by_word
            cell.sums = crossing << CROSSING_SHIFT | _ONE << CROSSED_SHIFT
    return has_anchor


@helper
def _search_line(search: GaddagRecord, end: Any) -> None:
    """List the placements in a line; places end before ``end``.

    When an anchor is done, a cross-set is emptied so that no later word covers the anchor.
    """
    root = word_at(search.nodes, GADDAG_ROOT)
    cells = search.cells
    place = _ONE
    while place < end:
        following = place + _ONE
        if cells[place].letter:
            while cells[following].letter:
                following += _ONE
            search.anchor = following - _ONE
            _multiply(search, end)
            node, sums, left = _through_left(search, root, _NOTHING, search.anchor)
            _build_left(search, left, node, sums)
            cells[following].cross_set = _NOTHING
            place = following + _ONE
        else:
            if cells[place].anchor and not cells[following].letter:
                search.anchor = place
                _multiply(search, end)
                _build_left(search, place, root, _NOTHING)
                cells[place].cross_set = _NOTHING
            place = following


@helper
def _multiply(search: GaddagRecord, end: Any) -> None:
    product = _ONE
    for distance in range(search.anchor):
        cell = search.cells[search.anchor - distance]
        product *= cell.word_multiplier
        cell.multiplier = product
    product = _ONE
    for place in range(search.anchor + _ONE, end):
        cell = search.cells[place]
        product *= cell.word_multiplier
        cell.multiplier = product


@helper
def _through_left(search: GaddagRecord, node: Any, sums: Any, place: Any) -> Any:
    while search.cells[place].letter:
        node = child_of(search, node, search.cells[place].letter)
        sums += search.cells[place].sums
        place -= _ONE
    return node, sums, place


@helper
def _through_right(search: GaddagRecord, node: Any, sums: Any, place: Any) -> Any:
    while search.cells[place].letter:
        node = child_of(search, node, search.cells[place].letter)
        sums += search.cells[place].sums
        place += _ONE
    return node, sums, place


@helper
def _build_left(search: GaddagRecord, place: Any, node: Any, sums: Any) -> None:
    held, packed = search.whole, _NOTHING
    candidates = _build_past_anchor(search, place, node, held, packed, sums)
    # Read once: stores may alias these fields.
    nodes, shift, blanks, whole = search.nodes, search.shift, search.blanks, search.whole
    depth = _NOTHING
    while candidates or depth:
        if not candidates:
            depth -= _ONE
            candidates, place, node, held, packed, sums = _resume(search.left[depth])
        child, code, left = _try_lowest(search, nodes, shift, blanks, candidates, node, held)
        candidates &= candidates - _ONE
        cell = search.cells[place]
        total = sums + search.points[code] * cell.weight + cell.sums
        child, total, following = _through_left(search, child, total, place - _ONE)
        tiles = packed | code << _TILE_BITS * bit_count(whole ^ held)
        first = following + _ONE
        if ends_word(child, shift) and first != search.anchor:
            multiplier = search.cells[first].multiplier
            complete(search, first, multiplier, left, tiles, total)
        fitting = _build_past_anchor(search, following, child, left, tiles, total)
        if fitting:
            if candidates:
                _wait(search.left[depth], candidates, place, node, held, packed, sums)
                depth += _ONE
            candidates, place, node = fitting, following, child
            held, packed, sums = left, tiles, total


@helper
def _build_past_anchor(
    search: GaddagRecord, place: Any, node: Any, held: Any, packed: Any, sums: Any
) -> Any:
    """Build to the right of the anchor if the left part may end; return what fits on its left."""
    if node & SEPARATOR:
        after = search.anchor + _ONE
        turned = word_at(search.nodes, first_child(node, search.shift))
        fitting = turned & search.cells[after].cross_set & search.letters[held]
        if fitting:
            _build_right(search, place + _ONE, fitting, after, turned, held, packed, sums)
    return node & search.cells[place].cross_set & search.letters[held]


@helper
def _build_right(
    search: GaddagRecord,
    first: Any,
    candidates: Any,
    place: Any,
    node: Any,
    held: Any,
    packed: Any,
    sums: Any,
) -> None:
    nodes, shift, blanks = search.nodes, search.shift, search.blanks  # read once, as above
    depth = _NOTHING
    while candidates or depth:
        if not candidates:
            depth -= _ONE
            candidates, place, node, held, packed, sums = _resume(search.right[depth])
        child, code, left = _try_lowest(search, nodes, shift, blanks, candidates, node, held)
        candidates &= candidates - _ONE
        cell = search.cells[place]
        total = sums + search.points[code] * cell.weight + cell.sums
        child, total, following = _through_right(search, child, total, place + _ONE)
        tiles = packed << _TILE_BITS | code
        if ends_word(child, shift):
            right = search.cells[following - _ONE].multiplier
            multiplier = search.cells[first].multiplier * right
            complete(search, first, multiplier, left, tiles, total)
        fitting = child & search.cells[following].cross_set & search.letters[left]
        if fitting:
            if candidates:
                _wait(search.right[depth], candidates, place, node, held, packed, sums)
                depth += _ONE
            candidates, place, node = fitting, following, child
            held, packed, sums = left, tiles, total


@helper
def _try_lowest(
    search: GaddagRecord,
    nodes: Any,
    shift: Any,
    blanks: Any,
    candidates: Any,
    node: Any,
    held: Any,
) -> Any:
    """Try the lowest candidate, as a blank only if need be; return node, code and tiles left."""
    code = lowest_bit(candidates)
    below = bit_count(node & ((_ONE << code) - _ONE))
    child = word_at(nodes, first_child(node, shift) + below)
    tiles = held & search.bits[code]
    if not tiles:
        tiles = held & blanks
        code |= np.uint64(BLANK_CODE)
    return child, code, held ^ lowest_set(tiles)


@helper
def _wait(
    partial: Any, candidates: Any, place: Any, node: Any, held: Any, packed: Any, sums: Any
) -> None:
    partial.candidates = candidates
    partial.place = place
    partial.node = node
    partial.held = held
    partial.packed = packed
    partial.sums = sums


@helper
def _resume(partial: Any) -> Any:
    return (
        partial.candidates,
        partial.place,
        partial.node,
        partial.held,
        partial.packed,
        partial.sums,
    )

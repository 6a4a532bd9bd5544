"""Placements line by line, remembered: a line that looks as it did before holds what it held.

What can be placed along a line depends on its tiles and on the cross-sets and cross-scores of its
empty squares. A search that plays and takes back meets the same lines again and again, so each is
listed once for each rack, and found again by its hash. A line that a play leaves as it is needs not
even that: what fits with the tiles that are left is a matter of counting. A multiset of tiles is
one integer with four bits for each different tile, and whether one is part of another is one
subtraction.

Memory is what the caller gives. When it is full, all lines are forgotten at once; ``forgotten``
counts how often that was, so that places in it are not used any longer.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from lexicons.alphabet import BLANK, MAX_LETTERS
from lexicons.bits import GOLDEN, lowest_set, wrapping_add, wrapping_mul
from lexicons.jit import helper, record_dtype
from lexicons.memory import put_word, word_at

from .board import BORDERED, BoardRecord
from .gaddag_movegen import GADDAG_SEARCH, GaddagRecord, list_line
from .moves import (
    BLANK_CODE,
    COLUMN_SHIFT,
    DIRECTION_SHIFT,
    LETTER_MASK,
    ROW_SHIFT,
    SIDE_MASK,
    move_tile,
    tile_count,
)

__all__ = [
    "ENTRY_WORDS",
    "HALF",
    "LINE_CACHE",
    "LOWER",
    "MAX_LINES",
    "LineCacheRecord",
    "fits_in",
    "forget_lines",
    "hash_line",
    "placements_along",
    "units_of",
]

MAX_LINES = 2 * BORDERED
ENTRY_WORDS = 3
"""64-bit words of a placement: the packed move; its tiles as a count, and above them the places of
the line that it covers; its points, and above them those of its tiles."""

HALF = np.uint64(32)
LOWER = np.uint64((1 << 32) - 1)

_ONE = np.uint64(1)
_THREE = np.uint64(ENTRY_WORDS)
_GUARDS = np.uint64(0x8888_8888)  # the highest bit of each count, which is never used
_UNIT_BITS = 4
_COUNT_MASK = np.uint64(7)
_HIGHEST = np.uint64((1 << 14) - 1)  # points of a placement; searches count to 2¹⁵
_STIR = np.uint64(0xBF58476D1CE4E5B9)
_TILE_HERE = np.uint64(1 << 62)

LINE_CACHE = record_dtype(
    [
        ("gaddag", GADDAG_SEARCH, (2,)),  # by seat
        ("units", np.uint64, (2, MAX_LETTERS + 1)),  # by seat and tile: one of it in a count
        ("whole", np.uint64, (2,)),  # by seat: the count of its tiles when the search began
        ("salts", np.uint64, (2,)),  # by seat: the hash of its tiles
        ("entries", np.uint64),  # address of the placements
        ("room", np.int64),  # for so many
        ("used", np.int64),
        ("index", np.uint64),  # address of pairs: hash, and where the placements are
        ("places", np.int64),  # in the index, a power of two
        ("known", np.int64),  # lines in it
        ("forgotten", np.int64),  # how often all were
        ("overflowed", np.bool_),  # more placements, or points, than there is room for
    ],
)
LineCacheRecord: TypeAlias = Any
"""A record of ``LINE_CACHE`` in a kernel."""


@helper
def fits_in(need: Any, held: Any) -> Any:
    """Return whether a multiset of tiles is part of another; both are counts of one seat."""
    return ((held | _GUARDS) - need) & _GUARDS == _GUARDS


@helper
def units_of(line_cache: LineCacheRecord, seat: Any, tiles: Any, size: Any) -> Any:
    """Number a seat's different tiles, which are sorted; return the count of all of them."""
    held, shift = np.uint64(0), 0
    salt = np.uint64(size)
    for tile in range(MAX_LETTERS + 1):
        line_cache.units[seat, tile] = 0
    for at in range(size):
        if at and tiles[at] != tiles[at - 1]:
            shift += _UNIT_BITS
        line_cache.units[seat, tiles[at]] = _ONE << np.uint64(shift)
        held += line_cache.units[seat, tiles[at]]
        salt = wrapping_mul(salt ^ np.uint64(tiles[at]), GOLDEN)
    line_cache.whole[seat] = held
    line_cache.salts[seat] = salt ^ salt >> HALF
    return held


@helper
def hash_line(board: BoardRecord, line: Any) -> Any:
    """Return a number for all that decides what can be placed along a line."""
    hashed = np.uint64(line)
    for square in range(line * board.side + 1, (line + 1) * board.side - 1):
        here = board.squares[square]
        if here.letter:
            content = _TILE_HERE | np.uint64(here.letter) << np.uint64(8) | np.uint64(here.value)
        else:
            crossing = wrapping_mul(np.uint64(np.int64(here.cross_score) + 1), _STIR)
            content = wrapping_add(here.cross_set, crossing)
        hashed = wrapping_mul(hashed ^ content, GOLDEN)
        hashed ^= hashed >> HALF
    return hashed


@helper
def placements_along(
    line_cache: LineCacheRecord, board: BoardRecord, line: Any, hashed: Any, seat: Any, held: Any
) -> Any:
    """Return where placements along a line are, and above it in 32 bits how many.

    They are those that a seat has with the tiles that it holds, and perhaps more: see which fit. A
    rack with a blank has so many that it pays to list them anew for the tiles that are left.
    """
    if not line_cache.units[seat, BLANK]:
        held = line_cache.whole[seat]
    key = wrapping_add(hashed ^ wrapping_mul(held, _STIR), line_cache.salts[seat]) | _ONE
    mask = np.uint64(line_cache.places - 1)
    place = key >> HALF & mask
    found = word_at(line_cache.index, place * np.uint64(2))
    while found and found != key:
        place = place + _ONE & mask
        found = word_at(line_cache.index, place * np.uint64(2))
    if found:
        return word_at(line_cache.index, place * np.uint64(2) + _ONE)
    search = line_cache.gaddag[seat]
    search.count = 0
    _hold(search, line_cache.units[seat], held)
    list_line(search, board, line)
    if (
        line_cache.used + search.count > line_cache.room
        or 4 * line_cache.known > 3 * line_cache.places
    ):
        forget_lines(line_cache)
        line_cache.forgotten += 1
        place = key >> HALF & mask
    where = _write(line_cache, search, seat)
    put_word(line_cache.index, place * np.uint64(2), np.int64(key))
    put_word(line_cache.index, place * np.uint64(2) + _ONE, np.int64(where))
    line_cache.known += 1
    return where


@helper
def _hold(search: GaddagRecord, units: Any, held: Any) -> None:
    """Let what is listed be made of some of a rack's tiles, of equal ones the first."""
    search.whole = 0
    search.natural = 0
    for tile in range(MAX_LETTERS + 1):
        if units[tile]:
            count = held // units[tile] & _COUNT_MASK
            tiles = search.bits[tile]
            for _ in range(count):
                search.whole |= lowest_set(tiles)
                tiles &= tiles - _ONE
            if count and tile != BLANK:
                search.natural |= _ONE << np.uint64(tile)
    search.blanks = search.whole & search.bits[BLANK]


@helper
def forget_lines(line_cache: LineCacheRecord) -> None:
    """Begin with no line known."""
    for place in range(line_cache.places):
        put_word(line_cache.index, np.uint64(2 * place), np.int64(0))
    line_cache.used = 0
    line_cache.known = 0


@helper
def _write(line_cache: LineCacheRecord, search: GaddagRecord, seat: Any) -> Any:
    """Write down what was listed, with the tiles and squares of each; return where it is."""
    count = min(search.count, search.capacity, line_cache.room)
    if count < search.count:
        line_cache.overflowed = True
    begin = np.uint64(line_cache.used)
    for nth in range(count):
        move = word_at(search.moves, np.uint64(nth))
        # The scores were written as 32-bit integers.
        pair = word_at(search.scores, np.uint64(nth >> 1))
        score = pair >> HALF if nth & 1 else pair & LOWER
        if score > _HIGHEST:
            line_cache.overflowed = True
            score = _HIGHEST
        need, squares, points = _describe(search, line_cache.units[seat], move)
        entry = (begin + np.uint64(nth)) * _THREE
        put_word(line_cache.entries, entry, np.int64(move))
        put_word(line_cache.entries, entry + _ONE, np.int64(need | squares << HALF))
        put_word(line_cache.entries, entry + np.uint64(2), np.int64(score | points << HALF))
    line_cache.used += count
    return begin | np.uint64(count) << HALF


@helper
def _describe(search: GaddagRecord, units: Any, move: Any) -> Any:
    """Return the tiles of a placement as a count, the places that it covers, and their points."""
    down = move >> np.uint64(DIRECTION_SHIFT) & _ONE
    shift = np.uint64(ROW_SHIFT) if down else np.uint64(COLUMN_SHIFT)
    place = (move >> shift & np.uint64(SIDE_MASK)) + _ONE
    need, squares, points = np.uint64(0), np.uint64(0), np.uint64(0)
    for nth in range(tile_count(move)):
        while search.cells[place].letter:
            place += _ONE
        code = move_tile(move, nth)
        tile = np.uint64(BLANK) if code & BLANK_CODE else code & LETTER_MASK
        need += units[tile]
        points += search.points[code]
        squares |= _ONE << place
        place += _ONE
    return need, squares, points

"""A cache of placements by line: a line in the same state has the same placements.

A line's placements depend on its tiles and on the cross-sets and cross-scores of its empty squares,
so each line is listed once for each rack and looked up by its hash. For an unchanged line it is
enough to select what fits with the tiles left. A multiset of tiles is one integer with four bits
for each different tile, so that inclusion is one subtraction.

When the caller's memory is full, all lines are dropped; ``forgotten`` counts how often, so that
stale places are not used.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from engine.kernels.listing import GaddagRecord
from lexicons.alphabet import BLANK, MAX_LETTERS
from lexicons.bits import GOLDEN, lowest_set, wrapping_add, wrapping_mul
from lexicons.jit import helper, record_dtype
from lexicons.memory import put_word, word_at

from .board import BoardRecord
from .gaddag_movegen import GADDAG_SEARCH, list_line
from .moves import (
    BLANK_CODE,
    LETTER_MASK,
    column_of,
    is_down,
    move_tile,
    row_of,
    tile_count,
)

ENTRY_WORDS = 3
"""64-bit words of a placement: the packed move; its tiles as a count, and in the upper half the
places of the line that it covers; its points, and in the upper half those of its tiles."""

HALF = np.uint64(32)
LOWER = np.uint64((1 << 32) - 1)

_ONE = np.uint64(1)
_THREE = np.uint64(ENTRY_WORDS)
_GUARDS = np.uint64(0x8888_8888)  # the highest bit of each count, never used
_UNIT_BITS = 4
_COUNT_MASK = np.uint64(7)
_HIGHEST = np.uint64((1 << 14) - 1)  # points of a placement; searches count to 2¹⁵
_STIR = np.uint64(0xBF58476D1CE4E5B9)
_TILE_HERE = np.uint64(1 << 62)

LINE_CACHE = record_dtype(
    [
        ("gaddag", GADDAG_SEARCH, (2,)),  # by seat
        ("units", np.uint64, (2, MAX_LETTERS + 1)),  # by seat and tile: one tile in a count
        ("whole", np.uint64, (2,)),  # by seat: count of its tiles at the start
        ("salts", np.uint64, (2,)),  # by seat: the hash of its tiles
        ("entries", np.uint64),  # address of the placements
        ("room", np.int64),  # for placements
        ("used", np.int64),
        ("index", np.uint64),  # address of pairs: key, place and number of placements
        ("places", np.int64),  # in the index, a power of two
        ("known", np.int64),
        ("forgotten", np.int64),  # times that all lines were dropped
        ("overflowed", np.bool_),  # placements or points exceeded their room
    ],
)
LineCacheRecord: TypeAlias = Any


@helper
def fits_in(need: Any, held: Any) -> Any:
    """Return whether a multiset of tiles is part of another; both are counts of one seat."""
    return ((held | _GUARDS) - need) & _GUARDS == _GUARDS


@helper
def units_of(line_cache: LineCacheRecord, seat: Any, tiles: Any, size: Any) -> Any:
    """Give each different tile of a seat its unit, by sorted ``tiles``; return the count of all."""
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
    """Return a hash of all that decides the placements along a line."""
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
    """Return the place of a line's placements, with their number in the upper 32 bits.

    Some may need more tiles than a seat holds: check with ``fits_in``. A rack with a blank has so
    many placements that it pays to list them anew for the tiles left.
    """
    if not line_cache.units[seat, BLANK]:
        held = line_cache.whole[seat]
    key = wrapping_add(hashed ^ wrapping_mul(held, _STIR), line_cache.salts[seat]) | _ONE
    mask = np.uint64(line_cache.places - 1)
    place = key >> HALF & mask
    stored = word_at(line_cache.index, place * np.uint64(2))
    while stored and stored != key:
        place = place + _ONE & mask
        stored = word_at(line_cache.index, place * np.uint64(2))
    if stored:
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
    """Restrict a search to some of a rack's tiles; of equal tiles the first."""
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
    """Drop all lines."""
    for place in range(line_cache.places):
        put_word(line_cache.index, np.uint64(2 * place), np.int64(0))
    line_cache.used = 0
    line_cache.known = 0


@helper
def _write(line_cache: LineCacheRecord, search: GaddagRecord, seat: Any) -> Any:
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
    place = np.uint64(row_of(move) if is_down(move) else column_of(move)) + _ONE
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

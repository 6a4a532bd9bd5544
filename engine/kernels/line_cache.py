"""A cache of placements by line: a line in the same state has the same placements.

A line's placements depend on its tiles and on the cross-sets and cross-scores of its empty squares,
so each line is listed once for each rack and looked up by its hash. For an unchanged line it is
enough to select what fits with the tiles left. A multiset of the tiles that a seat may ever hold is
one integer, with a field for each different tile and a spare bit above it, so that inclusion is one
subtraction.

When the caller's memory is full, all lines are dropped; ``forgotten`` counts how often, so that
stale places are not used.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from engine.kernels.listing import GaddagRecord
from lexicons.alphabet import BLANK, MAX_LETTERS
from lexicons.bits import GOLDEN, wrapping_add, wrapping_mul
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
_HIGHEST = np.uint64((1 << 14) - 1)  # points of a placement; searches count to 2¹⁵
_STIR = np.uint64(0xBF58476D1CE4E5B9)
_TILE_HERE = np.uint64(1 << 62)

LINE_CACHE = record_dtype(
    [
        ("gaddag", GADDAG_SEARCH, (2,)),  # by seat
        ("units", np.uint64, (2, MAX_LETTERS + 1)),  # by seat and tile: one tile in a count
        ("fields", np.uint64, (2, MAX_LETTERS + 1)),  # … the bits of its field
        ("holding", np.uint64, (2,)),  # by seat: the tiles that its search has
        ("guards", np.uint64, (2,)),  # by seat: the bits above the fields, 0 in a count
        ("salts", np.uint64, (2,)),  # by seat: the hash of all tiles that it may ever hold
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
def fits_in(need: Any, held: Any, guards: Any) -> Any:
    """Return whether a multiset of tiles is part of another; both are counts of one seat."""
    return ((held | guards) - need) & guards == guards


@helper
def set_units(line_cache: LineCacheRecord, seat: Any, tiles: Any, size: Any) -> None:
    """Give each different tile that a seat may ever hold its unit; ``tiles`` are sorted.

    A tile takes two bits at most, so that the counts of 16 tiles have 32 bits.
    """
    shift, guards, salt = np.uint64(0), np.uint64(0), np.uint64(size)
    for tile in range(MAX_LETTERS + 1):
        line_cache.units[seat, tile] = 0
        line_cache.fields[seat, tile] = 0
    at = 0
    while at < size:
        tile, times = tiles[at], np.uint64(0)
        while at < size and tiles[at] == tile:
            salt = wrapping_mul(salt ^ np.uint64(tile), GOLDEN)
            times += _ONE
            at += 1
        line_cache.units[seat, tile] = _ONE << shift
        field = np.uint64(0)
        while times:
            field |= _ONE << shift
            shift += _ONE
            times >>= _ONE
        line_cache.fields[seat, tile] = field
        guards |= _ONE << shift
        shift += _ONE
    line_cache.guards[seat] = guards
    line_cache.holding[seat] = guards  # no count
    line_cache.salts[seat] = salt ^ salt >> HALF


@helper
def count_of(line_cache: LineCacheRecord, seat: Any, tiles: Any, size: Any) -> Any:
    """Return the count of a multiset of a seat's tiles."""
    held = np.uint64(0)
    for at in range(size):
        held += line_cache.units[seat, tiles[at]]
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
    line_cache: LineCacheRecord,
    board: BoardRecord,
    line: Any,
    hashed: Any,
    seat: Any,
    held: Any,
    whole: Any,
) -> Any:
    """Return the place of a line's placements, with their number in the upper 32 bits.

    Some may need more tiles than the seat holds: check with ``fits_in``. ``whole`` is what it held
    when it last drew. A rack with a blank has so many placements that it pays to list them anew for
    the tiles left.
    """
    if not whole & line_cache.fields[seat, BLANK]:
        held = whole
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
    if line_cache.holding[seat] != held:
        line_cache.holding[seat] = held
        _hold(search, board, line_cache, seat, held)
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
def _hold(search: GaddagRecord, board: BoardRecord, line_cache: Any, seat: Any, held: Any) -> None:
    """Give a search a rack, at most seven tiles."""
    size = np.uint64(0)
    search.natural = 0
    search.letters[0] = 0
    for tile in range(MAX_LETTERS + 1):
        search.bits[tile] = 0
        left = held & line_cache.fields[seat, tile]
        if not left:
            continue
        letter = board.any_letter if tile == BLANK else _ONE << np.uint64(tile)
        if tile != BLANK:
            search.natural |= letter
        while left:
            last = _ONE << size
            search.bits[tile] |= last
            for rest in range(last):
                search.letters[last | np.uint64(rest)] = search.letters[rest] | letter
            left -= line_cache.units[seat, tile]
            size += _ONE
    search.whole = (_ONE << size) - _ONE
    search.blanks = search.bits[BLANK]


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

"""Recording of placements: their scores, and every way to assign the blanks."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from lexicons.bits import (
    bit_count,
    lowest_bit,
    lowest_set,
    wrapping_add,
    wrapping_mul,
    wrapping_sub,
)
from lexicons.jit import helper
from lexicons.memory import put_byte, put_int, put_word

from .moves import (
    BLANK_CODE,
    LETTER_MASK,
    MAX_PLACED,
    TILE_BITS,
    left_justified,
    move_tile,
)

# Sums of points in one integer, so that a tile adds one product. From the lowest bit: points of the
# word's letters, points of the crossing words, number of crossing words.
CROSSING_SHIFT = np.uint64(24)
CROSSED_SHIFT = np.uint64(56)
LETTERS_MASK = np.uint64((1 << 24) - 1)
_CROSSING_MASK = np.uint64((1 << 32) - 1)

GaddagRecord: TypeAlias = Any  # of ``engine.kernels.gaddag_movegen.GADDAG_SEARCH``

_ONE = np.uint64(1)
_TWO = np.uint64(2)
_NOTHING = np.uint64(0)
_TILE_BITS = np.uint64(TILE_BITS)
_BLANK_BIT = np.uint64(TILE_BITS - 1)
_BLANK_CODES = np.uint64(sum(int(BLANK_CODE) << TILE_BITS * nth for nth in range(MAX_PLACED)))


@helper
def complete(
    search: GaddagRecord, first: Any, multiplier: Any, held: Any, packed: Any, sums: Any
) -> None:
    """List a word that begins at place ``first``, with every assignment of its blanks."""
    used = search.whole ^ held
    placed = bit_count(used)
    if search.down and placed == _ONE and sums >> CROSSED_SHIFT:
        return  # found across
    score = (sums & LETTERS_MASK) * multiplier + (sums >> CROSSING_SHIFT & _CROSSING_MASK)
    if placed == search.bonus_tiles:
        score += search.bonus
    move = search.where + search.where_step * (first - _ONE) | left_justified(
        packed, np.int64(placed)
    )
    if search.blanks and _has_choice(search, held, packed):
        _list_each_way(search, first, multiplier, used, move, score)
    else:
        _list(search, move, score, used)


@helper
def _list(search: GaddagRecord, move: Any, score: Any, subrack: Any) -> None:
    if search.count < search.capacity:
        at = np.uint64(search.count)
        put_word(search.moves, at, np.int64(move))
        put_int(search.scores, at, np.int64(score))
        put_byte(search.subracks, at, np.int64(subrack))
    search.count += 1


@helper
def _has_choice(search: GaddagRecord, held: Any, packed: Any) -> Any:
    """Return whether another tile could be a blank: a blank is left, or its letter is held."""
    choice = held & search.blanks
    blanks = packed & _BLANK_CODES
    while blanks:
        letter = packed >> (lowest_bit(blanks) - _BLANK_BIT) & LETTER_MASK
        choice |= search.natural >> letter & _ONE
        blanks &= blanks - _ONE
    return choice != _NOTHING


@helper
def _list_each_way(
    search: GaddagRecord, place: Any, multiplier: Any, used: Any, move: Any, score: Any
) -> None:
    placed = bit_count(used)
    stand_ins = _NOTHING  # bit n: only a blank can be the nth tile
    for nth in range(np.int64(placed)):
        while search.cells[place].letter:
            place += _ONE
        code, weight = move_tile(move, nth), search.cells[place].weight
        letter = code & LETTER_MASK
        points = wrapping_sub(search.points[letter], search.points[letter | np.uint64(BLANK_CODE)])
        weight = (weight & LETTERS_MASK) * multiplier + (weight >> CROSSING_SHIFT)
        search.dearer[nth] = wrapping_mul(points, weight)
        search.stand_ins[letter] = _NOTHING
        if code & BLANK_CODE:
            stand_ins |= _ONE << np.uint64(nth)
            score = wrapping_add(score, search.dearer[nth])
        place += _ONE
    _note_stand_ins(search, stand_ins, move)
    natural = move & ~_BLANK_CODES
    fewest, most = bit_count(stand_ins), min(bit_count(search.blanks), placed)
    for count in range(fewest, most + _ONE):
        chosen = (_ONE << count) - _ONE
        while chosen < _ONE << placed:
            _list_with_blanks(search, chosen, stand_ins, used & ~search.blanks, natural, score)
            chosen = _next_choice(chosen)


@helper
def _note_stand_ins(search: GaddagRecord, stand_ins: Any, move: Any) -> None:
    while stand_ins:
        nth = lowest_bit(stand_ins)
        search.stand_ins[move_tile(move, np.int64(nth)) & LETTER_MASK] |= lowest_set(stand_ins)
        stand_ins &= stand_ins - _ONE


@helper
def _next_choice(chosen: Any) -> Any:
    """Return the next integer with the same number of bits (Gosper, HAKMEM 175); ~0 after 0."""
    if not chosen:
        return ~_NOTHING
    carried = chosen + lowest_set(chosen)
    return carried | (carried ^ chosen) >> (_TWO + lowest_bit(chosen))


@helper
def _list_with_blanks(
    search: GaddagRecord, chosen: Any, stand_ins: Any, used: Any, move: Any, score: Any
) -> None:
    """List a move with blanks for the chosen tiles, if the rack has all the others.

    A chosen tile is freed for another of the same letter that lacks one, or goes back to the rack.
    """
    blanks = _NOTHING
    while chosen:
        nth = lowest_bit(chosen)
        chosen &= chosen - _ONE
        letter = move_tile(move, np.int64(nth)) & LETTER_MASK
        move |= BLANK_CODE << _TILE_BITS * (np.uint64(MAX_PLACED - 1) - nth)
        score = wrapping_sub(score, search.dearer[nth])
        blanks = blanks << _ONE | _ONE  # blanks come first on a rack
        without = stand_ins & search.stand_ins[letter]
        if without:
            stand_ins ^= lowest_set(without)
        else:
            used ^= lowest_set(used & search.bits[letter])
    if not stand_ins:
        _list(search, move, score, used | blanks)

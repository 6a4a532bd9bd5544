"""One part of the rack in one slot: the words that it makes there, scored and offered."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from lexicons.alphabet import BLANK
from lexicons.bits import bit_count, lowest_set, wrapping_add, wrapping_sub
from lexicons.jit import helper
from lexicons.word_map import (
    KEYS,
    Words1,
    first_row,
    length_in,
    letter_in,
    may_be_word,
    next_row,
)

from .board import NO_CROSSING
from .equity_terms import POINT, opening_cost
from .moves import BLANK_CODE, TILE_BITS, left_justified, where_packed
from .shadow_slots import Slot
from .top_moves import offer

__all__ = ["Desk1", "try_part"]

_ONE = np.uint64(1)

Desk1: TypeAlias = Any
"""A record of ``engine.kernels.search_state.DESK`` in a kernel."""


@helper
def try_part(desk: Desk1, slot: Slot, lane: Any, words: Words1) -> None:
    """Offer the words of a part and the playthrough, whatever its blanks stand for."""
    part = desk.sizes.part[slot.tiles, lane]
    key = wrapping_add(slot.key, desk.rack.keys[part])
    blanks = desk.rack.blanks[part]
    if blanks == 0:
        _try_letters(desk, slot, part, key, words)
    else:
        _name_blanks(desk, slot, part, key, np.int64(blanks) - 1, words)


@helper
def _name_blanks(desk: Desk1, slot: Slot, part: Any, key: Any, others: Any, words: Words1) -> None:
    """Let one blank and so many others stand for every choice of letters, each choice once."""
    names, letters = desk.sizes.names, desk.board.letters
    for at in range(others):
        names[at] = 1
    at = 0
    while at >= 0:
        named = key
        for nth in range(others):
            named = wrapping_add(named, KEYS[names[nth]])
        if may_be_word(words, named, 1):
            first = names[others - 1] if others else 1
            _name_last_blank(desk, slot, part, named, first, words)
        at = others - 1  # on to the next choice; letters do not descend
        while at >= 0 and names[at] == letters:
            at -= 1
        if at >= 0:
            following = names[at] + 1
            for nth in range(at, others):
                names[nth] = following


@helper
def _name_last_blank(
    desk: Desk1, slot: Slot, part: Any, key: Any, first: Any, words: Words1
) -> None:
    """Try each letter from ``first`` on for a blank."""
    for letter in range(first, desk.board.letters + 1):
        completed = wrapping_add(key, KEYS[letter])
        if may_be_word(words, completed, 0):
            _try_letters(desk, slot, part, completed, words)


@helper
def _try_letters(desk: Desk1, slot: Slot, part: Any, key: Any, words: Words1) -> None:
    """Offer what fits of the words with these letters, and of those that lie among them."""
    row = first_row(words, key)
    length = length_in(words, row)
    while length:
        if length == slot.length and _fits(desk, slot, words, row):
            _offer_word(desk, slot, part, key, words, row)
        row = next_row(words, row)
        length = length_in(words, row)


@helper
def _fits(desk: Desk1, slot: Slot, words: Words1, row: Any) -> bool:
    """Tell whether a word agrees with the playthrough and the cross-sets of a slot."""
    fits = True
    at = 0
    while fits and at < slot.length:
        here = desk.board.squares[slot.start + at]
        letter = letter_in(words, row, at)
        if here.letter:
            fits = here.letter == letter
        else:
            fits = here.cross_set >> np.uint64(letter) & _ONE != 0
        at += 1
    return fits


@helper
def _offer_word(desk: Desk1, slot: Slot, part: Any, key: Any, words: Words1, row: Any) -> None:
    """Offer a word that fits, with the part's blanks in each way that the letters allow.

    A word that only lies among those with this key has its turn under its own.
    """
    blanks = np.uint64(desk.rack.blanks[part])
    if not blanks:
        _offer_placement(desk, slot, part, np.uint64(0), words, row)
        return
    for at in range(slot.length):
        key = wrapping_sub(key, KEYS[letter_in(words, row, at)])
    if key:
        return
    for places in range(1 << np.int64(slot.tiles)):
        if bit_count(np.uint64(places)) == blanks:
            _offer_placement(desk, slot, part, np.uint64(places), words, row)


@helper
def _offer_placement(
    desk: Desk1, slot: Slot, part: Any, blank_places: Any, words: Words1, row: Any
) -> None:
    """Score a word of which the nth tile is a blank where bit n is set, if the part has the rest.

    The part has as many tiles as are placed, so that it has them all if it has each in turn.
    """
    board, rack = desk.board, desk.rack
    multiplier = _word_multiplier(board, slot)
    left = np.uint64(part)
    score = np.int64(slot.fixed)
    packed = np.uint64(0)
    nth = np.uint64(0)
    for at in range(slot.length):
        here = board.squares[slot.start + at]
        if here.letter:
            continue
        letter = np.uint64(letter_in(words, row, at))
        code, tile = letter, letter
        if blank_places >> nth & _ONE:
            code, tile = letter | BLANK_CODE, np.uint64(BLANK)
        bit = left & rack.bits[tile]
        if not bit:
            return
        left ^= lowest_set(bit)
        packed = packed << np.uint64(TILE_BITS) | code
        own = np.int64(here.word_multiplier if here.cross_score != NO_CROSSING else 0)
        score += np.int64(board.points[tile]) * here.letter_multiplier * (multiplier + own)
        nth += _ONE
    start = np.int64(slot.start)
    move = where_packed(board.side, start) | left_justified(packed, np.int64(slot.tiles))
    equity = score * POINT + rack.worths[part]
    if rack.opening:
        equity += opening_cost(board, desk.evaluation, move)
    offer(desk.found, equity, score, move, part)


@helper
def _word_multiplier(board: Any, slot: Slot) -> Any:
    multiplier: Any = np.int64(1)
    for square in range(slot.start, slot.start + slot.length):
        if not board.squares[square].letter:
            multiplier *= np.int64(board.squares[square].word_multiplier)
    return multiplier

"""One subrack in one slot: the words that it makes there, scored and offered."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from lexicons.alphabet import BLANK
from lexicons.bits import bit_count, lowest_set, wrapping_add, wrapping_sub
from lexicons.jit import helper
from lexicons.word_map import (
    KEYS,
    WordsRecord,
    first_row,
    length_in,
    letter_in,
    may_be_word,
    next_row,
)

from .board import NO_CROSSING
from .equity_terms import POINT, opening_cost
from .moves import BLANK_CODE, TILE_BITS, left_justified, where_packed
from .shadow_slots import SlotRecord
from .top_moves import offer

__all__ = ["StateRecord", "try_subrack"]

_ONE = np.uint64(1)

StateRecord: TypeAlias = Any  # of ``engine.kernels.search_state.SEARCH_STATE``


@helper
def try_subrack(state: StateRecord, slot: SlotRecord, lane: Any, words: WordsRecord) -> None:
    """Offer the words of a subrack and the playthrough, for every choice of its blanks."""
    subrack = state.subracks.subrack[slot.tiles, lane]
    key = wrapping_add(slot.key, state.rack.keys[subrack])
    blanks = state.rack.blanks[subrack]
    if blanks == 0:
        _try_letters(state, slot, subrack, key, words)
    else:
        _name_blanks(state, slot, subrack, key, np.int64(blanks) - 1, words)


@helper
def _name_blanks(
    state: StateRecord, slot: SlotRecord, subrack: Any, key: Any, others: Any, words: WordsRecord
) -> None:
    """Name one blank and ``others`` more in every way, each choice of letters once."""
    names, letters = state.subracks.names, state.board.letters
    for at in range(others):
        names[at] = 1
    at = 0
    while at >= 0:
        named = key
        for nth in range(others):
            named = wrapping_add(named, KEYS[names[nth]])
        if may_be_word(words, named, 1):
            first = names[others - 1] if others else 1
            _name_last_blank(state, slot, subrack, named, first, words)
        at = others - 1  # next choice; letters do not descend
        while at >= 0 and names[at] == letters:
            at -= 1
        if at >= 0:
            following = names[at] + 1
            for nth in range(at, others):
                names[nth] = following


@helper
def _name_last_blank(
    state: StateRecord, slot: SlotRecord, subrack: Any, key: Any, first: Any, words: WordsRecord
) -> None:
    for letter in range(first, state.board.letters + 1):
        completed = wrapping_add(key, KEYS[letter])
        if may_be_word(words, completed, 0):
            _try_letters(state, slot, subrack, completed, words)


@helper
def _try_letters(
    state: StateRecord, slot: SlotRecord, subrack: Any, key: Any, words: WordsRecord
) -> None:
    """Offer the words with these letters that fit; the key's row may hold other words."""
    row = first_row(words, key)
    length = length_in(words, row)
    while length:
        if length == slot.length and _fits(state, slot, words, row):
            _offer_word(state, slot, subrack, key, words, row)
        row = next_row(words, row)
        length = length_in(words, row)


@helper
def _fits(state: StateRecord, slot: SlotRecord, words: WordsRecord, row: Any) -> bool:
    fits = True
    at = 0
    while fits and at < slot.length:
        here = state.board.squares[slot.start + at]
        letter = letter_in(words, row, at)
        if here.letter:
            fits = here.letter == letter
        else:
            fits = here.cross_set >> np.uint64(letter) & _ONE != 0
        at += 1
    return fits


@helper
def _offer_word(
    state: StateRecord, slot: SlotRecord, subrack: Any, key: Any, words: WordsRecord, row: Any
) -> None:
    """Offer a word that fits, with the subrack's blanks in each possible way.

    A word of other letters in the key's row is offered under its own key.
    """
    blanks = np.uint64(state.rack.blanks[subrack])
    if not blanks:
        _offer_placement(state, slot, subrack, np.uint64(0), words, row)
        return
    for at in range(slot.length):
        key = wrapping_sub(key, KEYS[letter_in(words, row, at)])
    if key:
        return
    for places in range(1 << np.int64(slot.tiles)):
        if bit_count(np.uint64(places)) == blanks:
            _offer_placement(state, slot, subrack, np.uint64(places), words, row)


@helper
def _offer_placement(
    state: StateRecord,
    slot: SlotRecord,
    subrack: Any,
    blank_places: Any,
    words: WordsRecord,
    row: Any,
) -> None:
    """Score and offer a word, the nth tile a blank if bit n is set, if the subrack has its tiles.

    It has exactly as many tiles as are placed.
    """
    board, rack = state.board, state.rack
    multiplier = _word_multiplier(board, slot)
    left = np.uint64(subrack)
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
    equity = score * POINT + rack.equity_terms[subrack]
    if rack.opening:
        equity += opening_cost(board, state.evaluation, move)
    offer(state.top, equity, score, move, subrack)


@helper
def _word_multiplier(board: Any, slot: SlotRecord) -> Any:
    multiplier: Any = np.int64(1)
    for square in range(slot.start, slot.start + slot.length):
        if not board.squares[square].letter:
            multiplier *= np.int64(board.squares[square].word_multiplier)
    return multiplier

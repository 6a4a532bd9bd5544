"""The best placements, found without listing the others: best slots first, by their shadows.

Slots go into buckets by their bounds, a point wide, and are searched from the highest bucket down,
until none can hold a bound that reaches the worst move kept (a bucket queue; Dial 1969). A heap
sorts them exactly, but that saved hardly a slot and took a fifth of the time.

A slot is searched in four steps, each of which ends most of what is left:

1. the word map: which subracks may make a word with the playthrough;
2. the bound of each subrack, by its own tiles and leave; the slot's bound takes the best of each;
3. the cross-sets: at each crossed square some tile of the subrack has to fit;
4. the words themselves, letter by letter: those that fit are scored and offered.

Slots and subracks whose bound *equals* the worst move kept are searched too: the order among equal
moves is fixed, and does not depend on which is met first.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from lexicons.alphabet import BLANK
from lexicons.bits import bit_count, lowest_bit, lowest_set, wrapping_add, wrapping_sub
from lexicons.jit import helper, record_dtype
from lexicons.word_map import (
    KEYS,
    WordsRecord,
    first_row,
    length_in,
    letter_in,
    may_be_word,
    next_row,
)

from .board import MAX_LINES, NO_CROSSING
from .moves import BLANK_CODE, TILE_BITS, left_justified, offer, where_packed
from .racks import (
    LANES,
    POINT,
    SubracksRecord,
    lanes_completing,
    lanes_fitting,
    opening_adjustment,
)
from .shadow_slots import SLOTS_A_LINE, SlotRecord

_BUCKETS = 256
_TOP = _BUCKETS - 1
"""The highest bucket, which takes all greater bounds too; bucket 1 takes all smaller ones."""
_WIDTH_BITS = 10  # a bucket's width, 1,024 thousandths of a point
_LOWEST = -64 * POINT  # where the buckets begin
_SLOTS = MAX_LINES * SLOTS_A_LINE
_ONE = np.uint64(1)
_BITS = np.uint64(1) << np.arange(LANES, dtype=np.uint64)
_LOW_BITS = _BITS.astype(np.uint32).view(np.int32)  # [LANES] its bit in a set of lanes, if below 32
_HIGH_BITS = (_BITS >> np.uint64(32)).astype(np.int32)  # [LANES] … less 32, if not

QUEUE = record_dtype(
    [
        ("highest", np.int64),  # bucket with a slot
        ("first", np.uint16, (_BUCKETS,)),  # by bucket: its last entry; 0: none
        ("before", np.uint16, (_SLOTS + 1,)),  # by entry: the one before it in its bucket; 0: none
        ("slots", np.uint16, (_SLOTS + 1,)),  # by entry
        ("slot_bounds", np.int32, (_SLOTS + 1,)),  # by entry
    ],
)
StateRecord: TypeAlias = Any  # of ``engine.kernels.search_state.SEARCH_STATE``


@helper
def search_slots(state: StateRecord, words: WordsRecord) -> None:
    """Offer every placement that may enter ``state.top``.

    The state's rack, subracks and slots must be filled in.
    """
    queue, top = state.queue, state.top
    _fill_queue(state)
    bucket = queue.highest
    while bucket > 0 and (bucket == _TOP or _end_of(bucket) > top.threshold):
        entry = queue.first[bucket]
        while entry:
            if queue.slot_bounds[entry] >= top.threshold:
                _search_slot(state, state.slots.slots[queue.slots[entry]], words)
            entry = queue.before[entry]
        bucket -= 1


@helper
def _search_slot(state: StateRecord, slot: SlotRecord, words: WordsRecord) -> None:
    lanes = _promising(state, slot, words)
    while lanes:
        lane = lowest_bit(lanes)
        lanes &= lanes - _ONE
        try_subrack(state, slot, lane, words)


@helper
def _end_of(bucket: Any) -> Any:
    """Return the least bound that is too great for a bucket."""
    return _LOWEST + (bucket + 1 << _WIDTH_BITS)


@helper
def _fill_queue(state: StateRecord) -> None:
    queue, slots, subracks = state.queue, state.slots, state.subracks
    threshold = state.top.threshold
    for bucket in range(_BUCKETS):
        queue.first[bucket] = 0
    entry: Any = 0
    highest: Any = np.int64(0)
    for line in range(1, 2 * state.board.side):
        row = slots.row[line]
        begin = row * SLOTS_A_LINE
        for index in range(begin, begin + slots.count[row]):
            slot = slots.slots[index]
            if slot.tiles <= state.rack.held:
                bound = _shadow(slot, subracks)
                bucket = min(max(bound - _LOWEST >> _WIDTH_BITS, 1), _TOP)
                # Without a branch, which would be unpredictable: bucket 0 is never looked into.
                bucket *= np.int64(bound >= threshold)
                highest = max(highest, bucket)
                entry += 1
                queue.slots[entry] = index
                queue.slot_bounds[entry] = bound
                queue.before[entry] = queue.first[bucket]
                queue.first[bucket] = entry
    queue.highest = highest


@helper
def _shadow(slot: SlotRecord, subracks: SubracksRecord) -> Any:
    equity_term = subracks.best_terms[np.int64(slot.key != 0), slot.tiles]
    bound = np.int64(slot.fixed) * POINT + equity_term
    for at in range(len(slot.coefficients)):
        bound += slot.coefficients[at] * subracks.dearest[at]
    return np.int32(bound)  # so that all of it is computed in 32 bits


@helper
def _promising(state: StateRecord, slot: SlotRecord, words: WordsRecord) -> Any:
    subracks, size = state.subracks, np.int64(slot.tiles)
    completing = subracks.alone[size]
    if slot.key:
        completing = lanes_completing(subracks, size, slot.key, words)
    if not completing:
        return completing
    lanes = completing & _lanes_in_reach(state, slot, size)
    crossed = np.uint64(slot.crossed)
    while crossed and lanes:
        square = slot.start + np.int64(lowest_bit(crossed))
        lanes &= lanes_fitting(subracks, state.rack, size, state.board.squares[square].cross_set)
        crossed &= crossed - _ONE
    return lanes


@helper
def _lanes_in_reach(state: StateRecord, slot: SlotRecord, size: Any) -> Any:
    """Return, as bits, the lanes of a size whose upper bound is the worst equity kept or more."""
    equity_term, values = state.subracks.equity_term, state.subracks.values
    # Keep this loop free of stores and of 64-bit integers: so it becomes vector instructions, a
    # third of what scalar ones take. That is why each coefficient has a name of its own.
    base, threshold = np.int32(slot.fixed * POINT), np.int32(state.top.threshold)
    c = slot.coefficients
    c0, c1, c2, c3 = np.int32(c[0]), np.int32(c[1]), np.int32(c[2]), np.int32(c[3])
    c4, c5, c6 = np.int32(c[4]), np.int32(c[5]), np.int32(c[6])
    low_bits, high_bits = np.int32(0), np.int32(0)  # of the result
    for lane in range(LANES):
        bound = np.int32(
            base
            + equity_term[size, lane]
            + c0 * values[size, 0, lane]
            + c1 * values[size, 1, lane]
            + c2 * values[size, 2, lane]
            + c3 * values[size, 3, lane]
            + c4 * values[size, 4, lane]
            + c5 * values[size, 5, lane]
            + c6 * values[size, 6, lane]
        )
        low_bits = np.int32(low_bits | (_LOW_BITS[lane] if bound >= threshold else 0))
        high_bits = np.int32(high_bits | (_HIGH_BITS[lane] if bound >= threshold else 0))
    return np.uint64(np.uint32(high_bits)) << np.uint64(32) | np.uint64(np.uint32(low_bits))


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
    """Score and offer a word, tile n a blank if bit n is set, if the subrack has its tiles."""
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
        equity += opening_adjustment(board, state.evaluation, move)
    offer(state.top, equity, score, move, subrack)


@helper
def _word_multiplier(board: Any, slot: SlotRecord) -> Any:
    multiplier: Any = np.int64(1)
    for square in range(slot.start, slot.start + slot.length):
        if not board.squares[square].letter:
            multiplier *= np.int64(board.squares[square].word_multiplier)
    return multiplier

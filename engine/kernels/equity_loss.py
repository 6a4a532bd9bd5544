"""Equity losses of a play, for each of many racks on one board.

The *loss* of a rack is the equity of its best move less that of the play that was made with it.
Losses beyond a *reach* are not told apart.

Racks share subracks. So the worth of a subrack's best placement, whatever else is on the rack, is
kept in a *table*; for each rack its subracks, 127 at most, are looked up and their leaves added.

For most subracks a bound is enough: with its leave it can't beat the play. The bound takes the
slots (``engine.kernels.shadow_slots``) of that size whose playthrough may make a word with the
subrack, by the word map, with the dearest tiles on the squares that count most. Only if the bound
is not enough are the words tried, starting with the slot of the highest bound.
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np

from lexicons.alphabet import BLANK
from lexicons.arrays import I32, I64, U8, U64, Bools
from lexicons.bits import bit_count, lowest_bit, wrapping_add
from lexicons.jit import helper, kernel
from lexicons.leaves import LeaveArrays
from lexicons.word_map import KEYS, WordsArray, may_be_word

from .board import is_empty
from .crosses import cross_everywhere
from .moves import EXCHANGE, MAX_PLACED, keep_only
from .racks import (
    LATE_TILES,
    NEVER,
    POINT,
    SIZES,
    SUBRACK_COUNT,
    extended,
    opening_adjustment,
    place_of,
)
from .search_state import StateArray
from .shadow_movegen import try_subrack
from .shadow_slots import SLOTS_A_LINE, update_slots

_ONE = np.uint64(1)
_TYPICAL = 2  # points of a tile; slots are ordered by what such tiles bring


class SlotOrder(NamedTuple):
    """The slots of a board by number of tiles and playthrough; filled in by ``begin_losses``."""

    slots: I64  # [room] indices into the state's slots
    groups: I64  # [room + 1] the first slot of each playthrough, and the end of the last
    keys: U64  # [room] of each group's playthrough
    first: I64  # [9] the first group of each size, and the end

    @classmethod
    def empty(cls, room: int) -> SlotOrder:
        """Return arrays for ``room`` slots."""
        return cls(
            np.zeros(room, np.int64),
            np.zeros(room + 1, np.int64),
            np.zeros(room, np.uint64),
            np.zeros(SIZES + 1, np.int64),
        )


class SubrackTable(NamedTuple):
    """The worth of the best placement of each subrack, by its code (``codes``)."""

    used: I64  # [1] number of subracks
    codes: U64  # [places]
    equity_terms: I32  # [places] thousandths of a point, or a bound; NEVER: no placement
    exact: Bools  # [places] false: a bound

    @classmethod
    def empty(cls, places: int) -> SubrackTable:
        """Return an empty table."""
        return cls(
            np.zeros(1, np.int64),
            np.zeros(places, np.uint64),
            np.empty(places, np.int32),
            np.empty(places, np.bool_),
        )


@kernel
def begin_losses(
    state_array: StateArray, words_array: WordsArray, move: np.uint64, order: SlotOrder
) -> int:
    """Prepare ``find_losses`` for the state's board; ``order`` is modified in place.

    Return what a packed first play's vowels add to its equity, 0 or less
    (``engine.movegen.evaluation``).
    """
    state, words = state_array[0], words_array[0]
    cross_everywhere(state.board, words)
    update_slots(state.slots, state.board, words)
    _order_slots(state, order)
    state.rack.opening = state.evaluation.opening_vowel != 0 and is_empty(state.board)
    if move >= EXCHANGE or not state.rack.opening:
        return 0
    return opening_adjustment(state.board, state.evaluation, move)  # type: ignore[no-any-return]


@helper
def _order_slots(state: Any, order: SlotOrder) -> None:
    """Sort the slots by size and playthrough; the most promising of a group come first."""
    slots = state.slots
    groups, filled = 0, 0
    for size in range(1, SIZES):
        order.first[size] = groups
        begin = filled
        for line in range(1, 2 * state.board.side):
            for index in range(line * SLOTS_A_LINE, line * SLOTS_A_LINE + slots.count[line]):
                if slots.slots[index].tiles == size:
                    at = filled
                    while at > begin and _comes_before(slots, index, order.slots[at - 1]):
                        order.slots[at] = order.slots[at - 1]
                        at -= 1
                    order.slots[at] = index
                    filled += 1
        for at in range(begin, filled):
            key = slots.slots[order.slots[at]].key
            if at == begin or key != order.keys[groups - 1]:
                order.keys[groups] = key
                order.groups[groups] = at
                groups += 1
    order.first[SIZES] = groups
    order.groups[groups] = filled


@helper
def _comes_before(slots: Any, index: Any, other: Any) -> Any:
    here, there = slots.slots[index], slots.slots[other]
    if here.key != there.key:
        return here.key < there.key
    return _promise(here) > _promise(there)


@helper
def _promise(slot: Any) -> Any:
    promise = np.int64(slot.fixed)
    for at in range(len(slot.coefficients)):
        promise += _TYPICAL * slot.coefficients[at]
    return promise


@kernel
def copy_table(table: SubrackTable, larger: SubrackTable) -> None:
    """Copy a table into a larger, empty one, which is modified in place."""
    for place in range(len(table.codes)):
        if table.codes[place]:
            to = place_of(larger.codes, table.codes[place])
            larger.codes[to] = table.codes[place]
            larger.equity_terms[to] = table.equity_terms[place]
            larger.exact[to] = table.exact[place]
    larger.used[0] = table.used[0]


@kernel
def find_losses(
    state_array: StateArray,
    words_array: WordsArray,
    leaves: LeaveArrays,
    bag: int,
    may_exchange: bool,
    order: SlotOrder,
    table: SubrackTable,
    racks: Annotated[U8, 2],
    own: I32,
    reach: int,
    losses: I32,
) -> int:
    """Find the losses of racks, until the table is half full; return the number of racks done.

    ``begin_losses`` must have been called for the state's board and ``order``; ``bag`` is 1 or
    more. ``racks``, [racks, size], are sorted; ``own``, [racks], is the equity of the play with
    each. Equities and losses are thousandths of a point. A loss beyond ``reach`` is given as
    ``reach`` + 1. ``table`` and ``losses``, [racks], are modified in place.
    """
    state, words = state_array[0], words_array[0]
    size = racks.shape[1]
    kept = np.zeros(SUBRACK_COUNT, np.int32)
    codes = np.zeros(SUBRACK_COUNT, np.uint64)
    late = np.zeros(SIZES, np.int64)
    for tiles in range(1, SIZES):
        left = bag - tiles + MAX_PLACED
        if 0 <= left < LATE_TILES:
            late[tiles] = state.evaluation.late[left]
    allowed = may_exchange and bag >= state.exchange_minimum
    exchangeable = min(size, bag) if allowed else 0
    bounds = np.zeros(len(order.slots), np.int64)
    chosen = np.zeros(len(order.slots), np.int64)
    for row in range(len(racks)):
        if 2 * (table.used[0] + SUBRACK_COUNT) > len(table.codes):
            return row
        rack = racks[row]
        repeats = _look_up(leaves, rack, size, kept, codes)
        whole: Any = (1 << size) - 1
        best: Any = np.int64(own[row])
        beyond = best + reach
        for subrack in range(whole, 0, -1):
            bits = np.uint64(subrack)
            if bits & repeats & ~(bits << _ONE):
                continue
            placed = np.int64(bit_count(bits))
            rest: Any = np.int64(kept[whole ^ subrack])
            if placed <= exchangeable:
                best = max(best, rest)
            rest += late[placed]
            place = place_of(table.codes, codes[subrack])
            if not table.codes[place]:
                _take_subrack(state, rack, subrack)
                _write_bound(state, words, order, table, place, codes[subrack])
            if table.equity_terms[place] + rest > best and not table.exact[place]:
                _take_subrack(state, rack, subrack)
                _write_worth(state, words, order, table, place, best - rest, bounds, chosen)
            best = max(best, table.equity_terms[place] + rest)
            if best > beyond:
                break
        losses[row] = min(best - own[row], reach + 1)
    return len(racks)


@helper
def _look_up(leaves: LeaveArrays, rack: Any, size: Any, kept: Any, codes: Any) -> Any:
    places = kept  # scratch until filled in below
    places[0] = 0
    codes[0] = 0
    repeats = np.uint64(0)
    longest = len(leaves.binomials)
    for at in range(size):
        tile, last = rack[at], 1 << at
        if at and rack[at - 1] == tile:
            repeats |= _ONE << np.uint64(at)
        for rest in range(last):
            before = bit_count(np.uint64(rest))
            codes[rest | last] = extended(codes[rest], tile)
            if before < longest:
                places[rest | last] = places[rest] + leaves.binomials[before, tile]
    for subrack in range(1 << size):
        held = bit_count(np.uint64(subrack))
        inside = held <= longest
        kept[subrack] = leaves.values[leaves.offsets[held] + places[subrack]] if inside else 0
    return repeats


@helper
def _write_bound(
    state: Any, words: Any, order: SlotOrder, table: SubrackTable, place: Any, code: Any
) -> None:
    size = state.rack.held
    whole = (1 << size) - 1
    key, blanks = state.rack.keys[whole], state.rack.blanks[whole]
    most: Any = np.int64(NEVER)
    for group in range(order.first[size], order.first[size + 1]):
        if blanks < 2 and not may_be_word(words, wrapping_add(order.keys[group], key), blanks):
            continue
        for nth in range(order.groups[group], order.groups[group + 1]):
            most = max(most, _bound(state, state.slots.slots[order.slots[nth]], size))
    table.codes[place] = code
    table.used[0] += 1
    table.equity_terms[place] = most
    table.exact[place] = most == NEVER


@helper
def _bound(state: Any, slot: Any, size: Any) -> Any:
    bound = np.int64(slot.fixed) * POINT
    for at in range(size):
        bound += slot.coefficients[at] * state.subracks.dearest[at]
    return bound


@helper
def _write_worth(
    state: Any,
    words: Any,
    order: SlotOrder,
    table: SubrackTable,
    place: Any,
    floor: Any,
    bounds: I64,  # scratch
    chosen: I64,  # scratch
) -> None:
    """Enter a subrack's worth if above ``floor``, else ``floor`` as its bound."""
    size, top = state.rack.held, state.top
    whole = (1 << size) - 1
    key, blanks = state.rack.keys[whole], state.rack.blanks[whole]
    keep_only(top, 1, floor + 1)
    count = 0
    for group in range(order.first[size], order.first[size + 1]):
        if blanks < 2 and not may_be_word(words, wrapping_add(order.keys[group], key), blanks):
            continue
        for nth in range(order.groups[group], order.groups[group + 1]):
            slot = state.slots.slots[order.slots[nth]]
            bound = _bound(state, slot, size)
            if bound > floor and _may_cross(state, slot):
                at = count
                while at > 0 and bounds[at - 1] < bound:
                    bounds[at], chosen[at] = bounds[at - 1], chosen[at - 1]
                    at -= 1
                bounds[at], chosen[at] = bound, order.slots[nth]
                count += 1
    at = 0
    while at < count and not (top.count and bounds[at] <= top.equities[0]):
        try_subrack(state, state.slots.slots[chosen[at]], 0, words)
        at += 1
    table.exact[place] = top.count > 0
    table.equity_terms[place] = top.equities[0] if top.count else floor


@helper
def _may_cross(state: Any, slot: Any) -> Any:
    """Return whether each crossed square admits some tile of the subrack; a blank always fits."""
    crossed = np.uint64(slot.crossed)
    letters = state.rack.letters[0]
    while crossed:
        square = slot.start + np.int64(lowest_bit(crossed))
        if not (state.board.squares[square].cross_set | _ONE) & letters:
            return False
        crossed &= crossed - _ONE
    return True


@helper
def _take_subrack(state: Any, rack: Any, subrack: Any) -> None:
    """Make a subrack the whole rack of the state; bit 0 of ``letters[0]`` is the blank."""
    own, sizes = state.rack, state.subracks
    for at in range(own.held):
        own.bits[own.tiles[at]] = 0
    size = 0
    key, letters, blanks = np.uint64(0), np.uint64(0), 0
    for at in range(MAX_PLACED):
        if subrack >> at & 1:
            tile = rack[at]
            own.tiles[size] = tile
            own.bits[tile] |= _ONE << np.uint64(size)
            key = wrapping_add(key, KEYS[tile])
            letters |= _ONE << np.uint64(tile)
            blanks += tile == BLANK
            value = np.int64(state.board.points[tile]) * POINT
            to = size
            while to > 0 and sizes.dearest[to - 1] < value:
                sizes.dearest[to] = sizes.dearest[to - 1]
                to -= 1
            sizes.dearest[to] = value
            size += 1
    whole = (1 << size) - 1
    own.held = size
    own.keys[whole] = key
    own.letters[0] = letters
    own.blanks[whole] = blanks
    own.equity_terms[whole] = 0
    sizes.subrack[size, 0] = whole

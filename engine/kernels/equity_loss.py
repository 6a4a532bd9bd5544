"""How much better than a play some move would have been, for each of many racks on one board.

The *gap* of a rack is the equity of its best move less that of the play that was made with it. Gaps
beyond a *reach* are not told apart.

Racks that one player may have had hold the same parts again and again: the tiles that he played,
and some of those that he may have kept. So what the best placement of a part is worth, whatever
else is on the rack, is worked out once and written into a *book*; what remains to be done for a
rack is to look up its parts, 127 at most, and to add what each leaves.

For most parts a bound will do: with what it leaves it can't be better than the play. The bound
takes the slots (``engine.kernels.shadow_slots``) of as many tiles whose playthrough may make a word
with the part, which the word map says, and the part's dearest tiles on the squares that count most.
Only where that is not enough the words are looked at, from the slot of the highest bound on.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from lexicons.alphabet import BLANK
from lexicons.bits import bit_count, lowest_bit, wrapping_add
from lexicons.jit import helper, kernel
from lexicons.leaves import LeaveArrays
from lexicons.word_map import KEYS, may_be_word

from .board import is_empty
from .crosses import cross_everywhere
from .equity_terms import LATE_TILES, POINT, opening_cost
from .moves import EXCHANGE, MAX_PLACED
from .multiset_hash import extended, place_of
from .shadow_placing import try_part
from .shadow_slots import SLOTS_A_LINE, update_slots
from .subracks import NEVER
from .top_moves import keep_only

__all__ = ["Book", "Order", "begin_gaps", "copy_book", "find_gaps"]

U8: TypeAlias = npt.NDArray[np.uint8]
I32: TypeAlias = npt.NDArray[np.int32]
I64: TypeAlias = npt.NDArray[np.int64]
U64: TypeAlias = npt.NDArray[np.uint64]

_SIZES = MAX_PLACED + 1
_PARTS = 1 << MAX_PLACED
_ONE = np.uint64(1)
_TYPICAL = 2  # points of a tile; slots are tried in the order of what such tiles bring there


class Order(NamedTuple):
    """The slots of a board by number of tiles and playthrough; filled in by ``begin_gaps``."""

    slots: I64  # [room] places in the desk's list
    groups: I64  # [room + 1] the first slot of each playthrough, and the end of the last
    keys: U64  # [room] of the playthrough of each group
    first: I64  # [9] the first group of each size, and the end

    @classmethod
    def empty(cls, room: int) -> Order:
        """Give room for so many slots."""
        return cls(
            np.zeros(room, np.int64),
            np.zeros(room + 1, np.int64),
            np.zeros(room, np.uint64),
            np.zeros(_SIZES + 1, np.int64),
        )


class Book(NamedTuple):
    """What the best placement of a part is worth, by the part's code (``codes``)."""

    used: I64  # [1] how many parts there are
    codes: U64  # [places]
    worths: I32  # [places] thousandths of a point, or a bound on it; NEVER: it has no placement
    exact: npt.NDArray[np.bool_]  # [places] whether it is no mere bound

    @classmethod
    def empty(cls, places: int) -> Book:
        """Give one with so many places."""
        return cls(
            np.zeros(1, np.int64),
            np.zeros(places, np.uint64),
            np.empty(places, np.int32),
            np.empty(places, np.bool_),
        )


@kernel
def begin_gaps(desk_array: Any, words_array: Any, move: np.uint64, order: Order) -> int:
    """Work out what belongs to the board, which has been set up; once before ``find_gaps``.

    ``order`` is modified in place. Gives what a packed move costs for its vowels, if it is the
    first (``engine.movegen.evaluation``).
    """
    desk, words = desk_array[0], words_array[0]
    cross_everywhere(desk.board, words.nodes)
    update_slots(desk.slots, desk.board)
    _order_slots(desk, order)
    desk.rack.opening = desk.evaluation.opening_vowel != 0 and is_empty(desk.board)
    if move >= EXCHANGE or not desk.rack.opening:
        return 0
    return opening_cost(desk.board, desk.evaluation, move)  # type: ignore[no-any-return]


@helper
def _order_slots(desk: Any, order: Order) -> None:
    """Sort the slots by size and playthrough; in a group the most promising come first."""
    slots = desk.slots
    groups, filled = 0, 0
    for size in range(1, _SIZES):
        order.first[size] = groups
        begin = filled
        for line in range(1, 2 * desk.board.side):
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
    order.first[_SIZES] = groups
    order.groups[groups] = filled


@helper
def _comes_before(slots: Any, one: Any, other: Any) -> Any:
    here, there = slots.slots[one], slots.slots[other]
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
def copy_book(book: Book, larger: Book) -> None:
    """Write all of a book into a larger one, which is empty and modified in place."""
    for place in range(len(book.codes)):
        if book.codes[place]:
            to = place_of(larger.codes, book.codes[place])
            larger.codes[to] = book.codes[place]
            larger.worths[to] = book.worths[place]
            larger.exact[to] = book.exact[place]
    larger.used[0] = book.used[0]


@kernel
def find_gaps(
    desk_array: Any,
    words_array: Any,
    leaves: LeaveArrays,
    bag: int,
    order: Order,
    book: Book,
    racks: U8,
    own: I32,
    reach: int,
    gaps: I32,
) -> int:
    """Find the gaps of racks, until the book is half full; give how many racks that was.

    Args:
        desk_array: ``begin_gaps`` was called for its board.
        words_array: the lexicon.
        leaves: what leaves are worth.
        bag: tiles in it, one or more.
        order: as ``begin_gaps`` left it.
        book: modified in place.
        racks: [racks, size] sorted.
        own: [racks] equity of the play with each, thousandths of a point.
        reach: gaps up to it are told apart; ``reach`` + 1 stands for all others.
        gaps: [racks] thousandths of a point; modified in place.
    """
    desk, words = desk_array[0], words_array[0]
    size = racks.shape[1]
    kept = np.zeros(_PARTS, np.int32)
    codes = np.zeros(_PARTS, np.uint64)
    late = np.zeros(_SIZES, np.int64)
    for tiles in range(1, _SIZES):
        left = bag - tiles + MAX_PLACED
        if 0 <= left < LATE_TILES:
            late[tiles] = desk.evaluation.late[left]
    exchangeable = min(size, bag) if bag >= desk.exchange_minimum else 0
    bounds = np.zeros(len(order.slots), np.int64)
    chosen = np.zeros(len(order.slots), np.int64)
    for row in range(len(racks)):
        if 2 * (book.used[0] + _PARTS) > len(book.codes):
            return row
        rack = racks[row]
        repeats = _look_up(leaves, rack, size, kept, codes)
        whole: Any = (1 << size) - 1
        best: Any = np.int64(own[row])
        beyond = best + reach
        for part in range(whole, 0, -1):
            bits = np.uint64(part)
            if bits & repeats & ~(bits << _ONE):
                continue
            placed = np.int64(bit_count(bits))
            rest: Any = np.int64(kept[whole ^ part])
            if placed <= exchangeable:
                best = max(best, rest)
            rest += late[placed]
            place = place_of(book.codes, codes[part])
            if not book.codes[place]:
                _take_part(desk, rack, part)
                _write_bound(desk, words, order, book, place, codes[part])
            if book.worths[place] + rest > best and not book.exact[place]:
                _take_part(desk, rack, part)
                _write_worth(desk, words, order, book, place, best - rest, bounds, chosen)
            best = max(best, book.worths[place] + rest)
            if best > beyond:
                break
        gaps[row] = min(best - own[row], reach + 1)
    return len(racks)


@helper
def _look_up(leaves: LeaveArrays, rack: Any, size: Any, kept: Any, codes: Any) -> Any:
    """Fill in, by part, what it is worth to keep it, and its code; tell which tiles repeat."""
    places = kept  # until they are looked up
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
    for part in range(1 << size):
        held = bit_count(np.uint64(part))
        inside = held <= longest
        kept[part] = leaves.values[leaves.offsets[held] + places[part]] if inside else 0
    return repeats


@helper
def _write_bound(desk: Any, words: Any, order: Order, book: Book, place: Any, code: Any) -> None:
    """Enter a part, which is the rack of the desk, with a bound on what it is worth."""
    size = desk.rack.held
    whole = (1 << size) - 1
    key, blanks = desk.rack.keys[whole], desk.rack.blanks[whole]
    most: Any = np.int64(NEVER)
    for group in range(order.first[size], order.first[size + 1]):
        if blanks < 2 and not may_be_word(words, wrapping_add(order.keys[group], key), blanks):
            continue
        for nth in range(order.groups[group], order.groups[group + 1]):
            most = max(most, _bound(desk, desk.slots.slots[order.slots[nth]], size))
    book.codes[place] = code
    book.used[0] += 1
    book.worths[place] = most
    book.exact[place] = most == NEVER


@helper
def _bound(desk: Any, slot: Any, size: Any) -> Any:
    """Bound what a part may bring in a slot."""
    bound = np.int64(slot.fixed) * POINT
    for at in range(size):
        bound += slot.coefficients[at] * desk.sizes.dearest[at]
    return bound


@helper
def _write_worth(
    desk: Any,
    words: Any,
    order: Order,
    book: Book,
    place: Any,
    floor: Any,
    bounds: I64,
    chosen: I64,
) -> None:
    """Find what a part is worth, if it is more than a floor; else that is the bound from now on.

    ``bounds`` and ``chosen`` are scratch.
    """
    size, found = desk.rack.held, desk.found
    whole = (1 << size) - 1
    key, blanks = desk.rack.keys[whole], desk.rack.blanks[whole]
    keep_only(found, 1, floor + 1, 2)
    count = 0
    for group in range(order.first[size], order.first[size + 1]):
        if blanks < 2 and not may_be_word(words, wrapping_add(order.keys[group], key), blanks):
            continue
        for nth in range(order.groups[group], order.groups[group + 1]):
            slot = desk.slots.slots[order.slots[nth]]
            bound = _bound(desk, slot, size)
            if bound > floor and _may_cross(desk, slot):
                at = count
                while at > 0 and bounds[at - 1] < bound:
                    bounds[at], chosen[at] = bounds[at - 1], chosen[at - 1]
                    at -= 1
                bounds[at], chosen[at] = bound, order.slots[nth]
                count += 1
    at = 0
    while at < count and not (found.count and bounds[at] <= found.equities[0]):
        try_part(desk, desk.slots.slots[chosen[at]], 0, words)
        at += 1
    book.exact[place] = found.count > 0
    book.worths[place] = found.equities[0] if found.count else floor


@helper
def _may_cross(desk: Any, slot: Any) -> Any:
    """Tell whether at each square that is crossed some tile of the part fits; a blank does."""
    crossed = np.uint64(slot.crossed)
    letters = desk.rack.letters[0]
    while crossed:
        square = slot.start + np.int64(lowest_bit(crossed))
        if not (desk.board.squares[square].cross_set | _ONE) & letters:
            return False
        crossed &= crossed - _ONE
    return True


@helper
def _take_part(desk: Any, rack: Any, part: Any) -> None:
    """Make a part of a rack the whole rack of the desk, nothing of which stays.

    ``letters`` of no part are those of the whole, with bit 0 for a blank.
    """
    own, sizes = desk.rack, desk.sizes
    for at in range(own.held):
        own.bits[own.tiles[at]] = 0
    size = 0
    key, letters, blanks = np.uint64(0), np.uint64(0), 0
    for at in range(MAX_PLACED):
        if part >> at & 1:
            tile = rack[at]
            own.tiles[size] = tile
            own.bits[tile] |= _ONE << np.uint64(size)
            key = wrapping_add(key, KEYS[tile])
            letters |= _ONE << np.uint64(tile)
            blanks += tile == BLANK
            value = np.int64(desk.board.points[tile]) * POINT
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
    own.worths[whole] = 0
    sizes.part[size, 0] = whole

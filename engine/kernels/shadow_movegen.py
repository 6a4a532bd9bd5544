"""The best placements, found without listing the others: best slots first, by their shadows.

Every slot has a bound; they go into a heap. From the most promising on, each is looked into until
its bound is below the worst move that is kept. A slot is looked into in four steps, each of which
ends most of what is left:

1. the word map: which parts of the rack may make a word with the playthrough;
2. the bound of each part: its own tiles and its own leave, where the slot's has the best of both;
3. the cross-sets: at each square that is crossed, some tile of the part has to fit;
4. the words themselves, letter by letter (``engine.kernels.shadow_placing``).

Slots and parts whose bound *equals* the worst move kept are looked into as well, for the order of
moves of one worth is fixed, and does not depend on which was found first.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from lexicons.bits import lowest_bit
from lexicons.jit import helper, record_dtype
from lexicons.word_map import Words1

from .equity_terms import POINT
from .shadow_placing import Desk1, try_part
from .shadow_slots import SLOTS_A_LINE, Slot
from .subracks import LANES, NEVER, Sizes1, lanes_completing, lanes_fitting

__all__ = ["HEAP", "Heap1", "find_best"]

_SLOTS = 1 << 14
_LIFT = 1 << 30  # what makes a bound positive
_HALF = np.uint64(32)
_INDEX_MASK = np.uint64((1 << 32) - 1)
_ONE = np.uint64(1)

HEAP = record_dtype(
    [
        ("count", np.int64),
        ("entries", np.uint64, (_SLOTS,)),  # bound + _LIFT in the upper half, slot in the lower
        ("bounds", np.int32, (LANES,)),  # of the parts, for the slot that is looked into
    ],
)
Heap1: TypeAlias = Any
"""A record of ``HEAP`` in a kernel."""


@helper
def find_best(desk: Desk1, words: Words1) -> None:
    """Offer ``desk.found`` every placement that may get in; rack, sizes and slots are filled in."""
    heap, found = desk.heap, desk.found
    _fill_heap(desk)
    while heap.count and found.count < found.enough:
        entry = heap.entries[0]
        if np.int64(entry >> _HALF) - _LIFT < found.threshold:
            break
        heap.count -= 1
        _drop_first(heap)
        slot = desk.slots.slots[entry & _INDEX_MASK]
        lanes = _promising(desk, slot, words)
        while lanes:
            lane = lowest_bit(lanes)
            lanes &= lanes - _ONE
            if heap.bounds[lane] >= found.threshold:  # it may have risen meanwhile
                try_part(desk, slot, lane, words)


@helper
def _fill_heap(desk: Desk1) -> None:
    heap, slots, sizes = desk.heap, desk.slots, desk.sizes
    threshold = desk.found.threshold
    count: Any = 0
    for line in range(1, 2 * desk.board.side):
        begin = line * SLOTS_A_LINE
        for index in range(begin, begin + slots.count[line]):
            slot = slots.slots[index]
            if slot.tiles <= desk.rack.held:
                bound = _shadow(slot, sizes)
                # Written in any case: a branch would be foretold wrongly half the time.
                heap.entries[count] = np.uint64(bound + _LIFT) << _HALF | np.uint64(index)
                count += np.int64(bound >= threshold)
    heap.count = count
    for at in range(count // 2 - 1, -1, -1):
        _sift_down(heap, at)


@helper
def _shadow(slot: Slot, sizes: Sizes1) -> Any:
    """Bound the equity of a slot: the rack's dearest tiles there, and the best leave besides."""
    worth = sizes.best_worth[np.int64(slot.key != 0), slot.tiles]
    bound = np.int64(slot.fixed) * POINT + worth
    for at in range(len(slot.coefficients)):
        bound += slot.coefficients[at] * sizes.dearest[at]
    return max(bound, np.int64(NEVER))


@helper
def _sift_down(heap: Heap1, at: Any) -> None:
    """Let an entry sink until neither of those under it is greater (Williams 1964)."""
    entries, count = heap.entries, heap.count
    entry = entries[at]
    child = 2 * at + 1
    while child < count:
        child += np.int64(child + 1 < count) & np.int64(entries[child + 1] > entries[child])
        if entries[child] <= entry:
            break
        entries[at] = entries[child]
        at = child
        child = 2 * at + 1
    entries[at] = entry


@helper
def _drop_first(heap: Heap1) -> None:
    """Take the first entry off, which ``count`` does not count any more.

    The gap sinks to the bottom and the last entry rises there (bottom-up, Wegener 1993): it belongs
    near the bottom, and on the way down there is nothing to decide that could be foretold wrongly.
    """
    entries, count = heap.entries, heap.count
    entry = entries[count]
    entries[count] = 0
    entries[count + 1] = 0
    at: Any = 0
    child: Any = 1
    while child < count:
        child += np.int64(entries[child + 1] > entries[child])
        entries[at] = entries[child]
        at = child
        child = 2 * at + 1
    parent = (at - 1) >> 1
    while at > 0 and entries[parent] < entry:
        entries[at] = entries[parent]
        at = parent
        parent = (at - 1) >> 1
    entries[at] = entry


@helper
def _promising(desk: Desk1, slot: Slot, words: Words1) -> Any:
    """Give the lanes of the parts that may make a word there which is good enough."""
    sizes, size = desk.sizes, np.int64(slot.tiles)
    completing = sizes.alone[size]
    if slot.key:
        completing = lanes_completing(sizes, size, slot.key, words)
    if not completing:
        return completing
    lanes = completing & _lanes_in_reach(desk, slot, size)
    crossed = np.uint64(slot.crossed)
    while crossed and lanes:
        square = slot.start + np.int64(lowest_bit(crossed))
        lanes &= lanes_fitting(sizes, desk.rack, size, desk.board.squares[square].cross_set)
        crossed &= crossed - _ONE
    return lanes


@helper
def _lanes_in_reach(desk: Desk1, slot: Slot, size: Any) -> Any:
    """Bound every part of a size in ``desk.heap.bounds``; give the lanes that can get in."""
    bounds, worth, values = desk.heap.bounds, desk.sizes.worth, desk.sizes.values
    c, base = slot.coefficients, np.int32(slot.fixed * POINT)
    for lane in range(LANES):  # in vectors; one expression, so that a sum stays in its register
        bounds[lane] = (
            base
            + worth[size, lane]
            + c[0] * values[size, 0, lane]
            + c[1] * values[size, 1, lane]
            + c[2] * values[size, 2, lane]
            + c[3] * values[size, 3, lane]
            + c[4] * values[size, 4, lane]
            + c[5] * values[size, 5, lane]
            + c[6] * values[size, 6, lane]
        )
    threshold = np.int32(desk.found.threshold)
    lanes = np.uint64(0)
    for lane in range(LANES):
        lanes |= np.uint64(np.int32(bounds[lane]) >= threshold) << np.uint64(lane)
    return lanes

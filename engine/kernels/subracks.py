"""The parts of a rack by size: what the bounds on a word need, for all parts of one size at once.

A slot takes a known number of tiles, so what matters are the parts of that size, 35 at most. They
lie side by side, one *lane* each, so that a bound is worked out for all of them by a few vector
instructions, and sets of them are bits of one integer. Of parts with the same letters there is one.

Bounds count thousandths of a point, and so do the values here.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from lexicons.bits import bit_count, wrapping_add, wrapping_sub
from lexicons.jit import helper, record_dtype
from lexicons.word_map import KEYS, Words1, may_be_word

from .board import Board1
from .equity_terms import POINT
from .moves import MAX_PLACED
from .racks import Rack1, is_regular

__all__ = [
    "LANES",
    "NEVER",
    "SIZES",
    "Sizes1",
    "fill_sizes",
    "lanes_completing",
    "lanes_fitting",
]

LANES = 40  # 35 parts, and up to a whole number of vectors
NEVER = -(1 << 29)  # an equity that nothing has: sums with it stay within 32 bits
_SIZES = MAX_PLACED + 1
_KNOWN = 512  # answers that are remembered; a rack asks for a hundred or so

SIZES = record_dtype(
    [
        ("count", np.int64, (_SIZES,)),  # how many parts there are of each size
        ("part", np.uint8, (_SIZES, LANES)),  # their masks
        ("keys", np.uint64, (_SIZES, LANES)),  # of their letters (``lexicons.word_map``)
        ("blanks", np.uint8, (_SIZES, LANES)),
        ("worth", np.int32, (_SIZES, LANES)),  # of playing them; NEVER in lanes not in use
        ("values", np.int32, (_SIZES, _SIZES, LANES)),  # [size, n]: of their tiles, dearest first
        ("holding", np.uint64, (_SIZES, MAX_PLACED)),  # [size, n]: lanes with the rack's nth tile
        ("alone", np.uint64, (_SIZES,)),  # lanes whose letters may be a word, or are one tile
        ("best_worth", np.int32, (2, _SIZES)),  # [0]: of those ``alone``; [1]: of all
        ("dearest", np.int32, (_SIZES,)),  # values of the rack's tiles, dearest first, then 0
        ("order", np.int64, (_SIZES,)),  # the rack's tiles in that order
        ("names", np.int64, (_SIZES,)),  # what blanks stand for, while they are tried
        ("turn", np.int64),  # counts the racks that were sorted out
        ("known_key", np.uint64, (_KNOWN,)),  # answers of ``lanes_completing``: which playthrough,
        ("known_turn", np.int64, (_KNOWN,)),  # asked with which rack, times 8, plus the size,
        ("known_lanes", np.uint64, (_KNOWN,)),  # and the lanes
    ],
)
Sizes1: TypeAlias = Any
"""A record of ``SIZES`` in a kernel; outside an array of one."""


@helper
def fill_sizes(sizes: Sizes1, rack: Rack1, board: Board1, words: Words1) -> None:
    """Sort out the parts of a rack whose worths are known; ``sizes`` is modified in place."""
    sizes.turn += 1
    for size in range(_SIZES):
        sizes.count[size] = 0
        sizes.alone[size] = 0
        sizes.best_worth[0, size] = NEVER
        sizes.best_worth[1, size] = NEVER
        for lane in range(LANES):
            sizes.worth[size, lane] = NEVER
        for at in range(MAX_PLACED):
            sizes.holding[size, at] = 0
    _sort_tiles(sizes, rack, board.points)
    for part in range(1, 1 << rack.held):
        if is_regular(rack, part):
            _add_part(sizes, rack, part, words, board.letters)


@helper
def _sort_tiles(sizes: Sizes1, rack: Rack1, points: Any) -> None:
    for at in range(rack.held):
        value = points[rack.tiles[at]] * POINT
        to = at
        while to > 0 and sizes.dearest[to - 1] < value:
            sizes.dearest[to] = sizes.dearest[to - 1]
            sizes.order[to] = sizes.order[to - 1]
            to -= 1
        sizes.dearest[to] = value
        sizes.order[to] = at
    for at in range(rack.held, _SIZES):
        sizes.dearest[at] = 0


@helper
def _add_part(sizes: Sizes1, rack: Rack1, part: Any, words: Words1, letters: Any) -> None:
    size = np.int64(bit_count(np.uint64(part)))
    lane = sizes.count[size]
    sizes.count[size] = lane + 1
    sizes.part[size, lane] = part
    worth = rack.worths[part]
    sizes.worth[size, lane] = worth
    sizes.best_worth[1, size] = max(sizes.best_worth[1, size], worth)
    held = 0
    # Without branches, which nothing could foretell: what is not held is written over.
    for nth in range(rack.held):
        at = sizes.order[nth]
        sizes.values[size, held, lane] = sizes.dearest[nth]
        held += part >> at & 1
    for at in range(rack.held):
        sizes.holding[size, at] |= np.uint64(part >> at & 1) << np.uint64(lane)
    sizes.keys[size, lane] = rack.keys[part]
    sizes.blanks[size, lane] = rack.blanks[part]
    alone = size == 1 or _may_complete(words, rack.keys[part], rack.blanks[part], letters)
    sizes.alone[size] |= np.uint64(alone) << np.uint64(lane)
    sizes.best_worth[0, size] = max(sizes.best_worth[0, size], worth if alone else NEVER)


@helper
def _may_complete(words: Words1, key: Any, blanks: Any, letters: Any) -> Any:
    """Tell whether letters with this key and so many blanks may be a word."""
    if blanks < 2:
        return may_be_word(words, key, blanks)
    found = blanks > 2  # too many letters to try them all here
    letter = 1
    while not found and letter <= letters:
        found = may_be_word(words, wrapping_add(key, KEYS[letter]), 1)
        letter += 1
    return found


@helper
def lanes_completing(sizes: Sizes1, size: Any, playthrough: Any, words: Words1) -> Any:
    """Give the lanes of the parts that may make a word with a playthrough, by its key.

    Words through the same tiles begin on several squares, so that answers are remembered.
    """
    known = (playthrough >> np.uint64(48)) + np.uint64(size) & np.uint64(_KNOWN - 1)
    asked = sizes.turn * _SIZES + size
    if sizes.known_turn[known] == asked and sizes.known_key[known] == playthrough:
        return sizes.known_lanes[known]
    lanes = np.uint64(0)
    for lane in range(sizes.count[size]):  # no branches on answers that nothing could foretell
        blanks = sizes.blanks[size, lane]
        key = wrapping_add(playthrough, sizes.keys[size, lane])
        may_be = may_be_word(words, key, min(blanks, 1))
        lanes |= np.uint64(may_be | (blanks > 1)) << np.uint64(lane)
    sizes.known_turn[known] = asked
    sizes.known_key[known] = playthrough
    sizes.known_lanes[known] = lanes
    return lanes


@helper
def lanes_fitting(sizes: Sizes1, rack: Rack1, size: Any, cross_set: Any) -> Any:
    """Give the lanes whose part has a tile that a cross-set lets in; it lets a blank in."""
    fitting = np.uint64(0)
    admitted = cross_set | np.uint64(1)
    for at in range(MAX_PLACED):
        tile = np.uint64(rack.tiles[at])
        every = wrapping_sub(np.uint64(0), admitted >> tile & np.uint64(1))  # all lanes, or none
        fitting |= sizes.holding[size, at] & every
    return fitting

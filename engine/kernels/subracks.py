"""Subracks by size: bounds on words, computed for all subracks of one size at once.

A slot takes a known number of tiles, so only the subracks of that size matter, 35 at most. They lie
side by side, one *lane* each: vector instructions bound all of them, and the bits of one integer
are a set of lanes. Subracks with the same letters share a lane.

Bounds and values count thousandths of a point.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from lexicons.bits import bit_count, wrapping_add, wrapping_sub
from lexicons.jit import helper, record_dtype
from lexicons.word_map import KEYS, WordsRecord, may_be_word

from .board import BoardRecord
from .equity_terms import POINT
from .moves import MAX_PLACED
from .racks import RackRecord, is_regular

__all__ = [
    "LANES",
    "NEVER",
    "SUBRACKS",
    "SubracksRecord",
    "fill_subracks",
    "lanes_completing",
    "lanes_fitting",
]

LANES = 40  # 35 subracks, rounded up to whole vectors
NEVER = -(1 << 29)  # below every equity; sums with it fit 32 bits
_SIZES = MAX_PLACED + 1
_KNOWN = 512  # remembered answers; a rack asks for about a hundred

SUBRACKS = record_dtype(
    [
        ("count", np.int64, (_SIZES,)),
        ("subrack", np.uint8, (_SIZES, LANES)),
        ("keys", np.uint64, (_SIZES, LANES)),  # of their letters (``lexicons.word_map``)
        ("blanks", np.uint8, (_SIZES, LANES)),
        ("equity_term", np.int32, (_SIZES, LANES)),  # of playing them; NEVER in lanes not in use
        ("values", np.int32, (_SIZES, _SIZES, LANES)),  # [size, n]: of their tiles, dearest first
        ("holding", np.uint64, (_SIZES, MAX_PLACED)),  # [size, n]: lanes with the rack's nth tile
        ("alone", np.uint64, (_SIZES,)),  # lanes that may be a word, or one tile
        ("best_terms", np.int32, (2, _SIZES)),  # [0]: of those ``alone``; [1]: of all
        ("dearest", np.int32, (_SIZES,)),  # values of the rack's tiles, dearest first, then 0
        ("order", np.int64, (_SIZES,)),  # the rack's tiles in that order
        ("names", np.int64, (_SIZES,)),  # the letters of blanks being tried
        ("turn", np.int64),  # racks sorted out so far
        ("known_key", np.uint64, (_KNOWN,)),  # answers of ``lanes_completing``: which playthrough,
        ("known_turn", np.int64, (_KNOWN,)),  # asked with which rack, times 8, plus the size,
        ("known_lanes", np.uint64, (_KNOWN,)),  # and the lanes
    ],
)
SubracksRecord: TypeAlias = Any


@helper
def fill_subracks(
    subracks: SubracksRecord, rack: RackRecord, board: BoardRecord, words: WordsRecord
) -> None:
    """Sort the subracks of a rack by size, once its equity terms are filled in."""
    subracks.turn += 1
    for size in range(_SIZES):
        subracks.count[size] = 0
        subracks.alone[size] = 0
        subracks.best_terms[0, size] = NEVER
        subracks.best_terms[1, size] = NEVER
        for lane in range(LANES):
            subracks.equity_term[size, lane] = NEVER
        for at in range(MAX_PLACED):
            subracks.holding[size, at] = 0
    _sort_tiles(subracks, rack, board.points)
    for subrack in range(1, 1 << rack.held):
        if is_regular(rack, subrack):
            _add_subrack(subracks, rack, subrack, words, board.letters)


@helper
def _sort_tiles(subracks: SubracksRecord, rack: RackRecord, points: Any) -> None:
    for at in range(rack.held):
        value = points[rack.tiles[at]] * POINT
        to = at
        while to > 0 and subracks.dearest[to - 1] < value:
            subracks.dearest[to] = subracks.dearest[to - 1]
            subracks.order[to] = subracks.order[to - 1]
            to -= 1
        subracks.dearest[to] = value
        subracks.order[to] = at
    for at in range(rack.held, _SIZES):
        subracks.dearest[at] = 0


@helper
def _add_subrack(
    subracks: SubracksRecord, rack: RackRecord, subrack: Any, words: WordsRecord, letters: Any
) -> None:
    size = np.int64(bit_count(np.uint64(subrack)))
    lane = subracks.count[size]
    subracks.count[size] = lane + 1
    subracks.subrack[size, lane] = subrack
    equity_term = rack.equity_terms[subrack]
    subracks.equity_term[size, lane] = equity_term
    subracks.best_terms[1, size] = max(subracks.best_terms[1, size], equity_term)
    held = 0
    # Without branches, which would be unpredictable: a tile not held is overwritten.
    for nth in range(rack.held):
        at = subracks.order[nth]
        subracks.values[size, held, lane] = subracks.dearest[nth]
        held += subrack >> at & 1
    for at in range(rack.held):
        subracks.holding[size, at] |= np.uint64(subrack >> at & 1) << np.uint64(lane)
    subracks.keys[size, lane] = rack.keys[subrack]
    subracks.blanks[size, lane] = rack.blanks[subrack]
    alone = size == 1 or _may_complete(words, rack.keys[subrack], rack.blanks[subrack], letters)
    subracks.alone[size] |= np.uint64(alone) << np.uint64(lane)
    subracks.best_terms[0, size] = max(
        subracks.best_terms[0, size], equity_term if alone else NEVER
    )


@helper
def _may_complete(words: WordsRecord, key: Any, blanks: Any, letters: Any) -> Any:
    """Return whether letters with this key, and ``blanks`` more, may be a word."""
    if blanks < 2:
        return may_be_word(words, key, blanks)
    possible = blanks > 2  # too many choices to try here
    letter = 1
    while not possible and letter <= letters:
        possible = may_be_word(words, wrapping_add(key, KEYS[letter]), 1)
        letter += 1
    return possible


@helper
def lanes_completing(
    subracks: SubracksRecord, size: Any, playthrough: Any, words: WordsRecord
) -> Any:
    """Return the lanes that may make a word with a playthrough, by its key; answers are cached."""
    known = (playthrough >> np.uint64(48)) + np.uint64(size) & np.uint64(_KNOWN - 1)
    asked = subracks.turn * _SIZES + size
    if subracks.known_turn[known] == asked and subracks.known_key[known] == playthrough:
        return subracks.known_lanes[known]
    lanes = np.uint64(0)
    for lane in range(subracks.count[size]):  # branch-free: unpredictable
        blanks = subracks.blanks[size, lane]
        key = wrapping_add(playthrough, subracks.keys[size, lane])
        may_be = may_be_word(words, key, min(blanks, 1))
        lanes |= np.uint64(may_be | (blanks > 1)) << np.uint64(lane)
    subracks.known_turn[known] = asked
    subracks.known_key[known] = playthrough
    subracks.known_lanes[known] = lanes
    return lanes


@helper
def lanes_fitting(subracks: SubracksRecord, rack: RackRecord, size: Any, cross_set: Any) -> Any:
    """Return the lanes with a tile that a cross-set admits; a blank always fits."""
    fitting = np.uint64(0)
    admitted = cross_set | np.uint64(1)
    for at in range(MAX_PLACED):
        tile = np.uint64(rack.tiles[at])
        every = wrapping_sub(np.uint64(0), admitted >> tile & np.uint64(1))  # all lanes or none
        fitting |= subracks.holding[size, at] & every
    return fitting

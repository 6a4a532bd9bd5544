"""A rack and its subracks: all 2⁷ subsets of its tiles, as bit masks, looked up once a turn.

The search takes tiles off a rack by clearing bits, and has nothing to put back. The *leave map* has
the worth of playing each subrack: the leave table's value of the tiles that stay, and what else
depends on them alone (``engine.kernels.equity_terms``).

Tiles are sorted by number, the blank (0) first, so that the place of a leave in its table is a sum
(``lexicons.leaves``). Equal tiles are interchangeable; ``is_regular`` selects one mask for each
multiset of tiles.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from lexicons.alphabet import BLANK, MAX_LETTERS
from lexicons.bits import bit_count, wrapping_add
from lexicons.jit import helper, record_dtype
from lexicons.leaves import LeaveArrays
from lexicons.word_map import KEYS

from .moves import MAX_PLACED

__all__ = ["RACK", "SUBRACK_COUNT", "RackRecord", "fill_rack", "is_regular"]

SUBRACK_COUNT = 1 << MAX_PLACED

RACK = record_dtype(
    [
        ("held", np.int64),
        ("tiles", np.uint8, (MAX_PLACED + 1,)),  # sorted; behind them zeros
        ("bits", np.uint64, (MAX_LETTERS + 1,)),  # by tile: mask of its copies
        ("letters", np.uint64, (SUBRACK_COUNT,)),  # by mask: bit n, it has letter n; no blanks
        ("keys", np.uint64, (SUBRACK_COUNT,)),  # by mask: of its letters (``lexicons.word_map``)
        ("blanks", np.uint8, (SUBRACK_COUNT,)),  # by mask
        ("points", np.int32, (SUBRACK_COUNT,)),  # by mask: of its tiles
        ("leaves", np.int32, (SUBRACK_COUNT,)),  # by mask: of keeping it; 0 for all seven
        ("equity_terms", np.int32, (SUBRACK_COUNT,)),  # by mask: of playing it, beyond its score
        ("swaps", np.int32, (SUBRACK_COUNT,)),  # by mask: of exchanging it
        ("exchangeable", np.int64),  # largest exchange allowed
        ("repeats", np.uint64),  # bit n: tile n equals tile n − 1
        ("opening", np.bool_),  # the board is empty, and the places of vowels count
    ],
)

RackRecord: TypeAlias = Any


@helper
def fill_rack(rack: RackRecord, tiles: Any, size: Any, points: Any, leaves: LeaveArrays) -> None:
    """Fill in a rack of the first ``size`` of sorted ``tiles``, but for equity terms and swaps."""
    rack.held = size
    rack.repeats = 0
    for tile in range(len(rack.bits)):
        rack.bits[tile] = 0
    for at in range(MAX_PLACED):
        rack.tiles[at] = tiles[at] if at < size else 0
    for at in range(size):
        rack.bits[rack.tiles[at]] |= np.uint64(1) << np.uint64(at)
        if at and rack.tiles[at] == rack.tiles[at - 1]:
            rack.repeats |= np.uint64(1) << np.uint64(at)
    _fill_subracks(rack, points)
    _fill_leaves(rack, leaves)


@helper
def _fill_subracks(rack: RackRecord, points: Any) -> None:
    rack.letters[0] = 0
    rack.keys[0] = 0
    rack.blanks[0] = 0
    rack.points[0] = 0
    for at in range(rack.held):
        tile = rack.tiles[at]
        last = 1 << at
        blank = 1 if tile == BLANK else 0
        letter = np.uint64(0) if blank else np.uint64(1) << np.uint64(tile)
        for rest in range(last):
            subrack = rest | last
            rack.letters[subrack] = rack.letters[rest] | letter
            rack.keys[subrack] = wrapping_add(rack.keys[rest], KEYS[tile])
            rack.blanks[subrack] = rack.blanks[rest] + blank
            rack.points[subrack] = rack.points[rest] + points[tile]


@helper
def _fill_leaves(rack: RackRecord, leaves: LeaveArrays) -> None:
    """Look every subrack up in the leave table; a whole rack is no leave."""
    places = rack.equity_terms  # scratch: filled in later
    places[0] = 0
    longest = len(leaves.binomials)
    for at in range(rack.held):
        tile, last = rack.tiles[at], 1 << at
        for rest in range(last):
            before = bit_count(np.uint64(rest))
            if before < longest:
                places[rest | last] = places[rest] + leaves.binomials[before, tile]
    for subrack in range(1 << rack.held):
        held = bit_count(np.uint64(subrack))
        inside = held <= longest
        rack.leaves[subrack] = (
            leaves.values[leaves.offsets[held] + places[subrack]] if inside else 0
        )


@helper
def is_regular(rack: RackRecord, subrack: Any) -> Any:
    """Return whether a mask takes the first of equal tiles."""
    subrack = np.uint64(subrack)
    return not subrack & rack.repeats & ~(subrack << np.uint64(1))

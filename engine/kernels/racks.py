"""A rack and its subracks: all 2⁷ subsets of its tiles, each a mask of bits, looked up once a turn.

The search takes tiles off a rack by clearing bits and has nothing to put back. The *leave map* says
for every subrack what it is worth to play it: the value of the tiles that stay, read from the leave
table once, and what else depends on them alone (``engine.kernels.equity_terms``).

Tiles are sorted by number, the blank (0) first, so that the place of a leave in its table is a sum
(``lexicons.leaves``). Of equal tiles any may be in a subrack; ``is_regular`` tells the one mask
that stands for all which hold the same letters.
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
        ("held", np.int64),  # how many tiles
        ("tiles", np.uint8, (MAX_PLACED + 1,)),  # sorted; behind them zeros
        ("bits", np.uint64, (MAX_LETTERS + 1,)),  # by tile: which of ``tiles`` are this one
        (
            "letters",
            np.uint64,
            (SUBRACK_COUNT,),
        ),  # by mask: bit n, the subrack has letter n; no blanks
        (
            "keys",
            np.uint64,
            (SUBRACK_COUNT,),
        ),  # by mask: the key of its letters (``lexicons.word_map``)
        ("blanks", np.uint8, (SUBRACK_COUNT,)),  # by mask
        ("points", np.int32, (SUBRACK_COUNT,)),  # by mask: of its tiles
        ("leaves", np.int32, (SUBRACK_COUNT,)),  # by mask: worth of keeping it; 0 for all seven
        (
            "equity_terms",
            np.int32,
            (SUBRACK_COUNT,),
        ),  # by mask: of playing it, beyond the points it scores
        ("swaps", np.int32, (SUBRACK_COUNT,)),  # by mask: of exchanging it
        ("exchangeable", np.int64),  # how many tiles may be exchanged
        ("repeats", np.uint64),  # bit n: tile n is the same as the one before it
        ("opening", np.bool_),  # the board is empty, and where vowels lie matters
    ],
)

RackRecord: TypeAlias = Any
"""A record of ``RACK`` in a kernel; outside an array of one."""


@helper
def fill_rack(rack: RackRecord, tiles: Any, size: Any, points: Any, leaves: LeaveArrays) -> None:
    """Take the first ``size`` of sorted ``tiles`` on a rack, and look its subracks up.

    ``rack`` is modified in place; ``points`` are by tile. Worths and swaps are not filled in.
    """
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
    """Each subrack is one without its last tile, and that tile."""
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
    """Look every subrack up in the leave table, but for a whole rack, which is no leave."""
    places = rack.equity_terms  # is filled in later
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
    """Return whether a mask is the one for its letters: of equal tiles it takes the first ones."""
    subrack = np.uint64(subrack)
    return not subrack & rack.repeats & ~(subrack << np.uint64(1))

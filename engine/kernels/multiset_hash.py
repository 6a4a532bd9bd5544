"""A multiset of tiles as one integer, and its place in a table by open addressing (Knuth 6.4).

A code has the tiles sorted, seven bits each, plus one; so the empty multiset has the code 0, which
also marks an empty place. Tables have a power of two of places.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lexicons.bits import GOLDEN, wrapping_mul
from lexicons.jit import helper

from .moves import TILE_BITS

__all__ = ["extended", "place_of"]

_ONE = np.uint64(1)


@helper
def extended(code: Any, tile: Any) -> Any:
    """Return the code of a multiset and one more tile, no less than the others."""
    return code << np.uint64(TILE_BITS) | np.uint64(tile + 1)


@helper
def place_of(codes: Any, code: Any) -> Any:
    """Return the place of a code in a table, or the empty place where it belongs."""
    mask = np.uint64(len(codes) - 1)
    place = (wrapping_mul(code, GOLDEN) >> np.uint64(32)) & mask
    while codes[place] and codes[place] != code:
        place = place + _ONE & mask
    return place

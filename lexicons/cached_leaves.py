"""Leave tables that take long to make, kept as arrays in the user's cache.

Processes map the file into memory, which takes a millisecond and shares it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from contextlib import suppress

import numpy as np

from .alphabet import TileDistribution
from .cache import replacing, user_cache
from .leaves import RACK_SIZE, LeaveTable

__all__ = ["cached_leaves"]


def cached_leaves(
    what: object,
    make: Callable[[], LeaveTable],
    distribution: TileDistribution,
    rack_size: int = RACK_SIZE,
) -> LeaveTable:
    """Return a table from the cache, or make it and keep it.

    Args:
        what: its ``repr`` identifies the table among those for the same tiles.
        make: makes it.
        distribution: its tiles.
        rack_size: of its racks.
    """
    whole = (what, rack_size, distribution.alphabet.letters, distribution.counts,
             distribution.points, distribution.vowels)  # fmt: skip
    digest = hashlib.sha256(repr(whole).encode()).hexdigest()
    kept = user_cache() / "leaves" / f"{digest[:32]}.npy"
    with suppress(OSError, ValueError, EOFError):  # a damaged file is as good as none
        values = np.asarray(np.load(kept, mmap_mode="r"))
        if values.dtype == np.int32:
            return LeaveTable(distribution, values, rack_size)
    table = make()
    with suppress(OSError):  # where nothing can be kept it is made again
        kept.parent.mkdir(parents=True, exist_ok=True)
        with replacing(kept) as temporary, temporary.open("wb") as file:
            np.save(file, table.values)
    return table

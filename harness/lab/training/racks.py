"""All multisets of up to a rack of tiles, and the values of leaves by those of racks.

A leave is worth the mean of the racks that it may become. Tiles are drawn one after another, each
remaining tile of a full bag being equally likely, so that

    worth(leave) = Σ over tiles t of (nₜ − held) / (N − size) · worth(leave + t),

with nₜ of N tiles in the full bag: from racks down to the empty leave, a size at a time. A leave
table ignores other tiles known to be out of the bag, on the board or with the opponent.

Values lie in flat arrays with a place for each multiset (``lexicons.leaves``), racks after leaves.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from lexicons.alphabet import TileDistribution
from lexicons.arrays import F64, I64
from lexicons.jit import kernel
from lexicons.leaves import (
    RACK_SIZE,
    LeaveArrays,
    LeaveMatrix,
    LeaveTable,
    leave_places,
    possible_leaves,
)


class Racks:
    """All racks and leaves of a full bag."""

    def __init__(self, distribution: TileDistribution, rack_size: int = RACK_SIZE) -> None:
        self.distribution = distribution
        self.rack_size = rack_size
        # Racks are indexed as leaves of racks one tile larger.
        self.index: LeaveArrays = LeaveTable.zero(distribution, rack_size + 1).arrays
        self.first = int(self.index.offsets[rack_size])
        """The place of the first rack: the number of leaves' places."""

    @property
    def count(self) -> int:
        """The number of racks' places, possible or not."""
        return len(self.index.values) - self.first

    @cached_property
    def by_size(self) -> list[LeaveMatrix]:
        """Multisets of a full bag, by size from 0 to a rack; a row each, sorted."""
        return list(possible_leaves(self.distribution, self.rack_size + 1))

    @cached_property
    def places(self) -> list[I64]:
        """The places of ``by_size``."""
        return [leave_places(matrix, self.index) for matrix in self.by_size]

    def numbers(self, racks: LeaveMatrix) -> I64:
        """Return the place of each rack of a matrix, relative to the first rack's."""
        return leave_places(racks, self.index) - self.first

    def means(self, worths: F64) -> F64:
        """Return the worth of each leave, by place, from that of each rack, by number.

        Both are ``float64`` in the same unit, [``len(worths)``] racks and [``first``] leaves.
        """
        flat = np.zeros(len(self.index.values))
        flat[self.first :] = worths
        counts = np.array(self.distribution.counts, np.int64)
        for size in reversed(range(self.rack_size)):
            _draw_one(self.by_size[size], counts, self.index, flat)
        return flat[: self.first]

    def samples(self, counts: I64) -> I64:
        """Count in how many sampled racks each leave was.

        ``counts`` is int64, by rack number; the result is int64[``first``], by place of the leave.
        """
        samples = np.zeros(self.first, np.int64)
        # Full racks come last in ``by_size``, and have the places from ``first`` on.
        rack_counts = counts[self.places[-1] - self.first]
        was_seen = rack_counts > 0
        racks = np.ascontiguousarray(self.by_size[-1][was_seen])
        _count_leaves(racks, rack_counts[was_seen], self.index, samples)
        return samples


@kernel
def _draw_one(leaves: LeaveMatrix, counts: I64, index: LeaveArrays, worths: F64) -> None:
    """Compute the worth of a size's leaves from the leaves one tile larger.

    ``counts`` are the tiles of a full bag; ``worths`` is modified in place.
    """
    size = leaves.shape[1]
    for row in range(len(leaves)):
        place = index.offsets[size]
        for at in range(size):
            place += index.binomials[at, leaves[row, at]]
        total, ways = 0.0, 0
        at, held, last = 0, 0, -1
        grown = np.int64(index.offsets[size + 1])  # the place with no tile inserted before ``at``
        for nth in range(size):
            grown += index.binomials[nth + 1, leaves[row, nth]]
        for tile in range(len(counts)):
            held = 0
            while at < size and leaves[row, at] <= tile:
                last = leaves[row, at]
                grown += index.binomials[at, last] - index.binomials[at + 1, last]
                held += 1
                at += 1
            left = counts[tile] - held
            if left > 0:
                total += left * worths[grown + index.binomials[at, tile]]
                ways += left
        worths[place] = total / ways


@kernel
def _count_leaves(racks: LeaveMatrix, counts: I64, index: LeaveArrays, found: I64) -> None:
    """Add the count of each rack to each leave in it, once; ``found`` is modified in place."""
    size = racks.shape[1]
    places = np.zeros(1 << size, np.int64)
    sizes = np.zeros(1 << size, np.int64)
    for row in range(len(racks)):
        for at in range(size):
            tile = racks[row, at]
            again = at > 0 and racks[row, at - 1] == tile
            for rest in range(1 << at):
                part = rest | 1 << at
                sizes[part] = sizes[rest] + 1
                places[part] = places[rest] + index.binomials[sizes[rest], tile]
                # Of equal tiles only the first are used.
                regular = places[rest] >= 0 and (not again or rest >> (at - 1) & 1)
                if not regular:
                    places[part] = -(1 << 40)
                elif sizes[part] < size:
                    found[index.offsets[sizes[part]] + places[part]] += counts[row]
        found[0] += counts[row]

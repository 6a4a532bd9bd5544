"""Leaves, the tiles that a play keeps on the rack, and tables of their values.

A leave is a multiset of tiles, at most one fewer than a rack holds, written sorted, the blank (0)
first. Worths are thousandths of a point, so that sums of them are exact.

The table is one array with a place for each multiset of the alphabet's tiles, smaller ones first.
Among those of one size t₀ ≤ t₁ ≤ … the place is Σ C(tᵢ + i, i + 1), i from 0: the combinatorial
number system (Knuth, The Art of Computer Programming 4A, 7.2.1.3) of the strictly ascending
tᵢ + i. A further tile, no less than the others, adds one term, so that the places of all 2ⁿ
sub-multisets of a sorted rack cost one addition each. English tiles have 1,107,568
places, 914,625 of which a full bag can give; the others stay 0.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from math import comb
from typing import Annotated, NamedTuple, TypeAlias

import numpy as np

from .alphabet import BLANK, TileDistribution
from .arrays import I32, I64, READ_ONLY, U8, read_only
from .cache import mapped_arrays

RACK_SIZE = 7
MAX_WORTH = 10_000
"""Greatest value of a leave, in points, either way: a table beyond it is broken. Thousandths up to
it survive 32-bit floats, and sums of them and of scores stay far below 2³¹."""
_ROWS = 1 << 15  # of leaves at once: 8 MiB per array of all tiles
_MOST_PLACES = 1 << 27  # 512 MiB; the largest alphabet needs 131,115,985 for racks of seven

LeaveMatrix: TypeAlias = Annotated[U8, 2]  # [leaves, size] one sorted row per leave


class LeaveArrays(NamedTuple):
    """A table as kernels read it; all three arrays are read-only and contiguous."""

    values: Annotated[I32, READ_ONLY]  # [places] thousandths of a point
    offsets: Annotated[I32, READ_ONLY]  # [rack size + 1] the first place of each size, and the end
    binomials: Annotated[
        I32, 2, READ_ONLY
    ]  # [rack size − 1, tiles] C(tile + i, i + 1) for a tile at i


@dataclass(frozen=True, eq=False)
class LeaveTable:
    """Values of leaves, for these tiles and racks of this size."""

    distribution: TileDistribution
    values: I32  # thousandths of a point by place; read-only
    rack_size: int = RACK_SIZE

    def __post_init__(self) -> None:
        places = count_places(self.distribution, self.rack_size)
        if self.values.shape != (places,):
            raise ValueError(
                f"a leave table of {self.values.shape} values; {self.distribution.name} tiles and "
                f"racks of {self.rack_size} have {places}"
            )
        object.__setattr__(self, "values", read_only(self.values, np.int32))

    def __reduce__(
        self,
    ) -> tuple[type[LeaveTable], tuple[TileDistribution, I32, int]]:
        return LeaveTable, (self.distribution, self.values, self.rack_size)

    @classmethod
    def zero(cls, distribution: TileDistribution, rack_size: int = RACK_SIZE) -> LeaveTable:
        """Return a table of zeros."""
        places = count_places(distribution, rack_size)
        return cls(distribution, np.zeros(places, np.int32), rack_size)

    @cached_property
    def arrays(self) -> LeaveArrays:
        """The table as kernels take it."""
        return LeaveArrays(
            self.values,
            _offsets(self.distribution, self.rack_size),
            _binomials(self.distribution, self.rack_size),
        )

    @cached_property
    def checksum(self) -> str:
        """SHA-256 of the values, in hexadecimal, whatever file they came from."""
        return hashlib.sha256(self.values.tobytes()).hexdigest()

    def place(self, tiles: Iterable[int]) -> int:
        """Return the place of a leave, its tiles in any order, in ``values``.

        Raises:
            ValueError: it is too long or has an unknown tile.
        """
        leave = sorted(tiles)
        kinds = len(self.distribution.counts)
        if len(leave) >= self.rack_size:
            raise ValueError(
                f"the leave {tuple(leave)} has {len(leave)} tiles; one of a rack of "
                f"{self.rack_size} has {self.rack_size - 1} or fewer"
            )
        if leave and not (leave[0] >= 0 and leave[-1] < kinds):
            raise ValueError(
                f"the leave {tuple(leave)} holds what is no tile; tiles are 0 to {kinds - 1}"
            )
        first = int(self.arrays.offsets[len(leave)])
        return first + sum(comb(tile + at, at + 1) for at, tile in enumerate(leave))

    def value(self, tiles: Iterable[int]) -> float:
        """Return the value of a leave in points; arguments and errors as for ``place``."""
        return int(self.values[self.place(tiles)]) / 1000


def cached_leaves(
    what: object, make: Callable[[], LeaveTable], distribution: TileDistribution
) -> LeaveTable:
    """Return a table from the user's cache, or make it and keep it there, for racks of seven.

    Processes map the file into memory. ``repr(what)`` identifies it among those for the same tiles.
    """
    whole = (what, RACK_SIZE, distribution.alphabet.letters, distribution.counts,
             distribution.points, distribution.vowels)  # fmt: skip
    form = (np.int32, (count_places(distribution, RACK_SIZE),))
    (values,) = mapped_arrays("leaves", whole, lambda: (make().values,), [form])
    return LeaveTable(distribution, values)


def possible_leaves(
    distribution: TileDistribution, rack_size: int = RACK_SIZE
) -> Iterator[LeaveMatrix]:
    """Yield the leaves that a full bag can give, size by size from 0, in order of their tiles."""
    # Narrow types, since arrays have a row per leave and a column per kind of tile: 80 million
    # numbers with 44 letters.
    counts = np.array(distribution.counts, np.int16)
    kinds = np.arange(len(counts), dtype=np.int16)
    leaves = np.zeros((1, 0), np.uint8)
    last_tile = np.zeros(1, np.int16)  # of each leave
    last_count = np.zeros(1, np.int16)  # how often the leave has it
    yield leaves
    for _ in range(rack_size - 1):
        # A leave grows by its last tile or a later kind, of which it has none.
        left = counts - np.where(kinds == last_tile[:, np.newaxis], last_count[:, np.newaxis], 0)
        parent, added = np.nonzero((kinds >= last_tile[:, np.newaxis]) & (left > 0))
        is_repeated = added == last_tile[parent]
        last_count = np.where(is_repeated, last_count[parent], 0) + 1
        last_tile = added.astype(np.int16)
        leaves = np.column_stack((leaves[parent], added.astype(np.uint8)))
        yield leaves


def leave_places(leaves: LeaveMatrix, arrays: LeaveArrays) -> I64:
    """Return the place of each leave of a matrix."""
    size = leaves.shape[1]
    places = np.full(len(leaves), arrays.offsets[size], np.int64)
    for at in range(size):
        places += arrays.binomials[at][leaves[:, at]]
    return places


def table_of(distribution: TileDistribution, worths_of: Callable[[LeaveMatrix], I64]) -> LeaveTable:
    """Return the table of the values that a function gives leaves of one size, for racks of seven.

    It is asked about all leaves that a full bag can give, some thousands at a time.
    """
    table = LeaveTable.zero(distribution)
    values = table.values.copy()
    for leaves in possible_leaves(distribution):
        for first in range(0, len(leaves), _ROWS):
            rows = leaves[first : first + _ROWS]
            values[leave_places(rows, table.arrays)] = worths_of(rows)
    return LeaveTable(distribution, values)


def synthetic_leaves(distribution: TileDistribution, seed: int) -> LeaveTable:
    """Make up a table that resembles a trained one, for measurements only.

    A value sums tile values (25 points a blank, less for expensive letters, some noise), effects of
    pairs, a penalty for excess vowels or consonants, and a little noise.
    """
    chance = np.random.default_rng(seed)
    kinds = len(distribution.counts)
    points = np.array(distribution.points)
    own = chance.normal(0, 2, kinds) - 0.5 * np.maximum(points - 1, 0)
    own[BLANK] = 25
    pairs = chance.normal(0, 0.6, (kinds, kinds))
    np.fill_diagonal(pairs, -2.5 + chance.normal(0, 0.3, kinds))

    def worths(leaves: LeaveMatrix) -> I64:
        worth = own[leaves].sum(axis=1)
        for first in range(leaves.shape[1]):
            for second in range(first + 1, leaves.shape[1]):
                worth += pairs[leaves[:, first], leaves[:, second]]
        vowels = np.array(distribution.vowels)[leaves].sum(axis=1)
        letters = np.count_nonzero(leaves, axis=1)
        worth -= 1.5 * np.maximum(np.abs(2 * vowels - letters) - 1, 0)
        noise = chance.normal(0, 0.3, len(leaves))
        if leaves.shape[1]:  # the empty leave is worth nothing
            worth += noise
        thousandths: I64 = np.rint(worth * 1000).astype(np.int64)
        return thousandths

    return table_of(distribution, worths)


def count_places(distribution: TileDistribution, rack_size: int) -> int:
    """Return the number of places of a leave table.

    Raises:
        ValueError: racks of no tile, or a table with too many places.
    """
    kinds = len(distribution.counts)
    if rack_size < 1:
        raise ValueError(f"a rack of {rack_size}; it holds one tile or more")
    places = comb(kinds + rack_size - 1, rack_size - 1)
    if places > _MOST_PLACES:
        raise ValueError(
            f"leaves of {kinds} kinds of tiles and racks of {rack_size} need {places} places; a "
            f"table has at most {_MOST_PLACES}"
        )
    return places


def _offsets(distribution: TileDistribution, rack_size: int) -> I32:
    kinds = len(distribution.counts)
    # The multisets of fewer than s tiles out of k kinds are as many as those of s − 1 out of k + 1.
    first = [comb(kinds + size - 1, size - 1) if size else 0 for size in range(rack_size + 1)]
    return read_only(np.array(first), np.int32)


def _binomials(distribution: TileDistribution, rack_size: int) -> I32:
    kinds = len(distribution.counts)
    rows = [[comb(tile + at, at + 1) for tile in range(kinds)] for at in range(rack_size - 1)]
    return read_only(np.array(rows, np.int32).reshape(rack_size - 1, kinds), np.int32)

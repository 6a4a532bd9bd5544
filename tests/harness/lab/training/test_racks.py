"""Means of racks over what a leave may become, and leaves counted in racks, by enumeration."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from harness.lab.training.racks import Racks
from lexicons.alphabet import Alphabet, TileDistribution

TINY = [((1, 2, 1, 3), 3), ((2, 1, 0, 2, 3), 4), ((0, 4, 2, 1, 1), 4), ((1, 1, 1, 1), 4)]
"""Tiles of each kind in a full bag, and how many a rack holds."""


def racks_of(counts: Sequence[int], rack_size: int) -> Racks:
    letters = ("?", *"ABCDEFGH"[: len(counts) - 1])
    alphabet = Alphabet(letters, tuple(map(str.lower, letters)))
    ones, none = (1,) * len(counts), (False,) * len(counts)
    return Racks(TileDistribution("few", alphabet, tuple(counts), ones, none), rack_size)


def parts(tiles: Sequence[int], sizes: Sequence[int]) -> set[tuple[int, ...]]:
    """Give all multisets of such sizes that can be taken out of sorted tiles."""
    return {part for size in sizes for part in combinations(tiles, size)}


def made_up(racks: Racks) -> dict[tuple[int, ...], int]:
    """Make up a whole number for each rack that there is."""
    every = sorted(parts(racks.distribution.all_tiles(), [racks.rack_size]))
    chance = np.random.default_rng(7)
    return dict(zip(every, chance.integers(-1_000, 1_000, len(every)).tolist(), strict=True))


def by_number(racks: Racks, values: dict[tuple[int, ...], int]) -> np.ndarray[tuple[int]]:
    """Lay values of racks where ``Racks`` has them; numbers of no rack are wild."""
    array = np.full(racks.count, 1 << 40)
    array[racks.numbers(np.array(list(values), np.uint8))] = list(values.values())
    return array


@pytest.mark.parametrize(("counts", "rack_size"), TINY)
def test_what_a_full_bag_can_give(counts: tuple[int, ...], rack_size: int) -> None:
    racks = racks_of(counts, rack_size)
    tiles = racks.distribution.all_tiles()
    for size, (matrix, places) in enumerate(zip(racks.by_size, racks.places, strict=True)):
        listed = [tuple(row) for row in matrix.tolist()]
        assert len(set(listed)) == len(listed)
        assert set(listed) == parts(tiles, [size])
        assert len(set(places.tolist())) == len(places)
    assert len(racks.by_size) == rack_size + 1


@pytest.mark.parametrize(("counts", "rack_size"), TINY)
def test_each_rack_has_a_number_of_its_own(counts: tuple[int, ...], rack_size: int) -> None:
    racks = racks_of(counts, rack_size)
    numbers = racks.numbers(racks.by_size[-1]).tolist()
    assert len(set(numbers)) == len(numbers)
    assert min(numbers) >= 0
    assert max(numbers) < racks.count


@pytest.mark.parametrize(("counts", "rack_size"), TINY)
def test_a_leave_is_worth_the_mean_of_all_that_may_be_drawn(
    counts: tuple[int, ...], rack_size: int
) -> None:
    """Every set of tiles that fills up the rack, the tiles of one letter told from each other."""
    racks, worths = racks_of(counts, rack_size), made_up(racks_of(counts, rack_size))
    means = racks.means(by_number(racks, worths).astype(np.float64))
    bag = racks.distribution.all_tiles()
    for matrix, places in zip(racks.by_size[:-1], racks.places[:-1], strict=True):
        for leave, place in zip(map(tuple, matrix.tolist()), places.tolist(), strict=True):
            left = sorted((Counter(bag) - Counter(leave)).elements())
            drawn = list(combinations(left, rack_size - len(leave)))
            total = sum(worths[tuple(sorted(leave + more))] for more in drawn)
            assert means[place] == pytest.approx(float(Fraction(total, len(drawn))), abs=1e-9)


@pytest.mark.parametrize(("counts", "rack_size"), TINY)
def test_leaves_are_counted_once_a_rack(counts: tuple[int, ...], rack_size: int) -> None:
    racks = racks_of(counts, rack_size)
    often = {rack: abs(number) % 4 for rack, number in made_up(racks).items()}
    seen = by_number(racks, often)
    seen[seen == 1 << 40] = 0
    expected: Counter[tuple[int, ...]] = Counter()
    for rack, count in often.items():
        for leave in parts(rack, range(rack_size)):
            expected[leave] += count
    found = racks.samples(seen)
    for matrix, places in zip(racks.by_size[:-1], racks.places[:-1], strict=True):
        listed = [expected[tuple(leave)] for leave in matrix.tolist()]
        assert found[places].tolist() == listed
    assert found.sum() == expected.total()

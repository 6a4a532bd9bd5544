"""What racks are worth by samples of some: against the same equations, solved densely."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import cache
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.lab.training.racks import Racks
from harness.lab.training.smoothing import REACH, REST, Samples, smooth
from lexicons.alphabet import Alphabet, TileDistribution
from lexicons.arrays import F64

LETTERS = ("?", *"ABCD")
TILES = TileDistribution(
    "few", Alphabet(LETTERS, tuple("?abcd")), (1, 4, 2, 3, 2), (0, 1, 1, 1, 1), (False,) * 5
)
SIZE = 4


@cache
def racks() -> Racks:
    return Racks(TILES, SIZE)


@cache
def every_rack() -> list[str]:
    return [TILES.alphabet.text(rack) for rack in racks().by_size[-1].tolist()]


def samples_of(seen: Mapping[str, list[int]]) -> Samples:
    """Put together what was seen of some racks."""
    counts, sums = np.zeros((2, racks().count), np.int64)
    for rack, number in zip(every_rack(), racks().numbers(racks().by_size[-1]), strict=True):
        counts[number], sums[number] = len(seen.get(rack, [])), sum(seen.get(rack, []))
    squares = sum(float(one) ** 2 for values in seen.values() for one in values)
    return Samples(counts, sums, squares)


def smoothed(seen: Mapping[str, list[int]]) -> dict[str, float]:
    worths = smooth(samples_of(seen), racks()).worths[racks().numbers(racks().by_size[-1])]
    return dict(zip(every_rack(), worths.tolist(), strict=True))


def by_chance(worths: Mapping[str, float], often: int, noise: float, seed: int = 1) -> Samples:
    """Sample racks, each so often, with a noise around what they are worth."""
    chance = np.random.default_rng(seed)
    return samples_of(
        {
            rack: np.rint(chance.normal(worth, noise, often)).astype(int).tolist()
            for rack, worth in worths.items()
        }
    )


# --- a slow twin ----------------------------------------------------------------------------------


def solved(samples: Samples, noise: float) -> F64:
    """Give what each rack is worth, in the order of ``every_rack``."""
    parts = [Counter(part for size in (1, 2, 3) for part in combinations(rack, size))
             for rack in every_rack()]  # fmt: skip
    columns = {part: at for at, part in enumerate(dict.fromkeys(p for each in parts for p in each))}
    holds = np.zeros((len(parts), len(columns)))
    for row, each in enumerate(parts):
        for part, times in each.items():
            holds[row, columns[part]] = times
    numbers = racks().numbers(racks().by_size[-1])
    counts = samples.counts[numbers].astype(float)
    mean = samples.sums.sum() / counts.sum()
    above = samples.sums[numbers] - counts * mean
    pull = np.diag([(noise / REACH[len(part) - 1]) ** 2 for part in columns])
    effects = np.linalg.solve(holds.T @ (counts[:, np.newaxis] * holds) + pull, holds.T @ above)
    trusted = (noise / REST) ** 2
    worths: F64 = mean + (above + trusted * (holds @ effects)) / (counts + trusted)
    return worths


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("part", [0.15, 0.6, 1.0])
def test_the_same_as_solved_densely(seed: int, part: float) -> None:
    """Some racks seen once, some often, some never."""
    chance = np.random.default_rng(seed)
    seen = {
        rack: chance.normal(40_000 + 5_000 * rack.count("A"), 18_000, chance.integers(1, 20))
        .astype(int)
        .tolist()
        for rack in every_rack()
        if chance.random() < part
    }
    samples = samples_of(seen)
    found = smooth(samples, racks())
    expected = solved(samples, found.noise)
    worths = found.worths[racks().numbers(racks().by_size[-1])]
    assert worths == pytest.approx(expected, abs=30)  # 0.03 points, of some 10
    assert found.trusted == pytest.approx((found.noise / REST) ** 2)


def test_whether_the_equations_were_solved_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = by_chance({rack: 1_000 * at for at, rack in enumerate(every_rack())}, 3, 9_000)
    assert smooth(seen, racks()).is_solved
    monkeypatch.setattr("harness.lab.training.smoothing._MOST_ROUNDS", 1)
    assert not smooth(seen, racks()).is_solved


# --- what it has to do ----------------------------------------------------------------------------


def test_nothing_seen() -> None:
    with pytest.raises(ValueError, match="no rack was seen"):
        smooth(samples_of({}), racks())


@given(
    st.dictionaries(
        st.sampled_from(every_rack()),
        st.lists(st.integers(-50, 200), min_size=1, max_size=12),
        min_size=1,
        max_size=40,
    )
)
def test_no_value_is_wild(seen: dict[str, list[int]]) -> None:
    """Whatever was seen: no further from the mean than as if each tile had what one sample had."""
    worths = smoothed({rack: [1_000 * one for one in points] for rack, points in seen.items()})
    flat = [1_000 * one for points in seen.values() for one in points]
    mean = sum(flat) / len(flat)
    far = max(abs(one - mean) for one in flat)
    assert max(abs(worth - mean) for worth in worths.values()) <= SIZE * far + 1


@pytest.mark.parametrize("noise", [12_000, 25_000])
@pytest.mark.parametrize("often", [4, 50])
def test_the_noise_is_what_samples_of_one_rack_differ_by(noise: float, often: int) -> None:
    chance = np.random.default_rng(5)
    worths = {rack: chance.normal(30_000, 20_000) for rack in every_rack()}
    found = smooth(by_chance(worths, often, noise), racks())
    assert found.noise == pytest.approx(noise, rel=0.2 if often == 4 else 0.05)


@pytest.mark.parametrize("lost", [0, 60])
def test_where_no_rack_came_up_twice_samples_are_not_taken_for_the_truth(lost: int) -> None:
    """Nothing tells of the noise then; ``lost`` is what rounding took from the squares."""
    chance = np.random.default_rng(6)
    seen = {rack: [round(chance.normal(40_000, 20_000))] for rack in every_rack()}
    samples = samples_of(seen)
    samples = samples._replace(squares=samples.squares - lost * abs(samples.sums).sum())
    found = smooth(samples, racks())
    assert found.noise > 5_000
    assert found.trusted > 0.5

"""What may be held, listed, weighed and drawn, against physical tiles counted one by one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pytest
from inference_reference import leaves_in, physical_racks, tiles_of, without

from engine.inference.leave_prior import (
    CompletedRacks,
    LeavePrior,
    all_multisets,
    count_multisets,
    priors_of,
)
from engine.rules.position import Rack
from lexicons.arrays import F64, U8

COUNTS = (1, 3, 2, 0, 4, 1)
"""By tile, the blank first; eleven in all."""


def kept_of(weights: dict[Rack, float], doubt: float = 0.0) -> LeavePrior:
    tiles = np.array(list(weights), np.uint8).reshape(len(weights), -1)
    return LeavePrior(tiles, np.array(list(weights.values())), doubt)


SOME: dict[Rack, float] = {(1, 1): 0.5, (0, 4): 0.25, (2, 4): 0.125, (4, 4): 0.1, (1, 5): 0.025}
BEFORE: list[dict[Rack, float]] = [
    {(): 1.0},
    {(4,): 0.75, (5,): 0.25},
    SOME,
    {(0, 1, 1, 2): 0.9, (1, 1, 1, 4): 0.1},
]


# --- listing --------------------------------------------------------------------------------------


@pytest.mark.parametrize("counts", [COUNTS, (0, 0, 2), (3,), (1, 1, 1, 1, 1, 1, 1), (0, 5, 0, 1)])
@pytest.mark.parametrize("size", range(8))
def test_parts_are_all_choices_of_tiles(counts: Sequence[int], size: int) -> None:
    parts = all_multisets(counts, size)
    expected = sorted(set(combinations(tiles_of(counts), size)))
    assert list(map(tuple, parts.tolist())) == expected
    assert count_multisets(counts, size) == len(expected)
    assert parts.shape == (len(expected), size)


# --- what was kept --------------------------------------------------------------------------------


def test_what_somebody_else_draws_was_not_held() -> None:
    """He holds one of SOME; of what is left each draw of (1, 4) is as likely as another."""
    drawn: Rack = (1, 4)
    weights = {
        held: weight * physical_racks(without(tiles_of(COUNTS), held) or (), 2)[drawn]
        for held, weight in SOME.items()
    }
    total = sum(weights.values())
    found = kept_of(SOME).without([0, 1, 0, 0, 1, 0], COUNTS)
    assert found is not None
    by_rack = dict(zip(leaves_in(found), found.weights.tolist(), strict=True))
    assert by_rack == pytest.approx({held: each / total for held, each in weights.items()})


def test_what_can_no_longer_be_held_is_gone() -> None:
    found = kept_of(SOME).without([1, 0, 0, 0, 3, 0], COUNTS)
    assert found is not None
    assert sorted(leaves_in(found)) == [(1, 1), (1, 5), (2, 4)]
    assert found.weights.sum() == pytest.approx(1)
    assert leaves_in(kept_of(SOME).without([1, 3, 0, 0, 3, 0], COUNTS)) == [(2, 4)]  # type: ignore[arg-type]
    assert kept_of(SOME).without([1, 3, 2, 0, 4, 1], COUNTS) is None
    assert kept_of({(0,): 1.0}).without([1, 0, 0, 0, 0, 0], COUNTS) is None


# --- priors ---------------------------------------------------------------------------------------


def slow_priors(size: int, before: dict[Rack, float], doubt: float = 0.0) -> dict[Rack, float]:
    """Take each of what was kept and all draws of physical tiles to it; or the whole rack."""
    priors: dict[Rack, float] = defaultdict(float)
    if doubt:
        for rack, each in slow_priors(size, {(): 1.0}).items():
            priors[rack] += doubt * each
        before = {held: (1 - doubt) * weight for held, weight in before.items()}
    for held, weight in before.items():
        others = without(tiles_of(COUNTS), held)
        assert others is not None
        draws = physical_racks(others, size - len(held))
        for draw, ways in draws.items():
            priors[tuple(sorted(held + draw))] += weight * ways / draws.total()
    return priors


@pytest.mark.parametrize("before", BEFORE, ids=lambda before: f"{len(before)} kept")
@pytest.mark.parametrize("size", [4, 5, 7])
@pytest.mark.parametrize("doubt", [0.0, 0.02, 1.0])
def test_priors_are_those_of_physical_tiles(
    size: int, before: dict[Rack, float], doubt: float
) -> None:
    racks = all_multisets(COUNTS, size)
    found = priors_of(racks, COUNTS, kept_of(before, doubt))
    expected = slow_priors(size, before, doubt)
    by_rack = dict(zip(map(tuple, racks.tolist()), found.tolist(), strict=True))
    assert by_rack == pytest.approx({rack: expected.get(rack, 0.0) for rack in by_rack}, rel=1e-12)


# --- draws ----------------------------------------------------------------------------------------

DRAWS = 20_000


def drawn_racks(
    counts: Sequence[int], kept: LeavePrior, wanted: Sequence[int], size: int, draws: int, seed: int
) -> tuple[U8, F64]:
    return CompletedRacks(counts, kept, wanted, size).draw(draws, np.random.default_rng(seed))


@pytest.mark.parametrize("doubt", [0.0, 0.2])
@pytest.mark.parametrize("before", BEFORE, ids=lambda before: f"{len(before)} kept")
@pytest.mark.parametrize("played", [(), (4,), (1, 1), (1, 4, 4)], ids=str)
def test_draws_with_their_odds_are_the_priors(
    played: Rack, before: dict[Rack, float], doubt: float
) -> None:
    """Each probability within four standard errors, as far as a rack comes often enough."""
    size = 5
    wanted = [played.count(tile) for tile in range(len(COUNTS))]
    kept = kept_of(before, doubt)
    racks, odds = drawn_racks(COUNTS, kept, wanted, size, DRAWS, seed=len(played))
    odds /= DRAWS
    assert racks.shape == (DRAWS, size)
    assert (np.diff(racks.astype(int), axis=1) >= 0).all()
    expected = {
        rack: prior
        for rack, prior in slow_priors(size, before, doubt).items()
        if without(rack, played) is not None
    }
    rows = list(map(tuple, racks.tolist()))
    assert set(rows) <= set(expected)
    assert odds.sum() == pytest.approx(sum(expected.values()), rel=0.05)
    for rack, share in expected.items():
        counted = odds[[row == rack for row in rows]]
        if len(counted) < 30:
            continue
        error = np.sqrt((counted**2).sum())  # of a sum of so many independent terms
        assert abs(counted.sum() - share) <= 4 * error, (rack, counted.sum(), share)


@pytest.mark.parametrize(
    ("before", "played"),
    [
        ({(): 1.0}, (3,)),  # there is none
        ({(): 1.0}, (0, 0)),
        ({(1, 1, 2, 2): 1.0}, (4, 4)),  # no room beside what was kept
        ({(1, 1, 1, 1): 1.0}, (4,)),  # he can't have kept it
    ],
)
def test_where_no_rack_is_possible_none_is_drawn(before: dict[Rack, float], played: Rack) -> None:
    wanted = [played.count(tile) for tile in range(len(COUNTS))]
    racks, odds = drawn_racks(COUNTS, kept_of(before), wanted, 5, 10, seed=1)
    assert racks.shape == (0, 5)
    assert len(odds) == 0

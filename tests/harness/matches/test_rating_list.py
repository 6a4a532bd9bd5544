"""Ratings of a standing list against a plain twin, and simulated lists."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import minimize

from harness.matches.rating_list import CENTRE, SPREAD, Meetings, RatingList, rate_list
from harness.matches.ratings import ELO
from lexicons.arrays import F64

FREE = math.nan


def meetings(*rows: tuple[int, int, float]) -> Meetings:
    """Return games of rows: who moved first, who second, points of the first."""
    columns = np.array(rows, dtype=np.float64).reshape(-1, 3).T
    return Meetings(columns[0].astype(np.int64), columns[1].astype(np.int64), columns[2])


def played(strengths: F64, games: int, chance: np.random.Generator) -> Meetings:
    """Play games of pairs that chance chooses; the first move is worth 30 Elo."""
    first = chance.integers(0, strengths.size, games)
    second = (first + chance.integers(1, strengths.size, games)) % strengths.size
    ahead = (strengths[first] - strengths[second] + 30) / ELO
    won = chance.random(games) < 1 / (1 + np.exp(-ahead))
    return Meetings(first, second, won.astype(np.float64))


def twin(games: Meetings, held: F64, spread: float) -> tuple[F64, float]:
    """Return ratings and the first move by a general minimizer, in plain words."""
    free = np.flatnonzero(np.isnan(held))
    ties = int((games.points == 0.5).sum())
    tie = 2 * ties / (games.points.size - ties)

    def loss(at: F64) -> float:
        ratings = held.copy()
        ratings[free] = at[:-2]
        total = (at[-2] / SPREAD) ** 2 / 2 + ((at[-1] - np.nanmean(held)) / SPREAD) ** 2 / 2
        total += (((ratings[free] - at[-1]) / spread) ** 2 / 2).sum()
        for first, second, points in zip(games.first, games.second, games.points, strict=True):
            half = (ratings[first] + at[-2] - ratings[second]) / ELO / 2
            weights = {1.0: math.exp(half), 0.5: tie, 0.0: math.exp(-half)}
            total -= math.log(weights[points] / sum(weights.values()))
        return float(total)

    start = np.append(np.full(free.size, np.nanmean(held)), [0.0, np.nanmean(held)])
    at = minimize(loss, start, method="BFGS", options={"gtol": 1e-9}).x
    ratings = held.copy()
    ratings[free] = at[:-2]
    return ratings, at[-2]


def test_ratings_are_those_of_a_plain_twin() -> None:
    held = np.array([1_600.0, FREE, FREE, FREE])
    games = meetings((0, 1, 1), (1, 0, 0.5), (1, 2, 1), (2, 3, 0), (3, 1, 1), (0, 3, 0), (2, 0, 0))
    listed = rate_list(games, held)
    ratings, first_move = twin(games, held, listed.spread)
    assert listed.ratings == pytest.approx(ratings, abs=0.01)
    assert listed.first_move == pytest.approx(first_move, abs=0.01)


def test_an_anchor_is_held_and_who_won_all_games_is_rated() -> None:
    games = meetings(*[(1, 0, 1), (0, 1, 0)] * 5)
    listed = rate_list(games, np.array([1_800.0, FREE]))
    assert (listed.ratings[0], listed.errors[0]) == (1_800.0, 0.0)
    assert 1_900 < listed.ratings[1] < 3_000
    more = rate_list(meetings(*[(1, 0, 1), (0, 1, 0)] * 50), np.array([1_800.0, FREE]))
    assert more.ratings[1] > listed.ratings[1]


def test_without_anchors_the_mean_of_those_who_played_is_the_centre() -> None:
    listed = rate_list(meetings((0, 1, 1), (1, 0, 0), (1, 2, 1)), np.full(4, FREE))
    assert listed.ratings[:3].mean() == pytest.approx(CENTRE)
    assert listed.ratings[0] > listed.ratings[1] > listed.ratings[2]
    assert listed.errors[3] > listed.errors[1] > 0


@pytest.mark.parametrize("anchor", [1_600.0, FREE])
def test_names_without_games_change_nothing_and_cost_nothing(anchor: float) -> None:
    games = meetings((0, 1, 1), (1, 0, 0.5), (1, 4, 1), (4, 0, 0))
    few = rate_list(games, np.array([anchor, FREE, FREE, FREE, FREE]))
    many = rate_list(games, np.append([anchor], np.full(50_000, FREE)))  # 20 GB as a square
    assert few.opponents.tolist() == [2, 2, 0, 0, 2]
    assert few.largest == pytest.approx([2 / 3, 2 / 3, 0, 0, 0.5])
    for column in ("ratings", "errors", "opponents", "largest"):
        one, other = getattr(few, column), getattr(many, column)
        assert other[:5] == pytest.approx(one)
        assert (other[5:] == other[3]).all()
    assert many[2:5] == pytest.approx(few[2:5])


def test_a_start_changes_nothing() -> None:
    chance = np.random.default_rng(1)
    games = played(chance.normal(1_500, 200, 12), 400, chance)
    held = np.append([1_500.0], np.full(11, FREE))
    cold = rate_list(games, held)
    known = np.where(np.arange(12) % 3 == 0, FREE, cold.ratings + 40)
    warm = rate_list(games, held, known)
    assert warm.ratings == pytest.approx(cold.ratings, abs=0.5)
    assert warm.errors == pytest.approx(cold.errors, abs=0.5)


@pytest.mark.parametrize("anchors", [0, 2])
def test_intervals_hold_the_truth(anchors: int) -> None:
    chance = np.random.default_rng(5)
    held_true: list[float] = []
    for _ in range(40):
        strengths = chance.normal(1_500, 250, 20)
        held = np.where(np.arange(20) < anchors, strengths, FREE)
        listed: RatingList = rate_list(played(strengths, 600, chance), held)
        truth = strengths if anchors else strengths - strengths.mean() + CENTRE
        inside = np.abs(listed.ratings - truth) <= listed.errors
        held_true.append(float(inside[anchors:].mean()))
        assert abs(listed.first_move - 30) < 2 * listed.first_move_error
    assert 0.92 < np.mean(held_true) < 0.98

"""Ratings against hand-worked events, plain twins, a published fit and simulated events."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from itertools import combinations

import numpy as np
import pytest
from match_samples import game, seat
from scipy.optimize import minimize
from scipy.special import ndtr

from harness.matches.rating_list import CENTRE, SPREAD, Meetings, RatingList, rate_list
from harness.matches.ratings import (
    ELO,
    GameArrays,
    Ratings,
    check_anchors,
    log_chances,
    log_tie_of,
    rate_games,
    rate_results,
)
from harness.matches.results import GameResult
from harness.matches.significance import elo_difference
from lexicons.arrays import F64

Row = tuple[int, int, float, int]
"""Who moves first, who second, the first's points, and the unit."""


def arrays(rows: Iterable[Row]) -> GameArrays:
    columns = np.array([*rows], dtype=np.float64).reshape(-1, 4).T
    first, second, unit = (columns[at].astype(np.int64) for at in (0, 1, 3))
    return GameArrays(first, second, columns[2], unit)


def rated(players: int, rows: Iterable[Row], **anchors: float) -> Ratings:
    return rate_games("abcdefgh"[:players], arrays(rows), anchors)


def alone(first: int, second: int, *points: float, unit: int = 0) -> list[Row]:
    """Return games, each a unit of its own, numbered from ``unit``."""
    return [(first, second, each, unit + at) for at, each in enumerate(points)]


def log_likelihood(ratings: Ratings, rows: Iterable[Row]) -> float:
    """Return the log likelihood of games between players who are all rated."""
    games = arrays(rows)
    at = np.array([player.rating for player in ratings.players]) / ELO
    ahead = at[games.first] - at[games.second] + (ratings.first_move or 0) / ELO
    ties = int(np.count_nonzero(games.points == 0.5))
    win, tie, loss = log_chances(ahead, log_tie_of(ties, games.points.size))
    return float(np.select([games.points == 1, games.points == 0.5], [win, tie], loss).sum())


def ratings_of(ratings: Ratings) -> list[float | None]:
    return [player.rating for player in ratings.players]


# --- by hand ----------------------------------------------------------------------------------


def test_two_players_by_hand() -> None:
    # a wins three in four when it begins, and one in two when b begins: ln 3 = δ + f and 0 = δ − f.
    rows = alone(0, 1, 1, 1, 1, 0) + alone(1, 0, 1, 0, unit=4)
    ratings = rated(2, rows)
    assert ratings_of(ratings) == pytest.approx([ELO * math.log(3) / 4, -ELO * math.log(3) / 4])
    assert ratings.first_move == pytest.approx(ELO * math.log(3) / 2)
    expected = 3 * math.log(3 / 4) + math.log(1 / 4) + 2 * math.log(1 / 2)
    assert log_likelihood(ratings, rows) == pytest.approx(expected)
    a, b = ratings.players
    assert (a.games, a.points, a.units, b.points) == (6, 4, 6, 2)


def test_the_mean_is_0_or_an_anchor_is_held() -> None:
    rows = alone(0, 1, 1, 1, 0) + alone(1, 2, 1, 1, 0, unit=3) + alone(2, 0, 1, 0, 0, unit=6)
    free = ratings_of(rated(3, rows))
    assert sum(rating or 0 for rating in free) == pytest.approx(0)
    held = rated(3, rows, b=1500.0)
    assert held.players[1].rating == 1500
    assert held.players[1].error == 0
    assert held.players[1].interval == (1500, 1500)
    assert [player.anchored for player in held.players] == [False, True, False]
    shift = 1500 - (free[1] or 0)
    assert ratings_of(held) == pytest.approx([(rating or 0) + shift for rating in free])


def test_anchors_connect_and_give_whoever_beats_one_of_them_a_place() -> None:
    rows = alone(0, 1, 1, 1, 0, 1) + alone(2, 3, 1, 0, 1, 0, unit=4)
    ratings = rated(4, rows, a=100.0, c=1100.0)
    assert {player.component for player in ratings.players} == {1}
    _, b, _, d = ratings_of(ratings)
    assert b is not None
    assert d is not None
    assert b < 100
    assert d == pytest.approx(1100)
    assert ratings_of(rated(2, alone(0, 1, 1, 1, 1), a=0.0, b=50.0)) == [0, 50]


def test_an_anchor_may_be_anywhere_but_anchors_are_near_each_other() -> None:
    rows = alone(0, 1, 1, 1, 0) + alone(1, 2, 1, 1, 0, unit=3) + alone(2, 0, 1, 0, 0, unit=6)
    near, far = rated(3, rows, b=0.0), rated(3, rows, b=-10_000.0)
    shifted = [(rating or 0) - 10_000 for rating in ratings_of(near)]
    assert ratings_of(far) == pytest.approx(shifted, abs=1e-6)
    between = ratings_of(rated(3, rows[:6], a=0.0, c=4_000.0))[1]
    assert between is not None
    assert 0 < between < 4_000
    with pytest.raises(ValueError, match=r"within 4,000 points"):
        check_anchors({"a": -10_000.0, "c": 10_000.0})


@pytest.mark.parametrize(
    ("name", "rating"), [("z", 0.0), ("a", math.nan), ("a", math.inf), ("a", -1e5)]
)
def test_an_anchor_is_a_player_with_a_number(name: str, rating: float) -> None:
    with pytest.raises(ValueError, match=r"anchor '[az]'"):
        rated(2, alone(0, 1, 1, 0), **{name: rating})


# --- errors -----------------------------------------------------------------------------------


def test_ratings_and_errors_are_those_of_a_plain_twin() -> None:
    chance = np.random.default_rng(3)
    rows = [
        (first, second, float(chance.choice([1, 0.5, 0], p=[0.5, 0.1, 0.4])), unit)
        for unit, pair in enumerate([*combinations(range(4), 2)] * 5)
        for first, second in (pair, pair[::-1])
    ]
    ties = sum(points == 0.5 for _, _, points, _ in rows)
    tie = 2 * ties / (len(rows) - ties)

    def log_chance(at: Sequence[float], row: Row) -> float:
        strengths = [*at[:3], -sum(at[:3])]
        delta = strengths[row[0]] - strengths[row[1]] + at[3]
        chances = {1: math.exp(delta / 2), 0.5: tie, 0: math.exp(-delta / 2)}
        return math.log(chances[row[2]] / sum(chances.values()))

    fitted = minimize(lambda at: -sum(log_chance(at, row) for row in rows), np.zeros(4))
    steps = np.eye(4) * 1e-4

    def slopes(at: np.ndarray[tuple[int], np.dtype[np.float64]]) -> object:
        each = [
            [(log_chance(at + h, row) - log_chance(at - h, row)) / 2e-4 for h in steps]
            for row in rows
        ]
        return np.array(each)

    by_unit = np.asarray(slopes(fitted.x)).reshape(-1, 2, 4).sum(axis=1)
    second = [
        np.asarray(slopes(fitted.x + h)).sum(axis=0) - np.asarray(slopes(fitted.x - h)).sum(axis=0)
        for h in steps
    ]
    inverse = np.linalg.inv(np.array(second) / 2e-4)
    units = len(by_unit)
    covariance = units / (units - 1) * inverse @ by_unit.T @ by_unit @ inverse

    ratings = rated(4, rows)
    assert ratings_of(ratings)[:3] == pytest.approx(ELO * fitted.x[:3], abs=0.05)
    assert ratings.first_move == pytest.approx(ELO * fitted.x[3], abs=0.05)
    assert log_likelihood(ratings, rows) == pytest.approx(-fitted.fun)
    student_t = 2.1448  # 15 units a player
    expected = student_t * ELO * np.sqrt(np.diag(covariance)[:3])
    assert [player.error for player in ratings.players[:3]] == pytest.approx(expected, rel=1e-3)


def test_few_units_have_no_interval() -> None:
    five = alone(0, 1, 1, 0, 1, 0, 0)
    player = rated(2, five).players[0]
    assert player.rating is not None
    assert player.error is None
    assert player.interval == (None, None)
    assert rated(2, five).superiority[0][1] is None
    assert rated(2, five * 4).players[0].error is None  # the same five units
    assert rated(2, five + alone(0, 1, 1, 0, 1, 1, unit=5)).players[0].error is not None


# --- what can't be known ----------------------------------------------------------------------


def test_no_games() -> None:
    assert rate_results([]).players == ()
    waiting = rate_results([], ["one", "two"])
    assert waiting.first_move is waiting.first_move_error is None
    assert [(player.name, player.rating, player.component) for player in waiting.players] == [
        *(("one", None, 1), ("two", None, 2)),
    ]
    assert waiting.superiority == ((None, None), (None, None))


@pytest.mark.parametrize(
    ("rows", "above"),
    [
        (alone(0, 1, 1), 0.5),
        (alone(0, 1, *[1] * 5) + alone(1, 0, *[0] * 5, unit=5), 1 - 0.5**10),
    ],
)
def test_of_two_players_of_whom_one_won_all_only_the_superiority_is_known(
    rows: list[Row], above: float
) -> None:
    ratings = rated(2, rows)
    assert ratings_of(ratings) == [None, None]
    assert ratings.superiority[0][1] == pytest.approx(above)
    assert ratings.superiority[1][0] == pytest.approx(1 - above)


def test_whoever_won_or_lost_all_has_a_bound() -> None:
    even = alone(0, 1, 1, 0, 1, 0) + alone(1, 0, 1, 0, 1, 0, unit=4)
    best = alone(2, 0, 1, 1, 1, unit=8) + alone(1, 2, 0, 0, unit=11)
    worst = alone(3, 0, 0, 0, 0, unit=20) + alone(1, 3, 1, 1, unit=23)
    ratings = rated(4, even + best + worst + alone(2, 3, 1, unit=30))
    assert ratings_of(ratings)[:2] == pytest.approx([0, 0], abs=1e-9)
    assert ratings_of(ratings)[2:] == [None, None]
    assert ratings.first_move == pytest.approx(0, abs=1e-9)
    *_, (above, _) = elo_difference(1.0, None, 5)
    assert above is not None
    assert ratings.players[2].interval[0] == pytest.approx(above)
    assert ratings.players[3].interval[1] == pytest.approx(-above)
    assert ratings.players[2].interval[1] is ratings.players[3].interval[0] is None
    assert {player.component for player in ratings.players} == {1}
    assert ratings.superiority[2][0] == pytest.approx(1 - 0.5**5)
    assert ratings.superiority[0][3] == pytest.approx(1 - 0.5**5)
    assert ratings.superiority[2][3] == pytest.approx(0.5)


def test_players_who_never_met_are_not_compared() -> None:
    rows = alone(0, 1, *[1, 0, 0] * 4) + alone(2, 3, *[1, 1, 0] * 4, unit=20)
    ratings = rated(5, rows)
    assert [player.component for player in ratings.players] == [1, 1, 2, 2, 3]
    a, b, c, d, e = ratings_of(ratings)
    assert e is None
    assert (a or 0) + (b or 0) == pytest.approx(0)
    assert (c or 0) + (d or 0) == pytest.approx(0)
    assert ratings.superiority[0][2] is ratings.superiority[3][1] is None
    assert ratings.superiority[0][1] is not None


@pytest.mark.parametrize(
    "rows",
    [
        alone(0, 1, 1, 1, 0, 0, 1),  # a always begins
        alone(0, 1, 1, 1, 1) + alone(1, 0, 1, 1, 1, unit=3),  # whoever begins wins
        alone(0, 1, 0, 0) + alone(1, 0, 0, 0.5, unit=3),
    ],
)
def test_a_first_move_that_cannot_be_told_is_unknown(rows: list[Row]) -> None:
    ratings = rated(2, rows)
    assert ratings.first_move is ratings.first_move_error is None
    assert ratings.first_move_interval == (None, None)
    assert None not in ratings_of(ratings)


def test_nothing_is_infinite_whatever_happened() -> None:
    chance = np.random.default_rng(4)
    for _ in range(80):
        players = int(chance.integers(2, 6))
        rows = [
            (*chance.choice(players, 2, replace=False).tolist(), chance.integers(3) / 2, unit // 2)
            for unit in range(int(chance.integers(1, 15)))
        ]
        ratings = rated(players, rows)
        json.dumps(asdict(ratings), allow_nan=False)
        for player in ratings.players:
            assert all(abs(end) < 5000 for end in (player.rating, *player.interval) if end)
        for i, row in enumerate(ratings.superiority):
            assert row[i] is None
            for j, likelihood in enumerate(row):
                other = ratings.superiority[j][i]
                assert (likelihood is None) == (other is None)
                assert likelihood is None or likelihood + (other or 0) == pytest.approx(1)


# --- results ----------------------------------------------------------------------------------


def between(a: str, b: str, number: int, winner: int | None, **others: object) -> GameResult:
    sides = (seat(a, 400), seat(b, 400))
    return game(number, (400, 400), sides=sides, winner=winner, **others)


def test_results_are_read_with_their_sides_and_seats() -> None:
    # Games 0, 2, … begin with side a. As in the first test; the last two have the sides swapped.
    results = [
        *(between("a", "b", 2 * at, int(at == 3), pair=at) for at in range(4)),
        *(between("b", "a", 2 * at, int(at == 5), pair=at) for at in (4, 5)),
    ]
    ratings = rate_results(results)
    assert [player.name for player in ratings.players] == ["a", "b"]
    assert ratings.players[0].rating == pytest.approx(ELO * math.log(3) / 4)
    assert ratings.first_move == pytest.approx(ELO * math.log(3) / 2)
    swapped = rate_results(results, ["b"])
    assert [player.name for player in swapped.players] == ["b", "a"]
    assert swapped.players[0].rating == ratings.players[1].rating


def test_void_games_do_not_count() -> None:
    games = [between("a", "b", at, at % 3 % 2) for at in range(12)]
    void = between("a", "c", 50, None, outcome="host_error")
    assert rate_results([*games, void]) == rate_results(games)


def test_a_unit_is_a_pair_of_the_same_players() -> None:
    rows = [
        between(a, b, at, at % 2, pair=at // 2)
        for a, b in (("a", "b"), ("c", "a"))
        for at in range(6)
    ]
    a, b, c = rate_results(rows).players
    assert (a.units, b.units, c.units) == (6, 3, 3)
    assert (a.games, b.games, c.games) == (12, 6, 6)


# --- others' fits, and the truth --------------------------------------------------------------


def test_baseball_with_its_home_field_is_rated_as_published() -> None:
    """Agresti, Categorical Data Analysis, 2002, table 10.10; fitted by Turner & Firth 2012."""
    teams = ("Milwaukee", "Detroit", "Toronto", "New York", "Boston", "Cleveland", "Baltimore")
    won_at_home = ("-444646", "3-44664", "24-2446", "352-446", "5234-56", "23344-2", "211213-")
    lost_at_home = ("-323120", "3-23013", "53-4320", "315-321", "1532-20", "53432-4", "556464-")
    rows: list[Row] = []
    saturated = 0.0
    for home, (wins, losses) in enumerate(zip(won_at_home, lost_at_home, strict=True)):
        for away, (won, lost) in enumerate(zip(wins, losses, strict=True)):
            if won != "-":
                points = [1.0] * int(won) + [0.0] * int(lost)
                rows += alone(home, away, *points, unit=len(rows))
                share = int(won) / len(points)
                saturated += sum(p * len(points) * math.log(p) for p in (share, 1 - share) if p)
    assert len(rows) == 273
    ratings = rate_games(teams, arrays(rows), {"Baltimore": 0})
    published = np.array([1.6196, 1.4754, 1.3271, 1.2813, 1.1438, 0.7047, 0])
    assert ratings_of(ratings) == pytest.approx(ELO * published, abs=0.02)
    assert ratings.first_move == pytest.approx(ELO * 0.3023, abs=0.02)
    deviance = 2 * (saturated - log_likelihood(ratings, rows))
    assert deviance == pytest.approx(38.643, abs=0.001)


@pytest.mark.parametrize("correlation", [-0.6, 0.6])
def test_intervals_hold_the_truth(correlation: float) -> None:
    chance = np.random.default_rng(5)
    strengths, meetings = np.array([150.0, 0, -50, -100]), [*combinations(range(4), 2)] * 10
    first, second = np.array(meetings).T
    held = []
    for _ in range(60):
        normal = chance.standard_normal((2, len(meetings)))
        normal[1] = correlation * normal[0] + math.sqrt(1 - correlation**2) * normal[1]
        ahead = (strengths[first] - strengths[second] + np.array([[30], [-30]])) / ELO
        points = (ndtr(normal) < 1 / (1 + np.exp(-ahead))).astype(np.float64)
        games = GameArrays(
            np.append(first, second),
            np.append(second, first),
            np.append(points[0], 1 - points[1]),
            np.tile(np.arange(len(meetings)), 2),
        )
        ratings = rate_games("abcd", games)
        ends = [player.interval for player in ratings.players] + [ratings.first_move_interval]
        for (low, high), truth in zip(ends, [*strengths, 30.0], strict=True):
            assert low is not None
            assert high is not None
            held.append(low <= truth <= high)
    assert 0.91 < np.mean(held) < 0.99


# --- a standing list -------------------------------------------------------------------------

FREE = math.nan


def meetings(*rows: tuple[int, int, float]) -> Meetings:
    """Return games of rows: who moved first, who second, points of the first."""
    columns = np.array(rows, dtype=np.float64).reshape(-1, 3).T
    return Meetings(columns[0].astype(np.int64), columns[1].astype(np.int64), columns[2])


def played_games(strengths: F64, games: int, chance: np.random.Generator) -> Meetings:
    """Play games of pairs that chance chooses; the first move is worth 30 Elo."""
    first = chance.integers(0, strengths.size, games)
    second = (first + chance.integers(1, strengths.size, games)) % strengths.size
    ahead = (strengths[first] - strengths[second] + 30) / ELO
    won = chance.random(games) < 1 / (1 + np.exp(-ahead))
    return Meetings(first, second, won.astype(np.float64))


def list_twin(games: Meetings, held: F64, spread: float) -> tuple[F64, float]:
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


def test_a_list_is_that_of_a_plain_twin() -> None:
    held = np.array([1_600.0, FREE, FREE, FREE])
    games = meetings((0, 1, 1), (1, 0, 0.5), (1, 2, 1), (2, 3, 0), (3, 1, 1), (0, 3, 0), (2, 0, 0))
    listed = rate_list(games, held)
    ratings, first_move = list_twin(games, held, listed.spread)
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
    games = played_games(chance.normal(1_500, 200, 12), 400, chance)
    held = np.append([1_500.0], np.full(11, FREE))
    cold = rate_list(games, held)
    known = np.where(np.arange(12) % 3 == 0, FREE, cold.ratings + 40)
    warm = rate_list(games, held, known)
    assert warm.ratings == pytest.approx(cold.ratings, abs=0.5)
    assert warm.errors == pytest.approx(cold.errors, abs=0.5)


@pytest.mark.parametrize("anchors", [0, 2])
def test_intervals_of_a_list_hold_the_truth(anchors: int) -> None:
    chance = np.random.default_rng(5)
    held_true: list[float] = []
    for _ in range(40):
        strengths = chance.normal(1_500, 250, 20)
        held = np.where(np.arange(20) < anchors, strengths, FREE)
        listed: RatingList = rate_list(played_games(strengths, 600, chance), held)
        truth = strengths if anchors else strengths - strengths.mean() + CENTRE
        inside = np.abs(listed.ratings - truth) <= listed.errors
        held_true.append(float(inside[anchors:].mean()))
        assert abs(listed.first_move - 30) < 2 * listed.first_move_error
    assert 0.92 < np.mean(held_true) < 0.98

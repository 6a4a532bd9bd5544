"""What games add up to, against hand-worked cases, known tables and simulated matches."""

from __future__ import annotations

import math
from dataclasses import fields, replace
from itertools import product

import msgspec
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from match_samples import game, seat, stats_of, swapped

from harness.matches import significance
from harness.matches.results import GameResult
from harness.matches.significance import (
    FEWEST_UNITS,
    SIGNIFICANT,
    pairs_needed,
    sign_flip_interval,
    sign_flip_p_value,
)
from harness.matches.statistics import (
    MatchStatistics,
    SideStatistics,
    as_json_object,
)

# --- small matches, worked by hand ------------------------------------------------------------


def played(*spreads: int) -> list[GameResult]:
    return [game(n, (400 + spread, 400)) for n, spread in enumerate(spreads)]


UNPAIRED = [game(n, (400 + x, 400), pair=n) for n, x in enumerate((20, -20, 60, 40, -5, 30))]
UNKNOWN = (None, None)


@pytest.mark.parametrize(
    ("results", "units", "won_lost_tied", "spread", "interval", "p_value", "elo", "has_error"),
    [
        # Pair sums 0 and 100: every choice of signs gives ±100.
        (played(20, -20, 60, 40), 2, (3, 1, 0), 25, UNKNOWN, 1, 400 * math.log10(3), False),
        # Of 64 choices of signs, only the two extreme ones may be left out: 2 / 64 < 0.05 < 4 / 64.
        (UNPAIRED, 6, (4, 2, 0), 125 / 6, (-20, 60), 12 / 64, 400 * math.log10(2), True),
        (played(20, 20, 20), 2, (3, 0, 0), 20, UNKNOWN, 0.5, None, False),
        ([], 0, (0, 0, 0), None, UNKNOWN, None, None, False),
        (played(30), 1, (1, 0, 0), 30, UNKNOWN, 1, None, False),
        # A sample without variance says nothing of its error.
        (played(*[0] * 12), 6, (0, 0, 12), 0, (0, 0), 1, 0, False),
    ],
    ids=["two pairs", "single games", "a pair that lacks a game", "none", "one game", "ties"],
)
def test_small_matches_by_hand(
    results: list[GameResult],
    units: int,
    won_lost_tied: tuple[int, int, int],
    spread: float | None,
    interval: tuple[float | None, float | None],
    p_value: float | None,
    elo: float | None,
    has_error: bool,
) -> None:
    stats = stats_of(results)
    assert (stats.games, stats.units, stats.paired) == (len(results), units, units < len(results))
    assert (stats.wins, stats.losses, stats.ties) == won_lost_tied
    assert stats.mean_spread == pytest.approx(spread)
    assert stats.spread_ci95 == interval
    assert stats.p_value == pytest.approx(p_value)
    assert stats.elo == pytest.approx(elo)
    assert (stats.elo_error is not None) is has_error


def test_the_pentanomial_error_is_that_of_pair_scores() -> None:
    pair_points = [2, 1, 1, 0, 1, 2, 1, 1]  # split pairs are common: pairs tell more than games
    results = []
    for pair, points in enumerate(pair_points):
        results.append(game(2 * pair, (410, 400) if points > 0 else (400, 410)))
        results.append(game(2 * pair + 1, (410, 400) if points > 1 else (400, 410)))
    paired = stats_of(results)
    alone = stats_of([msgspec.structs.replace(r, pair=r.number) for r in results])
    rate = sum(pair_points) / 16
    error = 2.36462 * np.std(np.array(pair_points) / 2, ddof=1) / math.sqrt(8)
    slope = 400 / math.log(10) / (rate * (1 - rate))
    assert paired.elo == alone.elo == pytest.approx(400 * math.log10(rate / (1 - rate)))
    assert paired.elo_error == pytest.approx(error * slope, rel=1e-5)
    assert alone.elo_error is not None
    assert paired.elo_error is not None
    assert paired.elo_error < alone.elo_error


def test_as_many_pairs_as_planned_make_the_interval_as_narrow_as_asked_for() -> None:
    assert pairs_needed(10) == 2_319  # (1.96 · 400 / (ln 10 · ¼) / 10)² / 8
    assert pairs_needed(1_000) == FEWEST_UNITS
    results = []
    for pair in range(pairs_needed(25)):  # independent games at ½: two, one, one and no wins
        for one in (0, 1):
            won = (pair >> one) % 2
            results.append(game(2 * pair + one, (400 + won, 401 - won)))
    assert stats_of(results).elo_error == pytest.approx(25, rel=0.01)


def test_winning_or_losing_every_game_bounds_elo_on_one_side() -> None:
    won = stats_of([game(n, (450, 400)) for n in range(20)])
    lost = stats_of([game(n, (400, 450)) for n in range(20)])
    assert won.elo is won.elo_error is lost.elo is lost.elo_error is None
    rate = 0.025**0.1  # ten pairs
    bound = 400 * math.log10(rate / (1 - rate))
    assert won.elo_ci95[1] is lost.elo_ci95[0] is None
    assert won.elo_ci95[0] == pytest.approx(bound)
    assert lost.elo_ci95[1] == pytest.approx(-bound)
    assert won.p_value == pytest.approx(2 / 2**10)


# --- what counts ------------------------------------------------------------------------------


def test_a_forfeit_is_a_loss_whatever_the_score() -> None:
    stats = stats_of([game(0, (300, 100), outcome="time", winner=1)])
    assert (stats.wins, stats.losses) == (0, 1)
    assert stats.win_rate == 0
    assert stats.mean_spread == 0, "no lead that was thrown away"
    assert stats_of([game(0, (100, 300), outcome="time", winner=1)]).mean_spread == -200
    assert stats.sides[0].forfeits == {"time": 1}
    assert stats.sides[1].forfeits == {}
    assert stats.sides[1].lost_double is None  # no game was played to its end
    assert stats.sides[1].largest_ratio is None


def test_a_game_to_which_one_did_not_come_leaves_means_as_they_are() -> None:
    played = [game(0, (420, 400)), game(1, (380, 390))]
    sides = seat("static", 0, moves=0, think_ms=0), seat("monte carlo", 0, moves=0, think_ms=0)
    missed = game(2, (0, 0), outcome="no_show", winner=0, sides=sides)
    before, after = stats_of(played), stats_of([*played, missed])
    assert (after.games, after.wins) == (3, before.wins + 1)
    for one, other in zip(before.sides, after.sides, strict=True):
        assert replace(other, forfeits=one.forfeits) == one
    assert [side.mean_score for side in after.sides] == [400, 395]


def test_void_games_do_not_count_and_are_counted() -> None:
    stats = stats_of(
        [
            game(0, (90, 0), outcome="host_error", winner=None),
            game(0, (400, 390)),
            game(1, (0, 0), outcome="no_show", winner=None),
            game(2, (0, 0), outcome="no_show", winner=0),
        ]
    )
    assert (stats.games, stats.void) == (2, 2)
    assert (stats.wins, stats.losses, stats.ties) == (2, 0, 0)


def test_a_game_that_is_there_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="game 3 has 2 results; remove"):
        stats_of([game(3, (400, 390)), game(3, (400, 390))])


def test_doubled_scores_and_ratios() -> None:
    scores = (200, 400), (500, 200), (201, 400), (-5, 0)
    found = as_json_object(stats_of([game(n, pair) for n, pair in enumerate(scores)]))
    # 200–400, and −5–0, which no ratio describes
    assert (found["lost_double"], found["won_double"]) == (0.5, 0.25)
    assert (found["largest_ratio"], found["largest_ratio_won"]) == (2.0, 2.5)
    assert (found["mean_score"], found["opponent_mean_score"]) == (224, 250)


def test_time_and_faults_by_side() -> None:
    ours = seat("a", 400, moves=10, think_ms=5_000, longest_ms=2_000, faults=("illegal", "illegal"))
    theirs = seat("b", 390, moves=10, think_ms=20_000, overtime_ms=7, time_penalty=10, bingos=3)
    host = seat("b", 0, faults=("crash",))
    stats = stats_of(
        [
            game(0, (400, 390), sides=(ours, theirs)),
            game(1, (400, 390), sides=(seat("a", 400, moves=30, think_ms=5_000), theirs)),
            game(2, (0, 0), outcome="host_error", winner=None, sides=(ours, host)),
        ]
    )
    a, b = stats.sides
    assert (a.moves, a.move_ms_mean, a.move_ms_longest) == (40, 250, 2_000)
    assert (a.clock_used_ms_mean, b.clock_used_ms_mean) == (5_000, 20_000)
    assert (b.overtime_games, b.time_penalty, b.bingos_mean) == (2, 20, 3)
    assert a.faults == {"illegal": 2}  # those of the host's game are not theirs
    assert b.faults == {}
    absent = seat("b", 0, moves=0, think_ms=0, longest_ms=0)
    _, away = stats_of([game(0, (0, 0), outcome="time", winner=0, sides=(seat(), absent))]).sides
    assert away.move_ms_mean is away.move_ms_longest is away.clock_used_ms_mean is None


# --- symmetry and JSON ------------------------------------------------------------------------

SCORES = st.tuples(st.integers(0, 700), st.integers(0, 700))


@settings(max_examples=60)
@given(st.lists(SCORES, max_size=14))
def test_seen_from_the_other_side_everything_is_mirrored(scores: list[tuple[int, int]]) -> None:
    results = [game(n, pair) for n, pair in enumerate(scores)]
    stats = stats_of(results, names=("a", "b"))
    mirror = stats_of([swapped(r) for r in results], names=("b", "a"))
    assert (stats.wins, stats.losses, stats.ties) == (mirror.losses, mirror.wins, mirror.ties)
    assert stats.p_value == mirror.p_value
    assert stats.sides == (mirror.sides[1], mirror.sides[0])
    for name in ("mean_spread", "elo"):
        ours, theirs = getattr(stats, name), getattr(mirror, name)
        assert (ours is None) == (theirs is None)
        assert ours is None or ours == pytest.approx(-theirs, abs=1e-9)
    if stats.elo_error is not None:
        assert stats.elo_error == pytest.approx(mirror.elo_error)
    for name in ("spread_ci95", "elo_ci95"):
        for end, other in zip(getattr(stats, name), reversed(getattr(mirror, name)), strict=True):
            assert (end is None) == (other is None)
            assert end is None or end == pytest.approx(-other, abs=1e-9)


def test_the_json_object_has_the_promised_keys_and_every_statistic() -> None:
    one = game(0, (400, 390), sides=(seat("a", 400, faults=("illegal",)), seat("b", 390)))
    found = as_json_object(stats_of([one], ("x", "y")))
    promised = ["a", "b", "games", "wins", "losses", "ties", "mean_score", "opponent_mean_score"]
    promised += ["mean_spread", "spread_ci95", "p_value", "elo", "elo_error", "faults"]
    assert list(found)[: len(promised)] == promised
    assert (found["a"], found["b"]) == ("x", "y")
    assert found["faults"] == {"a": {"illegal": 1}, "b": {}}
    statistics = {each.name for kind in (MatchStatistics, SideStatistics) for each in fields(kind)}
    of_b = {"opponent_mean_score", "won_double", "largest_ratio_won"}
    assert found.keys() == statistics - {"sides", "name"} | {"a", "b"} | of_b


# --- the sign-flip test -----------------------------------------------------------------------


@settings(max_examples=60)
@given(st.lists(st.integers(-60, 60), min_size=1, max_size=9))
def test_the_exact_test_is_the_count_over_all_signs(sums: list[int]) -> None:
    totals = [
        sum(sign * abs(x) for sign, x in zip(signs, sums, strict=True))
        for signs in product((1, -1), repeat=len(sums))
    ]
    extreme = sum(abs(total) >= abs(sum(sums)) for total in totals)
    assert sign_flip_p_value(sums) == pytest.approx(extreme / len(totals))


def test_many_units_agree_with_the_exact_test(monkeypatch: pytest.MonkeyPatch) -> None:
    sums = np.random.default_rng(5).normal(12, 90, 150).astype(np.int64)
    games = np.full(150, 2)
    approximate = sign_flip_p_value(sums), *sign_flip_interval(sums, games)
    monkeypatch.setattr(significance, "EXACT_WORK", 10**9)
    exact = sign_flip_p_value(sums), *sign_flip_interval(sums, games)
    assert approximate[0] == pytest.approx(exact[0], rel=0.02)
    assert approximate[1:] == pytest.approx(exact[1:], abs=0.15)


@settings(max_examples=60)
@example([(1, 1)] * 5 + [(5, 1)], False)
@given(
    st.lists(st.tuples(st.integers(-60, 99), st.integers(1, 2)), min_size=1, max_size=12),
    st.booleans(),
)
def test_the_interval_and_the_p_value_never_contradict_each_other(
    units: list[tuple[int, int]], exact: bool
) -> None:
    sums, games = np.array(units).T
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(significance, "EXACT_WORK", 10**9 if exact else 0)
        p_value = sign_flip_p_value(sums)
        low, high = sign_flip_interval(sums, games)
    assert p_value is not None
    assert (low is None) == (high is None) == (len(units) < 6)
    if low is not None and high is not None:
        assert low <= sums.sum() / games.sum() <= high
        assert (low <= 0 <= high) == (p_value >= SIGNIFICANT)
    elif exact:
        assert p_value >= SIGNIFICANT


# --- do the intervals hold? -------------------------------------------------------------------


def test_intervals_of_paired_games_hold_the_truth_95_times_in_100() -> None:
    random = np.random.default_rng(3)
    repeats, pairs, truth = 400, 15, 20.0
    spread_hits = elo_hits = 0
    # The luck of the draw enters the two games of a pair with opposite signs.
    luck = random.normal(0, 80, (repeats, pairs, 1)) * np.array([1, -1])
    spreads = np.rint(truth + luck + random.normal(0, 50, (repeats, pairs, 2))).astype(int)
    true_rate = 0.5 * (1 + math.erf(truth / math.hypot(80, 50) / math.sqrt(2)))
    true_elo = 400 * math.log10(true_rate / (1 - true_rate))
    for match in spreads.reshape(repeats, 2 * pairs):
        stats = stats_of([game(n, (400 + int(x), 400)) for n, x in enumerate(match)])
        low, high = stats.spread_ci95
        assert low is not None
        assert high is not None
        spread_hits += low <= truth <= high
        low, high = stats.elo_ci95
        elo_hits += (low is None or low <= true_elo) and (high is None or true_elo <= high)
    assert 0.92 <= spread_hits / repeats <= 0.98
    assert 0.91 <= elo_hits / repeats <= 0.99

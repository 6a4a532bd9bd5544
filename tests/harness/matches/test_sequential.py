"""Sequential tests against a plain twin, hand-worked values and simulated matches."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Sequence
from dataclasses import asdict

import numpy as np
import pytest
from match_samples import game
from msgspec.structs import replace

from harness.matches.results import GameResult
from harness.matches.sequential import (
    FEWEST_PAIRS,
    PAIR_POINTS,
    Measure,
    SequentialTest,
    log_likelihood_ratios,
    parse_hypotheses,
    points_llr,
    spread_llr,
    state_of,
    state_of_pairs,
)

ELO_TEST = SequentialTest(*parse_hypotheses("0,100"))
SPREAD_TEST = SequentialTest(*parse_hypotheses("0,20", "spread"), measure="spread")


# --- hypotheses -------------------------------------------------------------------------------


def test_hypotheses_are_elo_win_rates_or_spreads() -> None:
    assert parse_hypotheses("0,10") == pytest.approx((0.5, 1 / (1 + 10 ** (-10 / 400))))
    assert parse_hypotheses(" -5, 5.0") == pytest.approx((0.492805, 0.507195), abs=1e-6)
    assert parse_hypotheses("0%,1%") == (0.5, 0.51)
    assert parse_hypotheses("0,5", "spread") == (0, 5)


@pytest.mark.parametrize("measure", ["points", "spread"])
@pytest.mark.parametrize("text", ["", "5", "5,5", "10,0", "0,1,2", "0,x", "0%,1", "nan,1", "0,inf"])
def test_other_texts_are_refused(text: str, measure: Measure) -> None:
    with pytest.raises(ValueError, match="two numbers, the smaller first"):
        parse_hypotheses(text, measure)


@pytest.mark.parametrize(
    ("text", "measure", "beta", "says"),
    [
        ("-200000,0", "points", 0.05, "no difference of Elo is as large"),
        ("-1e300,-1e299", "points", 0.05, "no difference of Elo is as large"),
        ("0%,1%", "spread", 0.05, "two numbers"),
        ("0%,50%", "points", 0.05, "win rates must be between 0 and 1"),
        ("0%,10%", "points", 0.5, "error rates"),
    ],
)
def test_hypotheses_that_make_no_test_are_refused(
    text: str, measure: Measure, beta: float, says: str
) -> None:
    with pytest.raises(ValueError, match=says):
        SequentialTest(*parse_hypotheses(text, measure), measure, beta=beta)
    with pytest.raises(ValueError, match="H1 must be above H0"):
        SequentialTest(0.5, 0.5)


def test_bounds_are_walds() -> None:
    assert ELO_TEST.bounds == pytest.approx((-math.log(19), math.log(19)))
    lower, upper = SequentialTest(0, 1, "spread", alpha=0.01, beta=0.2).bounds
    assert (lower, upper) == pytest.approx((math.log(0.2 / 0.99), math.log(80)))


# --- likelihood ratios ------------------------------------------------------------------------


def twin(counts: Sequence[int], mean: float) -> float:
    """Return the log likelihood of counts if their chances have a mean, by bisection."""
    pairs = [count or 1e-3 for count in counts]
    off = [points - mean for points in PAIR_POINTS]
    low, high = -1 / off[-1] + 1e-12, -1 / off[0] - 1e-12
    for _ in range(200):
        theta = (low + high) / 2
        if sum(n * x / (1 + theta * x) for n, x in zip(pairs, off, strict=True)) > 0:
            low = theta
        else:
            high = theta
    chances = [n / sum(pairs) / (1 + theta * x) for n, x in zip(pairs, off, strict=True)]
    assert sum(chances) == pytest.approx(1)
    assert float(chances @ PAIR_POINTS) == pytest.approx(mean)
    return sum(n * math.log(chance) for n, chance in zip(pairs, chances, strict=True))


@pytest.mark.parametrize(
    "counts",
    [
        *((100, 3, 740, 4, 160), (10, 0, 3, 0, 40), (0, 0, 5, 0, 0), (1, 0, 0, 0, 0)),
        *((0, 0, 0, 0, 3), (0, 0, 0, 0, 500), (500, 0, 0, 0, 0), (0, 1, 0, 1, 0)),
    ],
)
@pytest.mark.parametrize("hypotheses", [(0.5, 0.514), (0.4, 0.5), (0.05, 0.95)])
def test_likelihood_ratios_are_those_of_the_likeliest_chances(
    counts: tuple[int, ...], hypotheses: tuple[float, float]
) -> None:
    h0, h1 = hypotheses
    expected = twin(counts, h1) - twin(counts, h0)
    assert points_llr(counts, h0, h1) == pytest.approx(expected, rel=1e-5, abs=1e-7)
    mirrored = points_llr(counts[::-1], 1 - h1, 1 - h0)
    assert mirrored == pytest.approx(-expected, rel=1e-5, abs=1e-7)


def test_the_ratio_of_spreads_by_hand() -> None:
    # Mean 5, variance 25 and the point² that is added: N / 2 · ln((25 + 26) / (0 + 26)).
    assert spread_llr(4, 20, 200, 0, 5) == pytest.approx(2 * math.log(51 / 26))
    test = SequentialTest(0, 5, "spread")
    ratios = log_likelihood_ratios(test, np.array([0.0, 10.0, 0.0, 10.0]))
    assert ratios[[1, 3]] == pytest.approx([math.log(51 / 26), 2 * math.log(51 / 26)])


# --- a match ----------------------------------------------------------------------------------


def played(spreads: Sequence[int]) -> list[GameResult]:
    """Return games of these spreads; the first two are pair 1."""
    return [
        game(number, (400 + spread, 400), pair=(number + 1) // 2)
        for number, spread in enumerate(spreads, start=1)
    ]


def test_nothing_played_is_unfinished() -> None:
    begun = state_of(ELO_TEST, [])
    assert (begun.llr, begun.verdict, begun.pairs) == (0, "unfinished", 0)
    assert begun.further_games is None
    assert state_of(ELO_TEST, played([10])).pairs == 0


def test_the_first_pair_that_decides_is_final() -> None:
    rising = np.array([1.0, 0.25] * 60)
    decided = state_of_pairs(ELO_TEST, rising)
    assert decided.verdict == "accepted H1"
    assert FEWEST_PAIRS < decided.pairs < 120
    assert decided.llr >= decided.upper
    assert decided.further_games == 0
    before = state_of_pairs(ELO_TEST, rising[: decided.pairs - 1])
    assert before.verdict == "unfinished"
    assert before.llr < before.upper
    ended = state_of_pairs(ELO_TEST, np.array([0.5, 0.0, 1.0, 0.25] * 40))
    assert (ended.verdict, ended.llr <= ended.lower) == ("accepted H0", True)
    falling = np.append(rising[: decided.pairs], np.zeros(1000))
    assert state_of_pairs(ELO_TEST, falling) == decided


@pytest.mark.parametrize("test", [ELO_TEST, SPREAD_TEST])
def test_pairs_that_decide_nothing_need_not_be_looked_at_again(test: SequentialTest) -> None:
    results = [game(n, (400 + 9 * (n % 7), 390 + n % 5)) for n in range(1, 121)]
    results = [replace(result, pair=(result.number + 1) // 2) for result in results]
    undecided = 0
    for games in range(len(results) + 1):
        state = state_of(test, results[:games], undecided)
        whole = state_of(test, results[:games])
        assert (state.verdict, state.pairs) == (whole.verdict, whole.pairs)
        assert (state.llr, state.further_games) == pytest.approx((whole.llr, whole.further_games))
        undecided = undecided if state.is_decided else state.pairs
    assert state.is_decided


def test_few_pairs_decide_nothing() -> None:
    won = np.arange(FEWEST_PAIRS, dtype=np.float64) + 100
    for test, sums in ((ELO_TEST, won * 0 + 1), (SPREAD_TEST, won)):
        few = state_of_pairs(test, sums[:-1])
        assert (few.verdict, few.further_games) == ("unfinished", None)
    assert few.llr > few.upper
    assert state_of_pairs(SPREAD_TEST, won).verdict == "accepted H1"


def test_the_order_in_which_games_end_decides_nothing() -> None:
    results = played([30, -10, 60, 20, -40, 50] * 20)
    expected = state_of(SPREAD_TEST, results)
    assert expected.verdict == "accepted H1"
    random.Random(1).shuffle(results)
    assert state_of(SPREAD_TEST, results) == expected


def test_pairs_count_up_to_the_first_incomplete_one_whose_void_game_is_waited_for() -> None:
    results = played([30, -10] * 30)
    void = game(7, (0, 0), pair=4, outcome="host_error", winner=None)
    for instead in ([], [void]):
        waiting = [result for result in results if result.number != 7] + instead
        assert state_of(SPREAD_TEST, waiting) == state_of(SPREAD_TEST, results[:6])
        assert state_of(SPREAD_TEST, waiting).pairs == 3
    assert state_of(SPREAD_TEST, [*waiting, results[6]]) == state_of(SPREAD_TEST, results)


def test_points_count_forfeits_and_ties() -> None:
    results = [
        game(1, (300, 100), pair=1, outcome="time", winner=1),
        game(2, (400, 400), pair=1),
    ]
    expected = points_llr([0, 1, 0, 0, 0], ELO_TEST.h0, ELO_TEST.h1)
    assert state_of(ELO_TEST, results).llr == pytest.approx(expected)
    assert state_of(SPREAD_TEST, results) == state_of(SPREAD_TEST, played([0, 0])), "no lead counts"


def test_a_state_is_json() -> None:
    for spreads in ([], [10], [0, 0] * 40, [50, -50] * 40, [500, 500] * 40):
        for test in (ELO_TEST, SPREAD_TEST):
            json.dumps(asdict(state_of(test, played(spreads))), allow_nan=False)


# --- how long it takes ------------------------------------------------------------------------


def test_halfway_between_the_hypotheses_the_wait_is_the_product_of_the_distances() -> None:
    test = SequentialTest(-10, 10, "spread")
    waiting = state_of_pairs(test, np.array([40.0, -40.0] * 10))
    assert waiting.llr == 0
    assert waiting.further_games == 2 * math.ceil(math.log(19) ** 2 * 1600 / 400)
    unknown = state_of_pairs(SPREAD_TEST, np.full(20, 10.0))
    assert unknown.further_games is None, "without variance"


def test_the_wait_is_that_of_simulated_matches() -> None:
    test, chance = SequentialTest(0, 8, "spread"), np.random.default_rng(3)
    begun = 6 + chance.permutation(np.array([40.0, -40.0] * 50))
    waiting = state_of_pairs(test, begun)
    assert waiting.verdict == "unfinished"
    assert waiting.further_games is not None
    mirrored = state_of_pairs(SequentialTest(-8, 0, "spread"), -begun)
    assert mirrored.further_games == waiting.further_games
    further = 6 + chance.choice([40.0, -40.0], (400, 3000))
    lengths = [state_of_pairs(test, np.append(begun, each)).pairs for each in further]
    assert waiting.further_games / 2 == pytest.approx(np.mean(lengths) - 100, rel=0.15)


# --- error rates ------------------------------------------------------------------------------


def accepted(ratios: np.ndarray[tuple[int, int], np.dtype[np.float64]], bound: float) -> float:
    """Return the share of matches [matches, pairs] that accept H1; all end."""
    ratios = ratios[:, FEWEST_PAIRS - 1 :]
    outside = np.abs(ratios) >= bound
    assert outside.any(axis=1).all()
    return float(np.mean(ratios[np.arange(len(ratios)), outside.argmax(axis=1)] > 0))


@pytest.mark.parametrize(("shift", "wrong"), [(0, 1), (100, 0)])
def test_error_rates_of_points(shift: int, wrong: int) -> None:
    chance = np.random.default_rng(4)
    rate = 1 / (1 + 10 ** (-shift / 400))
    shares = [0.65 - rate, 0.05, 0.6, 0.05, rate - 0.35]
    drawn = chance.choice(5, (500, 500), p=shares)
    counts = (drawn[..., np.newaxis] == np.arange(5)).cumsum(axis=1)
    share = accepted(points_llr(counts, ELO_TEST.h0, ELO_TEST.h1), ELO_TEST.bounds[1])
    assert abs(wrong - share) > 0.93


@pytest.mark.parametrize(("mean", "wrong"), [(0, 1), (20, 0)])
def test_error_rates_of_spread(mean: float, wrong: int) -> None:
    spreads = np.random.default_rng(5).normal(mean, 40, (2000, 600))
    pairs = np.arange(1, 601)
    ratios = spread_llr(pairs, spreads.cumsum(axis=1), (spreads**2).cumsum(axis=1), 0, 20)
    assert abs(wrong - accepted(ratios, SPREAD_TEST.bounds[1])) > 0.94

"""How candidates stand: means that make use of common luck, priors, regret, and certainty."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import pytest
from arm_samples import Reals, adjusted_of, arm_statistics, luck, statistics_from, statistics_of
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.simulation.arm_statistics import ArmStatistics, Prior, shrink, widening
from engine.simulation.sampling import RULES, Rule, elimination, equal, top_two

CORRELATED = [[1.0, 0.8, 0.5], [0.8, 1.0, 0.4], [0.5, 0.4, 1.5]]
MEANS = np.array([0.3, 0.0, -0.2])


def error_between(values: Reals, samples: list[int]) -> float:
    """Give the stated error of the difference of the first two candidates, the first the leader."""
    adjusted = adjusted_of(values, samples)
    counts = np.array(samples)
    leading = adjusted.means - adjusted.means.max() - np.arange(len(counts))
    statistics = ArmStatistics(
        counts, leading, adjusted.residuals, adjusted.slopes, adjusted.reference_variance
    )
    assert statistics.leader == 0
    wider = widening(np.array([min(samples[:2])]))[0]  # as the leader and the other decide
    return float(1 / wider * statistics.errors()[1])


# --- what common luck is good for -----------------------------------------------------------------


class Tries(NamedTuple):
    """Differences of the first two candidates, found many times over."""

    found: Reals
    plain: Reals
    """Without what the reference says."""
    error: float
    """As it was stated, the root of the mean square."""


def tries(samples: list[int], count: int = 2_500) -> Tries:
    chance = np.random.default_rng(samples)
    found, plain, stated = [], [], []
    for _ in range(count):
        values = MEANS[:, None] + luck(chance, CORRELATED, max(samples))
        means = adjusted_of(values, samples).means
        found.append(means[0] - means[1])
        plain.append(values[0, : samples[0]].mean() - values[1, : samples[1]].mean())
        stated.append(error_between(values, samples))
    return Tries(np.array(found), np.array(plain), float(np.sqrt(np.mean(np.square(stated)))))


@pytest.mark.parametrize("samples", [[400, 60, 50], [60, 400, 50], [200, 8, 8], [60, 60, 60]])
def test_differences_are_unbiased_and_their_errors_those_of_many_tries(samples: list[int]) -> None:
    found, plain, error = tries(samples)
    assert found.mean() == pytest.approx(0.3, abs=4 * found.std() / math.sqrt(len(found)))
    assert error == pytest.approx(found.std(), rel=0.06)
    if len(set(samples)) > 1:
        assert found.std() < 0.9 * plain.std()
    else:
        assert found == pytest.approx(plain)


@pytest.mark.parametrize("samples", [[8, 8, 8], [200, 8, 8], [60, 60, 60]])
def test_two_errors_either_way_hold_the_mean_in_95_cases_of_a_hundred(samples: list[int]) -> None:
    chance = np.random.default_rng(samples)
    within = np.zeros(3)
    for _ in range(2_000):
        adjusted = adjusted_of(luck(chance, CORRELATED, max(samples)), samples)
        within += np.abs(adjusted.means) < 1.96 * adjusted.errors(np.array(samples))
    assert within / 2_000 == pytest.approx([0.95] * 3, abs=0.015)


def test_means_are_moved_along_the_line_of_least_squares() -> None:
    values = luck(np.random.default_rng(3), CORRELATED, 300)
    adjusted = adjusted_of(values, [300, 70, 20])
    assert adjusted.means[0] == pytest.approx(values[0].mean())
    assert adjusted.reference_variance == pytest.approx(values[0].var(ddof=1) / 300)
    for one, n in ((1, 70), (2, 20)):
        slope, start = np.polyfit(values[0, :n], values[one, :n], 1)
        assert adjusted.slopes[one] == pytest.approx(slope)
        assert adjusted.means[one] == pytest.approx(start + slope * values[0].mean())
        residual = values[one, :n] - start - slope * values[0, :n]
        found = values[0, :n]
        moved = (values[0].mean() - found.mean()) ** 2 / found.var()
        assert adjusted.residuals[one] == pytest.approx(
            float(residual @ residual) / (n - 2) * (1 + moved)
        )


def test_beyond_what_is_remembered_means_are_plain() -> None:
    values = luck(np.random.default_rng(4), CORRELATED, 300)
    adjusted = adjusted_of(values, [300, 101, 100], room=100)
    assert adjusted.means[1] == pytest.approx(values[1, :101].mean())
    assert adjusted.residuals[1] == pytest.approx(values[1, :100].var(ddof=1))
    assert adjusted.slopes.tolist()[:2] == [1.0, 0.0]
    known = adjusted_of(values, [300, 101, 100])
    assert adjusted.means[2] == pytest.approx(known.means[2])
    assert adjusted.means[1] != pytest.approx(known.means[1])


def test_without_any_luck_there_is_nothing_to_go_by() -> None:
    values = luck(np.random.default_rng(5), CORRELATED, 50)
    values[0] = 0.25
    adjusted = adjusted_of(values, [50, 20, 20])
    assert adjusted.means == pytest.approx([0.25, values[1, :20].mean(), values[2, :20].mean()])
    assert adjusted.slopes.tolist() == [1.0, 0.0, 0.0]
    assert adjusted.reference_variance == 0.0
    assert adjusted.residuals[1] == pytest.approx(values[1, :20].var(ddof=1))


# --- twins ----------------------------------------------------------------------------------------


def test_twins_are_level_without_an_error() -> None:
    statistics = statistics_of(
        [100, 40, 40], [0.5, 0.5, 0.4], [0.0, 0.0, 0.1], [1.0, 1.0, 0.3], 0.2
    )
    assert statistics.twins.tolist() == [False, True, False]
    assert statistics.regret < 0.05
    pair = statistics_of([100, 40], [0.5, 0.5], [0.0, 0.0], 1.0, 0.2)
    assert pair.is_certain
    assert pair.regret == 0.0


# --- the prior ------------------------------------------------------------------------------------


@pytest.mark.parametrize("deviation", [0.05, 0.4, 3.0])
def test_means_are_the_most_likely_ones(deviation: float) -> None:
    """Of the constant and all candidates together, by the normal equations."""
    chance = np.random.default_rng(9)
    samples = np.array([20, 9, 14, 5])
    values = chance.normal(size=(4, 20))
    prior = Prior(chance.normal(size=4), deviation)
    adjusted = adjusted_of(values, samples)
    own = adjusted.residuals / samples
    own[0] = adjusted.residuals[1:].mean() / samples[0]  # it is the measure of the others' luck
    by_sample, by_prior = np.diag(1 / own), np.eye(4) / deviation**2
    equations = np.zeros((5, 5))
    equations[:4, :4] = by_sample + by_prior
    equations[:4, 4] = equations[4, :4] = -1 / deviation**2
    equations[4, 4] = 4 / deviation**2
    wanted = np.append(by_sample @ adjusted.means + by_prior @ prior.means, 0.0)
    wanted[4] = -prior.means.sum() / deviation**2
    most_likely = np.linalg.solve(equations, wanted)[:4]
    assert shrink(adjusted, samples, prior).means == pytest.approx(most_likely)


def test_a_prior_of_no_deviation_is_none() -> None:
    values = luck(np.random.default_rng(11), CORRELATED, 20)
    none = statistics_from(values, [20] * 3)
    for deviation in (0.0, -0.1):
        zero = statistics_from(values, [20] * 3, Prior(np.arange(3.0), deviation))
        assert zero.means.tolist() == none.means.tolist()
        assert zero.errors().tolist() == none.errors().tolist()


# --- regret and certainty -------------------------------------------------------------------------


@given(arm_statistics())
@settings(max_examples=80)
def test_what_is_known_is_never_no_number(statistics: ArmStatistics) -> None:
    assert (statistics.errors() >= 0).all()
    assert (statistics.scores() >= 0).all()
    assert statistics.regret >= 0
    if statistics.is_certain:
        assert statistics.regret <= 0.01 * statistics.errors().max()


@pytest.mark.parametrize("behind", [0.0, 0.003, 0.02, 0.1, 0.5])
def test_regret_is_the_expected_gain_of_a_normal_difference(behind: float) -> None:
    statistics = statistics_of([50, 80], [1.0, 1.0 - behind], [0.02, 0.09], [1.0, 0.3], 0.05)
    error = float(statistics.errors()[1])
    step = error / 2_000
    gains = np.arange(0, 12 * error, step) + step / 2  # of the challenger over the leader
    density = np.exp(-(((gains + behind) / error) ** 2) / 2) / (error * math.sqrt(2 * math.pi))
    assert statistics.regret == pytest.approx(float((gains * density).sum() * step), rel=1e-5)


def test_the_boundary_is_seldom_crossed_by_the_best() -> None:
    """At any round of a whole search: the risk is one in a hundred for all of them together."""
    wrong = 0
    for seed in range(100):
        chance = np.random.default_rng((seed, 7))
        values = np.array([[0.0], [-0.02], [-0.02]]) + chance.normal(0, 0.2, (3, 2_000))
        for n in (16, 24, 40, 60, 90, 140, 200, 300, 450, 700, 1_000, 2_000):
            statistics = statistics_from(values, [n] * 3)
            if statistics.is_certain:
                wrong += statistics.leader != 0
                break
    assert wrong <= 1


def test_the_leader_is_the_first_of_equals() -> None:
    level: Any = [0.5, 0.7, 0.7, 0.1]
    statistics = statistics_of([9] * 4, level, [0.1] * 4)
    assert statistics.leader == 1
    assert statistics.behind == pytest.approx([0.2, 0.0, 0.0, 0.6])
    assert statistics.scores()[2] == 0.0


# --- few samples ----------------------------------------------------------------------------------


def test_no_line_is_fitted_through_so_few_samples_that_it_always_fits() -> None:
    values = luck(np.random.default_rng(8), np.eye(5), 60)
    for n in (2, 3, 4):
        few = adjusted_of(values, [n] * 5)
        own = np.delete(few.residuals, np.argmax(few.slopes))
        assert own == pytest.approx(values[1:, :n].var(axis=1, ddof=1))
        prior = Prior(np.arange(5.0), 0.01)
        drawn = statistics_from(values, [n] * 5, prior)
        assert drawn.means - drawn.means.mean() == pytest.approx(prior.means - 2.0, abs=0.05)


# --- rules that share samples out -----------------------------------------------------------------


@pytest.mark.parametrize("rule", RULES)
@given(statistics=arm_statistics(), samples=st.integers(1, 2_000))
@settings(max_examples=80)
def test_shares_are_what_was_asked(rule: str, statistics: ArmStatistics, samples: int) -> None:
    before = statistics.samples.copy()
    shares = RULES[rule](statistics, samples)
    assert shares.shape == before.shape
    assert shares.dtype.kind == "i"
    assert (shares >= 0).all()
    assert shares.sum() == samples
    assert np.array_equal(statistics.samples, before)


@given(arm_statistics(), st.integers(1, 2_000))
@settings(max_examples=80)
def test_elimination_gives_nothing_to_those_clearly_behind(
    statistics: ArmStatistics, samples: int
) -> None:
    behind = statistics.scores() > statistics.boundary
    behind[statistics.leader] = False
    assert not elimination(statistics, samples)[behind].any()


@given(arm_statistics(), st.integers(1, 2_000))
@settings(max_examples=60)
def test_elimination_and_equal_fill_the_lowest_first(
    statistics: ArmStatistics, samples: int
) -> None:
    alive = (statistics.scores() <= statistics.boundary) & ~statistics.twins
    alive[statistics.leader] = True
    everybody = np.ones(len(alive), np.bool_)
    for rule, among in ((equal, everybody), (elimination, alive)):
        shares = rule(statistics, samples)
        after = statistics.samples + shares
        served = after[shares > 0]
        assert served.max() - served.min() <= 1
        passed_over = after[among & (shares == 0)]
        assert len(passed_over) == 0 or passed_over.min() >= served.max() - 1


def test_the_other_half_goes_to_whom_it_is_hardest_to_tell_apart() -> None:
    statistics = statistics_of([100] * 4, [1.0, 0.9, 0.5, 0.0], [1.0] * 4)
    assert top_two(statistics, 32).tolist() == [16, 16, 0, 0]
    close = statistics_of([100] * 4, [1.0, 0.9, 0.88, 0.0], [1.0] * 4)
    shares = top_two(close, 400)
    assert shares[1] >= shares[2] > shares[3] == 0


@pytest.mark.parametrize("rule", [top_two, elimination])
def test_who_cannot_be_told_apart_from_the_leader_gets_nothing(rule: Rule) -> None:
    """Two candidates whose every rollout is the same."""
    luck = [1.0, 1.0, 0.5]
    statistics = statistics_of([100] * 3, [0.5, 0.5, 0.49], [0.0, 0.0, 0.03], luck, 0.04)
    shares = rule(statistics, 320)
    assert shares[1] == 0
    assert shares[2] > 0


@pytest.mark.parametrize("rule", RULES)
def test_twins_alone_get_all_the_same_what_was_asked(rule: str) -> None:
    statistics = statistics_of([100, 60], [0.5, 0.5], [0.0, 0.0], 1.0, 0.04)
    assert RULES[rule](statistics, 33).sum() == 33

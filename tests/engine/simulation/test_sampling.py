"""Rules that share samples out: what they always keep to, and that they find the best sooner."""

from __future__ import annotations

import numpy as np
import pytest
from arm_samples import Reals, arm_statistics, statistics_from, statistics_of
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.simulation.arm_statistics import ArmStatistics
from engine.simulation.sampling import RULES, Rule, elimination, equal, top_two


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


# --- what it is good for --------------------------------------------------------------------------


def bandit(seed: int) -> tuple[Reals, Reals]:
    """Means of twelve candidates, in any order, and how the luck that they share bears on each."""
    chance = np.random.default_rng(seed)
    means = -chance.exponential(0.08, 12)
    return means - means.max(), chance.normal(0, 0.1, (12, 3))


def found_best(rule: str, seed: int, budget: int) -> bool:
    """Play a bandit whose arms share luck, by rounds as a simulation does."""
    means, mixing = bandit(seed)
    chance = np.random.default_rng((seed, 1))
    shared = mixing @ chance.normal(size=(3, budget))
    values = means[:, None] + shared + chance.normal(0, 0.05, (len(means), budget))
    samples = np.full(len(means), 16, np.int64)
    while (left := budget - int(samples.sum())) > 0:
        size = min(max(64, int(samples.sum()) // 8), left)
        samples = samples + RULES[rule](statistics_from(values, samples), size)
    return bool(means[statistics_from(values, samples).leader] == 0)


TRIES, BUDGET = 60, 2_400


def test_every_rule_finds_the_best_more_often_than_equal_shares() -> None:
    found = {rule: sum(found_best(rule, seed, BUDGET) for seed in range(TRIES)) for rule in RULES}
    assert TRIES // 4 < found["equal"] < TRIES
    for rule in ("top-two", "elimination"):
        assert found[rule] > found["equal"], found

"""Rules that share samples out: what they always keep to, and that they find the best sooner."""

from __future__ import annotations

import numpy as np
import pytest
from arm_samples import arm_statistics, statistics_of
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


TRIES, BUDGET = 60, 2_400

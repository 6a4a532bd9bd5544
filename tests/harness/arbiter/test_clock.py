from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.arbiter.clock import Clock, check_time_control, lag_quota_ms
from protocol.parts import TimeControl

MINUTE = 60_000
TOURNAMENT = TimeControl()
BLITZ = TimeControl(initial_ms=3 * MINUTE, increment_ms=2_000, max_overtime_ms=0)

milliseconds = st.integers(0, 10**8)


def test_overtime_costs_what_the_control_says_and_nothing_within_the_margin() -> None:
    assert Clock(-60_001).penalty(TimeControl(overtime_penalty=1)) == 2
    assert Clock(-60_001).penalty(TimeControl(overtime_penalty=0)) == 0
    assert Clock(-5).penalty(TimeControl(max_overtime_ms=0, margin_ms=50)) == 0


@pytest.mark.parametrize(
    ("clock", "control", "limit"),
    [
        (Clock(25 * MINUTE), TOURNAMENT, 35 * MINUTE),
        (Clock(-9 * MINUTE), TOURNAMENT, MINUTE),
        (Clock(-10 * MINUTE), TOURNAMENT, 0),
        (Clock(-11 * MINUTE), TOURNAMENT, 0),
        (Clock(25 * MINUTE), TimeControl(move_cap_ms=5_000), 5_000),
        (Clock(-10 * MINUTE + 300), TimeControl(move_cap_ms=5_000), 300),
        (Clock(25 * MINUTE), TimeControl(move_cap_ms=5_000, margin_ms=40), 5_040),
        (Clock(-11 * MINUTE), TimeControl(move_cap_ms=5_000, margin_ms=40), 40),
        (Clock(25 * MINUTE), TimeControl(first_move_ms=20_000), 20_000),
        (Clock(25 * MINUTE, turns=1), TimeControl(first_move_ms=20_000), 35 * MINUTE),
        (Clock(25 * MINUTE), TimeControl(first_move_ms=20_000, move_cap_ms=1_000), 1_000),
    ],
)
def test_a_turn_may_take_what_is_left_and_all_overtime_or_the_nearest_other_limit(
    clock: Clock, control: TimeControl, limit: int
) -> None:
    assert clock.limit(control) == limit


@given(elapsed=milliseconds, lag=milliseconds, quota=st.integers(0, 60_000))
def test_no_more_is_let_off_than_the_quota(elapsed: int, lag: int, quota: int) -> None:
    charged = Clock.charge(elapsed, TimeControl(lag_ms=quota), lag)
    assert max(0, elapsed - quota) <= charged <= elapsed


@given(overtime=st.integers(1, 10**7), more=milliseconds)
def test_more_overtime_never_costs_less(overtime: int, more: int) -> None:
    cost = Clock(-overtime).penalty(TOURNAMENT)
    assert 10 <= cost <= Clock(-overtime - more).penalty(TOURNAMENT)
    assert cost == Clock(-overtime - 60_000).penalty(TOURNAMENT) - 10


@pytest.mark.parametrize(
    ("control", "says"),
    [
        (TimeControl(increment_ms=5), "increment .* overtime"),
        (TimeControl(initial_ms=0), "no such time control"),
        (TimeControl(move_cap_ms=0), "no such time control"),
        (TimeControl(margin_ms=120_000), "no such time control"),
        (TimeControl(overtime_penalty=-5), "no such time control"),
    ],
)
def test_a_time_control_that_makes_no_sense_is_refused(control: TimeControl, says: str) -> None:
    check_time_control(TOURNAMENT)
    check_time_control(BLITZ)
    with pytest.raises(ValueError, match=says):
        check_time_control(control)


@pytest.mark.parametrize(
    ("initial_ms", "hosts", "quota"),
    [
        (25 * MINUTE, ["127.0.0.1", "localhost", "::1"], 0),
        (25 * MINUTE, [], 0),
        (25 * MINUTE, ["192.0.2.7"], 1_000),
        (10_000, ["192.0.2.7", "127.0.0.1"], 190),
        (10_000, ["bots.example"], 190),
    ],
)
def test_the_quota_of_lag_is_for_networks(initial_ms: int, hosts: list[str], quota: int) -> None:
    assert lag_quota_ms(initial_ms, hosts) == quota

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


def test_overtime_costs_what_the_control_says() -> None:
    assert Clock(-60_001).penalty(TimeControl(overtime_penalty=1)) == 2
    assert Clock(-60_001).penalty(TimeControl(overtime_penalty=0)) == 0


def test_who_is_late_within_the_margin_loses_no_points() -> None:
    assert Clock(-5).penalty(TimeControl(max_overtime_ms=0, margin_ms=50)) == 0


def test_a_turn_may_take_what_is_left_and_all_overtime() -> None:
    assert Clock(25 * MINUTE).limit(TOURNAMENT) == 35 * MINUTE
    assert Clock(-9 * MINUTE).limit(TOURNAMENT) == MINUTE
    assert Clock(-10 * MINUTE).limit(TOURNAMENT) == 0
    assert Clock(-11 * MINUTE).limit(TOURNAMENT) == 0, "never below nothing"


def test_a_cap_shortens_a_turn_and_never_lengthens_it() -> None:
    capped = TimeControl(move_cap_ms=5_000)
    assert Clock(25 * MINUTE).limit(capped) == 5_000
    assert Clock(-10 * MINUTE + 300).limit(capped) == 300


def test_the_margin_comes_on_top_of_everything() -> None:
    margin = TimeControl(move_cap_ms=5_000, margin_ms=40)
    assert Clock(25 * MINUTE).limit(margin) == 5_040
    assert Clock(-11 * MINUTE).limit(margin) == 40


def test_the_first_move_has_a_limit_of_its_own() -> None:
    control = TimeControl(first_move_ms=20_000)
    assert Clock(25 * MINUTE).limit(control) == 20_000
    assert Clock(25 * MINUTE, turns=1).limit(control) == 35 * MINUTE
    shorter = TimeControl(first_move_ms=20_000, move_cap_ms=1_000)
    assert Clock(25 * MINUTE).limit(shorter) == 1_000, "the nearer limit decides"


@given(elapsed=milliseconds, lag=milliseconds, quota=st.integers(0, 60_000))
def test_no_more_is_let_off_than_the_quota(elapsed: int, lag: int, quota: int) -> None:
    charged = Clock.charge(elapsed, TimeControl(lag_ms=quota), lag)
    assert max(0, elapsed - quota) <= charged <= elapsed


@given(overtime=st.integers(1, 10**7), more=milliseconds)
def test_more_overtime_never_costs_less(overtime: int, more: int) -> None:
    cost = Clock(-overtime).penalty(TOURNAMENT)
    assert 10 <= cost <= Clock(-overtime - more).penalty(TOURNAMENT)
    assert cost == Clock(-overtime - 60_000).penalty(TOURNAMENT) - 10


def test_overtime_and_an_increment_do_not_go_together() -> None:
    check_time_control(TOURNAMENT)
    check_time_control(BLITZ)
    with pytest.raises(ValueError, match=r"an increment \(5 ms\) and overtime .* set one of them"):
        check_time_control(TimeControl(increment_ms=5))


@pytest.mark.parametrize(
    "control",
    [
        TimeControl(initial_ms=0),
        TimeControl(move_cap_ms=0),
        TimeControl(margin_ms=120_000),
        TimeControl(overtime_penalty=-5),
    ],
)
def test_times_out_of_bounds_are_refused(control: TimeControl) -> None:
    with pytest.raises(ValueError, match="no such time control"):
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

"""How long a turn may take, over whole games: no time passes here."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import msgspec
import numpy as np
import pytest
import search_views
from hypothesis import given
from hypothesis import strategies as st
from small_messages import played

from bot.player import GRACE_MS, Budget, Choice, Considered, Searched, View
from bot.search.time_plan import MARGIN_MS, LagSeen, margin_ms, plan, pondering, turns_left
from bot.seat.game_session import _info_about
from engine.rules.moves import PASS
from harness.arbiter.clock import Clock
from protocol.codec import MSGPACK
from protocol.messages import Played
from protocol.parts import TimeControl

A_GAME = (86, 77, 68, 58, 50, 41, 31, 23, 14, 4, 0, 0)
"""Tiles in the bag at the turns of one player."""

Use = Callable[[Budget], int]
"""How long a turn takes whose question came at 0."""


def after(clock: Clock, took_ms: int, time: TimeControl) -> Clock:
    """Give the clock after a turn."""
    left = clock.remaining_ms - Clock.charge(took_ms, time) + time.increment_ms
    return Clock(left, clock.turns + 1)


@cache
def begun() -> View:
    return search_views.view_at(search_views.opening(""), seat=0)


def view_at(left_ms: int, time: TimeControl, bag: int = 86) -> View:
    return replace(begun(), clocks=(left_ms, 60_000), time=time, bag=bag)


def planned(clock: Clock, time: TimeControl, bag: int = 86, round_trip_ms: int = 0) -> Budget:
    """Plan a turn as the arbiter asks for it."""
    view = view_at(clock.remaining_ms, time, bag)
    deadline_ms = clock.limit(time)
    budget = plan(view, deadline_ms, asked_ms=0, round_trip_ms=round_trip_ms, clock=lambda: 0)
    assert 0 <= budget.deadline_ms <= budget.stretch_ms <= budget.last_ms <= deadline_ms
    return budget


@dataclass
class Game:
    """What the clock showed after each turn, and what each was planned to take."""

    clocks: list[int]
    budgets: list[Budget]


def play(time: TimeControl, use: Use, bags: Sequence[int] = A_GAME, late_ms: int = 0) -> Game:
    """Play a game by the plan; each turn comes ``late_ms`` later than it was answered."""
    clock, game = Clock(time.initial_ms), Game([time.initial_ms], [])
    for bag in bags:
        budget = planned(clock, time, bag)
        clock = after(clock, use(budget) + late_ms, time)
        game.budgets.append(budget)
        game.clocks.append(clock.remaining_ms)
    return game


def whole(budget: Budget) -> int:
    return budget.deadline_ms


def stretched(budget: Budget) -> int:
    return budget.stretch_ms


# --- single turns ---------------------------------------------------------------------------------


def test_a_turn_gets_its_share_of_the_clock() -> None:
    time = TimeControl(initial_ms=900_000)
    budget = planned(Clock(900_000), time)
    spare = 900_000 - MARGIN_MS - 900_000 // 40
    assert turns_left(view_at(1, time)) == 11
    assert budget.deadline_ms == spare // 14, "the last three turns have two shares each"
    assert budget.stretch_ms == 2 * (spare // 14)
    assert budget.last_ms == 900_000 - MARGIN_MS, "overtime costs points"


def test_increments_to_come_are_shared_too() -> None:
    time = TimeControl(initial_ms=900_000, increment_ms=11_000, max_overtime_ms=0)
    plain = planned(Clock(900_000), TimeControl(initial_ms=900_000))
    assert planned(Clock(900_000), time).deadline_ms == pytest.approx(
        plain.deadline_ms + 10 * 11_000 // 14, abs=1
    )


@pytest.mark.parametrize(
    ("clock", "time", "last_ms"),
    [
        (Clock(1_500_000), TimeControl(move_cap_ms=1_000), 1_000 - MARGIN_MS),
        (Clock(1_500_000), TimeControl(move_cap_ms=1_000, margin_ms=700), 1_000 - MARGIN_MS),
        (Clock(1_500_000), TimeControl(move_cap_ms=100), 80),
        (Clock(1_500_000), TimeControl(first_move_ms=5_000), 5_000 - MARGIN_MS),
        (Clock(-5_000), TimeControl(max_overtime_ms=20_000), 15_000 - MARGIN_MS),
        (Clock(-19_990), TimeControl(max_overtime_ms=20_000), 0),
    ],
    ids=["cap", "the arbiter is patient", "short", "first move", "overtime", "its end"],
)
def test_a_turn_keeps_away_from_what_loses_the_game(
    clock: Clock, time: TimeControl, last_ms: int
) -> None:
    assert planned(clock, time).last_ms == last_ms
    after_the_first = planned(Clock(1_500_000, turns=1), TimeControl(first_move_ms=5_000))
    assert after_the_first.deadline_ms > 5_000


def test_the_lag_is_kept_free_twice() -> None:
    assert margin_ms(150) == MARGIN_MS + 300
    budget = planned(Clock(60_000), TimeControl(initial_ms=60_000), round_trip_ms=150)
    assert budget.last_ms == 60_000 - margin_ms(150)


@pytest.mark.parametrize("left_ms", [1, MARGIN_MS])
@pytest.mark.parametrize("max_overtime_ms", [0, 600_000])
def test_a_clock_shorter_than_the_margin_is_for_an_answer_at_once(
    left_ms: int, max_overtime_ms: int
) -> None:
    time = TimeControl(initial_ms=60_000, max_overtime_ms=max_overtime_ms)
    budget = planned(Clock(left_ms), time, bag=30)
    assert budget.deadline_ms == budget.last_ms == 0
    assert budget.expired


# --- overtime -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("left_ms", "free_ms"),
    [(0, 60_000), (-1, 59_999), (-59_000, 1_000), (-60_000, 60_000), (-60_001, 59_999)],
)
def test_the_rest_of_a_minute_that_has_begun_is_used_and_no_more(
    left_ms: int, free_ms: int
) -> None:
    time = TimeControl(initial_ms=60_000)
    budget = planned(Clock(left_ms), time, bag=0)
    assert budget.last_ms == free_ms - MARGIN_MS
    assert budget.deadline_ms == (free_ms - MARGIN_MS) // 2


@given(
    over_ms=st.integers(0, 599_000),
    bags=st.lists(st.integers(0, 86), min_size=1, max_size=15),
)
def test_no_turn_in_overtime_begins_another_minute(over_ms: int, bags: list[int]) -> None:
    time = TimeControl(initial_ms=60_000)
    clock = Clock(-over_ms)
    begun = Clock(-over_ms - 1).penalty(time)
    for bag in sorted(bags, reverse=True):
        budget = planned(clock, time, bag)
        clock = after(clock, max(1, budget.stretch_ms) if budget.last_ms else 0, time)
        assert clock.penalty(time) <= begun


# --- whole games ----------------------------------------------------------------------------------

CONTROLS = st.builds(
    lambda initial, increment, overtime, cap: TimeControl(
        initial_ms=initial,
        increment_ms=increment,
        max_overtime_ms=0 if increment else overtime,
        move_cap_ms=cap,
    ),
    st.integers(1, 3_600_000),
    st.sampled_from([0, 0, 1, 100, 3_000, 60_000]),
    st.sampled_from([0, 500, 90_000, 600_000]),
    st.sampled_from([None, None, 1, 200, 30_000]),
)
TURNS = st.lists(st.tuples(st.integers(0, 86), st.sampled_from([0.0, 0.3, 1.0])), max_size=40)


@given(time=CONTROLS, turns=TURNS, round_trip_ms=st.sampled_from([0, 3, 200]))
def test_no_turn_that_keeps_to_its_stretch_runs_the_clock_down(
    time: TimeControl, turns: list[tuple[int, float]], round_trip_ms: int
) -> None:
    clock = Clock(time.initial_ms)
    least = min(time.initial_ms, margin_ms(round_trip_ms))
    for bag, part in sorted(turns, reverse=True):
        budget = planned(clock, time, bag, round_trip_ms)
        then = after(clock, round(part * budget.stretch_ms), time)
        assert then.remaining_ms >= least
        assert after(clock, budget.last_ms, time).remaining_ms >= least
        clock = then


@given(
    time=st.builds(TimeControl, initial_ms=st.integers(5_000, 1_500_000)),
    late_ms=st.integers(0, 10),
    drawn=st.lists(st.integers(4, 14), min_size=22, max_size=22),
    parts=st.lists(st.sampled_from([whole, stretched]), min_size=30, max_size=30),
)
def test_turns_that_come_a_little_late_stay_out_of_overtime_all_game(
    time: TimeControl, late_ms: int, drawn: list[int], parts: list[Use]
) -> None:
    bags = [86]
    for tiles in drawn:
        bags.append(max(0, bags[-1] - tiles))
    bags = bags[: bags.index(0) + 3]

    def use(budget: Budget) -> int:
        return parts.pop()(budget)

    game = play(time, use, bags, late_ms)
    assert min(game.clocks) > 0


def test_a_game_uses_nearly_all_of_its_clock() -> None:
    for initial in (5_000, 60_000, 1_500_000):
        time = TimeControl(initial_ms=initial)
        assert 0.02 < play(time, whole).clocks[-1] / initial < 0.10
        assert 0 < play(time, stretched).clocks[-1] / initial < 0.05


def test_the_opponents_time_is_there_to_ponder_until_he_has_lost() -> None:
    view = view_at(1_000, TimeControl(max_overtime_ms=5_000))
    budget = pondering(view, clock=lambda: 10)
    assert (budget.deadline_ms, budget.last_ms) == (65_010, 65_010)


def test_a_minute_of_overtime_that_is_paid_for_is_shared_too() -> None:
    time = TimeControl(initial_ms=3_600_000)
    budget = planned(Clock(-1_000), time, bag=40)
    assert turns_left(view_at(1, time, 40)) == 6
    assert budget.last_ms == 59_000 - MARGIN_MS
    assert budget.deadline_ms == (59_000 - MARGIN_MS) * 6 // 8 // 9


# --- lag ------------------------------------------------------------------------------------------


def turn(seq: int, left_ms: int, lag_ms: int = 0) -> Played:
    return msgspec.structs.replace(played(seq), clocks=(left_ms, 1), lag_ms=lag_ms)


def test_the_lag_seen_is_what_the_arbiter_charges_beyond_what_was_used() -> None:
    lag = LagSeen()
    for seq, charged in enumerate((104, 130, 100, 90)):
        lag.asked(seq, 5_000, 1_000)
        lag.answered(1_100)
        lag.played(turn(seq, 6_000 - charged), 1_000)  # with an increment, which is no lag
    assert lag.ms == 30
    for seq in range(4, 8):
        lag.asked(seq, 5_000, 0)
        lag.answered(100)
        lag.played(turn(seq, 4_900, lag_ms=7), 0)
    assert lag.ms == 7, "that of long ago does not count"


def test_a_turn_that_was_asked_again_counts_from_then() -> None:
    lag = LagSeen()
    for at_ms in (0, 5_000, 10_000):
        lag.asked(1, 20_000 - at_ms, at_ms)
    lag.answered(11_000)
    lag.played(turn(1, 8_995), 0)
    assert lag.ms == 5, "the time that it was away is not the way of the messages"
    lag.asked(2, 8_995, 0)
    lag.played(turn(3, 100), 0)
    assert lag.ms == 5


# --- budgets --------------------------------------------------------------------------------------


def test_a_budget_counts_down_and_keeps_the_best() -> None:
    now = [0]
    budget = Budget(100, 150, clock=lambda: now[0], stretch_ms=130)
    told: list[Choice | None] = []
    budget.on_change(lambda: told.append(budget.best))
    assert (budget.remaining_ms(), budget.expired, budget.best) == (100, False, None)
    assert (budget.remaining_ms(close=True), budget.until_last_ms()) == (130, 150)
    budget.offer(Choice(PASS, text="first"))
    budget.offer(Choice(PASS, text="second"))
    assert budget.best == Choice(PASS, text="second") == told[-1]
    now[0] = 120
    assert (budget.remaining_ms(), budget.remaining_ms(close=True), budget.expired) == (0, 10, True)
    now[0] = 0
    budget.cancel()
    assert budget.expired
    assert budget.remaining_ms(close=True) == budget.until_last_ms() == 0


def test_a_limit_of_the_player_makes_a_budget_shorter_and_never_longer() -> None:
    now = [1_000]
    budget = Budget(2_000, 9_000, clock=lambda: now[0], stretch_ms=3_000)
    told = threading.Event()
    budget.on_change(told.set)
    budget.limit(1_500)
    assert (budget.deadline_ms, budget.stretch_ms) == (2_000, 2_500)
    assert budget.last_ms == 2_500 + GRACE_MS
    assert told.is_set()
    budget.limit(100_000)
    assert (budget.deadline_ms, budget.last_ms) == (2_000, 2_500 + GRACE_MS)
    budget.limit(0)
    assert budget.expired


def sim(**values: Any) -> Searched:
    return Searched(**{"phase": "simulation", **values})


def considered(**values: Any) -> Considered:
    return Considered(PASS, **values)


@pytest.mark.parametrize(
    ("make", "values", "says"),
    [
        (considered, {"win": 1.01}, "win"),
        (considered, {"win": float("nan")}, "win is nan"),
        (considered, {"win": 10**400}, "win"),
        (considered, {"win": "high"}, "'high'"),
        (considered, {"equity": float("inf")}, "equity is inf"),
        (considered, {"equity": "high"}, "'high'"),
        (considered, {"win_error": -0.1}, "win_error"),
        (considered, {"equity_error": float("nan")}, "equity_error is nan"),
        (considered, {"samples": -1}, "samples is -1"),
        (considered, {"score": 12.5}, "score"),
        (sim, {"phase": ""}, "the phase '' is no name"),
        (sim, {"phase": "x" * 65}, "the phase 'xxx"),
        (sim, {"plies": -1}, "plies"),
        (sim, {"compared": 1_000_001}, "compared is 1000001"),
        (sim, {"rollouts": -1}, "rollouts is -1"),
        (sim, {"nodes": 2**53 + 1}, "nodes is 9007199254740993"),
    ],
)
def test_what_no_arbiter_would_take_is_refused_where_it_is_made(
    make: Callable[..., object], values: dict[str, Any], says: str
) -> None:
    with pytest.raises((ValueError, TypeError), match=says):
        make(**values)


def test_figures_beyond_what_messages_hold_are_cut_to_it() -> None:
    view = View.from_cgp(f"{'/'.join(['15'] * 15)} AEINRST/ 0/0 0")
    large = considered(score=10**9, equity=-1e300, samples=2**60, win=1 + 1e-12)
    told = _info_about(view, 1, Choice(PASS, candidates=(large,)))
    assert MSGPACK.decode(MSGPACK.encode(told)) == told
    (candidate,) = told.candidates
    assert (candidate.score, candidate.samples) == (1_000_000, 2**53)
    assert candidate.equity == -(2.0**53)


def test_numbers_of_numpy_and_in_texts_become_python_s() -> None:
    mean: Any = np.mean([1, 2])
    three: Any = np.int64(3)
    choice = Choice(PASS, score=three, equity=mean)
    one = considered(score=three, equity=mean, samples=three, win_error=mean, win="0.5")
    assert (type(choice.equity), type(choice.score)) == (float, int)
    assert {type(each) for each in (one.equity, one.win_error, one.win)} == {float}
    assert {type(each) for each in (one.score, one.samples, sim(plies=three).plies)} == {int}
    half: Any = 12.5
    with pytest.raises(TypeError, match="score"):
        Choice(PASS, score=half)

"""A position searched: for as long as there is time, or as it pays, or so many rollouts."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from lexicon_parts import leaves_worth
from rollout_positions import late_position, position_of
from search_views import Clock, Offers, opening, unlimited, view_at

from bot.player import Budget, Searched
from bot.search.anytime import NODES, ROLLOUTS, STEADY, Anytime, WorkClock
from bot.search.simulating import (
    CLOSE,
    ENOUGH,
    SimulationSearch,
    SimulationSettings,
    Stage,
    usual_stages,
)
from bot.search.static_choice import STATIC, generator_for, static_choice
from engine.movegen.candidates import best_candidates
from engine.simulation.rollout_input import TO_THE_END
from engine.simulation.simulation import Simulation

EVEN = SimulationSettings(candidates=4, plies=2, iterations=30, rule="equal")


WORKS = r"\b(EndgameSolver|PreEndgame|Simulation|Inference)\("


def test_each_kind_of_work_is_begun_in_one_place() -> None:
    begun: dict[str, set[str]] = {}
    root = Path(__file__).parents[3]
    for package in ("bot", "harness"):
        for path in (root / package).rglob("*.py"):
            for work in re.findall(WORKS, path.read_text()):
                begun.setdefault(work, set()).add(str(path.relative_to(root)))
    assert begun == {
        "EndgameSolver": {"bot/search/analysis/solving.py"},
        "PreEndgame": {"bot/search/analysis/solving.py"},
        "Simulation": {"bot/search/simulating.py"},
        "Inference": {"bot/search/analysis/over_racks.py"},
    }


def test_late_rollouts_go_to_the_end_of_the_game_and_by_an_empty_bag_compare_all_moves() -> None:
    first = [usual_stages(bag)[0] for bag in range(87)]
    assert [stage.plies for stage in first[:17]] == [TO_THE_END] * 15 + [2] * 2
    assert [first[bag].candidates for bag in (0, 1, 86)] == [300, 15, 15]
    assert [usual_stages(bag)[-1].plies == TO_THE_END for bag in (14, 15, 25, 26)] == [1, 1, 1, 0]
    for bag, settings, looks in (
        (14, SimulationSettings(), (TO_THE_END, 15)),
        (15, SimulationSettings(), (2, 15)),
        (7, SimulationSettings(4, plies=3), (3, 4)),
    ):
        simulation = SimulationSearch(view_at(late_position(bag)), settings).simulation
        assert (simulation.plies, len(simulation.candidates)) == looks


# --- stages ---------------------------------------------------------------------------------------

DEEPENING = SimulationSettings(
    iterations=20, rule="equal", stages=lambda _: (Stage(9, 1), Stage(4, 2), Stage(2, 3))
)


def stages_of(search: SimulationSearch) -> list[Simulation]:
    """Search to the end; return the simulation of each stage."""
    seen = [search.simulation]
    budget = unlimited()
    while not search.is_settled:
        search.step(budget)
        if search.simulation is not seen[-1]:
            seen.append(search.simulation)
    return seen


def test_each_stage_goes_deeper_with_the_best_of_the_one_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("bot.search.simulating.ALIVE", 1.0)
    search = SimulationSearch(view_at(position_of(5, 9)), DEEPENING)
    stages = stages_of(search)
    assert [stage.plies for stage in stages] == [1, 2, 3]
    assert [len(stage.candidates) for stage in stages] == [9, 4, 2]
    for before, after in pairwise(stages):
        best = [estimate.move for estimate in before.estimates()]
        assert [one.move for one in after.candidates] == best[: len(after.candidates)]
    assert search.rollouts == 20 * (9 + 4 + 2)
    choice = search.choice()
    assert [one.move for one in choice.candidates[:2]] == [
        estimate.move for estimate in stages[2].estimates()
    ]
    assert {one.move for one in choice.candidates} == {one.move for one in stages[0].candidates}
    assert choice.search == Searched("simulation", plies=3, compared=2, rollouts=search.rollouts)
    assert choice == SimulationSearch(view_at(position_of(5, 9)), DEEPENING).run(unlimited())


def test_how_far_a_search_looked_is_told_of_the_estimates_that_it_has(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A stage that has just begun has no estimates of its own."""
    monkeypatch.setattr("bot.search.simulating.ALIVE", 1.0)
    search, budget = SimulationSearch(view_at(position_of(5, 9)), DEEPENING), unlimited()
    assert search.choice().search == STATIC
    while search.simulation.plies == 1:
        search.step(budget)
    assert search.simulation.plies == 2
    assert not search.simulation.is_sampled
    assert search.choice().search == Searched("simulation", 1, 9, rollouts=search.rollouts)
    to_the_end = SimulationSearch(
        view_at(late_position(7)), SimulationSettings(4, iterations=2)
    ).run(unlimited())
    assert to_the_end.search == Searched("simulation", compared=4, rollouts=8)


def test_who_is_far_behind_takes_part_no_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.search.simulating.ALIVE", 0.0)
    (only,) = stages_of(search := SimulationSearch(view_at(position_of(5, 9)), DEEPENING))
    assert search.simulation is only
    assert search.choice().move == only.leader.move


# --- so many rollouts -----------------------------------------------------------------------------


@pytest.mark.parametrize("iterations", [2, 30, 300])
def test_every_candidate_gets_as_many_iterations(iterations: int) -> None:
    settings = replace(EVEN, iterations=iterations)
    choice = SimulationSearch(view_at(position_of(5, 9)), settings).run(unlimited())
    assert [one.samples for one in choice.candidates] == [iterations] * 4


def test_time_ends_iterations_too() -> None:
    settings = replace(EVEN, iterations=1_000_000)
    clock = Clock(step_ms=1)
    choice = SimulationSearch(view_at(position_of(5, 9)), settings).run(Budget(40, clock=clock))
    assert clock.now_ms >= 40
    assert 0 < sum(one.samples or 0 for one in choice.candidates) < 100_000


# --- time -----------------------------------------------------------------------------------------


def test_without_time_nothing_is_rolled_out() -> None:
    view = view_at(position_of(5, 9))
    search = SimulationSearch(view, SimulationSettings())
    choice = search.run(Budget(0, clock=Clock()))
    assert search.simulation.rollouts == 0
    assert choice.move == static_choice(view).move
    assert [one.samples for one in choice.candidates] == [0] * 15
    assert {(one.win, one.win_error, one.equity_error) for one in choice.candidates} == {
        (None, None, None)
    }


@pytest.mark.parametrize("rollouts", [1, 9, 112])
def test_in_the_first_round_there_are_no_errors_yet(rollouts: int) -> None:
    search = SimulationSearch(view_at(position_of(5, 9)), SimulationSettings())
    search.simulation.advance(rollouts)
    choice = search.choice()
    assert not search.simulation.is_sampled
    assert choice.move == search.simulation.candidates[0].move
    for one in choice.candidates:
        assert one.win_error is None
        assert one.equity_error is None
        assert (one.win is None) == (one.samples == 0)


def test_what_is_settled_ends_before_its_time() -> None:
    view = view_at(position_of(5, 9))
    search = SimulationSearch(view, SimulationSettings(candidates=5))
    search.run(unlimited())
    assert search.is_settled
    assert search.simulation.regret <= ENOUGH
    rollouts = search.rollouts
    search.run(unlimited())
    assert search.rollouts == rollouts


def test_between_its_ends_only_a_close_decision_goes_on() -> None:
    stretched = Budget(10, 100, Clock(), stretch_ms=90)
    stretched.deadline_ms = 0
    seen: Counter[bool] = Counter()
    for game, turn in ((5, 9), (8, 6), (0, 0)):
        search = SimulationSearch(view_at(position_of(game, turn)), SimulationSettings())
        for _ in range(40):
            regret = search.simulation.regret
            is_over = stretched.remaining_ms(close=search._is_close) == 0
            assert is_over == (regret < CLOSE)
            seen[is_over] += 1
            search.simulation.advance(60)
        ended = Budget(0, 100, Clock())
        assert ended.remaining_ms(close=search._is_close) == 0
    assert min(seen[False], seen[True]) >= 10


def test_with_nothing_hidden_no_stage_follows_the_first() -> None:
    stages = (Stage(300, TO_THE_END), Stage(6, TO_THE_END))
    view = view_at(late_position(0, held=3))
    search = SimulationSearch(view, SimulationSettings(stages=lambda _bag: stages))
    for _ in range(300):
        search.step(unlimited())
    assert search.simulation.exact
    assert search.is_settled


# --- what is said ---------------------------------------------------------------------------------


def test_offers_have_the_best_first_and_the_last_is_the_choice() -> None:
    budget = Offers(until=lambda offers: len(offers) == 12)
    settings = SimulationSettings(candidates=6, iterations=100_000)
    choice = SimulationSearch(view_at(position_of(8, 6)), settings).run(budget)
    samples = [sum(one.samples or 0 for one in offer.candidates) for offer in budget.offers]
    assert samples == sorted(samples)
    for offer in (*budget.offers, choice):
        best = offer.candidates[0]
        assert (offer.move, offer.score) == (best.move, best.score)
        assert best.equity is not None
        assert offer.equity == best.equity
        assert len({one.move for one in offer.candidates}) == 6
    assert choice == budget.offers[-1]
    assert budget.best == choice


def test_candidates_are_the_best_by_the_table_that_the_player_has() -> None:
    view = view_at(opening("AEINRST"))
    loves_a = leaves_worth(view.rules.distribution, {(1,): 900.0})
    for given in (view, replace(view, leaves=loves_a)):
        search = SimulationSearch(given, SimulationSettings(candidates=9))
        best = best_candidates(generator_for(given), view.position, 9)
        assert list(search.simulation.candidates) == best
    assert best != best_candidates(generator_for(view), view.position, 9)


# --- work in slices -------------------------------------------------------------------------------


def endless() -> float:
    return math.inf


class Count:
    """Counts to a number, so many a slice, in whole pieces, and so many a second."""

    def __init__(self, most: int, rate: float = 0.0, piece: int = 1) -> None:
        self.left = most
        self.slices: list[int] = []
        self.now_s = 0.0
        self._rate, self._piece = rate, piece

    def advance(self, amount: int) -> int:
        done = min(-(-amount // self._piece) * self._piece, self.left)
        self.left -= done
        self.now_s += done / self._rate if self._rate else 0.0
        if done:
            self.slices.append(done)
        return done

    def clock(self) -> float:
        return self.now_s


def test_it_ends_with_its_work_its_time_or_when_told_to() -> None:
    count = Count(1_000)
    anytime = Anytime(count, NODES)
    assert sum(1 for _ in anytime.slices(endless)) == len(count.slices)
    assert sum(count.slices) == anytime.done == 1_000
    assert count.slices[:3] == [20, 60, 180], "they grow slowly"
    assert anytime.is_over
    assert list(anytime.slices(endless)) == []
    count, clock = Count(10**18), Clock(step_ms=1)
    slices = Anytime(count, NODES).slices(Budget(20, clock=clock).remaining_ms)
    assert sum(1 for _ in slices) == 19
    assert list(Anytime(count, NODES).slices(Budget(0, clock=clock).remaining_ms)) == []
    budget = Budget(10**15)
    slices = Anytime(count, NODES).slices(budget.remaining_ms)
    next(slices)
    budget.cancel()
    assert list(slices) == []
    assert list(Anytime(count).slices(endless, lambda: True)) == []


def test_no_more_is_done_than_the_most() -> None:
    for pace in (STEADY, ROLLOUTS, NODES):
        count = Count(10**6)
        anytime = Anytime(count, pace, most=1_001)
        anytime.run(endless)
        assert sum(count.slices) == anytime.done == 1_001
        assert list(anytime.slices(endless)) == []
    pieces = Anytime(Count(10**6, piece=20), NODES, most=1_005)
    pieces.run(endless)
    assert (pieces.is_over, pieces.done) == (True, 1_020)


def test_slices_are_as_long_as_the_pace_says() -> None:
    """At 10 a millisecond: 5 ms in short turns, up to 20 in long ones, less in what is left."""
    for left_ms, amount in ((100, 50), (500, 100), (10**6, 200), (6, 30), (1, 10)):
        count = Count(10**6, rate=10_000)
        anytime = Anytime(count, ROLLOUTS)
        assert [anytime.step(left_ms, count.clock) for _ in range(2)] == [32, amount]


def test_a_clock_of_work_goes_by_nothing_else() -> None:
    for pace in (ROLLOUTS, NODES, STEADY):
        count, clock = Count(10**6), WorkClock()
        anytime = Anytime(count, pace)
        anytime.run(Budget(30, clock=clock.ms).remaining_ms, clock=clock)
        assert clock.ms() in (30, 31), "the end of a slice"
        assert round(1_000 * clock() / pace.unit_ms) == anytime.done

"""A position searched: for as long as there is time, or as it pays, or so many rollouts."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from lexicon_parts import leaves_worth
from rollout_positions import RULES, late_position, position_of, scowl
from search_views import Clock, Offers, opening, unlimited, view_at

from bot.player import Budget, Searched
from bot.search.anytime import SlicePace
from bot.search.simulating import (
    CLOSE,
    ENOUGH,
    FIRST_SAMPLES,
    SimulationSearch,
    SimulationSettings,
    Stage,
    considered,
    usual_stages,
)
from bot.search.static_choice import STATIC, generator_for, static_choice
from engine.movegen.candidates import best_candidates
from engine.rules.position import bag_count
from engine.simulation.rollout_input import BY_POINTS, TO_THE_END
from engine.simulation.simulation import Simulation

EVEN = SimulationSettings(candidates=4, plies=2, iterations=30, rule="equal")


def first_stage(bag: int) -> Stage:
    return usual_stages(bag)[0]


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


def test_late_rollouts_go_to_the_end_of_the_game() -> None:
    assert [first_stage(bag).plies for bag in range(17)] == [TO_THE_END] * 15 + [2] * 2
    assert [usual_stages(bag)[-1].plies == TO_THE_END for bag in (14, 15, 25, 26)] == [1, 1, 1, 0]
    assert (
        SimulationSearch(view_at(late_position(14)), SimulationSettings()).simulation.plies
        == TO_THE_END
    )
    assert SimulationSearch(view_at(late_position(15)), SimulationSettings()).simulation.plies == 2
    assert (
        SimulationSearch(view_at(late_position(7)), SimulationSettings(plies=3)).simulation.plies
        == 3
    )


def test_by_an_empty_bag_nearly_all_moves_are_compared() -> None:
    assert [first_stage(bag).candidates for bag in (0, 1, 86)] == [300, 15, 15]
    assert (
        len(SimulationSearch(view_at(late_position(7)), SimulationSettings()).simulation.candidates)
        == 15
    )
    assert (
        len(
            SimulationSearch(view_at(late_position(7)), SimulationSettings(4)).simulation.candidates
        )
        == 4
    )


def test_wins_decide_with_other_tiles_too() -> None:
    """No table is trained for them; yet who is behind takes the move that may still win."""
    english = RULES.distribution
    (e,) = english.alphabet.tiles("E")
    counts = tuple(count + (tile == e) for tile, count in enumerate(english.counts))
    rules = replace(RULES, distribution=replace(english, counts=counts))
    words = replace(scowl(), distribution=rules.distribution)
    behind = replace(position_of(31, 15), scores=(25, 0))
    view = view_at(behind, rules=rules, lexicon=words, bag=bag_count(behind, rules))
    settings = SimulationSettings(candidates=8, iterations=600, rule="equal")
    choice = SimulationSearch(view, settings).run(unlimited())
    by_points = SimulationSearch(view, replace(settings, utility=BY_POINTS)).run(unlimited())
    best, other = (
        {each.move: each for each in choice.candidates}[one.move] for one in (choice, by_points)
    )
    assert best.win is not None
    assert other.win is not None
    assert best.win > other.win + 0.05
    assert choice.equity is not None
    assert by_points.equity is not None
    assert choice.equity < by_points.equity


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


def test_a_stage_starts_from_what_the_one_before_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """With no doubt about it, new samples change nothing in the order."""
    monkeypatch.setattr("bot.search.simulating.ALIVE", 1.0)
    monkeypatch.setattr("bot.search.simulating.DEEPER", 1e-9)
    first, second, _ = stages_of(SimulationSearch(view_at(position_of(5, 9)), DEEPENING))
    assert second.statistics.means[1:] - second.statistics.means[0] == pytest.approx(
        first.statistics.means[np.argsort(-first.statistics.means)][1:4]
        - first.statistics.means.max(),
        abs=1e-6,
    )


def test_two_rollouts_a_stage_are_enough_to_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.search.simulating.ALIVE", 1.0)
    for seed in range(20):
        search = SimulationSearch(
            view_at(position_of(5, 9)), replace(DEEPENING, iterations=2), seed
        )
        assert len(search.run(unlimited()).candidates) == 9


def test_a_stage_takes_its_share_of_the_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.search.simulating.ENOUGH", -1.0)  # nothing is ever settled
    settings = SimulationSettings(stages=lambda _: (Stage(9, 1), Stage(4, 2)))
    clock = Clock(step_ms=1)
    search, budget = (
        SimulationSearch(view_at(position_of(8, 6)), settings),
        Budget(120, clock=clock),
    )
    deepened: list[int] = []

    def until() -> bool:
        if search.simulation.plies == 2 and not deepened:
            deepened.append(clock.now_ms)
        return False

    search.work(budget, until)
    assert clock.now_ms >= 120
    assert 30 <= deepened[0] <= 40


def test_a_stage_without_enough_samples_takes_more_than_its_share(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Else the rest of a short turn would not be used at all."""
    monkeypatch.setattr("bot.search.simulating.ENOUGH", -1.0)
    monkeypatch.setattr(
        "bot.search.simulating.ROLLOUTS", SlicePace(4, lambda *_: math.inf, growth=1.0)
    )
    settings, clock = (
        SimulationSettings(stages=lambda _: (Stage(9, 1), Stage(4, 2))),
        Clock(step_ms=1),
    )
    search = SimulationSearch(view_at(position_of(8, 6)), settings)
    search.work(Budget(100, clock=clock), lambda: False)
    assert clock.now_ms >= 100
    assert search.is_sampled
    assert search.rollouts >= FIRST_SAMPLES * 9


# --- so many rollouts -----------------------------------------------------------------------------


@pytest.mark.parametrize("iterations", [2, 5, 12, 30, 300])
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


@pytest.mark.parametrize("rollouts", [1, 8, 9, 100, 112])
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


def test_another_leader_is_offered_at_once() -> None:
    """Before the first round is over the leader is the static choice; mostly it changes then."""
    view = view_at(position_of(8, 6))
    leaders = []
    for seed in range(8):
        budget = Offers(until=lambda offers: len(offers) == 30)
        SimulationSearch(view, SimulationSettings(candidates=12), seed).run(budget)
        leaders.append([offer.move for offer in budget.offers])
    assert {moves[0] for moves in leaders} == {static_choice(view).move}
    assert any(len(set(moves)) > 1 for moves in leaders)


def test_candidates_are_all_said_with_what_is_known_of_them() -> None:
    search = SimulationSearch(view_at(position_of(5, 9)), EVEN)
    choice = search.run(unlimited())
    estimates = search.simulation.estimates()
    assert choice.candidates == tuple(map(considered, estimates))
    for one, estimate in zip(choice.candidates, estimates, strict=True):
        assert one.win == estimate.win
        assert one.win_error is not None
        assert 0 < one.win_error < 0.5
        assert one.equity_error is not None
        assert 0 < one.equity_error < 60


def test_candidates_are_the_best_by_the_table_that_the_player_has() -> None:
    view = view_at(opening("AEINRST"))
    loves_a = leaves_worth(view.rules.distribution, {(1,): 900.0})
    for given in (view, replace(view, leaves=loves_a)):
        search = SimulationSearch(given, SimulationSettings(candidates=9))
        best = best_candidates(generator_for(given), view.position, 9)
        assert list(search.simulation.candidates) == best
    assert best != best_candidates(generator_for(view), view.position, 9)


def test_a_single_candidate_is_chosen_at_once() -> None:
    search = SimulationSearch(view_at(position_of(5, 9)), SimulationSettings(candidates=1))
    choice = search.run(unlimited())
    assert search.simulation.rollouts == 0
    assert choice.move == search.simulation.candidates[0].move
    assert [one.win for one in choice.candidates] == [None]


def test_first_samples_are_enough_for_a_standing() -> None:
    search = SimulationSearch(view_at(position_of(5, 9)), SimulationSettings(candidates=10))
    search.simulation.advance(10 * FIRST_SAMPLES - 1)
    assert search.simulation.regret == math.inf
    search.simulation.advance(1)
    assert search.simulation.regret < 1

"""Simulations: the same in any threads and slices, certain where nothing is left to chance."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from rollout_positions import (
    candidates,
    generator,
    late_position,
    position_of,
    win_table,
)

from engine.kernels.rollouts import SampleSums
from engine.movegen.generator import RankedMove
from engine.rules.moves import PASS, Direction, Exchange, Move, Place
from engine.rules.position import Position
from engine.rules.rules import IllegalMove
from engine.simulation.rollout_input import BY_POINTS, TO_THE_END, Utility
from engine.simulation.sampling import RULES as SHARING
from engine.simulation.simulation import Simulation


def simulation(
    position: Position, *, threads: int = 1, count: int = 5, **options: Any
) -> Simulation:
    generators = [generator() for _ in range(threads)]
    compared = generators[0].best(position, count)
    return Simulation(generators, position, compared, win_table(), **{"first": 4} | options)


def total(rolled: Simulation, field: str) -> Any:
    """Add up what the threads have."""
    return sum(getattr(tally, field) for tally in rolled._results.tallies)


def test_threads_and_slices_make_no_difference() -> None:
    position = position_of(5, 9)
    whole = simulation(position, seed=7)
    assert whole.advance(700) == 700
    for threads, slices in ((1, (1, 2, 333, 364)), (2, (700,)), (3, (19, 20, 21, 40, 600))):
        other = simulation(position, threads=threads, seed=7)
        for rollouts in slices:
            assert other.advance(rollouts) == rollouts
        assert other.rollouts == 700
        assert other.estimates() == whole.estimates()
        assert other.leader == whole.leader
        assert other.regret == whole.regret
        for field in SampleSums._fields:
            assert np.array_equal(total(other, field), total(whole, field)), field
        assert np.array_equal(other._results.values, whole._results.values)
        pair = whole.candidates[0].move, whole.candidates[3].move
        assert other.difference(*pair) == whole.difference(*pair)


@pytest.mark.parametrize("rule", SHARING)
def test_slices_make_no_difference_to_any_rule(rule: str) -> None:
    position = position_of(8, 6)
    whole, cut = (simulation(position, rule=rule) for _ in range(2))
    whole.advance(400)
    for _ in range(40):
        cut.advance(10)
        _ = cut.regret, cut.is_certain, cut.estimates()  # asking changes nothing
    assert cut.estimates() == whole.estimates()


def test_the_board_is_as_before() -> None:
    position = position_of(5, 9)
    own = generator()
    compared = candidates(position)
    rolled = Simulation([own], position, compared, win_table(), plies=4, first=4)
    before = own.state["board"].copy()
    rolled.advance(50)
    after = own.state["board"]
    assert after["changes"] == before["changes"] == 0
    assert np.array_equal(after["squares"], before["squares"])
    assert own.everything(position) == generator().everything(position)


def test_another_seed_has_other_luck_and_a_neighbour_is_as_foreign_as_any() -> None:
    position = position_of(5, 9)
    values = []
    for seed in (0, 1, 2, -1, 2**64 + 5):
        one = simulation(position, seed=seed, first=64, rule="equal", count=1)
        one.advance(64)
        values.append(one._results.values[1, 0, :64])
    for at, one_seed in enumerate(values):
        for other in values[at + 1 :]:
            # Equities coincide now and then; streams do not.
            assert len(np.intersect1d(one_seed, other)) < 32
            for shift in range(-3, 4):
                assert (np.roll(one_seed, shift) == other).mean() < 0.2


def test_an_empty_bag_takes_one_sample_of_each() -> None:
    position = late_position(0, held=3)
    rolled = simulation(position, plies=TO_THE_END, count=6, threads=2)
    count = len(rolled.candidates)
    assert rolled.exact
    assert not rolled.is_certain
    assert rolled.regret == math.inf
    assert rolled.advance(2) == 2
    assert not rolled.is_certain
    assert rolled.advance(100) == count - 2
    assert rolled.advance(100) == 0
    assert rolled.is_certain
    assert rolled.regret == 0.0
    assert [one.samples for one in rolled.estimates()] == [1] * count


def test_a_single_candidate_is_certain() -> None:
    rolled = simulation(position_of(5, 9), count=1)
    assert rolled.is_certain
    assert rolled.regret == 0.0
    assert rolled.advance(20) == 20
    assert rolled.estimates()[0].samples == 20


@pytest.mark.parametrize("use_prior", [False, True])
def test_until_all_have_their_first_samples_they_are_not_compared(use_prior: bool) -> None:
    for seed in range(10):
        rolled = simulation(position_of(5, 9), seed=seed, first=9, use_prior=use_prior)
        for rollouts in (5, 10, 29):  # 44 of 45
            rolled.advance(rollouts)
            assert rolled.leader == rolled.candidates[0]
            moves = [one.move for one in rolled.estimates()]
            assert moves == [one.move for one in rolled.candidates]
            assert not rolled.is_sampled
            assert not rolled.is_certain
            assert rolled.regret == math.inf
            with pytest.raises(ValueError, match="don't have the samples yet"):
                _ = rolled.statistics
        rolled.advance(1)
        assert [one.samples for one in rolled.estimates()] == [9] * 5
        assert rolled.is_sampled
        assert rolled.regret < 1.0
        assert rolled.estimates()[0].move == rolled.leader.move


def test_estimates_are_means_and_standard_errors() -> None:
    rolled = simulation(position_of(8, 6), rule="equal", first=40)
    rolled.advance(5 * 40)
    values = rolled._results.values[:, :, :40] / np.array([100_000, 1_000, 100_000])[:, None, None]
    for one in rolled.estimates():
        at = [each.move for each in rolled.candidates].index(one.move)
        assert one.win == pytest.approx(values[0, at].mean())
        assert one.equity == pytest.approx(values[1, at].mean())
        # A little wider than that, since neither the variance nor the chances are known.
        for error, column in ((one.win_error, 0), (one.equity_error, 1)):
            plain = values[column, at].std(ddof=1) / math.sqrt(40)
            assert plain < error < 1.1 * plain
        assert one.samples == 40
        assert one.leave == tuple(sorted(one.leave))


@pytest.mark.parametrize("utility", [Utility(), BY_POINTS, Utility(win=0.0, lead=1.0, point=0.0)])
def test_what_longer_rollouts_begin_with_is_worth_what_was_found(utility: Utility) -> None:
    rolled = simulation(position_of(8, 6), utility=utility)
    rolled.advance(200)
    known = rolled.baseline([one.move for one in rolled.candidates], 0.006)
    assert np.isfinite(known.values).all()
    assert (known.values * utility.weights).sum(axis=1) == pytest.approx(known.means)


def test_the_lead_decides_where_every_candidate_wins() -> None:
    position = replace(late_position(0, held=3), scores=(500, 500))
    ahead = list(position.scores)
    ahead[position.on_turn] += 400
    position = replace(position, scores=(ahead[0], ahead[1]))
    own = generator()
    compared = own.best(position, 8)[::-1]
    by_points, by_wins = (
        Simulation([own], position, compared, win_table(), plies=TO_THE_END, utility=utility)
        for utility in (Utility(), Utility(win=1.0, lead=0.0))
    )
    for rolled in (by_points, by_wins):
        rolled.advance(100)
        assert {one.win for one in rolled.estimates()} == {1.0}
    equities = [one.equity for one in by_points.estimates()]
    assert equities[0] == max(equities) > min(equities)
    assert by_wins.leader == compared[0]  # of equals the first


# --- what makes no sense --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"plies": 0}, "5 candidates, 1 generators, 0 plies"),
        ({"first": 1}, "first is 1; at least 2 samples"),
        ({"rule": "best"}, "no rule is called 'best'; known: top-two"),
    ],
)
def test_what_makes_no_sense_is_refused(options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        simulation(position_of(0, 0), **options)


def test_what_is_no_candidate_is_not_known() -> None:
    rolled = simulation(position_of(5, 9))
    first = rolled.candidates[0].move
    for ask in (
        lambda: rolled.plies_of(Exchange((1,))),
        lambda: rolled.difference(Exchange((1,)), first),
        lambda: rolled.difference(first, Exchange((1,))),
    ):
        with pytest.raises(ValueError, match="is none of the 5 candidates"):
            ask()


def test_candidates_are_legal() -> None:
    own, position, short = generator(), position_of(5, 9), late_position(3)
    best, second = own.best(position, 2)
    for at, move, says in (
        (position, Exchange((26,)), "Z is not on the rack"),
        (position, Place(0, 0, Direction.ACROSS, (6, 9)), "a tile lies on 1A already"),
        (position_of(0, 0), best.move, "is not on the rack"),
        (short, Exchange(short.racks[short.on_turn][:1]), "in the bag"),
    ):
        with pytest.raises(IllegalMove, match=says):
            Simulation([own], at, [with_move(second, move)], win_table())
    with pytest.raises(IllegalMove):
        Simulation([own], position, [best, with_move(second, Exchange((26,)))], win_table())


def with_move(ranked: RankedMove, move: Move) -> RankedMove:
    return RankedMove(move, ranked.score, ranked.equity, ranked.leave)


def test_a_rack_that_kernels_have_no_room_for_is_refused() -> None:
    position = position_of(5, 9)
    for rack, says in ((tuple(range(9)), "a rack of 9 tiles"), ((40,), "beyond the 27")):
        racks = (rack, ()) if position.on_turn == 0 else ((), rack)
        passed = RankedMove(PASS, 0, 0, rack)
        with pytest.raises(ValueError, match=says):
            Simulation([generator()], replace(position, racks=racks), [passed], None)


def test_what_is_known_of_an_endgame_counts_at_once() -> None:
    rolled = simulation(late_position(0, held=4))
    rolled.advance(3)
    first, *_, last = rolled.estimates()
    assert not rolled.is_sampled
    assert (first.samples, last.samples) == (1, 0)
    assert first.equity_error == 0
    assert last.equity_error == math.inf

"""What comes of rollouts: sums of several threads, differences, and turns."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from rollout_positions import generator, position_of, win_table

from engine.simulation import rollout_results as module
from engine.simulation.rollout_results import EQUITY, LEAD, WIN, Measure, RolloutResults
from engine.simulation.simulation import Simulation

COUNT = 5


def rolled(rollouts: int, *, count: int = COUNT, **options: Any) -> Simulation:
    position = position_of(8, 6)
    compared = generator().best(position, count)
    given = {"first": 20, "use_prior": False} | options
    simulation = Simulation([generator()], position, compared, win_table(), **given)
    simulation.advance(rollouts)
    return simulation


def filled(samples: list[list[tuple[int, int, int]]], threads: int = 2) -> RolloutResults:
    """Share samples out among threads, a win, an equity and a lead each, as kernels count them."""
    outcomes = RolloutResults(len(samples), threads, 2, exact=False)
    outcomes.make_room(max(map(len, samples)))
    for one, values in enumerate(samples):
        for nth, (win, gained, lead) in enumerate(values):
            tally = outcomes.tallies[nth % threads]
            tally.samples[one] += 1
            tally.sums[one] += (win, gained, lead)
            if nth < outcomes.values.shape[2]:
                outcomes.values[:, one, nth] = win, gained, lead
    return outcomes


def some_samples(seed: int, counts: list[int]) -> list[list[tuple[int, int, int]]]:
    chance = np.random.default_rng(seed)
    common = chance.integers(0, 50_000, max(counts))
    return [
        [
            (int(c + chance.integers(0, 50_000)), int(c - chance.integers(0, 9_000)), int(c))
            for c in common[:n]
        ]
        for n in counts
    ]


@pytest.mark.parametrize("measure", [WIN, EQUITY, LEAD, (0.3, 0.02, 0.5)])
def test_means_and_variances_are_those_of_the_weighted_samples(measure: Measure) -> None:
    samples = some_samples(1, [40, 40, 40])
    units = np.array([100_000, 1_000, 100_000])
    utilities = [[float(np.array(each) / units @ measure) for each in some] for some in samples]
    for threads in (1, 2, 3):
        outcomes = filled(samples, threads)
        assert outcomes.samples.tolist() == [40] * 3
        adjusted = outcomes.adjusted(measure)
        assert adjusted.means == pytest.approx(np.mean(utilities, axis=1))
        reference = int(np.argmax(adjusted.means))
        assert adjusted.slopes[reference] == 1.0
        of_reference = np.var(utilities[reference], ddof=1)
        share = (sum(w for w, _, _ in samples[reference]) / 100_000 + 0.5) / 41
        doubt = measure[0] ** 2 * share * (1 - share) / 4 / 40
        assert adjusted.reference_variance == pytest.approx((of_reference + doubt) / 40)
        totals = adjusted.residuals + adjusted.slopes**2 * of_reference
        assert totals == pytest.approx(np.var(utilities, axis=1, ddof=1), rel=0.06)


def test_equal_samples_differ_by_what_they_do_in_pairs() -> None:
    simulation = rolled(COUNT * 60, rule="equal", first=60)
    values = (
        simulation._results.values[:, :, :60] / np.array([100_000, 1_000, 100_000])[:, None, None]
    )
    outcomes = simulation._results
    for column, (value, error) in enumerate((("win", "win_error"), ("equity", "equity_error"))):
        best = int(np.argmax(values[column].mean(axis=1)))
        for other in range(COUNT):
            found = outcomes.difference(best, other)
            apart = values[column, best] - values[column, other]
            assert getattr(found, value) == pytest.approx(apart.mean(), abs=1e-12)
            paired = apart.std(ddof=1) / math.sqrt(60)
            assert getattr(found, error) == pytest.approx(paired, rel=0.1)
            mirrored = outcomes.difference(other, best)
            assert getattr(mirrored, value) == -getattr(found, value)
            assert getattr(mirrored, error) == getattr(found, error)


def test_before_there_are_two_samples_of_each_no_error_is_known() -> None:
    none = rolled(0).difference(*[one.move for one in rolled(0).candidates[:2]])
    assert none == (0.0, math.inf) * 3
    some = rolled(21)
    assert [one.samples for one in some.estimates()] == [20, 1, 0, 0, 0]
    assert {one.win_error for one in some.estimates()} == {math.inf}
    apart = some.difference(some.candidates[0].move, some.candidates[1].move)
    assert apart.win_error == apart.equity_error == math.inf


def test_more_samples_than_are_remembered_are_counted_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    free = rolled(1_060, rule="equal")
    monkeypatch.setattr(module, "_REMEMBERED", 20)
    short = rolled(1_060, rule="equal")
    assert short._results.values.shape == (3, COUNT, 20)
    assert np.array_equal(short._results.values, free._results.values[:, :, :20])
    assert {*short._results.samples, *free._results.samples} == {212}
    pairs = zip(
        sorted(short.estimates(), key=lambda one: str(one.move)),
        sorted(free.estimates(), key=lambda one: str(one.move)),
        strict=True,
    )
    for one, other in pairs:
        assert one.equity == pytest.approx(other.equity)
        assert one.win == pytest.approx(other.win)
    # What is not remembered is not compared in pairs, so less is known of differences.
    best, *others = (one.move for one in free.estimates())
    for rival in others:
        known, unknown = (each.difference(best, rival).equity_error for each in (free, short))
        assert unknown > 1.05 * known
    assert 0 < short.regret < 1


def test_turns_are_added_up_over_the_threads() -> None:
    outcomes = RolloutResults(2, 2, 3, exact=False)
    for tally, scores in zip(outcomes.tallies, ([10, 30, 20], [40]), strict=True):
        for score in scores:
            tally.turns[1, 0] += 1
            tally.scores[1, 0] += score
            tally.score_squares[1, 0] += score * score
            tally.bingos[1, 0] += score > 25
    assert outcomes.plies(0) == []
    (ply,) = outcomes.plies(1)
    assert (ply.turns, ply.score, ply.bingos) == (4, 25.0, 0.5)
    assert ply.score_deviation == pytest.approx(math.sqrt(125))


def test_who_wins_all_of_a_few_samples_may_still_lose() -> None:
    outcomes = filled([[(100_000, 5_000, 1)] * 8, [(100_000, 9_000, 1)] * 8])
    errors = outcomes.means(WIN)[1]
    assert (errors > 0.01).all()
    many = filled([[(100_000, 5_000, 1)] * 800, [(100_000, 9_000, 1)] * 800])
    assert (many.means(WIN)[1] < errors / 20).all()


def test_equal_in_every_sample_that_both_have() -> None:
    one = some_samples(4, [90])[0]
    outcomes = filled([one, one[:70], [*one[:89], (0, 0, 0)], one[:20]])
    assert outcomes.equal_to(0).tolist() == [True, True, False, False]
    assert outcomes.equal_to(2).tolist() == [False, True, True, False]

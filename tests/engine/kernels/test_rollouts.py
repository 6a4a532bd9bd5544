"""Rollouts, sample by sample, against their slow twin; and what the opponent is dealt."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from math import comb
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from rollout_positions import (
    RULES,
    candidates,
    generator,
    late_position,
    leave_prior,
    leaves,
    position_of,
    scowl,
    win_table,
)
from rollout_reference import Rollout, SlowRollouts
from scipy.special import chdtrc

from engine.inference.leave_prior import LeavePrior
from engine.movegen.generator import Generator, RankedMove
from engine.rules.position import Position, unseen
from engine.simulation.rollout_input import TO_THE_END, UNITS, Baseline, Utility
from engine.simulation.simulation import Simulation

SAMPLES = 12


@dataclass(frozen=True)
class Case:
    """A position, and how it is rolled out."""

    begin: Callable[[], Position]
    plies: int
    seed: int = 0
    belief: LeavePrior | None = None
    by_points: bool = False
    count: int = 2
    """Of candidates, besides some that are unlikely."""
    limited: bool = False
    """By rules that limit passes and exchanges."""

    @property
    def generator(self) -> Generator:
        return limited_generator() if self.limited else generator()

    @cached_property
    def position(self) -> Position:
        return self.begin()


@cache
def limited_generator() -> Generator:
    rules = replace(RULES, scoreless_limit=9, pass_limit=3, exchange_limit=2)
    return Generator(scowl(), rules, leaves())


def tiles(text: str) -> tuple[int, ...]:
    return tuple(sorted(RULES.distribution.alphabet.tiles(text)))


def some_belief() -> LeavePrior:
    leaves = [tiles("RST"), tiles("QUU"), tiles("?ES"), tiles("AAI")]
    return leave_prior(leaves, [1.0, 0.5, 2.25, 0.05], doubt=0.2)


def cases() -> Iterator[tuple[str, Case]]:
    opening, middle = partial(position_of, 0, 0), partial(position_of, 5, 9)
    for plies in (1, 2, 3, 4):
        yield f"opening {plies}", Case(opening, plies, seed=plies)
        yield f"middle {plies}", Case(middle, plies, seed=2**64 - plies)
    yield "opening whole", Case(opening, TO_THE_END, count=1)
    yield "middle whole", Case(middle, TO_THE_END, count=1)
    yield "points", Case(partial(position_of, 7, 10), 2, by_points=True)
    yield "belief", Case(partial(position_of, 8, 1), 2, seed=9, belief=some_belief())
    yield "known", Case(partial(position_of, 8, 6, both=True), 2)
    for bag in range(1, 7):
        yield f"bag of {bag}", Case(partial(late_position, bag), TO_THE_END, seed=bag)
    for held in range(1, 8):
        last = partial(late_position, 0, held=held)
        yield f"empty bag, {held} held", Case(last, TO_THE_END, count=6)
    yield "bag of 7", Case(partial(late_position, 7), 4)
    yield "a blank", Case(partial(late_position, 12, blanks=1), 3)
    yield "late, known", Case(partial(late_position, 3, both=True), TO_THE_END)
    yield "out of tiles, known", Case(partial(late_position, 0, both=True), TO_THE_END)
    for scoreless in (3, 4, 5):
        yield f"{scoreless} scoreless", Case(partial(few_left, scoreless), 4)
    yield "stuck", Case(stuck, TO_THE_END)
    yield "stuck, exchanges limited", Case(partial(stuck, (1, 0)), TO_THE_END, limited=True)
    yield "stuck, none left", Case(partial(stuck, (1, 2)), TO_THE_END, limited=True)
    late = partial(few_left, 2, passes=2)
    yield "two passes", Case(late, 4, limited=True)


def few_left(scoreless: int, passes: int = 0) -> Position:
    return replace(late_position(9), scoreless_turns=scoreless, passes=passes)


def stuck(exchanges: tuple[int, int] = (0, 0)) -> Position:
    """Both hold what can hardly be played, and change it."""
    racks = tiles("VVUUUII"), tiles("QWWCCFF")
    return replace(position_of(0, 0), racks=racks, scoreless_turns=4, exchanges=exchanges)


CASES = dict(cases())


@cache
def simulated(name: str) -> tuple[list[RankedMove], Simulation]:
    case = CASES[name]
    compared = candidates(case.position, case.count)
    simulation = Simulation(
        [case.generator],
        case.position,
        compared,
        None if case.by_points else win_table(),
        plies=case.plies,
        seed=case.seed,
        first=SAMPLES,
        rule="equal",
        belief=case.belief,
    )
    simulation.advance(SAMPLES * len(compared))
    return compared, simulation


@cache
def played(name: str) -> list[list[Rollout]]:
    """By candidate, by sample."""
    case = CASES[name]
    compared, simulation = simulated(name)
    table = None if case.by_points else win_table()
    slow = SlowRollouts(
        case.generator, scowl(), case.position, table, case.plies, case.seed, case.belief
    )
    samples = range(1 if simulation.exact else SAMPLES)
    return [[slow.of(one, sample) for sample in samples] for one in compared]


@pytest.mark.parametrize("name", CASES)
def test_each_sample_and_its_turns_are_those_of_the_twin(name: str) -> None:
    compared, simulation = simulated(name)
    outcomes = simulation._results
    (tally,) = outcomes.tallies
    for one, rollouts in enumerate(played(name)):
        count = len(rollouts)  # an empty bag needs one alone
        worths = [(each.win, each.gained, each.lead) for each in rollouts]
        assert outcomes.values[:, one, :count].T.tolist() == [list(each) for each in worths]
        assert not outcomes.values[:, one, count:].any()
        assert tally.samples[one] == count
        assert tally.sums[one].tolist() == np.sum(worths, axis=0).tolist()
        by_ply = list(zip_turns(rollouts))
        plies = simulation.plies_of(compared[one].move)
        assert [ply.turns for ply in plies] == [len(turns) for turns in by_ply]
        for ply, turns in zip(plies, by_ply, strict=True):
            scores = [score for _, score, _ in turns]
            assert ply.score == pytest.approx(np.mean(scores))
            assert ply.score_deviation == pytest.approx(np.std(scores), abs=1e-6)
            assert ply.bingos == pytest.approx(np.mean([bingo for _, _, bingo in turns]))


def zip_turns(rollouts: Sequence[Rollout]) -> Iterator[list[Any]]:
    for ply in range(max(len(rollout.turns) for rollout in rollouts)):
        yield [rollout.turns[ply] for rollout in rollouts if ply < len(rollout.turns)]


@pytest.mark.parametrize(
    ("position", "plies"),
    [
        (partial(position_of, 5, 9), 4),
        (partial(late_position, 9), TO_THE_END),
        (partial(late_position, 1), TO_THE_END),
    ],
)
def test_with_a_baseline_a_sample_is_what_is_known_and_what_it_gained_since(
    position: Callable[[], Position], plies: int
) -> None:
    begun = position()
    compared = candidates(begun, 5)
    known = np.random.default_rng(1).random((len(compared), 3))

    def values(plies: int, baseline: Baseline | None = None) -> npt.NDArray[np.int64]:
        simulation = Simulation(
            [generator()],
            begun,
            compared,
            win_table(),
            plies=plies,
            first=SAMPLES,
            rule="equal",
            baseline=baseline,
        )
        simulation.advance(SAMPLES * len(compared))
        return simulation._results.values[:, :, :SAMPLES].astype(np.int64)

    gained = values(plies) - values(2)
    offset = np.round(known * UNITS).astype(np.int64).T[:, :, np.newaxis]
    baseline = Baseline(2, known @ Utility().weights, known, 0.01)
    assert (values(plies, baseline) == gained + offset).all()
    assert gained.any()


# --- what the opponent is dealt -------------------------------------------------------------------

DEALS = 3_000


def deals(
    belief: LeavePrior | None,
) -> tuple[list[tuple[int, ...]], list[int], npt.NDArray[np.int64]]:
    """Give racks of the opponent, the tile that the mover draws next, and how many are unseen."""
    position = position_of(8, 1)
    slow = SlowRollouts(generator(), scowl(), position, None, 2, 3, belief)
    dealt = [slow.deal(sample) for sample in range(DEALS)]
    counts = np.array(unseen(position, position.on_turn, RULES))
    return [one.dealt for one in dealt], [one.bag[0] for one in dealt], counts


def unlikely(found: Sequence[int], among: int, chances: npt.NDArray[np.float64]) -> bool:
    """Tell whether these numbers of cases hardly come of such chances; rare cases count as one."""
    expected = np.array(chances) * among
    rare = expected < 5
    seen = np.array(found, float)
    observed = np.append(seen[~rare], seen[rare].sum())
    due = np.append(expected[~rare], expected[rare].sum())
    kept = due > 0
    assert observed[~kept].sum() == 0
    square = ((observed[kept] - due[kept]) ** 2 / due[kept]).sum()
    return bool(chdtrc(kept.sum() - 1, square) < 0.001)


def chances_of(total: int, kind: int, drawn: int) -> npt.NDArray[np.float64]:
    """Give how likely each number of tiles of a kind is among those drawn."""
    ways = [comb(kind, count) * comb(total - kind, drawn - count) for count in range(drawn + 1)]
    return np.array(ways) / comb(total, drawn)


def test_holdings_come_as_often_as_they_weigh() -> None:
    holdings = [tiles(text) for text in ("AEINRST", "DEILORT", "AEGNORU", "EEIIOOU")]
    racks, _, _ = deals(leave_prior(holdings, [3.0, 1.0, 0.5, 6.0]))
    found = [racks.count(holding) for holding in holdings]
    assert sum(found) == DEALS
    assert not unlikely(found, DEALS, np.array([3.0, 1.0, 0.5, 6.0]) / 10.5)


@pytest.mark.parametrize("known", ["", "EEQU"])
def test_what_is_not_known_is_drawn_from_what_is_unseen_besides(known: str) -> None:
    holding = tiles(known)
    racks, drawn, counts = deals(leave_prior([holding], [0.01]) if known else None)
    rest = counts.copy()
    np.subtract.at(rest, list(holding), 1)
    total, open_ = int(rest.sum()), RULES.rack_size - len(holding)
    for tile in np.flatnonzero(rest >= 4).tolist():
        others = [rack.count(tile) - holding.count(tile) for rack in racks]
        assert min(others) >= 0
        chances = chances_of(total, int(rest[tile]), open_)
        seen = np.bincount(others, minlength=open_ + 1)
        assert not unlikely(seen.tolist(), DEALS, chances), tile
    first = np.bincount(drawn, minlength=len(counts))
    assert not unlikely(first.tolist(), DEALS, rest / total)

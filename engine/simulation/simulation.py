"""Simulation: ranking candidates by rolling each of them out many times.

A rollout yields an equity and a win probability (``engine.kernels.rollouts``). Samples go where
they help to decide (``engine.simulation.sampling``). A simulation knows no clock.

Results depend on the seed and the number of rollouts alone, not on how the work was sliced nor on
the number of threads.

Candidates are compared by *utility*: the win probability, blended with the squashed lead, which
decides if all candidates win or all lose.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from engine.inference.leave_prior import LeavePrior
from engine.movegen.evaluation import POINT
from engine.movegen.generator import Generator, RankedMove
from engine.rules.moves import Move
from engine.rules.position import Position, Rack, bag_count
from engine.rules.rules import check_move
from lexicons.win_probability import WinProbabilities

from .arm_statistics import ArmStatistics, Prior, shrink
from .rollout_input import (
    BY_POINTS,
    Baseline,
    Utility,
    believed,
    chances,
    holdings,
    packed_candidates,
    scene,
    static_prior,
)
from .rollout_results import EQUITY, LEAD, WIN, Difference, Ply, RolloutResults
from .rollout_workers import RolloutWorkers
from .sampling import RULES

_FEWEST = 192  # samples of a round
_MOST = 4_096
_GROWTH = 8  # a round has all samples so far, divided by this


@dataclass(frozen=True)
class Estimate:
    """Estimates of one candidate."""

    move: Move
    score: int  # points
    leave: Rack
    static: int  # equity, thousandths of a point
    samples: int
    win: float  # probability, from 0 to 1; a tie counts half
    win_error: float  # standard error
    equity: float
    """Points gained on the opponent since before the move, the last leaves included; the static
    equity until there are samples."""
    equity_error: float  # standard error


class Simulation:
    """Rollouts of some candidates of a position.

    Args:
        generators: one per thread, for exclusive use.
        position: with the mover's rack; if the opponent's is known it is used.
        candidates: legal moves of the position, each once.
        win_probabilities: by spread and unseen tiles; None: candidates are compared by points.
        plies: turns after a candidate, unless the game ends.
        first: samples of each candidate in the first round, at least 2.
        rule: how samples are shared out: ``top-two``, ``elimination`` or ``equal``.
        belief: what the opponent may hold; by default anything.
        utility: weights of wins, leads and points; by default mostly wins.
        use_prior: start from static equity, or from the baseline; keeps short simulations from
            choosing by luck.
        short: rollouts in all, or fewer if the leader is certain, after which the prior no longer
            counts; certain is then what is so by samples alone. None: it counts to the end.
        baseline: results of shorter rollouts of the candidates.
        limit: most rollouts of all candidates together; the first round is made in any case.

    Raises:
        ValueError: no candidate, generator or ply, an unknown rule, a belief that the unseen tiles
            do not allow, or a position that generators refuse.
    """

    def __init__(
        self,
        generators: Sequence[Generator],
        position: Position,
        candidates: Sequence[RankedMove],
        win_probabilities: WinProbabilities | None,
        *,
        plies: int = 2,
        seed: int = 0,
        first: int = 16,
        rule: str = "top-two",
        belief: LeavePrior | None = None,
        utility: Utility | None = None,
        use_prior: bool = True,
        short: int | None = None,
        baseline: Baseline | None = None,
        limit: int | None = None,
    ) -> None:
        if not candidates or not generators or plies < 1:
            raise ValueError(
                f"{len(candidates)} candidates, {len(generators)} generators, {plies} plies; a "
                "simulation takes one or more of each"
            )
        if first < 2:
            raise ValueError(f"first is {first}; at least 2 samples are needed")
        if rule not in RULES:
            raise ValueError(f"no rule is called {rule!r}; known: {', '.join(RULES)}")
        self.position = position
        self.candidates = tuple(candidates)
        self._first = first
        self._rule = RULES[rule]
        self._limit, self._short = limit, short
        self._utility = utility or (Utility() if win_probabilities is not None else BY_POINTS)
        rules = generators[0].rules
        begins = scene(
            position,
            rules,
            plies,
            seed,
            scale=self._utility.scale,
            baseline=baseline.plies if baseline else 0,
        )
        bag = bag_count(position, rules)
        for candidate in candidates:
            check_move(position, candidate.move, rules, None, bag)
        self.plies = begins.plies
        self.exact = len(begins.hidden) == begins.opponent_tiles  # then one sample suffices
        self._results = RolloutResults(len(candidates), len(generators), begins.plies, self.exact)
        baseline_values = (
            begins,
            holdings(believed(position, begins, belief, rules), rules),
            chances(win_probabilities),
            packed_candidates(candidates, generators[0].leaves, baseline),
        )
        self._workers = RolloutWorkers(generators, position, baseline_values, self._results)
        self._planned = np.zeros(len(candidates), np.int64)
        self._standing: ArmStatistics | None = None
        self._prior: Prior | None = None
        if use_prior:
            self._prior = (
                Prior(baseline.means, self._utility.win * baseline.deviation)
                if baseline
                else static_prior(candidates, begins, win_probabilities, self._utility)
            )

    def advance(self, rollouts: int) -> int:
        """Make up to ``rollouts`` more rollouts; return their number."""
        done = 0
        while done < rollouts:
            if self._workers.is_idle and not self._plan():
                break
            done += self._workers.work(rollouts - done)
            self._standing = None
        return done

    def _plan(self) -> bool:
        count = len(self.candidates)
        if self.exact:
            wanted = np.full(count, 0 if self._planned.any() else 1)
        elif not self._planned.any():
            wanted = np.full(count, self._first)
        else:
            so_far = int(self._planned.sum())
            if self._short is not None and (so_far >= self._short or self.statistics.is_certain):
                self._prior = self._standing = self._short = None
            size = min(max(_FEWEST, so_far // _GROWTH), _MOST)
            if self._limit is not None:
                size = min(size, self._limit - so_far)
            wanted = self._rule(self.statistics, max(size, 0))
        if not wanted.any():
            return False
        self._results.make_room(int((self._planned + wanted).max()))
        for candidate in np.flatnonzero(wanted).tolist():
            self._workers.plan(candidate, int(self._planned[candidate]), int(wanted[candidate]))
        self._planned += wanted
        return True

    @property
    def rollouts(self) -> int:
        """Rollouts made."""
        return int(self._results.samples.sum())

    @property
    def is_sampled(self) -> bool:
        """Whether every candidate has the samples to be compared."""
        return bool((self._results.samples >= (1 if self.exact else self._first)).all())

    @property
    def statistics(self) -> ArmStatistics:
        """Statistics of all samples so far, in the unit of ``Utility``.

        Raises:
            ValueError: the first round is not over, or the simulation is exact.
        """
        if self.exact or not self.is_sampled:
            raise ValueError("candidates don't have the samples yet by which they are compared")
        if self._standing is None:
            adjusted = self._results.adjusted(self._utility.weights)
            shrunk = shrink(adjusted, self._results.samples, self._prior)
            self._standing = replace(shrunk, equal=self._results.equal_to(shrunk.leader))
        return self._standing

    @property
    def leader(self) -> RankedMove:
        """The best candidate so far; the first until all are sampled."""
        return self.candidates[self._order()[0]]

    @property
    def is_certain(self) -> bool:
        """Whether more samples are unlikely to change the leader."""
        if len(self.candidates) == 1:
            return True
        return self.is_sampled and (self.exact or (not self._short and self.statistics.is_certain))

    @property
    def regret(self) -> float:
        """Expected cost of choosing the leader, in the unit of ``Utility``; ∞ before samples."""
        if self.is_certain:
            return 0.0
        return self.statistics.regret if self.is_sampled else math.inf

    def estimates(self) -> list[Estimate]:
        """Return estimates of all candidates, the best first."""
        samples = self._results.samples
        wins, gains = self._results.means(WIN), self._results.means(EQUITY)
        return [
            Estimate(
                self.candidates[which].move,
                self.candidates[which].score,
                self.candidates[which].leave,
                self.candidates[which].equity,
                int(samples[which]),
                min(max(float(wins[0][which]), 0.0), 1.0) if samples[which] else 0.5,
                float(wins[1][which]),
                float(gains[0][which]) if samples[which] else self.candidates[which].equity / POINT,
                float(gains[1][which]),
            )
            for which in self._order()
        ]

    def baseline(self, moves: Sequence[Move], deviation: float) -> Baseline:
        """Return what is known of some candidates, shrunk, for longer rollouts of them.

        Raises:
            ValueError: one of the moves is no candidate, or as ``statistics``.
        """
        which = [self._index(move) for move in moves]
        values = np.stack([self._results.means(each)[0][which] for each in (WIN, EQUITY, LEAD)], 1)
        means = self.statistics.means[which]
        weights = np.array(self._utility.weights)
        # The shrinkage is applied to the win chance or, if that has no weight, to another value.
        measure = int(np.argmax(weights > 0))
        values[:, measure] += (means - (values * weights).sum(axis=1)) / weights[measure]
        return Baseline(self.plies, means, values, deviation)

    def difference(self, first: Move, second: Move) -> Difference:
        """Return the lead of ``first`` over ``second``, corrected for common luck.

        Raises:
            ValueError: one of them is no candidate.
        """
        return self._results.difference(self._index(first), self._index(second))

    def plies_of(self, move: Move) -> list[Ply]:
        """Return statistics of the turns after a candidate, as far as rollouts reached.

        Raises:
            ValueError: it is no candidate.
        """
        return self._results.plies(self._index(move))

    def _index(self, move: Move) -> int:
        for which, candidate in enumerate(self.candidates):
            if candidate.move == move:
                return which
        raise ValueError(f"{move} is none of the {len(self.candidates)} candidates")

    def _order(self) -> list[int]:
        if not self.exact and not self.is_sampled:
            return list(range(len(self.candidates)))
        if self.exact:
            means = self._results.means(self._utility.weights)[0]
            means = np.where(self._results.samples, means, -math.inf)
        else:
            means = self.statistics.means
        order: list[int] = np.argsort(-means, kind="stable").tolist()
        return order

"""Final spreads of a candidate in the pre-endgame, and their bounds, case by case."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from engine.endgame.solver import Solution
from engine.movegen.generator import RankedMove
from lexicons.arrays import F64

from .scenarios import FullPosition

EPSILON = 1e-9  # tolerance of sums of weights


class Branch:
    """An outcome of a case: an endgame, or a finished game; spreads are final, for ``seat``.

    ``is_exact`` says whether the game is certain to reach it.
    """

    def __init__(self, full: FullPosition, seat: int, *, is_exact: bool = True) -> None:
        self.position = full.position
        self.is_exact = is_exact
        self._lead = self.position.spread(seat)
        self._sign = 1 if self.position.on_turn == seat else -1
        self.final = float(self._lead)  # best guess
        self.low, self.high = -np.inf, np.inf  # proven bounds
        self.is_exhausted = False  # whether the solver can find no more, though it is not proven
        if full.over:
            self.low = self.high = self.final

    def is_open(self, *, outcome_only: bool) -> bool:
        """Return whether the spread is undecided; with ``outcome_only``, win, draw or loss."""
        if self.is_exhausted:
            return False
        if outcome_only:
            return bool(np.sign(self.low) != np.sign(self.high))
        return self.low < self.high

    def take(self, solution: Solution, *, outcome_only: bool) -> None:
        """Update the bounds by a solver's result."""
        for gain, side in ((solution.floor, 1), (solution.ceiling, -1)):
            if gain is None:
                continue
            final = self._lead + self._sign * gain
            if side == self._sign:
                self.low = max(self.low, final)
            else:
                self.high = min(self.high, final)
        if not outcome_only:  # else the value is only a rough guess
            self.final = float(self._lead + self._sign * solution.value)
        self.final = min(max(self.final, self.low), self.high)


@dataclass(slots=True)
class Trial:
    """A candidate in one case with one order of the bag."""

    full: FullPosition  # before the candidate is played
    weight: float
    branches: list[Branch] = field(default_factory=list)
    """What the opponent may choose from; empty before the first look."""
    is_guess: bool = False  # whether the branches are a static opponent's, for a first look
    visits: int = 0

    def open(self, *, outcome_only: bool) -> list[Branch]:
        """Return the undecided branches that the opponent may choose, the worst for us first."""
        worst = min((branch.high for branch in self.branches), default=np.inf)
        if outcome_only and worst < 0:
            return []
        undecided = [
            branch
            for branch in self.branches
            if branch.low < worst and branch.is_open(outcome_only=outcome_only)
        ]
        return sorted(undecided, key=lambda branch: branch.final)


@dataclass(frozen=True)
class Assessment:
    """A candidate's estimate and proven bounds; spreads are final, in points."""

    win: float
    spread: float
    win_low: float
    win_high: float
    spread_low: float
    spread_high: float

    def beats(self, other: Assessment) -> bool:
        """Return whether it is proven no worse: by wins, then by spread."""
        if self.win_low > other.win_high + EPSILON:
            return True
        is_as_good = self.win_low >= other.win_high - EPSILON
        return is_as_good and self.spread_low >= other.spread_high - EPSILON


class CandidateBounds:
    """A candidate and its trials, by case and order of the bag; all weights sum to 1."""

    def __init__(
        self, ranked: RankedMove, trials: Sequence[Sequence[Trial]], all_orders: bool
    ) -> None:
        self.ranked = ranked
        self.nodes = 0
        self._is_exact = all_orders
        self.trials = trials
        self._starts = np.cumsum([0, *map(len, trials)])
        count = int(self._starts[-1])
        self.weights: F64 = np.array([trial.weight for case in trials for trial in case])
        self.final: F64 = np.zeros(count)
        self.low: F64 = np.full(count, -np.inf)
        self.high: F64 = np.full(count, np.inf)
        self.looked = np.zeros(count, np.bool_)
        self._standing: Assessment | None = None

    def note(self, case: int, order: int) -> None:
        """Update the bounds by a trial; the opponent chooses the worst branch for us."""
        trial, at = self.trials[case][order], int(self._starts[case]) + order
        self.final[at] = min(branch.final for branch in trial.branches)
        if not trial.is_guess:
            self.low[at] = min(branch.low for branch in trial.branches)
            self.high[at] = min(branch.high for branch in trial.branches)
            self._is_exact &= all(branch.is_exact for branch in trial.branches)
        self.looked[at] = True
        self._standing = None

    @property
    def cases(self) -> int:
        """Number of cases looked at."""
        done = np.add.reduceat(~self.looked, self._starts[:-1]) == 0
        return int(done.sum())

    @property
    def is_proven(self) -> bool:
        """Whether the outcome of every case is proven."""
        return self._is_exact and bool((np.sign(self.low) == np.sign(self.high)).all())

    @property
    def assessment(self) -> Assessment:
        """Estimate by the trials looked at, at least one, and bounds by all."""
        if self._standing is None:
            weights = self.weights[self.looked] / self.weights[self.looked].sum()
            self._standing = Assessment(
                win=float(weights @ _won(self.final[self.looked])),
                spread=float(weights @ self.final[self.looked]),
                win_low=float(self.weights @ _won(self.low)),
                win_high=float(self.weights @ _won(self.high)),
                spread_low=float(self.weights @ self.low),
                spread_high=float(self.weights @ self.high),
            )
        return self._standing

    def shares(self) -> tuple[float, float, float]:
        """Return the shares of wins, draws and losses in the trials looked at, at least one."""
        weights, final = self.weights[self.looked], self.final[self.looked]
        wins, draws, losses = (float(weights[np.sign(final) == s].sum()) for s in (1, 0, -1))
        total = wins + draws + losses
        return wins / total, draws / total, losses / total


def _won(spreads: F64) -> F64:
    return (np.sign(spreads) + 1) / 2

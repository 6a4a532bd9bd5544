"""What is known of a candidate in the pre-endgame: final spreads and their bounds, case by case."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from engine.endgame import Solution
from engine.movegen.generator import RankedMove

from .full_position import FullPosition

__all__ = ["EPSILON", "Assessment", "Branch", "CandidateBounds", "Trial"]

EPSILON = 1e-9
"""Sums of weights that differ by less are equal."""

Reals = npt.NDArray[np.float64]


class Branch:
    """One way on from a case: an endgame, or a game that is over.

    Spreads are final ones, in points, from the side of a seat.

    Args:
        deal: with an empty bag, or over.
        seat: whose side is taken.
        is_exact: whether it is certain that the game comes to this.
    """

    def __init__(self, full: FullPosition, seat: int, *, is_exact: bool = True) -> None:
        self.position = full.position
        self.is_exact = is_exact
        scores = self.position.scores
        self._lead = scores[seat] - scores[1 - seat]
        self._sign = 1 if self.position.on_turn == seat else -1
        self.final = float(self._lead)
        """The best guess."""
        self.low, self.high = -np.inf, np.inf
        """Proven: it is not less and not more."""
        self.is_exhausted = False
        """Whether the solver can't find out more, though it is not proven."""
        if full.over:
            self.low = self.high = self.final

    def is_open(self, *, outcome_only: bool) -> bool:
        """Return whether there is something to find out."""
        if self.is_exhausted:
            return False
        if outcome_only:
            return bool(np.sign(self.low) != np.sign(self.high))
        return self.low < self.high

    def take(self, solution: Solution, *, outcome_only: bool) -> None:
        """Take in what a solver says of the endgame."""
        bounds = []
        if solution.floor is not None:
            bounds.append((solution.floor, 1))
        if solution.ceiling is not None:
            bounds.append((solution.ceiling, -1))
        for gain, side in bounds:
            final = self._lead + self._sign * gain
            if side == self._sign:
                self.low = max(self.low, final)
            else:
                self.high = min(self.high, final)
        if not outcome_only:  # else the value is a guess at the outcome, and a bad one
            self.final = float(self._lead + self._sign * solution.value)
        self.final = min(max(self.final, self.low), self.high)


@dataclass(slots=True)
class Trial:
    """A candidate in one case, with one order of the bag."""

    full: FullPosition
    """Before the candidate is played."""
    weight: float
    branches: list[Branch] = field(default_factory=list)
    """The opponent's choice is among them, where it has one; none until the trial is looked at."""
    is_guess: bool = False
    """Whether the branches are those of a static opponent, for a first look."""
    visits: int = 0

    def open(self, *, outcome_only: bool) -> list[Branch]:
        """Return the branches that may decide and have something to find out, the worst first.

        The opponent takes the branch that is worst for us.
        """
        worst = min((branch.high for branch in self.branches), default=np.inf)
        if outcome_only and worst < 0:
            return []
        found = [
            branch
            for branch in self.branches
            if branch.low < worst and branch.is_open(outcome_only=outcome_only)
        ]
        return sorted(found, key=lambda branch: branch.final)


@dataclass(frozen=True)
class Assessment:
    """How a candidate stands; spreads are final ones, in points."""

    win: float
    spread: float
    win_low: float
    win_high: float
    spread_low: float
    spread_high: float

    def beats(self, other: Assessment) -> bool:
        """Return whether it is proven to be as good or better: wins first, then spread."""
        if self.win_low > other.win_high + EPSILON:
            return True
        is_as_good = self.win_low >= other.win_high - EPSILON
        return is_as_good and self.spread_low >= other.spread_high - EPSILON


class CandidateBounds:
    """A candidate and its trials.

    Args:
        ranked: the candidate.
        trials: by case, and in each by the order of the bag; weights of all are 1 together.
        all_orders: whether no order of the bag was left out.
    """

    def __init__(
        self, ranked: RankedMove, trials: Sequence[Sequence[Trial]], all_orders: bool
    ) -> None:
        self.ranked = ranked
        self.nodes = 0
        self._is_exact = all_orders
        self.trials = trials
        self._starts = np.cumsum([0, *map(len, trials)])
        count = int(self._starts[-1])
        self.weights: Reals = np.array([trial.weight for case in trials for trial in case])
        self.final: Reals = np.zeros(count)
        self.low: Reals = np.full(count, -np.inf)
        self.high: Reals = np.full(count, np.inf)
        self.looked = np.zeros(count, np.bool_)
        self._standing: Assessment | None = None

    def note(self, case: int, order: int) -> None:
        """Take in what became of a trial; the opponent chooses among its branches."""
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
        """In how many cases it was looked at."""
        done = np.add.reduceat(~self.looked, self._starts[:-1]) == 0
        return int(done.sum())

    @property
    def is_proven(self) -> bool:
        """Whether the outcome of every case is."""
        return self._is_exact and bool((np.sign(self.low) == np.sign(self.high)).all())

    @property
    def assessment(self) -> Assessment:
        """How it stands by the trials looked at, one at least, and between which bounds."""
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
        """Return the shares of wins, draws and losses among the trials looked at, one at least."""
        weights, final = self.weights[self.looked], self.final[self.looked]
        wins, draws, losses = (float(weights[np.sign(final) == s].sum()) for s in (1, 0, -1))
        total = wins + draws + losses
        return wins / total, draws / total, losses / total


def _won(spreads: Reals) -> Reals:
    """Count a win 1, a tie half."""
    return (np.sign(spreads) + 1) / 2

"""What came of the rollouts of some candidates: sums of all threads, and what they mean."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from engine.kernels.equity_terms import POINT
from engine.kernels.rollouts import CERTAIN, Tally

from .arm_statistics import Adjusted, adjust, widening

__all__ = ["Difference", "Ply", "RolloutResults"]

Counts: TypeAlias = npt.NDArray[np.int64]
Reals: TypeAlias = npt.NDArray[np.float64]

_REMEMBERED = 1 << 16
"""Samples of each candidate that are kept. One that has more is compared without what it has in
common with the others; by then errors are a thousandth of a win."""


_TELLING = 64  # equal samples that make two candidates equals

_Measure: TypeAlias = tuple[float, float]


@dataclass(frozen=True)
class Ply:
    """What one turn after a candidate looks like."""

    turns: int
    """Rollouts that came so far."""
    score: float
    """Mean, in points."""
    score_deviation: float
    """Standard deviation, in points."""
    bingos: float
    """How often all tiles were laid down, from 0 to 1."""


class Difference(NamedTuple):
    """How far one candidate is ahead of another, with standard errors, ∞ where nothing is known.

    1.96 errors either way are 95 %: with few samples they are larger, as Student's t says.
    """

    win: float
    win_error: float
    equity: float
    """Points."""
    equity_error: float


class RolloutResults:
    """Sums over samples by thread, and the samples themselves as far as they are remembered.

    What is asked for as *so much a win, so much a point* is a measure: 1 and 0 are probabilities to
    win, 0 and 1 equities in points. ``values`` are the samples, ``int32[2, candidates, samples]``:
    first wins, then points, in the units of ``engine.kernels.rollouts``.

    Args:
        candidates: how many there are.
        threads: how many work them out.
        plies: how many turns are taken after a candidate at most.
        exact: whether nothing is left to chance, so that one sample of each says it all.
    """

    def __init__(self, candidates: int, threads: int, plies: int, exact: bool) -> None:
        self.tallies = [_empty(candidates, plies) for _ in range(threads)]
        self.values = np.zeros((2, candidates, 0), np.int32)
        self.exact = exact
        self._adjusted: dict[_Measure, tuple[int, Adjusted]] = {}

    def make_room(self, samples: int) -> None:
        """Remember so many samples of each candidate, within bounds."""
        _, count, before = self.values.shape
        if before < min(samples, _REMEMBERED):
            values = np.zeros((2, count, min(2 * samples, _REMEMBERED)), np.int32)
            values[:, :, :before] = self.values
            self.values = values

    @property
    def samples(self) -> Counts:
        """How many each candidate has."""
        return self._sum("samples")

    def means(self, win: float, point: float) -> tuple[Reals, Reals]:
        """Return means and standard errors, ∞ where unknown, of so much a win, so much a point."""
        samples = self.samples
        if not self.exact and (samples > 1).all():
            adjusted = self.adjusted(win, point)
            return adjusted.means, adjusted.errors(samples)
        sums = _weighted(self._sum("sums").T, win, point)
        errors = np.where(samples > 0, 0.0 if self.exact else math.inf, math.inf)
        return sums / np.maximum(samples, 1), errors

    def adjusted(self, win: float, point: float) -> Adjusted:
        """Estimate means of so much a win, so much a point; all have two samples or more."""
        samples = self.samples
        total, known = self._adjusted.get((win, point), (0, None))
        if known is None or total != samples.sum():
            known = self._adjust(samples, win, point)
            self._adjusted[win, point] = int(samples.sum()), known
        return known

    def _adjust(self, samples: Counts, win: float, point: float) -> Adjusted:
        sums = _weighted(self._sum("sums").T, win, point)
        squares = _weighted(self._sum("squares").T, win**2, point**2, 2)
        squares += 2 * win * point * self._sum("products") / (CERTAIN * POINT)
        # Of those with the most samples the best: ties are the rule while all have the same.
        reference = int(np.lexsort((-sums / samples, -samples))[0])
        values = _weighted(self.values[:, :, : samples.max()], win, point)
        adjusted = adjust(samples, sums, squares, values, reference)
        return self._doubted(adjusted, win, reference)

    def _doubted(self, adjusted: Adjusted, win: float, reference: int) -> Adjusted:
        """Widen the variance of wins by a quarter of a sample more, won or lost.

        Where nearly all samples are won they say little of those that are lost. How much is needed
        was measured: ``docs/results/simulation.md``.
        """
        samples = self.samples
        shares = (self._sum("sums")[:, 0] / CERTAIN + 0.5) / (samples + 1)
        doubt = win**2 * shares * (1 - shares) / (4 * samples)
        residuals = adjusted.residuals + doubt
        residuals[reference] = 0.0
        variance = adjusted.reference_variance + float(doubt[reference] / samples[reference])
        return adjusted._replace(residuals=residuals, reference_variance=variance)

    def equal_to(self, one: int) -> npt.NDArray[np.bool_]:
        """Say which candidates had the same win and equity as one in every sample remembered.

        With few samples in common nobody is: two words in different corners may seem to be.
        """
        most = np.minimum(np.minimum(self.samples, self.samples[one]), self.values.shape[2])
        equal = np.zeros(len(most), np.bool_)
        for other, n in enumerate(most.tolist()):
            equal[other] = n >= _TELLING and bool(
                (self.values[:, other, :n] == self.values[:, one, :n]).all()
            )
        return equal

    def difference(self, one: int, other: int) -> Difference:
        """Compute how far apart two candidates are."""
        pair = [one, other]
        found: list[float] = []
        for measure in ((1.0, 0.0), (0.0, 1.0)):
            means, _ = self.means(*measure)
            found += [float(means[one] - means[other]), self._error_between(pair, measure)]
        return Difference(*found)

    def _error_between(self, pair: list[int], measure: tuple[float, float]) -> float:
        if self.exact or pair[0] == pair[1]:
            return 0.0
        if (self.samples < 2).any():
            return math.inf
        adjusted = self.adjusted(*measure)
        own = adjusted.residuals[pair] / self.samples[pair]
        slopes = adjusted.slopes[pair]
        luck = (slopes[0] - slopes[1]) ** 2 * adjusted.reference_variance
        # Who has fewer samples decides how well the variance is known.
        return math.sqrt(float(own.sum() + luck)) * float(widening(self.samples[pair]).max())

    def plies(self, which: int) -> list[Ply]:
        """Compute what the turns after a candidate look like, as far as any rollout came."""
        turns, scores = self._sum("turns")[which], self._sum("scores")[which]
        squares, bingos = self._sum("score_squares")[which], self._sum("bingos")[which]
        found: list[Ply] = []
        for ply in range(np.count_nonzero(turns)):
            count, mean = int(turns[ply]), float(scores[ply] / turns[ply])
            deviation = math.sqrt(max(float(squares[ply]) / count - mean * mean, 0.0))
            found.append(Ply(count, mean, deviation, float(bingos[ply] / count)))
        return found

    def _sum(self, field: str) -> Counts:
        """Add up what the threads have."""
        total: Counts = sum(getattr(one, field) for one in self.tallies)
        return total


def _empty(candidates: int, plies: int) -> Tally:
    return Tally(
        samples=np.zeros(candidates, np.int64),
        sums=np.zeros((candidates, 2), np.int64),
        squares=np.zeros((candidates, 2), np.int64),
        products=np.zeros(candidates, np.int64),
        turns=np.zeros((candidates, plies), np.int64),
        scores=np.zeros((candidates, plies), np.int64),
        score_squares=np.zeros((candidates, plies), np.int64),
        bingos=np.zeros((candidates, plies), np.int64),
    )


def _weighted(pair: npt.NDArray[Any], win: float, point: float, power: int = 1) -> Reals:
    """Add wins and equities, or their squares, up to one measure."""
    weighted: Reals = pair[0] * (win / CERTAIN**power) + pair[1] * (point / POINT**power)
    return weighted

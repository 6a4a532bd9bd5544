"""Results of rollouts: sums over all threads, and estimates from them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np

from engine.kernels.rollouts import CERTAIN, SampleSums
from lexicons.arrays import F64, I64, Bools

from .arm_statistics import Adjusted, adjust, widening
from .rollout_input import UNITS

_REMEMBERED = 1 << 16
"""Samples remembered of each candidate. Beyond it common luck is ignored; by then errors are a
thousandth of a win."""


_TELLING = 64  # fewest samples, all equal, by which two candidates count as equal

Measure: TypeAlias = tuple[float, float, float]
"""Weights of a win, a point and a squashed lead."""
WIN: Measure = (1.0, 0.0, 0.0)
EQUITY: Measure = (0.0, 1.0, 0.0)
LEAD: Measure = (0.0, 0.0, 1.0)


@dataclass(frozen=True)
class Ply:
    """Statistics of one turn after a candidate."""

    turns: int  # rollouts that reached it
    score: float  # mean, in points
    score_deviation: float  # standard deviation, in points
    bingos: float  # share of bingos, from 0 to 1


class Difference(NamedTuple):
    """Lead of one candidate over another; errors (∞ if unknown) are widened by Student's t."""

    win: float
    win_error: float
    equity: float  # points
    equity_error: float
    lead: float = 0.0  # squashed, from 0 to 1
    lead_error: float = 0.0


class RolloutResults:
    """Sums over samples by thread, and the samples remembered.

    ``values`` are the samples, ``int32[3, candidates, samples]``: wins, equities, squashed leads,
    in the units of ``engine.kernels.rollouts``. If ``exact`` one sample of each suffices.
    """

    def __init__(self, candidates: int, threads: int, plies: int, exact: bool) -> None:
        self.tallies = [_empty(candidates, plies) for _ in range(threads)]
        self.values = np.zeros((3, candidates, 0), np.int32)
        self.exact = exact
        self._adjusted: dict[Measure, tuple[int, Adjusted]] = {}

    def make_room(self, samples: int) -> None:
        """Make room to remember ``samples`` samples of each candidate, up to the limit."""
        _, count, before = self.values.shape
        if before < min(samples, _REMEMBERED):
            values = np.zeros((3, count, min(2 * samples, _REMEMBERED)), np.int32)
            values[:, :, :before] = self.values
            self.values = values

    @property
    def samples(self) -> I64:
        """Samples of each candidate."""
        return self._sum("samples")

    def means(self, measure: Measure) -> tuple[F64, F64]:
        """Return means and standard errors, by candidate; errors are ∞ if unknown."""
        samples = self.samples
        if not self.exact and (samples > 1).all():
            adjusted = self.adjusted(measure)
            return adjusted.means, adjusted.errors(samples)
        errors = np.where(samples > 0, 0.0 if self.exact else math.inf, math.inf)
        return self._sums(measure) / np.maximum(samples, 1), errors

    def adjusted(self, measure: Measure) -> Adjusted:
        """Estimate means of a measure; every candidate has two samples or more."""
        samples = self.samples
        total, known = self._adjusted.get(measure, (0, None))
        if known is None or total != samples.sum():
            means = self._sums(measure) / samples
            # The best of those with the most samples; at first all have the same number.
            reference = int(np.lexsort((-means, -samples))[0])
            most = samples.max()
            values = np.zeros((len(samples), min(most, self.values.shape[2])))
            for some, weight in zip(self.values, np.array(measure) / UNITS, strict=True):
                if weight:
                    values += weight * some[:, :most]
            known = self._doubted(adjust(samples, means, values, reference), measure[0], reference)
            self._adjusted[measure] = int(samples.sum()), known
        return known

    def _sums(self, measure: Measure) -> F64:
        sums: F64 = (self._sum("sums") * (np.array(measure) / UNITS)).sum(axis=1)
        return sums

    def _doubted(self, adjusted: Adjusted, win: float, reference: int) -> Adjusted:
        """Widen the variance of wins by a quarter of a sample, as measured.

        If nearly all samples are won they say little about losses (``docs/results/simulation.md``).
        """
        samples = self.samples
        # With a baseline samples are differences, so that their sum may be beyond all or nothing.
        shares = ((self._sum("sums")[:, 0] / CERTAIN + 0.5) / (samples + 1)).clip(0.0, 1.0)
        doubt = win**2 * shares * (1 - shares) / (4 * samples)
        residuals = adjusted.residuals + doubt
        residuals[reference] = 0.0
        variance = adjusted.reference_variance + float(doubt[reference] / samples[reference])
        return adjusted._replace(residuals=residuals, reference_variance=variance)

    def equal_to(self, candidate: int) -> Bools:
        """Return which candidates equal ``candidate`` in all values of every sample remembered.

        With few common samples none does: two words in different corners may agree so far.
        """
        most = np.minimum(np.minimum(self.samples, self.samples[candidate]), self.values.shape[2])
        equal = np.zeros(len(most), np.bool_)
        for other, n in enumerate(most.tolist()):
            equal[other] = n >= _TELLING and bool(
                (self.values[:, other, :n] == self.values[:, candidate, :n]).all()
            )
        return equal

    def difference(self, first: int, second: int) -> Difference:
        """Return the lead of ``first`` over ``second``."""
        pair = [first, second]
        values: list[float] = []
        for measure in (WIN, EQUITY, LEAD):
            means, _ = self.means(measure)
            values += [float(means[first] - means[second]), self._error_between(pair, measure)]
        return Difference(*values)

    def _error_between(self, pair: list[int], measure: Measure) -> float:
        if self.exact or pair[0] == pair[1]:
            return 0.0
        if (self.samples < 2).any():
            return math.inf
        adjusted = self.adjusted(measure)
        own = adjusted.residuals[pair] / self.samples[pair]
        slopes = adjusted.slopes[pair]
        luck = (slopes[0] - slopes[1]) ** 2 * adjusted.reference_variance
        # The smaller sample decides how well the variance is known.
        return math.sqrt(float(own.sum() + luck)) * float(widening(self.samples[pair]).max())

    def plies(self, which: int) -> list[Ply]:
        """Return statistics of the turns after a candidate, as far as rollouts reached."""
        turns, scores = self._sum("turns")[which], self._sum("scores")[which]
        squares, bingos = self._sum("score_squares")[which], self._sum("bingos")[which]
        reached: list[Ply] = []
        for ply in range(np.count_nonzero(turns)):
            count, mean = int(turns[ply]), float(scores[ply] / turns[ply])
            deviation = math.sqrt(max(float(squares[ply]) / count - mean * mean, 0.0))
            reached.append(Ply(count, mean, deviation, float(bingos[ply] / count)))
        return reached

    def _sum(self, field: str) -> I64:
        total: I64 = sum(getattr(tally, field) for tally in self.tallies)
        return total


def _empty(candidates: int, plies: int) -> SampleSums:
    return SampleSums(
        samples=np.zeros(candidates, np.int64),
        sums=np.zeros((candidates, 3), np.int64),
        turns=np.zeros((candidates, plies), np.int64),
        scores=np.zeros((candidates, plies), np.int64),
        score_squares=np.zeros((candidates, plies), np.int64),
        bingos=np.zeros((candidates, plies), np.int64),
    )

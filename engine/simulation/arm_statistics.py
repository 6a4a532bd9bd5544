"""How candidates stand after some samples: their means, and how sure the differences are.

Sample ``i`` has the same luck for every candidate (common random numbers), but candidates have
different numbers of samples. So the candidate with the most samples, the *reference*, serves the
others as a control variate: its mean over all its samples tells whether the first ``n`` were lucky
ones, and the mean of a candidate with ``n`` samples is moved by that, times the slope

    β = cov / σ²      of a candidate's samples over those of the reference.

What remains is the *residual* variance. The difference of two candidates then has the variance

    r/n + r'/n' + (β − β')² σ²/N

with residual variances ``r`` and ``r'``, and N samples of the reference, whose own residual is 0.
Residuals of different candidates are taken to be independent, which makes it rather too large.
(Law and Kelton, *Simulation Modeling and Analysis*, on control variates.)

With few samples luck decides who looks best. So means are drawn towards a *prior*, what is thought
of the candidates before any is sampled, as far as samples are few: candidate ``i`` is as much worth
as its prior says, but for a normal deviation of a known size and a constant that is the same for
all and estimated too (an empirical Bayes estimate, as of Efron and Morris 1973).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["Adjusted", "ArmStatistics", "Prior", "adjust", "shrink", "widening"]

Reals: TypeAlias = npt.NDArray[np.float64]
Counts: TypeAlias = npt.NDArray[np.int64]

_NOTHING: Final = 1e-9
"""What rounding may leave of a difference that is none, in wins or as a part of a variance."""
_RISK: Final = 0.01
"""About how often an elimination or the end of a search may be wrong; with fewer than eight
samples of each it is more."""
_FITTED: Final = 5
"""Samples from which on a slope is fitted; through two of them a line always fits."""


class Prior(NamedTuple):
    """What is thought of candidates without samples, but for a constant."""

    means: Reals
    """[candidates] in the unit of the utility."""
    deviation: float
    """How far from that a candidate really is: standard deviation, in the same unit."""


class Adjusted(NamedTuple):
    """Means of one measure that make use of common luck; by candidate."""

    means: Reals
    residuals: Reals
    """Variance of one sample, beyond what the reference's luck says of it."""
    slopes: Reals
    """How much of the reference's luck a candidate has."""
    reference_variance: float
    """Of the mean of the reference."""

    def errors(self, samples: Counts) -> Reals:
        """Return the standard error of each mean, so that 1.96 of them either way are 95 %.

        With few samples it is larger than the root of the variance, as Student's t says.
        """
        squared = self.residuals / samples + self.slopes**2 * self.reference_variance
        errors: Reals = np.sqrt(squared) * widening(samples)
        return errors


def widening(samples: Counts) -> Reals:
    """Compute by what the errors of so few samples are multiplied, since they are estimated
    themselves.

    It is the quantile of Student's t over that of the normal for 97.5 % by two terms of its series
    (Fisher and Cornish 1960), good from about six samples on; a mean and a slope take a degree of
    freedom each.
    """
    freedom = np.maximum(samples - 2, 1)
    factors: Reals = 1 + 1.21 / freedom + 1.44 / freedom**2
    return factors


def adjust(samples: Counts, sums: Reals, squares: Reals, values: Reals, reference: int) -> Adjusted:
    """Estimate means by samples that have their luck in common.

    Args:
        samples: [candidates] how many each has, two or more.
        sums: [candidates] of all samples.
        squares: [candidates] sums of squares.
        values: [candidates, room] the samples, as far as there is room for them.
        reference: the candidate with the most samples.
    """
    means = sums / samples
    variances = np.maximum(squares - sums * means, 0) / (samples - 1)
    residuals, slopes = variances.copy(), np.zeros(len(samples))
    luck = values[reference, : min(int(samples[reference]), values.shape[1])].astype(np.float64)
    for one, n in enumerate(np.minimum(samples, len(luck)).tolist()):
        common = luck[:n] - (before := luck[:n].mean())
        spread = float(common @ common)
        if one == reference or spread == 0 or n < max(samples[one], _FITTED):
            continue  # or what is remembered is not all that there is
        slope = float(common @ values[one, :n]) / spread
        means[one] += slope * (means[reference] - before)
        total = variances[one] * (n - 1)
        unexplained = total - slope * slope * spread
        if unexplained < _NOTHING * total:
            unexplained = 0.0
        # The slope is estimated too: it costs a degree of freedom, and more the more it moves.
        moved = n * (means[reference] - before) ** 2 / spread
        residuals[one] = unexplained / max(n - 2, 1) * (1 + moved)
        slopes[one] = slope
    slopes[reference], residuals[reference] = 1.0, 0.0
    return Adjusted(means, residuals, slopes, float(variances[reference] / samples[reference]))


@dataclass(frozen=True, eq=False)
class ArmStatistics:
    """What is known of the candidates, each with two samples or more; arrays are by candidate."""

    samples: Counts
    means: Reals
    """Of the utility, in any unit."""
    residuals: Reals
    """Variance of one sample, beyond the luck that it has in common with the reference's."""
    slopes: Reals
    """How much of that luck it has."""
    reference_variance: float
    """Of the mean of that luck."""
    prior_variance: float = math.inf
    """Of a candidate about what was thought of it before."""
    equal: npt.NDArray[np.bool_] | None = None
    """Who had the same as the leader in every sample, as far as is known."""

    @property
    def leader(self) -> int:
        """The candidate of the highest mean; of equals the first."""
        return int(np.argmax(self.means))

    @property
    def behind(self) -> Reals:
        """By how much each mean is behind the leader's."""
        behind: Reals = self.means.max() - self.means
        return behind

    @property
    def variances(self) -> Reals:
        """Of one sample, the common luck included."""
        most = self.samples.max()
        variances: Reals = self.residuals + self.slopes**2 * self.reference_variance * most
        return variances

    def errors(self, samples: Counts | None = None) -> Reals:
        """Return the standard error of each ``behind``, by the samples there are or might be."""
        samples = self.samples if samples is None else samples
        leader = self.leader
        own = self.residuals / samples
        own = own / (1 + own / self.prior_variance)
        luck = (self.slopes - self.slopes[leader]) ** 2 * self.reference_variance
        luck = luck * self.samples.max() / samples.max()
        squared = own + own[leader] + luck
        squared[leader] = 0
        # Who has fewer samples decides how well the variance is known.
        errors: Reals = np.sqrt(squared) * widening(np.minimum(samples, samples[leader]))
        return errors

    def scores(self, samples: Counts | None = None) -> Reals:
        """Return by how many errors each is behind: 0 if tied, ∞ if behind with zero error."""
        behind, errors = self.behind, self.errors(samples)
        surely = np.where(behind > _NOTHING, math.inf, 0.0)
        scores: Reals = np.divide(behind, errors, out=surely, where=errors > _NOTHING)
        return scores

    @property
    def twins(self) -> npt.NDArray[np.bool_]:
        """Who is the leader's equal, as far as can be told."""
        twins: npt.NDArray[np.bool_] = (self.behind <= _NOTHING) & (self.errors() <= _NOTHING)
        if self.equal is not None:
            twins |= self.equal
        twins[self.leader] = False
        return twins

    @property
    def boundary(self) -> float:
        """Compute how many standard errors behind is clearly behind.

        ln((ln t + 1) / δ) for the likelihood ratio, shared among the challengers (Garivier and
        Kaufmann, *Optimal Best Arm Identification with Fixed Confidence*, 2016).
        """
        total = max(int(self.samples.sum()), 1)
        challengers = max(len(self.samples) - 1, 1)
        return math.sqrt(2 * math.log((math.log(total) + 1) * challengers / _RISK))

    @property
    def is_certain(self) -> bool:
        """Whether everybody else is clearly behind, or the leader's twin."""
        settled = (self.scores() > self.boundary) | self.twins
        settled[self.leader] = True
        return bool(settled.all())

    @property
    def regret(self) -> float:
        """Compute what choosing the leader may cost, in units of the means.

        The expected opportunity cost, E[(difference)⁺] of a normal difference, of the challenger of
        whom it is the greatest (Chick and Inoue 2001). All challengers together may cost more.
        """
        errors, scores = self.errors(), self.scores()
        unsure = (errors > _NOTHING) & ~self.twins
        z = scores[unsure]
        density = np.exp(-z * z / 2) / math.sqrt(2 * math.pi)
        beyond = np.array([math.erfc(one / math.sqrt(2)) / 2 for one in z])
        return float(np.max(errors[unsure] * (density - z * beyond), initial=0.0))


def shrink(adjusted: Adjusted, samples: Counts, prior: Prior | None) -> ArmStatistics:
    """Draw means towards a prior, as far as samples are few."""
    means, variance = adjusted.means, math.inf
    if prior is not None and prior.deviation > 0:
        variance = prior.deviation**2
        others = adjusted.residuals[adjusted.residuals > 0]
        typical = float(others.mean()) if len(others) else 0.0
        # The reference has no residual, but as much luck of its own as anybody.
        own = np.where(adjusted.residuals > 0, adjusted.residuals, typical) / samples
        trust = 1 / (variance + own)
        constant = float((trust * (means - prior.means)).sum() / trust.sum())
        weight = own / (variance + own)
        means = (1 - weight) * means + weight * (constant + prior.means)
    return ArmStatistics(
        samples, means, adjusted.residuals, adjusted.slopes, adjusted.reference_variance, variance
    )

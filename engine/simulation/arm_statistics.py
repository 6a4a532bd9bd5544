"""Statistics of sampled candidates: their means, and the errors of differences.

Sample ``i`` has the same luck for every candidate (common random numbers), but candidates have
different numbers of samples. So the candidate with the most, the *reference*, is a control
variate: its mean over all its samples shows whether the first ``n`` were lucky, and the mean of a
candidate with ``n`` samples is corrected by that, times the slope

    β = cov / σ²      of a candidate's samples over those of the reference.

What remains is the *residual* variance. The difference of two candidates then has the variance

    r/n + r'/n' + (β − β')² σ²/N

with residual variances ``r`` and ``r'``, and N samples of the reference, whose own residual is 0.
Residuals are taken to be independent, which makes it rather too large.
(Law and Kelton, *Simulation Modeling and Analysis*, on control variates.)

With few samples luck decides which looks best. So means are shrunk towards a *prior*, the estimate
before sampling: a candidate's value is its prior, plus a normal deviation of known size, plus an
estimated constant common to all (empirical Bayes, as in Efron and Morris 1973).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from lexicons.arrays import F64, I64, Bools, dot

_NOTHING: Final = 1e-9  # rounding error of a zero difference, in wins or as a share of a variance
_RISK: Final = 0.01  # of a wrong elimination or stop; higher with fewer than eight samples each
_FITTED: Final = 5  # fewest samples for a slope; two always fit a line


class Prior(NamedTuple):
    """Estimates of candidates before sampling, up to a constant."""

    means: F64  # [candidates] in the unit of the utility
    deviation: float  # standard deviation of the true values from these, in the same unit


class Adjusted(NamedTuple):
    """Means of one measure, corrected for common luck; by candidate."""

    means: F64
    residuals: F64  # as in ``ArmStatistics``
    slopes: F64  # likewise
    reference_variance: float  # of the reference's mean

    def errors(self, samples: I64) -> F64:
        """Return standard errors, widened by Student's t so that ±1.96 of them cover 95 %."""
        squared = self.residuals / samples + self.slopes**2 * self.reference_variance
        errors: F64 = np.sqrt(squared) * widening(samples)
        return errors


def widening(samples: I64) -> F64:
    """Return the factors by which errors that are estimated from these samples are widened.

    The 97.5 % quantile of Student's t over the normal's, by two terms of its series (Fisher and
    Cornish 1960), good from about six samples on; mean and slope take a degree of freedom each.
    """
    freedom = np.maximum(samples - 2, 1)
    factors: F64 = 1 + 1.21 / freedom + 1.44 / freedom**2
    return factors


def adjust(samples: I64, means: F64, values: F64, reference: int) -> Adjusted:
    """Estimate means from samples with common luck; each candidate has two samples or more.

    ``samples`` and ``means`` are [candidates]; ``values``, [candidates, room], are the samples
    remembered; ``reference`` has the most samples.
    """
    means, slopes = means.copy(), np.zeros(len(samples))
    remembered = np.minimum(samples, values.shape[1]).tolist()
    variances = np.array([values[which, :n].var(ddof=1) for which, n in enumerate(remembered)])
    residuals = variances.copy()
    luck = values[reference, : min(int(samples[reference]), values.shape[1])].astype(np.float64)
    for candidate, n in enumerate(np.minimum(samples, len(luck)).tolist()):
        common = luck[:n] - (before := luck[:n].mean())
        spread = dot(common, common)
        if candidate == reference or spread == 0 or n < max(samples[candidate], _FITTED):
            continue  # also if not all samples are remembered
        slope = dot(common, values[candidate, :n]) / spread
        means[candidate] += slope * (means[reference] - before)
        total = float(variances[candidate]) * (n - 1)
        unexplained = total - slope * slope * spread
        if unexplained < _NOTHING * total:
            unexplained = 0.0
        # The slope is estimated too: it costs a degree of freedom, and more the more it moves.
        moved = n * (means[reference] - before) ** 2 / spread
        residuals[candidate] = unexplained / max(n - 2, 1) * (1 + moved)
        slopes[candidate] = slope
    slopes[reference], residuals[reference] = 1.0, 0.0
    return Adjusted(means, residuals, slopes, float(variances[reference] / samples[reference]))


@dataclass(frozen=True, eq=False)
class ArmStatistics:
    """Statistics of candidates with two samples or more each; arrays are by candidate."""

    samples: I64
    means: F64  # of the utility, in any unit
    residuals: F64  # variance of one sample that the reference's luck does not explain
    slopes: F64  # share of that luck in a candidate's samples
    reference_variance: float  # variance of that luck's mean
    prior_variance: float = math.inf  # variance of candidates about their prior
    equal: Bools | None = None  # candidates equal to the leader in every sample, as far as is known

    @property
    def leader(self) -> int:
        """The candidate of the highest mean; of equals the first."""
        return int(np.argmax(self.means))

    @property
    def behind(self) -> F64:
        """By how much each mean is behind the leader's."""
        behind: F64 = self.means.max() - self.means
        return behind

    def errors(self, samples: I64 | None = None) -> F64:
        """Return standard errors of ``behind``, for the present or other numbers of samples."""
        samples = self.samples if samples is None else samples
        leader = self.leader
        own = self.residuals / samples
        own = own / (1 + own / self.prior_variance)
        luck = (self.slopes - self.slopes[leader]) ** 2 * self.reference_variance
        luck = luck * self.samples.max() / samples.max()
        squared = own + own[leader] + luck
        squared[leader] = 0
        # The smaller sample decides how well the variance is known.
        errors: F64 = np.sqrt(squared) * widening(np.minimum(samples, samples[leader]))
        return errors

    def scores(self, samples: I64 | None = None) -> F64:
        """Return by how many errors each is behind: 0 if tied, ∞ if behind with zero error."""
        behind, errors = self.behind, self.errors(samples)
        surely = np.where(behind > _NOTHING, math.inf, 0.0)
        scores: F64 = np.divide(behind, errors, out=surely, where=errors > _NOTHING)
        return scores

    @property
    def twins(self) -> Bools:
        """Candidates that cannot be told from the leader."""
        twins: Bools = (self.behind <= _NOTHING) & (self.errors() <= _NOTHING)
        if self.equal is not None:
            twins |= self.equal
        twins[self.leader] = False
        return twins

    @property
    def boundary(self) -> float:
        """Standard errors beyond which a candidate is clearly behind.

        ln((ln t + 1) / δ) for the likelihood ratio, shared among the challengers (Garivier and
        Kaufmann, *Optimal Best Arm Identification with Fixed Confidence*, 2016).
        """
        total = max(int(self.samples.sum()), 1)
        challengers = max(len(self.samples) - 1, 1)
        return math.sqrt(2 * math.log((math.log(total) + 1) * challengers / _RISK))

    @property
    def is_certain(self) -> bool:
        """Whether all others are clearly behind or the leader's twins."""
        settled = (self.scores() > self.boundary) | self.twins
        settled[self.leader] = True
        return bool(settled.all())

    @property
    def regret(self) -> float:
        """Expected cost of choosing the leader, in units of the means.

        The greatest expected opportunity cost, E[(difference)⁺] of a normal difference, over single
        challengers (Chick and Inoue 2001). All together may cost more.
        """
        errors, scores = self.errors(), self.scores()
        unsure = (errors > _NOTHING) & ~self.twins
        z = scores[unsure]
        density = np.exp(-z * z / 2) / math.sqrt(2 * math.pi)
        beyond = np.array([math.erfc(score / math.sqrt(2)) / 2 for score in z])
        return float(np.max(errors[unsure] * (density - z * beyond), initial=0.0))


def shrink(adjusted: Adjusted, samples: I64, prior: Prior | None) -> ArmStatistics:
    """Shrink means towards a prior, the more the fewer the samples."""
    means, variance = adjusted.means, math.inf
    if prior is not None and prior.deviation > 0:
        variance = prior.deviation**2
        others = adjusted.residuals[adjusted.residuals > 0]
        typical = float(others.mean()) if len(others) else 0.0
        # The reference has no residual, but luck of its own.
        own = np.where(adjusted.residuals > 0, adjusted.residuals, typical) / samples
        trust = 1 / (variance + own)
        constant = float((trust * (means - prior.means)).sum() / trust.sum())
        weight = own / (variance + own)
        means = (1 - weight) * means + weight * (constant + prior.means)
    return ArmStatistics(
        samples, means, adjusted.residuals, adjusted.slopes, adjusted.reference_variance, variance
    )

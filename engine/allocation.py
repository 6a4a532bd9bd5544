"""Which candidates get the next samples: rules of best-arm identification.

Candidates are compared by the mean of a utility. What is known of them after some rounds is a
``Standing``; a rule says how many of the next samples each candidate gets. All look at the
difference of a candidate from the leader, whose variance is

    σ²/n + σ'²/n' − 2 cov / max(n, n')

since sample ``i`` has the same luck for every candidate (common random numbers): the covariance
of the two makes the difference surer than either mean.

``top_two``      half of the samples to the leader, half to the challenger that is hardest to tell
                 from him (EB-TCI of Jourdan, Degenne, Baudry, de Heide and Kaufmann, *Top Two
                 Algorithms Revisited*, 2022)
``elimination``  equal samples to all who may still be the best: who is clearly behind the leader
                 drops out (Even-Dar, Mannor and Mansour 2006; with paired samples Kim and Nelson
                 2001)
``ocba``         optimal computing budget allocation: samples in proportion to (σ / difference)²
                 (Chen, Lin, Yücesan and Chick 2000)
``equal``        the same number to each, the measure of the others
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["RULES", "Rule", "Standing", "elimination", "equal", "ocba", "top_two"]

Reals: TypeAlias = npt.NDArray[np.float64]
Counts: TypeAlias = npt.NDArray[np.int64]

_RISK: Final = 0.01
"""How often an elimination or the end of a search may be wrong."""


@dataclass(frozen=True, eq=False)
class Standing:
    """What is known of the candidates, each with two samples or more; arrays are by candidate."""

    samples: Counts
    means: Reals
    """Of the utility, in any unit."""
    variances: Reals
    """Of one sample."""
    leader: int
    """The candidate of the highest mean; of equals the first."""
    covariances: Reals
    """Of one sample, with the leader's; the leader's own is his variance."""

    @property
    def behind(self) -> Reals:
        """By how much each mean is behind the leader's."""
        behind: Reals = self.means[self.leader] - self.means
        return behind

    def errors(self, samples: Counts | None = None) -> Reals:
        """Give the standard error of each ``behind``, by the samples there are or might be."""
        samples = self.samples if samples is None else samples
        own, leader = samples, samples[self.leader]
        squared = self.variances / own + self.variances[self.leader] / leader
        squared -= 2 * self.covariances / np.maximum(own, leader)
        errors: Reals = np.sqrt(np.maximum(squared, 0))
        return errors

    def scores(self, samples: Counts | None = None) -> Reals:
        """Give how many standard errors each is behind: 0 for who is level, ∞ for who can't be."""
        behind, errors = self.behind, self.errors(samples)
        surely = np.where(behind > 0, math.inf, 0.0)
        scores: Reals = np.divide(behind, errors, out=surely, where=errors > 0)
        return scores

    @property
    def boundary(self) -> float:
        """Say how many standard errors behind is clearly behind.

        ln((ln t + 1) / δ) for the likelihood ratio, shared among the challengers (Garivier and
        Kaufmann, *Optimal Best Arm Identification with Fixed Confidence*, 2016).
        """
        total = max(int(self.samples.sum()), 1)
        challengers = max(len(self.samples) - 1, 1)
        return math.sqrt(2 * math.log((math.log(total) + 1) * challengers / _RISK))

    @property
    def is_certain(self) -> bool:
        """Whether everybody else is clearly behind."""
        others = np.delete(self.scores(), self.leader)
        return bool((others > self.boundary).all())

    @property
    def regret(self) -> float:
        """Say what choosing the leader may cost, in units of the means.

        The expected opportunity cost, E[(difference)⁺] of a normal difference, of the challenger of
        whom it is the greatest (Chick and Inoue 2001).
        """
        errors, scores = self.errors(), self.scores()
        unsure = errors > 0
        unsure[self.leader] = False
        z = scores[unsure]
        density = np.exp(-z * z / 2) / math.sqrt(2 * math.pi)
        beyond = np.array([math.erfc(one / math.sqrt(2)) / 2 for one in z])
        return float(np.max(errors[unsure] * (density - z * beyond), initial=0.0))


Rule: TypeAlias = Callable[[Standing, int], Counts]
"""Given a standing, says who gets how many of the next samples; their sum is what was asked."""

_QUANTUM: Final = 16
"""``top_two`` gives samples in such portions."""


def equal(standing: Standing, samples: int) -> Counts:
    """Give everybody as many as everybody else, the fewest so far first."""
    return _level(standing.samples, np.ones(len(standing.samples), np.bool_), samples)


def elimination(standing: Standing, samples: int) -> Counts:
    """Give equal numbers to all who are not clearly behind."""
    alive = standing.scores() <= standing.boundary
    alive[standing.leader] = True
    return _level(standing.samples, alive, samples)


def top_two(standing: Standing, samples: int) -> Counts:
    """Give half to the leader and half to those whom it is cheapest to take for the best."""
    leader, counts = standing.leader, standing.samples.copy()
    if len(counts) == 1:
        return np.array([samples])
    given = 0
    while given < samples:
        portion = min(_QUANTUM, samples - given)
        if 2 * (counts - standing.samples)[leader] <= given:
            chosen = leader
        else:
            cost = standing.scores(counts) ** 2 / 2 + np.log(counts)
            cost[leader] = math.inf
            chosen = int(np.argmin(cost))
            if not math.isfinite(cost[chosen]):
                chosen = leader
        counts[chosen] += portion
        given += portion
    shares: Counts = counts - standing.samples
    return shares


def ocba(standing: Standing, samples: int) -> Counts:
    """Move towards shares in proportion to (σ / difference)², as far as so many samples reach."""
    leader, deviations = standing.leader, np.sqrt(np.maximum(standing.variances, 1e-12))
    behind = np.maximum(standing.behind, standing.errors() / 4 + 1e-12)
    shares = (deviations / behind) ** 2
    shares[leader] = 0
    shares[leader] = deviations[leader] * math.sqrt(float(np.sum(shares**2 / deviations**2)))
    total = float(shares.sum())
    if total <= 0:
        return equal(standing, samples)
    wanted = shares / total * (standing.samples.sum() + samples)
    missing = np.maximum(wanted - standing.samples, 0)
    if not missing.sum():
        return equal(standing, samples)
    exact = missing / missing.sum() * samples
    given: Counts = np.floor(exact).astype(np.int64)
    for one in np.argsort(given - exact, kind="stable")[: samples - int(given.sum())]:
        given[one] += 1
    return given


RULES: Final[dict[str, Rule]] = {
    "top-two": top_two,
    "elimination": elimination,
    "ocba": ocba,
    "equal": equal,
}


def _level(counts: Counts, among: npt.NDArray[np.bool_], samples: int) -> Counts:
    """Give samples one by one to whoever of some has the fewest; of equals the first."""
    after = counts.copy()
    which = np.flatnonzero(among)
    order = which[np.argsort(counts[which], kind="stable")]
    for n in range(1, len(order) + 1):  # fill the lowest up to the next, level by level
        low = order[:n]
        room = int((counts[order[n]] - after[low]).sum()) if n < len(order) else samples
        if room >= samples:
            each, rest = divmod(samples, n)
            after[low] += each
            after[np.sort(low)[:rest]] += 1
            break
        after[low] = counts[order[n]]
        samples -= room
    given: Counts = after - counts
    return given

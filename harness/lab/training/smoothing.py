"""What each rack is worth, from samples of some racks: evidence where there is, else its parts.

A rack's worth is taken to be a sum over its parts, of up to three tiles: what one tile adds, what
two together add beyond that, what three do; and a rest of its own. All of these are taken to be
chance, the normal distribution, around 0: the more tiles, the less. The best guess then (Henderson
1975, "Best linear unbiased estimation and prediction under a selection model") solves one system of
linear equations, in which each part counts as much as it has evidence, and a part that was never
seen counts nothing. The rest of a rack's worth is the mean of its samples less the sum, shrunk by
samples / (samples + κ), κ being the noise of one sample over the variance of the rests.

How far effects and rests reach was chosen on held-out racks; the noise is estimated.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lexicons.jit import kernel
from lexicons.leaves import LeaveArrays, LeaveMatrix

from .racks import Floats, Longs, Racks

__all__ = ["Samples", "Smoothed", "smooth"]

REACH = (8_000.0, 3_000.0, 2_000.0)
"""The standard deviations of what one, two and three tiles add, in thousandths of a point."""
REST = 5_500.0
"""That of the rest: all seven may be a word."""
_LEAST_NOISE = 10_000.0
"""Where few racks came up twice, samples that agree by chance would be taken for the truth."""
_PRECISION = 1e-4
_MOST_ROUNDS = 50


class Samples(NamedTuple):
    """What was seen of each rack, by its number (``Racks.numbers``), in thousandths of a point."""

    counts: Longs
    sums: Longs
    squares: float
    """The sum of the squares of all samples, together."""


class Smoothed(NamedTuple):
    """What racks are worth."""

    worths: Floats
    """By number, in thousandths of a point; also of racks that were never seen."""
    noise: float
    """The standard deviation of a sample, in thousandths of a point."""
    trusted: float
    """κ: how many samples count as much as a rack's parts do."""


def smooth(samples: Samples, racks: Racks) -> Smoothed:
    """Compute what each rack is worth.

    Raises:
        ValueError: there is no sample.
    """
    total = int(samples.counts.sum())
    if not total:
        raise ValueError("no rack was seen, so that nothing is known about any")
    mean = samples.sums.sum() / total
    numbers = racks.places[-1] - racks.first
    counts = samples.counts[numbers].astype(np.float64)
    sums = samples.sums[numbers] - counts * mean
    seen = counts > 0
    noise = _noise(samples, total)
    effects = _effects(racks.by_size[-1][seen], counts[seen], sums[seen], noise, racks.index)
    expected = _sums_of_parts(racks.by_size[-1], effects, racks.index)
    trusted = (noise / REST) ** 2
    worths = np.zeros(racks.count)
    worths[numbers] = mean + (sums + trusted * expected) / (counts + trusted)
    return Smoothed(worths, noise, trusted)


def _noise(samples: Samples, total: int) -> float:
    """Estimate the noise of a sample by how samples of one rack differ."""
    seen = samples.counts > 0
    means = samples.sums[seen] / samples.counts[seen]
    within = samples.squares - float((samples.sums[seen] * means).sum())
    again = total - int(np.count_nonzero(seen))
    return max(_LEAST_NOISE, float(np.sqrt(max(within, 0.0) / max(again, 1))))


def _effects(
    racks: LeaveMatrix, counts: Floats, sums: Floats, noise: float, index: LeaveArrays
) -> Floats:
    """Solve for what parts add, by place; ``sums`` are of samples less their mean."""
    from scipy.sparse.linalg import LinearOperator, cg

    racks = np.ascontiguousarray(racks)
    size = int(index.offsets[len(REACH) + 1])
    pull = np.zeros(size)
    for tiles, reach in enumerate(REACH, start=1):
        pull[index.offsets[tiles] : index.offsets[tiles + 1]] = (noise / reach) ** 2
    pull[0] = 1.0  # nothing comes of the empty part, whose effect is the mean

    def weigh(effects: Floats) -> Floats:
        totals = _totals_of_parts(racks, counts * _sums_of_parts(racks, effects, index), index)
        return totals + pull * effects

    diagonal = _totals_of_parts(racks, counts, index) + pull
    operator = LinearOperator((size, size), matvec=weigh, dtype=np.float64)
    nearly = LinearOperator((size, size), matvec=lambda v: v / diagonal, dtype=np.float64)
    found, _ = cg(
        operator,
        _totals_of_parts(racks, sums, index),
        rtol=_PRECISION,
        maxiter=_MOST_ROUNDS,
        M=nearly,
    )
    effects: Floats = found
    return effects


def _sums_of_parts(racks: LeaveMatrix, effects: Floats, index: LeaveArrays) -> Floats:
    """Add up the effects of the parts of each rack."""
    sums = np.zeros(len(racks))
    _add_parts(racks, len(REACH), index, np.ascontiguousarray(effects), sums)
    return sums


def _totals_of_parts(racks: LeaveMatrix, weights: Floats, index: LeaveArrays) -> Floats:
    """Add up the weights of the racks that each part is in."""
    totals = np.zeros(int(index.offsets[len(REACH) + 1]))
    _add_to_parts(racks, len(REACH), index, weights, totals)
    totals[0] = 0.0
    return totals


@kernel
def _add_parts(
    racks: LeaveMatrix, longest: int, index: LeaveArrays, effects: Floats, sums: Floats
) -> None:
    """Add the effects of all parts of up to ``longest`` tiles; modifies ``sums`` in place."""
    places = np.zeros(1 << racks.shape[1], np.int64)
    sizes = np.zeros(1 << racks.shape[1], np.int64)
    for row in range(len(racks)):
        total = 0.0
        for at in range(racks.shape[1]):
            for rest in range(1 << at):
                part = rest | 1 << at
                sizes[part] = sizes[rest] + 1
                if sizes[part] <= longest:
                    places[part] = places[rest] + index.binomials[sizes[rest], racks[row, at]]
                    total += effects[index.offsets[sizes[part]] + places[part]]
        sums[row] += total


@kernel
def _add_to_parts(
    racks: LeaveMatrix, longest: int, index: LeaveArrays, weights: Floats, totals: Floats
) -> None:
    """Add weights to all parts of up to ``longest`` tiles; modifies ``totals`` in place."""
    places = np.zeros(1 << racks.shape[1], np.int64)
    sizes = np.zeros(1 << racks.shape[1], np.int64)
    for row in range(len(racks)):
        for at in range(racks.shape[1]):
            for rest in range(1 << at):
                part = rest | 1 << at
                sizes[part] = sizes[rest] + 1
                if sizes[part] <= longest:
                    places[part] = places[rest] + index.binomials[sizes[rest], racks[row, at]]
                    totals[index.offsets[sizes[part]] + places[part]] += weights[row]

"""Rack values from samples of some racks: from evidence if available, else from their parts.

A rack's worth is modelled as a sum over its parts of up to three tiles (effects of one tile, of two
beyond those, of three beyond those) plus a rest of its own. All are normal around 0; effects of
more tiles vary less. The best linear unbiased prediction (Henderson 1975, "Best linear unbiased
estimation and prediction under a selection model") solves one system of linear equations, which
weights each part by its evidence; unseen parts have no effect. A rack's rest is the mean of its
samples less the sum, shrunk by samples / (samples + κ), κ being a sample's noise variance over the
variance of the rests.

The standard deviations were chosen on held-out racks; the noise is estimated.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from lexicons.arrays import F64, I64
from lexicons.jit import helper, kernel
from lexicons.leaves import LeaveArrays, LeaveMatrix

from .racks import Racks

REACH = (8_000.0, 3_000.0, 2_000.0)
"""Standard deviations of the effects of one, two and three tiles, in thousandths of a point."""
REST = 5_500.0
"""Standard deviation of the rest, which includes bingos, in thousandths of a point."""
_LEAST_NOISE = 10_000.0
"""Keeps accidentally equal samples from passing as exact where few racks came up twice."""
_PRECISION = 1e-4
_MOST_ROUNDS = 50
_LISTED = 2


class Samples(NamedTuple):
    """Samples of each rack, by its number (``Racks.numbers``), in thousandths of a point."""

    counts: I64
    sums: I64
    squares: float
    """The sum of the squares of all samples, together."""


class Smoothed(NamedTuple):
    """Rack values."""

    worths: F64
    """By number, in thousandths of a point, including unseen racks."""
    noise: float
    """The standard deviation of a sample, in thousandths of a point."""
    trusted: float
    """κ: the number of samples that count as much as a rack's parts do."""
    is_solved: bool
    """Whether the parts' effects were found; if not, they are near."""


def smooth(samples: Samples, racks: Racks) -> Smoothed:
    """Compute the worth of each rack.

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
    effects, is_solved = _effects(
        racks.by_size[-1][seen], counts[seen], sums[seen], noise, racks.index
    )
    expected = _sums_of_parts(racks.by_size[-1], effects, racks.index)
    trusted = (noise / REST) ** 2
    worths = np.zeros(racks.count)
    worths[numbers] = mean + (sums + trusted * expected) / (counts + trusted)
    return Smoothed(worths, noise, trusted, is_solved)


def _noise(samples: Samples, total: int) -> float:
    """Estimate a sample's noise from differences within racks."""
    seen = samples.counts > 0
    means = samples.sums[seen] / samples.counts[seen]
    within = samples.squares - float((samples.sums[seen] * means).sum())
    repeats = total - int(np.count_nonzero(seen))
    return max(_LEAST_NOISE, float(np.sqrt(max(within, 0.0) / max(repeats, 1))))


def _effects(
    racks: LeaveMatrix, counts: F64, sums: F64, noise: float, index: LeaveArrays
) -> tuple[F64, bool]:
    """Solve for the parts' effects, by place; ``sums`` are of samples less their mean.

    Also return whether the rounds sufficed.
    """
    from scipy.sparse.linalg import LinearOperator, cg

    racks = np.ascontiguousarray(racks)
    size = int(index.offsets[len(REACH) + 1])
    pull = np.zeros(size)
    for tiles, reach in enumerate(REACH, start=1):
        pull[index.offsets[tiles] : index.offsets[tiles + 1]] = (noise / reach) ** 2
    pull[0] = 1.0  # the empty part's effect is the mean, already subtracted

    def weigh(effects: F64) -> F64:
        totals = _totals_of_parts(racks, counts * _sums_of_parts(racks, effects, index), index)
        return totals + pull * effects

    diagonal = _totals_of_parts(racks, counts, index) + pull
    operator = LinearOperator((size, size), matvec=weigh, dtype=np.float64)
    nearly = LinearOperator((size, size), matvec=lambda v: v / diagonal, dtype=np.float64)
    effects, rounds_without_solution = cg(
        operator,
        _totals_of_parts(racks, sums, index),
        rtol=_PRECISION,
        maxiter=_MOST_ROUNDS,
        M=nearly,
    )
    return effects, rounds_without_solution == 0


def _sums_of_parts(racks: LeaveMatrix, effects: F64, index: LeaveArrays) -> F64:
    sums = np.zeros(len(racks))
    _add_parts(racks, index, np.ascontiguousarray(effects), sums)
    return sums


def _totals_of_parts(racks: LeaveMatrix, weights: F64, index: LeaveArrays) -> F64:
    """Sum, for each part, the weights of the racks that contain it."""
    totals = np.zeros(int(index.offsets[len(REACH) + 1]))
    _add_to_parts(racks, index, weights, totals)
    totals[0] = 0.0
    return totals


@kernel
def _add_parts(racks: LeaveMatrix, index: LeaveArrays, effects: F64, sums: F64) -> None:
    """Add the effects of all parts that ``REACH`` covers; modifies ``sums`` in place."""
    scratch = np.zeros((3, 1 << racks.shape[1]), np.int64)
    for row in range(len(racks)):
        total = 0.0
        for nth in range(_list_parts(racks[row], index, scratch)):
            total += effects[scratch[_LISTED, nth]]
        sums[row] += total


@kernel
def _add_to_parts(racks: LeaveMatrix, index: LeaveArrays, weights: F64, totals: F64) -> None:
    """Add weights to all parts that ``REACH`` covers; modifies ``totals`` in place."""
    scratch = np.zeros((3, 1 << racks.shape[1]), np.int64)
    for row in range(len(racks)):
        for nth in range(_list_parts(racks[row], index, scratch)):
            totals[scratch[_LISTED, nth]] += weights[row]


@helper
def _list_parts(rack: Any, index: LeaveArrays, scratch: I64) -> Any:
    """List the places of a rack's parts that ``REACH`` covers, a part as often as it is there.

    Return their number. They are in row ``_LISTED`` of ``scratch`` [3, 2 ** tiles], whose other
    rows have the place among those of its size, and the size, of each subset of the tiles.
    """
    places, sizes, listed = scratch[0], scratch[1], scratch[_LISTED]
    count = 0
    for at in range(len(rack)):
        for rest in range(1 << at):
            part = rest | 1 << at
            sizes[part] = sizes[rest] + 1
            if sizes[part] <= len(REACH):
                places[part] = places[rest] + index.binomials[sizes[rest], rack[at]]
                listed[count] = index.offsets[sizes[part]] + places[part]
                count += 1
    return count

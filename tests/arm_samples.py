"""Standings that are made up, or worked out of samples that are."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

from engine.simulation.arm_statistics import Adjusted, ArmStatistics, Prior, adjust, shrink

Reals = npt.NDArray[np.float64]


def statistics_of(
    samples: Any, means: Any, residuals: Any, slopes: Any = 0.0, luck_variance: float = 0.0
) -> ArmStatistics:
    """Make one up; ``luck_variance`` is of one sample of the luck that candidates share."""
    counts, reals = np.array(samples, np.int64), np.array(means, float)
    by_candidate = np.broadcast_to(np.array(slopes, float), reals.shape).copy()
    of_mean = luck_variance / int(counts.max())
    return ArmStatistics(counts, reals, np.array(residuals, float), by_candidate, of_mean)


def adjusted_of(values: Reals, samples: Any, room: int | None = None) -> Adjusted:
    """Adjust the means of the first ``samples`` of each row of values; remember ``room`` of each.

    The reference is the first with the most samples.
    """
    counts = np.array(samples, np.int64)
    taken = [row[:n] for row, n in zip(values, counts.tolist(), strict=True)]
    remembered = np.zeros((len(counts), int(counts.max()) if room is None else room))
    for row, one in zip(remembered, taken, strict=True):
        kept = one[: len(row)]
        row[: len(kept)] = kept
    means = np.array([one.mean() for one in taken])
    return adjust(counts, means, remembered, int(np.argmax(counts)))


def statistics_from(values: Reals, samples: Any, prior: Prior | None = None) -> ArmStatistics:
    """Compare candidates by the first ``samples`` of each row of values."""
    return shrink(adjusted_of(values, samples), np.array(samples, np.int64), prior)


def luck(chance: np.random.Generator, covariance: Any, samples: int) -> Reals:
    """Draw [candidates, samples] normal values of mean 0 with such a covariance."""
    root = np.linalg.cholesky(np.array(covariance, float))
    drawn: Reals = root @ chance.normal(size=(len(root), samples))
    return drawn


@st.composite
def arm_statistics(draw: st.DrawFn) -> ArmStatistics:
    """Draw any that may be, of one candidate up to twenty, twins and certainties among them."""
    count = draw(st.integers(1, 20))

    def some(of: st.SearchStrategy[Any]) -> list[Any]:
        return draw(st.lists(of, min_size=count, max_size=count))

    number = st.one_of(st.sampled_from([0.0, 0.5, 1.0]), st.floats(-10, 10, width=32))
    variance = st.one_of(st.just(0.0), st.floats(0, 4, width=16))
    return statistics_of(
        some(st.one_of(st.integers(2, 40), st.integers(2, 1_000_000))),
        some(number),
        some(variance),
        some(st.one_of(st.just(1.0), st.floats(-2, 2, width=16))),
        draw(variance),
    )

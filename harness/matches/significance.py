"""How far results of games can be trusted: intervals, Elo and a test, over independent units."""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

CONFIDENCE = 0.95
EXACT_UNITS = 1_000
"""2⁻¹⁰⁰⁰ is still a float; beyond this many units the test samples."""
EXACT_WORK = 200_000_000
"""Most additions of the exact test, a few tenths of a second."""
RESAMPLES = 9_999
NO_VARIANCE = 1e-12
"""A win rate's error below this is rounding."""

Interval: TypeAlias = tuple[float | None, float | None]
"""Lower and upper end; None if unknown or unbounded."""
Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]


def mean_and_error(values: Floats, unit_of: Ints, units: int) -> tuple[float | None, float | None]:
    """Return the mean over games, and half the width of its 95 % interval over units.

    ``values`` and ``unit_of`` (unit indices) are [games].
    """
    if not values.size:
        return None, None
    mean = float(values.mean())
    if units < 2:
        return mean, None
    from scipy.special import stdtrit  # costly to import

    off = np.bincount(unit_of, weights=values - mean, minlength=units)
    variance = units / (units - 1) * float(off @ off) / values.size**2
    student_t = float(stdtrit(units - 1, 0.5 + CONFIDENCE / 2))
    return mean, student_t * math.sqrt(variance)


def around(middle: float | None, error: float | None) -> Interval:
    """Return the interval of half width ``error`` about ``middle``."""
    if middle is None or error is None:
        return None, None
    return middle - error, middle + error


def elo_difference(
    rate: float | None, rate_error: float | None, units: int
) -> tuple[float | None, float | None, Interval]:
    """Return the Elo difference, the half width of its interval, and the interval.

    The slope of the Elo curve, 400 / (ln 10 · r(1 − r)), converts the error of the rate.

    With every game won the difference has no upper bound; the lower bound is the exact binomial
    bound (Clopper & Pearson 1934): if units are won whole with a probability below 0.025^(1/U), all
    are won less than one time in forty. With every game lost, the mirror image. If all units score
    the same but not 0 or 1, the sample has no variance either, and the error is None rather than 0.
    """
    if rate is None:
        return None, None, (None, None)
    if rate in (0.0, 1.0):
        bound = _elo_of(((1 - CONFIDENCE) / 2) ** (1 / units))
        return None, None, ((bound, None) if rate == 1.0 else (None, -bound))
    elo, error = _elo_of(rate), None
    if rate_error is not None and rate_error >= NO_VARIANCE:
        error = rate_error * 400 / (math.log(10) * rate * (1 - rate))
    return elo, error, around(elo, error)


def _elo_of(rate: float) -> float:
    return 400 * math.log10(rate / (1 - rate))


def sign_flip_p_value(sums: npt.ArrayLike) -> float | None:
    """Return the two-sided p-value of ``sums``, int[units] of spreads, if the players were equal.

    Between equal players who swap seats within a pair, each sign of a pair's spread is equally
    likely. So the p-value is the share of choices of signs (including the observed choice) whose
    total is at least as far from 0 as the observed total: 1 for one pair, at least 2 / 2ⁿ for n.

    Up to ``EXACT_UNITS`` units (and ``EXACT_WORK`` additions) the share is exact, by the shift
    algorithm (Pagano & Tritchler 1983). Beyond, it is estimated from ``RESAMPLES`` random choices
    as (1 + hits) / (1 + ``RESAMPLES``), which keeps the test valid (Phipson & Smyth 2010).
    """
    values = np.asarray(sums, dtype=np.int64)
    if not values.size:
        return None
    sizes = np.abs(values)
    observed = abs(int(values.sum()))
    if observed == 0:
        return 1.0
    if values.size <= EXACT_UNITS and values.size * int(sizes.sum()) <= EXACT_WORK:
        return _exact_share(sizes, observed)
    return _sampled_share(sizes, observed)


def _exact_share(sizes: Ints, observed: int) -> float:
    """Return the share of the sign choices with |total| ≥ ``observed`` > 0.

    ``chance[s]`` is the probability that the units with a plus sum to s; the total is 2s − Σ. Only
    positive numbers are added, so even the smallest tail keeps its leading digits.
    """
    whole = int(sizes.sum())
    chance = np.zeros(whole + 1)
    chance[0] = 1.0
    reach = 0
    for size in sizes.tolist():
        before = 0.5 * chance[: reach + 1]
        chance[: reach + 1] = before
        chance[size : reach + size + 1] += before
        reach += size
    tail = float(chance[(whole + observed + 1) // 2 :].sum())
    return min(1.0, 2 * tail)


def _sampled_share(sizes: Ints, observed: int) -> float:
    """Estimate the same share; the pluses of equal units have a binomial distribution."""
    random = np.random.default_rng(0)
    totals = np.full(RESAMPLES, -int(sizes.sum()), dtype=np.int64)
    for size, count in zip(*np.unique(sizes, return_counts=True), strict=True):
        totals += 2 * int(size) * random.binomial(int(count), 0.5, RESAMPLES)
    hits = int(np.count_nonzero(np.abs(totals) >= observed))
    return (1 + hits) / (1 + RESAMPLES)

"""How far results of games can be trusted: intervals, Elo and a test, over independent units."""

from __future__ import annotations

import math
from bisect import bisect_left
from statistics import NormalDist
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from lexicons.arrays import F64, I64

CONFIDENCE = 0.95
SIGNIFICANT = 0.05
"""A p-value below this is significant; an interval leaves out as much."""
FEWEST_UNITS = 6
"""With fewer, even winning every unit has a p-value of 2 / 2⁵ or more: nothing can be said."""
EXACT_WORK = 20_000_000
"""Most additions of an exact test, some 10 ms; an interval takes about 30 tests."""
GRID = 10
"""An interval's ends are sought in tenths of a point."""
NO_VARIANCE = 1e-12
"""An error of a win rate below this is rounding error."""

Interval: TypeAlias = tuple[float | None, float | None]
"""Lower and upper end; None if unknown or unbounded."""


def mean_and_error(values: F64, pair_of: I64) -> tuple[float | None, float | None]:
    """Return the mean over games, and half the width of its 95 % interval over units.

    ``values`` and ``pair_of`` are [games]; games with the same pair number are one unit.
    """
    if not values.size:
        return None, None
    mean = float(values.mean())
    pairs, unit_of = np.unique(pair_of, return_inverse=True)
    units = pairs.size
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
    the same but not 0 or 1, the sample has no variance either, and the error is None rather than 0;
    likewise with fewer than ``FEWEST_UNITS`` units, whose variance is too uncertain.
    """
    if rate is None:
        return None, None, (None, None)
    if rate in (0.0, 1.0):
        bound = _elo_of(((1 - CONFIDENCE) / 2) ** (1 / units))
        return None, None, ((bound, None) if rate == 1.0 else (None, -bound))
    elo, error = _elo_of(rate), None
    if units >= FEWEST_UNITS and rate_error is not None and rate_error >= NO_VARIANCE:
        error = rate_error * 400 / (math.log(10) * rate * (1 - rate))
    return elo, error, around(elo, error)


def _elo_of(rate: float) -> float:
    return 400 * math.log10(rate / (1 - rate))


def pairs_needed(elo_error: float) -> int:
    """Return how many pairs of games narrow half of an Elo interval to ``elo_error``.

    The games count as independent and the players as equal. A game's points then have a variance
    of at most ¼, and their mean over n pairs one of ¼ / 2n = 1 / 8n (sample size of a proportion:
    Cochran 1977, *Sampling Techniques*, §4.4). At r = ½ the slope of the Elo curve, which
    ``elo_difference`` gives, is 1600 / ln 10.
    """
    standard_errors = NormalDist().inv_cdf(0.5 + CONFIDENCE / 2)  # in half of the interval
    pairs = (standard_errors * 1600 / math.log(10) / elo_error) ** 2 / 8
    return max(FEWEST_UNITS, math.ceil(pairs))


def sign_flip_p_value(sums: npt.ArrayLike) -> float | None:
    """Return the two-sided p-value of ``sums``, int[units] of spreads, if the players were equal.

    Between equal players who swap seats within a pair, each sign of a pair's spread is equally
    likely. So the p-value is the share of choices of signs (including the observed choice) whose
    total is at least as far from 0 as the observed total: 1 for one pair, at least 2 / 2ⁿ for n.

    The share is exact within ``EXACT_WORK``, by the shift algorithm (Pagano & Tritchler 1983).
    Beyond, the total is taken as normal with its variance Σ sum², which is within some hundredths
    of the exact share there.
    """
    values = np.asarray(sums, dtype=np.int64)
    return _share(values, exact=_feasible(values)) if values.size else None


def sign_flip_interval(sums: npt.ArrayLike, games: npt.ArrayLike) -> Interval:
    """Return the mean spreads a game, in tenths, that the sign-flip test does not reject.

    ``sums`` and ``games``, int[units], are the spread and the games of each unit. Since both come
    from the same test, the interval holds 0 exactly if the p-value is ``SIGNIFICANT`` or more
    (inverting a test: Hartigan 1969; Maritz 1979). Unknown with fewer than ``FEWEST_UNITS``.
    """
    values, counts = np.asarray(sums, dtype=np.int64), np.asarray(games, dtype=np.int64)
    if values.size < FEWEST_UNITS:
        return None, None
    exact = _feasible(values)
    upper = _upper_end(values, counts, exact=exact)
    # The lower end is that of the opponent, negated; from 0.0, since -0.0 would be printed so.
    return 0.0 - _upper_end(-values, counts, exact=exact), upper


def _upper_end(sums: I64, games: I64, *, exact: bool) -> float:
    """Find the largest mean that is not rejected; above the observed mean, p only falls.

    The search goes outward, since testing a mean costs more the further it is from the sums.
    """
    total, played = int(sums.sum()), int(games.sum())
    nearest = -(-GRID * total // played)  # rounded up

    def rejected(tenths: int) -> bool:
        return _share(GRID * sums - tenths * games, exact=exact) < SIGNIFICANT

    step = 1
    while not rejected(nearest + step):  # true at the latest when all signs are alike
        step *= 2
    tenths = range(nearest + step // 2, nearest + step)
    first = tenths.start + bisect_left(tenths, True, key=rejected)
    return max(total / played, (first - 1) / GRID)


def _feasible(sums: I64) -> bool:
    """Return whether the exact test of these sums, on the grid, is within ``EXACT_WORK``."""
    return sums.size * GRID * int(np.abs(sums).sum()) <= EXACT_WORK


def _share(values: I64, *, exact: bool) -> float:
    """Return the share of the sign choices whose total is at least as far from 0."""
    observed = abs(int(values.sum()))
    if observed == 0:
        return 1.0
    if exact:
        return _exact_share(np.abs(values), observed)
    return math.erfc(observed / math.sqrt(2 * float(values @ values)))


def _exact_share(sizes: I64, observed: int) -> float:
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

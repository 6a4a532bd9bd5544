"""Sequential tests: a match is played until one of two hypotheses is accepted.

**Test.** Side a's mean a game is ``h0`` or ``h1`` > ``h0``: its points (given as Elo or win rate)
or its spread. After each pair of games the log likelihood ratio (LLR) of H1 to H0 is compared with
the bounds ln(β / (1 − α)) and ln((1 − β) / α) (Wald 1945); at the first that is reached, the
hypothesis on its side is accepted. α is the chance to accept H1 if H0 is true, β the reverse.

**Points.** A pair has one of five results, whose chances are unknown but for their mean. Under each
hypothesis they take their most likely values (generalised SPRT: Van den Bergh, *A practical
introduction to the GSPRT*, as in fishtest), so the two games may depend on each other. A result
that never occurred counts as a thousandth of a pair, as in fishtest: unlikely, not impossible.

**Spread.** A pair's mean spread a game is taken as normal. Its variance is unknown and takes its
most likely value under each hypothesis too: N / 2 · ln(((m − h0)² + s²) / ((m − h1)² + s²)) after
N pairs of mean m and variance s².

**Order.** Pairs count in the order of their numbers, up to the first incomplete pair, so that games
that happen to finish early decide nothing. A void game leaves its pair incomplete until it is
replayed. What comes after the deciding pair changes nothing. With fewer than ``FEWEST_PAIRS`` no
test decides.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count, takewhile
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from lexicons.arrays import F64

from .results import GameResult

FEWEST_PAIRS = 16
"""With fewer, chance values of the variance would decide too often."""
PAIR_POINTS = np.array([0.0, 0.25, 0.5, 0.75, 1.0])
"""Points a game of the five results of a pair."""
RARE = 1e-3
"""Number of pairs counted for a result that never occurred."""
LEAST_VARIANCE = 1.0
"""Added to the variance of spreads, points²: equal spreads alone prove nothing."""

Measure: TypeAlias = Literal["points", "spread"]
Verdict: TypeAlias = Literal["accepted H0", "accepted H1", "unfinished"]


@dataclass(frozen=True)
class SequentialTest:
    """H0 against H1, as side a's means per game; raises ValueError if the settings are invalid."""

    h0: float
    h1: float
    measure: Measure = "points"
    alpha: float = 0.05
    """Highest chance of accepting H1 if H0 is true."""
    beta: float = 0.05
    """Highest chance of accepting H0 if H1 is true."""

    def __post_init__(self) -> None:
        if not self.h0 < self.h1:
            raise ValueError(f"H1 must be above H0 (got {self.h0:g} and {self.h1:g})")
        if self.measure == "points" and not 0 < self.h0 < self.h1 < 1:
            raise ValueError(f"win rates must be between 0 and 1 (got {self.h0:g} and {self.h1:g})")
        if not (0 < self.alpha < 0.5 and 0 < self.beta < 0.5):
            raise ValueError(
                f"error rates must be above 0 and below 0.5 (got {self.alpha:g} and {self.beta:g})"
            )

    @property
    def bounds(self) -> tuple[float, float]:
        """The LLRs at which H0 and H1 are accepted."""
        return math.log(self.beta / (1 - self.alpha)), math.log((1 - self.beta) / self.alpha)


@dataclass(frozen=True)
class TestState:
    """The state of a test."""

    llr: float
    """Log likelihood ratio after ``pairs``."""
    lower: float
    upper: float
    verdict: Verdict
    pairs: int
    """Pairs counted: up to the first incomplete pair, or to the pair that decided."""
    further_games: int | None
    """Expected further games, if side a's mean stays as it has been; None if unknown."""

    @property
    def is_decided(self) -> bool:
        """Whether a hypothesis is accepted."""
        return self.verdict != "unfinished"


def parse_hypotheses(text: str, measure: Measure = "points") -> tuple[float, float]:
    """Read H0 and H1 as means a game.

    For points, ``0,10`` are differences of Elo and ``0%,1%`` win rates above 50 %; for spread,
    ``0,5`` are points of the game.

    Raises:
        ValueError: ``text`` is not two such numbers, the smaller first.
    """
    parts = [part.strip() for part in text.split(",")]
    percent = measure == "points" and all(part.endswith("%") for part in parts)
    try:
        low, high = (float(part.removesuffix("%") if percent else part) for part in parts)
    except ValueError:
        low = high = math.nan
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        forms = "0,10 (Elo) or 0%,1% (win rate above 50 %)" if measure == "points" else "0,5"
        raise ValueError(f"H0 and H1 are two numbers, the smaller first, such as {forms}: {text!r}")
    if measure == "spread":
        return low, high
    if percent:
        return 0.5 + low / 100, 0.5 + high / 100
    try:
        return 1 / (1 + 10 ** (-low / 400)), 1 / (1 + 10 ** (-high / 400))
    except OverflowError:
        raise ValueError(f"no difference of Elo is as large as one of {text!r}") from None


def write_hypothesis(test: SequentialTest, mean: float) -> str:
    """Return side a's mean per game under a hypothesis as text."""
    if test.measure == "spread":
        return f"{mean:+g} points a game"
    return f"{400 * math.log10(mean / (1 - mean)):+.3g} Elo ({100 * mean:.4g} %)"


def state_of(test: SequentialTest, results: Sequence[GameResult], undecided: int = 0) -> TestState:
    """Return the state of a test after results, which may be in any order.

    The first ``undecided`` pairs are known not to decide it; skipping them saves time.
    """
    return state_of_pairs(test, _pair_means(test, results), undecided)


def _pair_means(test: SequentialTest, results: Sequence[GameResult]) -> F64:
    """Return side a's means per game [pairs], up to the first incomplete pair."""
    pairs: dict[int, dict[int, GameResult]] = defaultdict(dict)
    for result in results:
        if not result.void:
            pairs[(result.number + 1) // 2][result.number] = result  # which may share no draws
    complete = takewhile(lambda pair: len(pairs[pair]) == 2, count(1))
    means = [
        sum(game.points if test.measure == "points" else game.spread for game in games) / 2
        for games in (pairs[pair].values() for pair in complete)
    ]
    return np.array(means, dtype=np.float64)


def state_of_pairs(test: SequentialTest, means: F64, undecided: int = 0) -> TestState:
    """Return the state of a test after pairs: ``means`` [pairs] are side a's per game, in order."""
    lower, upper = test.bounds
    since = max(min(undecided, means.size) - 1, 0)
    ratios = log_likelihood_ratios(test, means, since)
    outside = (ratios <= lower) | (ratios >= upper)
    outside[: max(FEWEST_PAIRS - 1 - since, 0)] = False
    pairs = since + int(outside.argmax()) + 1 if outside.any() else means.size
    llr = float(ratios[pairs - 1 - since]) if pairs else 0.0
    if outside.any():
        verdict: Verdict = "accepted H1" if llr >= upper else "accepted H0"
        return TestState(llr, lower, upper, verdict, pairs, 0)
    return TestState(llr, lower, upper, "unfinished", pairs, _further_games(test, means, llr))


def log_likelihood_ratios(test: SequentialTest, means: F64, since: int = 0) -> F64:
    """Return the LLR after each pair but the first ``since``; ``means`` are [pairs]."""
    if test.measure == "points":
        counts = np.cumsum(means[:, np.newaxis] == PAIR_POINTS, axis=0)
        return points_llr(counts[since:], test.h0, test.h1)
    pairs, totals, squares = np.arange(1, means.size + 1), np.cumsum(means), np.cumsum(means**2)
    return spread_llr(pairs[since:], totals[since:], squares[since:], test.h0, test.h1)


def points_llr(counts: npt.ArrayLike, h0: float, h1: float) -> F64:
    """Return LLRs [...] of counts [..., 5] of pairs with 0, ½, 1, 1½ and 2 points."""
    pairs = np.moveaxis(np.asarray(counts, dtype=np.float64), -1, 0)
    pairs = np.where(pairs == 0, RARE, pairs)
    return _deficit(pairs, h0) - _deficit(pairs, h1)


def _deficit(pairs: F64, mean: float) -> F64:
    """Return the least log likelihood that chances of this mean lose against the observed shares.

    ``pairs`` are counts [5, ...]. The most likely chances of a given mean are the shares over
    1 + θ · (points − mean) (Owen 1988). θ is the zero of the derivative of the log likelihood,
    which falls; it is found by Newton's method in a bracket.
    """
    off = (PAIR_POINTS - mean).reshape(-1, *[1] * (pairs.ndim - 1))
    theta = np.zeros(pairs.shape[1:])
    low, high = np.full_like(theta, -1 / off.max()), np.full_like(theta, -1 / off.min())
    for _ in range(100):
        ratio = off / (1 + theta * off)
        weighted = pairs * ratio
        slope, curvature = weighted.sum(axis=0), (weighted * ratio).sum(axis=0)
        low, high = np.where(slope > 0, theta, low), np.where(slope > 0, high, theta)
        nearer = theta + slope / curvature
        nearer = np.where((low <= nearer) & (nearer <= high), nearer, (low + high) / 2)
        moved = np.abs(nearer - theta)
        theta = nearer
        if np.all(moved < 1e-6):  # the log likelihood is flat here: its error is a square
            break
    deficit: F64 = (pairs * np.log1p(theta * off)).sum(axis=0)
    return deficit


def spread_llr(
    pairs: npt.ArrayLike, total: npt.ArrayLike, squares: npt.ArrayLike, h0: float, h1: float
) -> F64:
    """Return LLRs of numbers of pairs, totals of their mean spreads, and totals of the squares."""
    number = np.asarray(pairs, dtype=np.float64)
    mean = np.asarray(total) / number
    variance = np.maximum(np.asarray(squares) / number - mean**2, 0) + LEAST_VARIANCE
    ratio = ((mean - h0) ** 2 + variance) / ((mean - h1) ** 2 + variance)
    return number / 2 * np.log(ratio)


def _further_games(test: SequentialTest, means: F64, llr: float) -> int | None:
    """Return the expected games until the LLR reaches a bound; None if unknown.

    The LLR is taken as Brownian motion (Siegmund 1985, §III), with the drift that it has had: near
    its middle the LLR of a pair is (h1 − h0) · (x − (h0 + h1) / 2) / s², but far from both
    hypotheses it is much less.
    """
    variance = float(means.var()) if means.size >= FEWEST_PAIRS else 0.0
    if variance == 0:
        return None
    step = (test.h1 - test.h0) / variance
    drift = llr / means.size
    spread = step * step * variance
    return max(2, 2 * math.ceil(_pairs_to_go(test, llr, drift, spread)))


def _pairs_to_go(test: SequentialTest, llr: float, drift: float, spread: float) -> float:
    """Return the expected pairs until an LLR of this drift and variance a pair is at a bound."""
    down, up = llr - test.bounds[0], test.bounds[1] - llr
    if drift < 0:
        down, up, drift = up, down, -drift
    pull = 2 * drift / spread
    if pull * (down + up) < 1e-6:
        return down * up / spread
    reach = math.expm1(-pull * down) / math.expm1(-pull * (down + up))
    return (reach * (down + up) - down) / drift


def expected_pairs(test: SequentialTest, results: Sequence[GameResult]) -> list[int]:
    """Return the expected pairs of a whole test if H0, the middle, or H1 is true; [] if unknown.

    Games' points are taken as independent and of equal players, as in ``pairs_needed``; spreads
    vary as those of the results' pairs.
    """
    means = _pair_means(test, results)
    if test.measure == "spread" and means.size < 2:
        return []
    variance = 1 / 8 if test.measure == "points" else means.var(ddof=1) + LEAST_VARIANCE
    spread = (test.h1 - test.h0) ** 2 / variance  # the drift at H1 is half of it
    to_go = (_pairs_to_go(test, 0.0, share * spread / 2, spread) for share in (-1, 0, 1))
    return [max(FEWEST_PAIRS, math.ceil(pairs)) for pairs in to_go]

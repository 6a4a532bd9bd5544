"""Ratings of a standing list: many players, a long history, everybody rated from the first game.

**Model.** That of ``ratings``, and in addition ratings that are not held are normal about a mean
with some deviation, both of which are fitted too (empirical Bayes: the deviation by EM, Dempster,
Laird & Rubin 1977). So a player that won all games is rated, with an error that says how little is
known. The deviation has to be fitted: if near neighbours are paired, the length of the list depends
on chains of games, and a prior that is too wide by half makes it too long by a tenth. Games of a
list have independent draws, so each game is a unit.

**Errors.** Those of the normal distribution with the inverse of the second derivatives as its
covariance (Laplace). Without anchors only differences are known: the mean of the players who have
games is ``CENTRE`` then, and errors are those of the differences to that mean.

**Cost.** Games are added up by pair of players, so the time of a step grows with the cube of the
number of players, and hardly with the games.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from lexicons.arrays import F64, I64, Bools

from .ratings import ELO, MOST_STEPS, NEAR, expected_points, log_tie_of
from .significance import CONFIDENCE

CENTRE = 1_500.0
SPREAD = 300.0
"""Prior guess at the deviation of ratings, in Elo; it weighs like ``SPREAD_PLAYERS`` players."""
SPREAD_PLAYERS = 4
SAME_SPREAD = 0.01
"""A change of the deviation by less than this share ends its fit."""
MOST_ROUNDS = 20
WIDTH = NormalDist().inv_cdf(0.5 + CONFIDENCE / 2)
"""Standard errors in half the width of an interval."""
FIRST_MOVE, MEAN = -2, -1
"""Indices of what is fitted beside the ratings: the first move's worth, and their mean."""


class Meetings(NamedTuple):
    """Games as arrays, each [games]."""

    first: I64
    """Index of the player who moved first; likewise ``second``."""
    second: I64
    points: F64
    """Points of the first: 1, ½ or 0."""

    def up_to(self, number: int) -> Meetings:
        """Return the first ``number`` games."""
        return Meetings(self.first[:number], self.second[:number], self.points[:number])


class RatingList(NamedTuple):
    """Ratings and errors on the Elo scale, each [players]."""

    ratings: F64
    errors: F64
    """Half the widths of the 95 % intervals; 0 for anchors."""
    first_move: float
    """Elo points that the first move is worth."""
    first_move_error: float
    spread: float
    """The deviation of the ratings that are not held, as fitted."""
    opponents: I64
    """Number of opponents that a rating comes from; [players]."""
    largest: F64
    """Share of a player's games against the opponent that it met most, 0 without games; [players].
    """


def rate_list(games: Meetings, held: F64, start: F64 | None = None) -> RatingList:
    """Rate players from all of their games.

    Args:
        games: in any order.
        held: ratings of anchors, nan for all others; [players].
        start: ratings to start from, such as the previous ones, to save time; nan if unknown.
    """
    played = np.zeros(held.size, dtype=bool)
    played[np.append(games.first, games.second)] = True
    # Nothing tells apart those without games. One is rated for all, or names that only sought
    # games would cost the square of their number in memory.
    alike = np.flatnonzero(~played & np.isnan(held))
    chosen = np.delete(np.arange(held.size), alike[1:])
    number = np.searchsorted(chosen, np.arange(held.size))
    number[alike] = number[alike[:1]]
    met = games._replace(first=number[games.first], second=number[games.second])
    listed = _rate(met, held[chosen], None if start is None else start[chosen], played[chosen])
    return listed._replace(
        ratings=listed.ratings[number],
        errors=listed.errors[number],
        opponents=listed.opponents[number],
        largest=listed.largest[number],
    )


def _rate(games: Meetings, held: F64, start: F64 | None, played: Bools) -> RatingList:
    free = np.isnan(held)
    centre = CENTRE if free.all() else float(held[~free].mean())
    # Ratings, first move and mean, in natural units from the centre.
    initial = np.full(held.size, math.nan) if start is None else start
    strengths = np.nan_to_num((np.where(free, initial, held) - centre) / ELO)
    strengths = np.append(strengths, [0.0, strengths.mean()])
    key, which = np.unique(games.first * held.size + games.second, return_inverse=True)
    met = np.bincount(which, minlength=key.size).astype(np.float64)
    points = np.bincount(which, weights=games.points, minlength=key.size).astype(np.float64)
    log_tie = log_tie_of(int((games.points == 0.5).sum()), games.points.size)
    players = max(held.size, 1)
    totals = _Totals(key // players, key % players, met, points, log_tie)
    spread = SPREAD / ELO
    for _ in range(MOST_ROUNDS):
        strengths, covariance = _most_likely(strengths, totals, free, spread)
        # The deviation of ratings from their mean that is most likely, in natural units.
        own = np.diag(covariance)[:-2] + covariance[MEAN, MEAN] - 2 * covariance[MEAN, :-2]
        squares = ((strengths[:-2] - strengths[MEAN]) ** 2 + own)[free & played]
        total = squares.sum() + SPREAD_PLAYERS * (SPREAD / ELO) ** 2
        better = math.sqrt(total / (squares.size + SPREAD_PLAYERS))
        if abs(better / spread - 1) < SAME_SPREAD:
            break
        spread = better
    if free.all():
        # As differences from the mean of the players that have games.
        share = np.append(played / np.maximum(np.count_nonzero(played), 1), [0.0, 0.0])
        level = np.append(np.ones(played.size), [0.0, 0.0])
        with_mean = covariance @ share
        off = covariance - np.outer(level, with_mean) - np.outer(with_mean, level)
        covariance = off + np.outer(level, level) * (share @ with_mean)
        strengths = strengths - level * (share @ strengths)
    ratings = np.where(free, strengths[:-2] * ELO + centre, held)
    errors = WIDTH * np.sqrt(np.maximum(np.diag(covariance), 0.0)) * ELO
    first_move = float(strengths[FIRST_MOVE]) * ELO, float(errors[FIRST_MOVE])
    # Games of each player against each other.
    against = np.zeros((held.size, held.size))
    against[totals.first, totals.second] = totals.games
    against += against.T
    largest = against.max(axis=1, initial=0.0) / np.maximum(against.sum(axis=1), 1.0)
    opponents = np.count_nonzero(against, axis=1)
    return RatingList(ratings, errors[:-2], *first_move, spread * ELO, opponents, largest)


class _Totals(NamedTuple):
    """Games by who met whom in which order, each [meetings]."""

    first: I64
    second: I64
    games: F64
    points: F64
    """Points of the first in all of them."""
    log_tie: float


def _most_likely(strengths: F64, totals: _Totals, free: Bools, spread: float) -> tuple[F64, F64]:
    """Return the most likely parameters at a deviation of ratings, and their covariance.

    By Newton's method, as in ``ratings``; with the prior, the matrix can always be inverted.
    """
    from scipy.linalg.lapack import dpotrf, dpotri, dpotrs

    # The precision of ratings about their mean, of the mean, of the first move. The mean is a
    # parameter: about a fixed number, a thousand weak priors would make a strong one.
    each, weak = spread**-2, (ELO / SPREAD) ** 2
    precisions = np.append(np.where(free, each, 0.0), [weak, weak + each * np.count_nonzero(free)])
    prior = np.diag(precisions)
    prior[MEAN, :-2] = prior[:-2, MEAN] = -precisions[:-2]
    chosen = np.append(np.flatnonzero(free), [free.size, free.size + 1])
    inner = np.ix_(chosen, chosen)
    first, second = totals.first, totals.second
    for _ in range(MOST_STEPS):
        delta = strengths[first] + strengths[FIRST_MOVE] - strengths[second]
        own, _, variance = expected_points(delta, totals.log_tie)
        # Each player's sum as the first less that as the second, then the sum of all, and 0.
        more = totals.points - totals.games * own
        sums = [np.bincount(side, weights=more, minlength=free.size) for side in (first, second)]
        slope = np.append(sums[0] - sums[1], [more.sum(), 0.0]) - prior @ strengths
        # Σ weight · x xᵀ, where x is 1 at the first and the first move, -1 at the second.
        weights = totals.games * variance
        between = np.zeros((free.size, free.size))
        between[first, second] = weights
        rows, columns = between.sum(axis=1), between.sum(axis=0)
        information = prior.copy()
        information[:-2, :-2] += np.diag(rows + columns) - between - between.T
        information[FIRST_MOVE, :-2] += rows - columns
        information[:-2, FIRST_MOVE] += rows - columns
        information[FIRST_MOVE, FIRST_MOVE] += weights.sum()
        factor, _ = dpotrf(information[inner], lower=True, overwrite_a=True)
        step = np.zeros(strengths.size)
        step[chosen] = dpotrs(factor, slope[chosen], lower=True)[0]
        furthest = float(np.abs(step[first] + step[FIRST_MOVE] - step[second]).max(initial=0))
        if furthest < NEAR:
            strengths = strengths + step
            break
        strengths = strengths + step * math.log1p(furthest) / furthest
    lower = np.tril(dpotri(factor, lower=True, overwrite_c=True)[0])
    covariance = np.zeros((strengths.size, strengths.size))
    covariance[inner] = lower + np.tril(lower, -1).T
    return strengths, covariance

"""Ratings of any number of players from their games, by maximum likelihood, on the Elo scale.

**Model.** With δ = ln 10 / 400 · (rating of the first to move + ``first_move`` − rating of the
second), the first wins, ties and loses with chances in proportion to e^(δ/2), ν and e^(−δ/2)
(Bradley & Terry 1952; ties: Davidson 1970; first move: Davidson & Beaver 1977). Of the two usual
models of ties, this one counts a tie as half a win each, as a match's win rate does: players'
expected points equal those they scored. The other (Rao & Kupper 1967) puts ratings closer together,
by the share of ties, 0.3 % here. So ν matters little and is not fitted: equal players are taken to
tie as often as all players did.

**Errors.** The two games of a pair share draws, so pairs are the units: the covariance is the
sandwich H⁻¹ (Σ sᵤ sᵤᵀ) H⁻¹ of second derivatives and the units' first derivatives (Liang & Zeger
1986), times U / (U − 1) for U units, as in ``statistics``. Intervals take Student's t with a
player's own units less one as degrees of freedom, and are unknown with fewer than ``FEWEST_UNITS``.

**What can be known.** Ratings of different components can't be compared: no chain of games connects
the players. A player without a chain of wins to, and of losses from, the others of its component
has no finite rating (Ford 1957). The largest group with such chains is rated. Another player that
met it has a one-sided bound, as in ``elo_difference``: beyond it, all units would end as they did
less than one time in forty, given the ratings of the others. No prior is used. Anchors are ratings
held fixed; they connect their players. Without any, the mean of a component's rated players is 0.

**Unknown is None.** Nothing here is nan or infinite.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from lexicons.arrays import F64, I64, Bools

from .results import GameResult
from .significance import CONFIDENCE, FEWEST_UNITS, Interval, around

ELO = 400 / math.log(10)
"""Points of Elo in a natural unit of log odds."""
NEAR = 1e-6
"""A step below this, in natural units, is the last; the next would be about its square."""
MOST_STEPS = 100
LEAST_VARIANCE = 1e-12
"""Variances of ratings below this, in natural units, are rounding."""
MOST_ANCHOR = 10_000.0
MOST_APART = 4_000.0
"""Most points between anchors; beyond, no player in between would beat one or lose to the other."""
FURTHEST = 4_000.0
"""Bounds are sought up to this distance from the ratings of the others."""


class GameArrays(NamedTuple):
    """Games as arrays, each [games]."""

    first: I64
    """Index of the player who moved first; likewise ``second``."""
    second: I64
    points: F64
    """Points of the first: 1, ½ or 0."""
    unit: I64
    """Games with the same number are a unit: a pair, or a single game."""

    def only(self, chosen: Bools) -> GameArrays:
        """Return some of the games."""
        return GameArrays(*(column[chosen] for column in self))  # type: ignore[arg-type]

    def between(self, player: int, others: Bools) -> GameArrays:
        """Return a player's games against ``others``, bool[players]."""
        first, second = self.first, self.second
        return self.only((first == player) & others[second] | (second == player) & others[first])

    def points_of(self, player: int) -> F64:
        """Return a player's points in its own games, in any order."""
        return np.append(self.points[self.first == player], 1 - self.points[self.second == player])


@dataclass(frozen=True)
class PlayerRating:
    """A player's rating; None is unknown."""

    name: str
    rating: float | None
    """None without games, or if no finite rating is the most likely."""
    error: float | None
    """Half the width of the 95 % interval; 0 for an anchor."""
    interval: Interval
    """``rating ± error``; one bound if ``FEWEST_UNITS`` or more are all won, or all lost."""
    games: int
    points: float
    units: int
    component: int
    """From 1; ratings of different components can't be compared."""
    anchored: bool


@dataclass(frozen=True)
class Ratings:
    """Ratings of players, in the order of their names as given."""

    players: tuple[PlayerRating, ...]
    superiority: tuple[tuple[float | None, ...], ...]
    """[i][j]: likelihood that player i is stronger than player j."""
    first_move: float | None
    """Elo points that the first move is worth; None if it can't be told from strength."""
    first_move_error: float | None
    first_move_interval: Interval


class _Fit(NamedTuple):
    """Ratings [players] and the first-move term, in natural units."""

    at: F64
    log_tie: float
    """ln ν."""
    has_first: bool
    covariance: F64
    """Of ``at``; 0 where it is unknown."""
    units: int


def rate_results(
    results: Sequence[GameResult],
    names: Sequence[str] = (),
    anchors: Mapping[str, float] | None = None,
) -> Ratings:
    """Rate the players of games; two games with one pair number and the same players are a unit.

    Games to which a player did not come are left out, and so are void games.

    ``names`` come first in the table, with or without games; ``anchors`` are ratings held fixed.

    Raises:
        ValueError: an anchor is not a player, or beyond ``MOST_ANCHOR``.
    """
    counted = [result for result in results if result.was_played and not result.void]
    sides = [(result.sides[0].name, result.sides[1].name) for result in counted]
    index = {name: at for at, name in enumerate(dict.fromkeys(chain(names, *sides)))}
    units: dict[tuple[int, frozenset[str]], int] = {}
    rows = [
        (
            index[pair[result.first]],
            index[pair[1 - result.first]],
            result.points if result.first == 0 else 1 - result.points,
            units.setdefault((result.pair, frozenset(pair)), len(units)),
        )
        for result, pair in zip(counted, sides, strict=True)
    ]
    columns = np.array(rows, dtype=np.float64).reshape(-1, 4).T
    first, second, unit = (columns[at].astype(np.int64) for at in (0, 1, 3))
    return rate_games(list(index), GameArrays(first, second, columns[2], unit), anchors)


def check_anchors(anchors: Mapping[str, float]) -> None:
    """Check ratings that are to be held fixed, before games are played.

    Raises:
        ValueError: one is beyond ``MOST_ANCHOR``, or two are further apart than ``MOST_APART``.
    """
    _check_range(anchors)
    if anchors and max(anchors.values()) - min(anchors.values()) > MOST_APART:
        raise ValueError(
            f"anchors must lie within {MOST_APART:,.0f} points "
            f"(got {min(anchors.values()):g} and {max(anchors.values()):g})"
        )


def _check_range(anchors: Mapping[str, float]) -> None:
    for name, anchor in anchors.items():
        if not abs(anchor) <= MOST_ANCHOR:
            raise ValueError(
                f"the rating of the anchor {name!r} must be a number "
                f"from -{MOST_ANCHOR:,.0f} to {MOST_ANCHOR:,.0f} (got {anchor:g})"
            )


def rate_games(
    names: Sequence[str], games: GameArrays, anchors: Mapping[str, float] | None = None
) -> Ratings:
    """Rate players ``names`` by games as arrays; see ``rate_results``."""
    _check_range(anchors or {})
    for name in anchors or {}:
        if name not in names:
            raise ValueError(f"anchor {name!r} is not a player")
    held = np.array([(anchors or {}).get(name, math.nan) for name in names], dtype=np.float64)
    component, rated = _components(games, held)
    inside = games.only(rated[games.first] & rated[games.second])
    fit = _fit(inside, component, rated, held)
    units, rated_units = _units_of(games, held.size), _units_of(inside, held.size)
    errors = np.where(np.isnan(held), _half_widths(np.diag(fit.covariance)[:-1], rated_units), 0.0)
    table = []
    for at, name in enumerate(names):
        rating = error = None
        if rated[at]:
            rating = float(fit.at[at] * ELO if math.isnan(held[at]) else held[at])
            error = _known(errors[at])
        met = games.between(at, rated)
        points, few = games.points_of(at), units[at] < FEWEST_UNITS
        table.append(
            PlayerRating(
                name=name,
                rating=rating,
                error=error,
                interval=around(rating, error) if few or rated[at] else _bound(met, at, fit),
                games=points.size,
                points=float(points.sum()),
                units=int(units[at]),
                component=int(component[at]) + 1,
                anchored=not math.isnan(held[at]),
            )
        )
    superiority = _superiority(fit, np.where(np.isnan(held), rated_units, math.inf), rated)
    _add_unrated(superiority, games, rated, fit)
    superiority[component[:, np.newaxis] != component] = math.nan
    first_move = float(fit.at[-1]) * ELO if fit.has_first else None
    first_error = _known(_half_widths(fit.covariance[-1:, -1], np.array([fit.units]))[0])
    return Ratings(
        players=tuple(table),
        superiority=tuple(tuple(map(_known, row)) for row in superiority),
        first_move=first_move,
        first_move_error=first_error,
        first_move_interval=around(first_move, first_error),
    )


# --- who can be compared --------------------------------------------------------------------------


def _components(games: GameArrays, held: F64) -> tuple[I64, Bools]:
    """Return each player's component, and whether it can be rated.

    In a rated group, chains of wins connect each player with each other; a tie is a win both ways,
    and anchors are connected. It is the group with anchors, or else the largest of its component.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    won, lost = games.points > 0, games.points < 1
    anchors = np.flatnonzero(~np.isnan(held))
    above = np.concatenate((games.first[won], games.second[lost], anchors))
    below = np.concatenate((games.second[won], games.first[lost], np.roll(anchors, 1)))
    graph = coo_array((np.ones(above.size), (above, below)), shape=(held.size, held.size)).tocsr()
    _, component = connected_components(graph, connection="weak")
    _, strong = connected_components(graph, connection="strong")
    rated = np.zeros(held.size, dtype=bool)
    for label in range(component.max(initial=-1) + 1):
        labels, sizes = np.unique(strong[component == label], return_counts=True)
        sizes = np.where(np.isin(labels, strong[anchors]), held.size + 1, sizes)
        if sizes.max() > 1:
            rated |= strong == labels[sizes.argmax()]
    return component, rated


def _design(games: GameArrays, players: int) -> Any:
    """Return the sparse matrix whose product with ``_Fit.at`` is δ; [games, players + 1]."""
    from scipy.sparse import csr_array

    size = games.points.size
    column = np.concatenate((games.first, games.second, np.full(size, players)))
    sign = np.repeat([1.0, -1.0, 1.0], size)
    return csr_array((sign, (np.tile(np.arange(size), 3), column)), shape=(size, players + 1))


def _has_first_move(games: GameArrays, held: F64) -> bool:
    """Return whether the first-move term has a finite estimate.

    It has none if it can grow or fall without limit, with ratings that follow, so that no game
    becomes less likely (Albert & Anderson 1984). That is a linear program.
    """
    from scipy.optimize import linprog
    from scipy.sparse import diags_array

    kinds = np.stack((games.first, games.second, games.points), axis=1)
    _, kept = np.unique(kinds, axis=0, return_index=True)
    design, points = _design(games, held.size)[kept], games.points[kept]
    against, tied = diags_array(1 - 2 * points) @ design, design[points == 0.5]

    ends = np.where(np.isnan(held), math.inf, 0.0)
    none, zeros, level = (np.zeros(size) for size in (held.size + 1, kept.size, tied.shape[0]))

    def endless(first_move: float) -> bool:
        bounds = np.stack((np.append(-ends, first_move), np.append(ends, first_move)), axis=1)
        return bool(linprog(none, against, zeros, tied, level, bounds).status == 0)

    return not endless(1.0) and not endless(-1.0)


# --- the most likely ratings ----------------------------------------------------------------------


def log_chances(ahead: F64, log_tie: float) -> tuple[F64, F64, F64]:
    """Return the log chances that the first wins, ties and loses, by δ = ``ahead`` [games]."""
    half = ahead / 2
    total = np.logaddexp(np.logaddexp(half, -half), log_tie)
    return half - total, log_tie - total, -half - total


def expected_points(ahead: F64, log_tie: float) -> tuple[F64, F64, F64]:
    """Return the points that the first and the second expect, and their variance, each [games]."""
    win, tie, loss = map(np.exp, log_chances(ahead, log_tie))
    own, other = win + tie / 2, loss + tie / 2
    return own, other, win * other**2 + tie * ((win - loss) / 2) ** 2 + loss * own**2


def log_tie_of(ties: int, games: int) -> float:
    """Return ln ν such that equal players tie as often as all players did."""
    return math.log(2 * ties / max(games - ties, 1)) if ties else -math.inf


def _fit(games: GameArrays, component: I64, rated: Bools, held: F64) -> _Fit:
    """Fit the games between rated players.

    By Newton's method, at first with steps so short that each goes uphill from any distance (Sun &
    Tran-Dinh 2019, for ν = 2).
    """
    from scipy.sparse import csr_array, diags_array

    log_tie = log_tie_of(int(np.count_nonzero(games.points == 0.5)), games.points.size)
    has_first = _has_first_move(games, held)
    at = np.append(np.nan_to_num(held / ELO), 0.0)

    # Parameters are the ratings that are not held; in a group without anchors, all but one, less
    # their mean.
    free = np.append(rated & np.isnan(held), has_first)
    basis = np.diag(free.astype(np.float64))
    for label in np.unique(component[rated]):
        group = np.flatnonzero(rated & (component == label))
        if free[group].all():
            basis[group] -= basis[group].mean(axis=0)
            free[group[0]] = False
        else:  # an anchor may be too far from 0 to start there
            at[group] = np.where(free[group], np.nanmean(held[group]) / ELO, at[group])
    basis = basis[:, free]

    design = _design(games, held.size)
    for _ in range(MOST_STEPS):
        mean, less, variance = expected_points(design @ at, log_tie)
        off = games.points * less - (1 - games.points) * mean  # points - mean, without cancellation
        information = design.T @ diags_array(variance) @ design
        inverse = basis @ np.linalg.inv(basis.T @ information @ basis) @ basis.T
        step = inverse @ (design.T @ off)
        furthest = float(np.abs(design @ step).max(initial=0))
        if furthest < NEAR:
            at += step
            break
        at += step * math.log1p(furthest) / furthest

    units, unit_of = np.unique(games.unit, return_inverse=True)
    number = np.arange(unit_of.size)
    per_unit = csr_array((off, (unit_of, number)), (units.size, number.size))
    scores = per_unit @ design
    correction = units.size / max(units.size - 1, 1)
    covariance = correction * inverse @ (scores.T @ scores) @ inverse
    return _Fit(at, log_tie, has_first, covariance, units.size)


# --- what is told of them -------------------------------------------------------------------------


def _known(value: float) -> float | None:
    return None if math.isnan(value) else float(value)


def _units_of(games: GameArrays, players: int) -> I64:
    """Return how many units each player has, [players]."""
    player, unit = np.append(games.first, games.second), np.tile(games.unit, 2)
    return np.bincount(np.unique(np.stack((player, unit)), axis=1)[0], minlength=players)


def _half_widths(variances: F64, units: I64) -> F64:
    """Return half the widths of 95 % intervals, in Elo; nan if unknown."""
    from scipy.special import stdtrit

    known = (units >= FEWEST_UNITS) & (variances > LEAST_VARIANCE)
    student_t = stdtrit(np.maximum(units - 1, 1), 0.5 + CONFIDENCE / 2)
    return np.where(known, student_t * np.sqrt(np.abs(variances)) * ELO, math.nan)


def _superiority(fit: _Fit, units: F64, rated: Bools) -> F64:
    """Return how likely each rated player is stronger than each other; nan if unknown."""
    from scipy.special import stdtr

    at, covariance = fit.at[:-1], fit.covariance[:-1, :-1]
    own = np.diag(covariance)
    variances = own[:, np.newaxis] + own - 2 * covariance
    fewer = np.minimum(units[:, np.newaxis], units)
    known = rated[:, np.newaxis] & rated & (fewer >= FEWEST_UNITS) & (variances > LEAST_VARIANCE)
    ahead = (at[:, np.newaxis] - at) / np.sqrt(np.where(known, variances, 1.0))
    return np.where(known, stdtr(np.clip(fewer - 1, 1, 1e9), ahead), math.nan)


def _add_unrated(superiority: F64, games: GameArrays, rated: Bools, fit: _Fit) -> None:
    """Fill in how likely unrated players are stronger than rated players, and than opponents."""
    for unrated in np.flatnonzero(~rated).tolist():
        among_rated, others = games.between(unrated, rated), rated.copy()
        others[games.second[games.first == unrated]] = True
        others[games.first[games.second == unrated]] = True
        for other in np.flatnonzero(others).tolist():
            only_other = np.arange(rated.size) == other
            met = among_rated if rated[other] else games.between(unrated, only_other)
            won, above = _swept(met, unrated), math.nan  # unless it won, or lost, all of them
            if won is not None:
                luck = math.exp(_log_luck(met, unrated, float(fit.at[other]), fit))
                above = 1 - luck if won else luck
            superiority[unrated, other], superiority[other, unrated] = above, 1 - above


def _swept(games: GameArrays, player: int) -> bool | None:
    """Return True if a player won all of its games, False if it lost all, else None."""
    points = games.points_of(player)
    alike = points.size and points.min() == points.max() != 0.5
    return bool(points[0]) if alike else None


def _log_luck(games: GameArrays, player: int, strength: float, fit: _Fit) -> float:
    """Return the log chance that a player of this strength wins, or loses, all games as it did.

    As in ``elo_difference``, a unit's chance is taken as the mean chance of its games, which it
    can't exceed.
    """
    at = fit.at.copy()
    at[player] = strength
    win, tie, loss = map(np.exp, log_chances(_design(games, at.size - 1) @ at, fit.log_tie))
    chance = np.where(games.points == 1, win, loss) + tie / 2
    _, unit_of = np.unique(games.unit, return_inverse=True)
    return float(np.log(np.bincount(unit_of, weights=chance) / np.bincount(unit_of)).sum())


def _bound(games: GameArrays, player: int, fit: _Fit) -> Interval:
    """Return the one-sided bound of a player who won, or lost, all games against the rated."""
    won = _swept(games, player)
    if won is None:
        return None, None
    from scipy.optimize import brentq

    others = fit.at[np.where(games.first == player, games.second, games.first)]
    reach = FURTHEST / ELO + abs(fit.at[-1])
    bound = ELO * brentq(
        lambda strength: _log_luck(games, player, strength, fit) - math.log((1 - CONFIDENCE) / 2),
        others.min() - reach,
        others.max() + reach,
    )
    return (bound, None) if won else (None, bound)

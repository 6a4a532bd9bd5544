"""How often the 95 % intervals of ratings hold the truth, and how ratings agree with others' fits.

Simulated events: strengths are normal with a standard deviation of 100 Elo, the first move is worth
33 Elo and 0.35 % of games between equal players are tied, as in static games. The two games of a
pair have the chances of the model, and correlate by a Gaussian copula: negatively, as with equal
tiles for both sides (the games of ``sprt_errors.py``: −0.48), or positively. *Weaker called
stronger*: how often the superiority of the weaker of two players is above 95 %. Three minutes on
one core.

Published fits: the baseball example of Agresti (Categorical Data Analysis, 2002, table 10.10) with
its home field, as fitted by the R package BradleyTerry2; the tasting of puddings with ties of
Davidson (1970), as fitted by the R package PlackettLuce; and, if it is installed (it needs no
place in the project's environment), choix 0.4 on a simulated event.
"""

from __future__ import annotations

import argparse
from itertools import combinations

import numpy as np
from scipy.special import ndtr

from harness.figures import number, table
from harness.matches.ratings import ELO, GameArrays, rate_games
from lexicons.arrays import F64, I64

EVENTS = (
    # players, pairs of games between each two, or rounds of one pair each
    (2, 20, "matches"),
    (2, 200, "matches"),
    (4, 4, "round robin"),
    (4, 50, "round robin"),
    (8, 20, "round robin"),
    (16, 9, "rounds"),
    (24, 1, "round robin"),
)
CORRELATIONS = (-0.6, 0.6)
"""Of the normal variables behind a pair's games, from one player's view; points: −0.41, 0.41."""
STRENGTHS, FIRST_MOVE, TIES = 100.0, 33.0, 0.0035

# Home team, away team: won at home, lost at home. Agresti (2002), table 10.10.
BASEBALL = """
Milwaukee: Detroit 4 3, Toronto 4 2, New-York 4 3, Boston 6 1, Cleveland 4 2, Baltimore 6 0
Detroit: Milwaukee 3 3, Toronto 4 2, New-York 4 3, Boston 6 0, Cleveland 6 1, Baltimore 4 3
Toronto: Milwaukee 2 5, Detroit 4 3, New-York 2 4, Boston 4 3, Cleveland 4 2, Baltimore 6 0
New-York: Milwaukee 3 3, Detroit 5 1, Toronto 2 5, Boston 4 3, Cleveland 4 2, Baltimore 6 1
Boston: Milwaukee 5 1, Detroit 2 5, Toronto 3 3, New-York 4 2, Cleveland 5 2, Baltimore 6 0
Cleveland: Milwaukee 2 5, Detroit 3 3, Toronto 3 4, New-York 4 3, Boston 4 2, Baltimore 2 4
Baltimore: Milwaukee 2 5, Detroit 1 5, Toronto 1 6, New-York 2 4, Boston 1 6, Cleveland 3 4
"""
BASEBALL_FIT = {
    # Turner & Firth (2012), Journal of Statistical Software 48(9): log odds against Baltimore.
    "Boston": 1.1438,
    "Cleveland": 0.7047,
    "Detroit": 1.4754,
    "Milwaukee": 1.6196,
    "New-York": 1.2813,
    "Toronto": 1.3271,
}
BASEBALL_HOME = 0.3023

# Davidson (1970): brands i and j, preferences for i, for j, for neither.
PUDDING = (
    *((1, 2, 19, 22, 16), (1, 3, 16, 19, 12), (2, 3, 19, 19, 10), (1, 4, 18, 23, 13)),
    *((2, 4, 23, 19, 9), (3, 4, 19, 20, 15), (1, 5, 13, 19, 18), (2, 5, 16, 20, 12)),
    *((3, 5, 16, 15, 17), (4, 5, 17, 14, 16), (1, 6, 18, 21, 12), (2, 6, 22, 20, 12)),
    *((3, 6, 13, 18, 10), (4, 6, 14, 19, 18), (5, 6, 11, 21, 12)),
)
PUDDING_FIT = (0.1388005, 0.1729985, 0.1617420, 0.1653930, 0.1586805, 0.2023855)
"""Worths, by PlackettLuce 0.4.3 in the 7 iterations that give Davidson's."""


# --- coverage -------------------------------------------------------------------------------------


def pairings(players: int, number: int, kind: str, chance: np.random.Generator) -> I64:
    """Return who meets whom, [pairs, 2]."""
    if kind == "rounds":
        shuffled = [chance.permutation(players).reshape(-1, 2) for _ in range(number)]
        return np.concatenate(shuffled)
    return np.repeat(np.array(list(combinations(range(players), 2))), number, axis=0)


def play(
    meetings: I64, strengths: F64, correlation: float, chance: np.random.Generator
) -> GameArrays:
    """Play pairs of games, each player moving first once."""
    normal = chance.standard_normal((2, len(meetings)))
    normal[1] = correlation * normal[0] + np.sqrt(1 - correlation**2) * normal[1]
    luck = ndtr(normal)
    ahead = strengths[meetings[:, 0]] - strengths[meetings[:, 1]]
    delta = (ahead + FIRST_MOVE * np.array([[1], [-1]])) / ELO
    tie = 2 * TIES / (1 - TIES)
    weights = np.exp(delta / 2), np.full_like(delta, tie), np.exp(-delta / 2)
    win, drawn = weights[0] / sum(weights), weights[1] / sum(weights)
    points = np.where(luck < win, 1.0, np.where(luck < win + drawn, 0.5, 0.0))
    one, other = meetings.T
    return GameArrays(
        np.concatenate((one, other)),
        np.concatenate((other, one)),
        np.concatenate((points[0], 1 - points[1])),
        np.tile(np.arange(len(meetings)), 2),
    )


def coverage(
    event: tuple[int, int, str], correlation: float, events: int, chance: np.random.Generator
) -> tuple[str, ...]:
    """Return a row: how often intervals of an event of this size hold the truth."""
    players, number_of, kind = event
    held: list[bool] = []
    first_held: list[bool] = []
    above: list[bool] = []
    widths, unknown = [], 0
    names = [str(player) for player in range(players)]
    for _ in range(events):
        strengths = chance.normal(0, STRENGTHS, players)
        games = play(pairings(*event, chance), strengths, correlation, chance)
        ratings = rate_games(names, games)
        rated = [at for at, player in enumerate(ratings.players) if player.rating is not None]
        middle = strengths[rated].mean() if rated else 0.0
        for at, player in enumerate(ratings.players):
            low, high = player.interval
            if low is None or high is None:
                unknown += 1
                continue
            held.append(low <= strengths[at] - middle <= high)
            widths.append(high - low)
        low, high = ratings.first_move_interval
        if low is not None and high is not None:
            first_held.append(low <= FIRST_MOVE <= high)
        above += [
            likelihood > 0.95
            for i, row in enumerate(ratings.superiority)
            for j, likelihood in enumerate(row)
            if likelihood is not None and strengths[i] < strengths[j]
        ]
    return (
        f"{players} players, {number_of} {'rounds' if kind == 'rounds' else 'pairs'}",
        number(2 / np.pi * np.arcsin(correlation), 2, sign=True),
        f"{np.mean(held):.1%}",
        f"{np.mean(first_held):.1%}",
        f"{np.mean(widths) / 2:.0f}",
        f"{unknown / (events * players):.1%}",
        f"{np.mean(above):.1%}",
    )


# --- published fits -------------------------------------------------------------------------------


def _games(rows: list[tuple[int, int, float, int]]) -> GameArrays:
    """Return games of rows (first, second, points, how many), each a unit of its own."""
    first, second, points, times = map(np.array, zip(*rows, strict=True))
    return GameArrays(
        np.repeat(first, times),
        np.repeat(second, times),
        np.repeat(points.astype(np.float64), times),
        np.arange(times.sum()),
    )


def baseball() -> float:
    """Return the largest difference from the published fit with home field, in Elo."""
    names, rows = ["Baltimore", *BASEBALL_FIT], []
    for line in BASEBALL.strip().splitlines():
        home, away = line.split(": ")
        for each in away.split(", "):
            name, won, lost = each.split()
            at = names.index(home), names.index(name)
            rows += [(*at, 1.0, int(won)), (*at, 0.0, int(lost))]
    ratings = rate_games(names, _games(rows), {"Baltimore": 0})
    published = [0.0, *BASEBALL_FIT.values(), BASEBALL_HOME]
    assert ratings.first_move is not None, "both have begun"
    ours = [*(player.rating or 0.0 for player in ratings.players), ratings.first_move]
    return max(abs(one - ELO * other) for one, other in zip(ours, published, strict=True))


def pudding() -> float:
    """Return the largest difference from the published fit with ties, in Elo.

    Each comparison is there once in either order, since none is first.
    """
    rows = []
    for i, j, won, lost, tied in PUDDING:
        for points, times in ((1.0, won), (0.0, lost), (0.5, tied)):
            rows += [(i - 1, j - 1, points, times), (j - 1, i - 1, 1 - points, times)]
    ratings = rate_games([str(brand) for brand in range(1, 7)], _games(rows))
    published = ELO * np.log(PUDDING_FIT)
    ours = np.array([player.rating for player in ratings.players])
    return float(np.abs(ours - (published - published.mean())).max())


def choix_difference(chance: np.random.Generator) -> float | None:
    """Return the largest difference from choix on an event without ties, in Elo, if installed."""
    try:
        import choix  # type: ignore[import-not-found]
    except ImportError:
        return None
    players = 20
    strengths = chance.normal(0, STRENGTHS, players)
    games = play(pairings(players, 10, "round robin", chance), strengths, 0.0, chance)
    decided = games.points != 0.5
    first, second, points, _ = (column[decided] for column in games)
    both = GameArrays(
        np.concatenate((first, second)),
        np.concatenate((second, first)),
        np.concatenate((points, 1 - points)),
        np.tile(np.arange(len(first)), 2),
    )
    ratings = rate_games([str(player) for player in range(players)], both)
    winners = np.where(points == 1, (first, second), (second, first)).T
    others = ELO * choix.ilsr_pairwise(players, winners, alpha=0.0)
    ours = np.array([player.rating for player in ratings.players])
    return float(np.abs(ours - (others - others.mean())).max())


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    chance = np.random.default_rng(given.seed)

    fits = (
        ("baseball with home field (BradleyTerry2)", baseball()),
        ("puddings with ties (PlackettLuce)", pudding()),
        ("20 players (choix)", choix_difference(np.random.default_rng(given.seed))),
    )
    rows = [(name, number(difference, 4)) for name, difference in fits]
    print(table(("published fit", "largest difference, Elo"), rows), flush=True)
    print()
    head = (
        "event",
        "correlation",
        "ratings",
        "first move",
        "±",
        "unknown",
        "weaker called stronger",
    )
    covered: list[tuple[str, ...]] = [
        coverage(event, correlation, given.events, chance)
        for event in EVENTS
        for correlation in CORRELATIONS
    ]
    print(table(head, covered))


if __name__ == "__main__":
    main()

"""How often sequential tests err, and how long they take: simulated matches.

Pairs of games are drawn from those that ``greedy`` and ``vanilla`` play in kernels with the same
tiles and the seats swapped, as in a match. For another strength, results of pairs are weighted
exponentially (the nearest distribution with that mean, in relative entropy), and spreads shifted.
Beside the mean length stands the number of games of a fixed-size test with the same error rates.
Plays 10,000 games and simulates 10,000 matches a row: a minute and a half on one core.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from statistics import NormalDist

import numpy as np
from scipy.optimize import brentq

from engine.rules.rules import standard_rules
from engine.simulation.selfplay import play_static_games
from harness.figures import table
from harness.lab.studies.duel import judge_of
from harness.lab.study_context import Field
from harness.matches.sequential import (
    FEWEST_PAIRS,
    PAIR_POINTS,
    Measure,
    SequentialTest,
    parse_hypotheses,
    points_llr,
    spread_llr,
)
from lexicons.arrays import F64, I64
from lexicons.store import load_lexicon

TESTS: tuple[tuple[Measure, str], ...] = (
    ("points", "0,10"),
    ("points", "0%,1%"),
    ("points", "0,100"),
    ("spread", "0,5"),
    ("spread", "0,50"),
)
BLOCK = 64
"""Pairs drawn at a time for each match that goes on."""
ROWS = 128
"""Matches whose ratios are computed at a time: what fits into a cache."""


def played_pairs(pairs: int, seed: int) -> tuple[F64, F64]:
    """Play pairs of games; return the first player's mean points and spread a game, [pairs]."""
    field = Field.of(load_lexicon(), standard_rules())
    one, other = judge_of("greedy", field), judge_of("vanilla", field)
    games = play_static_games(
        field.lexicon,
        field.rules,
        one.leaves,
        2 * pairs,
        seed=seed,
        opponent=other.leaves,
        pairs=True,
        mirrored=True,
        evaluation=one.evaluation,
        opponent_evaluation=other.evaluation,
    )
    scores = games.scores.astype(np.int64)
    ahead = np.where(games.begins == 0, 1, -1) * (scores[:, 0] - scores[:, 1])
    return (np.sign(ahead) + 1).reshape(-1, 2).mean(axis=1) / 2, ahead.reshape(-1, 2).mean(axis=1)


def tilted(shares: F64, mean: float) -> F64:
    """Weight shares of the results of pairs so that they have a mean."""

    def weighted(tilt: float) -> F64:
        weights = shares * np.exp(tilt * PAIR_POINTS)
        return np.asarray(weights / weights.sum())

    return weighted(brentq(lambda tilt: weighted(tilt) @ PAIR_POINTS - mean, -50, 50))


def simulate(test: SequentialTest, draw: Callable[[int], F64], matches: int) -> tuple[I64, I64]:
    """Play out a test in many matches; return 1 where H1 was accepted, and the pairs it took."""
    points = test.measure == "points"
    sums = np.zeros((matches, 5 if points else 2))
    going = np.arange(matches)
    accepted, length = np.zeros(matches, np.int64), np.zeros(matches, np.int64)
    played = 0
    while going.size:
        ended = np.zeros(going.size, bool)
        for start in range(0, going.size, ROWS):
            rows = going[start : start + ROWS]
            means = draw(rows.size * BLOCK).reshape(-1, BLOCK)
            each = (
                means[..., np.newaxis] == PAIR_POINTS
                if points
                else np.stack((means, means**2), axis=-1)
            )
            so_far = sums[rows, np.newaxis] + each.cumsum(axis=1)
            sums[rows] = so_far[:, -1]
            pairs = played + np.arange(1, BLOCK + 1)
            ratios = (
                points_llr(so_far, test.h0, test.h1)
                if points
                else spread_llr(pairs, so_far[..., 0], so_far[..., 1], test.h0, test.h1)
            )
            lower, upper = test.bounds
            outside = ((ratios <= lower) | (ratios >= upper)) & (pairs >= FEWEST_PAIRS)
            at = outside.argmax(axis=1)
            accepted[rows] = ratios[np.arange(rows.size), at] >= upper
            length[rows] = pairs[at]
            ended[start : start + ROWS] = outside.any(axis=1)
        going = going[~ended]
        played += BLOCK
    return accepted, length


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--matches", type=int, default=10_000)
    parser.add_argument("--pairs", type=int, default=5_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--test", action="append", help="only this one, such as points:0,10")
    given = parser.parse_args()

    points, spreads = played_pairs(given.pairs, given.seed)
    shares = (points[:, np.newaxis] == PAIR_POINTS).mean(axis=0)
    print(
        f"{given.pairs:,} pairs: {', '.join(f'{share:.1%}' for share in shares)} "
        f"with 0, ½, 1, 1½, 2 points; {spreads.mean():+.1f} ± {spreads.std():.1f} points a game\n"
    )
    chance = np.random.default_rng(given.seed)
    rows = []
    for measure, text in TESTS:
        if given.test and f"{measure}:{text}" not in given.test:
            continue
        test = SequentialTest(*parse_hypotheses(text, measure), measure=measure)
        middle = (test.h0 + test.h1) / 2
        for truth, mean in (("H0", test.h0), ("between", middle), ("H1", test.h1)):
            if measure == "points":
                values, chances = PAIR_POINTS, tilted(shares, mean)
            else:
                values, chances = (
                    spreads - spreads.mean() + mean,
                    np.full(points.size, 1 / points.size),
                )
            deviation = np.sqrt(chances @ (values - mean) ** 2)
            steps = chances.cumsum()[:-1]

            def draw(size: int, values: F64 = values, steps: F64 = steps) -> F64:
                return values[np.searchsorted(steps, chance.random(size))]

            accepted, length = simulate(test, draw, given.matches)
            share = accepted.mean()
            wrong = {"H0": f"{share:.2%}", "H1": f"{1 - share:.2%}"}.get(truth, "")
            quantiles = NormalDist().inv_cdf(1 - test.alpha) + NormalDist().inv_cdf(1 - test.beta)
            fixed = (quantiles * deviation / (test.h1 - test.h0)) ** 2
            rows.append(
                (
                    *(measure, text, truth, f"{share:.1%}", wrong),
                    *(f"{2 * length.mean():,.0f}", f"{2 * np.quantile(length, 0.95):,.0f}"),
                    f"{2 * np.ceil(fixed):,.0f}",
                )
            )
    head = ("test", "H0,H1", "truth", "accepts H1", "errs", "mean games", "95 % within", "fixed")
    print(table(head, rows))


if __name__ == "__main__":
    main()

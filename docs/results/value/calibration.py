"""Hold a value net's chances of winning against the table's, on games that neither learned from.

After each move of games of the static player both say how likely the mover wins, who knows its own
leave and not the opponent's; and again with the worth of the opponent's last leave taken from the
lead, as rollouts have it at their end. Intervals are of 95 %, by game.

    python docs/results/value/calibration.py --net F.npz --games 1000 --seed 11
"""

from __future__ import annotations

import argparse

import numpy as np

from engine.movegen.evaluation import POINT
from engine.movegen.generator import Generator
from engine.movegen.position_value import PositionValue
from engine.rules.rules import standard_rules
from engine.simulation.selfplay import play_static_games
from harness.figures import table
from lexicons.arrays import F64
from lexicons.store import load_lexicon
from lexicons.tables import leaves_for, load_value_net, trained_win_probabilities
from lexicons.value_net import LEAD, SCALE, UNIT

BAGS = ((1, 7), (8, 14), (15, 40), (41, 100))


def main() -> None:
    """Play, ask both, and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--net", required=True)
    parser.add_argument("--games", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=11)
    given = parser.parse_args()
    rules, lexicon = standard_rules(), load_lexicon()
    leaves = leaves_for(rules.distribution)
    net = load_value_net(given.net, rules.layout, rules.distribution)
    wins = trained_win_probabilities(rules.distribution)
    assert wins is not None
    ranking = PositionValue(Generator(lexicon, rules, leaves), net)
    played = play_static_games(lexicon, rules, leaves, given.games, seed=given.seed, record=True)
    results, rows = played.results, []
    for game in range(given.games):
        final = int(results.scores[game, 0] - results.scores[game, 1])
        for turn in range(int(results.turns[game]) - 1):
            bag = int(results.bags[game, turn + 1])
            if not bag:
                break
            ranking.best(played.position(game, turn, rules), 1, among=1)
            said = ranking.outputs
            ahead = float(results.leaves[game, turn]) / POINT - int(results.spreads[game, turn + 1])
            other = float(results.leaves[game, turn - 1]) / POINT if turn else 0.0
            scale, more = UNIT * np.exp(said[SCALE]), UNIT * said[LEAD]
            chances = [
                chance
                for lead in (ahead, ahead - other)
                for chance in (
                    1 / (1 + np.exp(-(lead + more) / scale)),
                    1 - wins.at(round(-lead), bag + rules.rack_size),
                )
            ]
            won = (np.sign(final if turn % 2 == 0 else -final) + 1) / 2
            rows.append((game, bag, won, *chances))
    report(np.array(rows))


def report(rows: F64) -> None:
    """Print log-losses by bag, and how often is won what is said to be, by tenths."""
    games, bags, won = rows[:, 0], rows[:, 1], rows[:, 2]
    for about, columns in (("own leave", (3, 4)), ("both leaves", (5, 6))):
        losses = np.stack([_log_loss(rows[:, column], won) for column in columns])
        lines = []
        for low, high in (*BAGS, (1, 100)):
            there = (bags >= low) & (bags <= high)
            less, error = _mean_by_game(losses[1, there] - losses[0, there], games[there])
            means = (f"{losses[nth, there].mean():.4f}" for nth in range(2))
            count = f"{int(there.sum()):,}"
            lines.append((f"{low}–{high}", count, *means, f"{less:+.4f} ± {1.96 * error:.4f}"))
        print(table((f"bag ({about})", "positions", "net", "table", "net is better by"), lines))
    lines = []
    for tenth in range(10):
        row = [f"{10 * tenth}–{10 * tenth + 10} %"]
        for column in (3, 4):
            there = np.minimum(rows[:, column] * 10, 9).astype(np.int64) == tenth
            said, was = rows[there, column].mean(), won[there].mean()
            row += [f"{int(there.sum()):,}", f"{100 * said:.1f}", f"{100 * was:.1f}"]
        lines.append(tuple(row))
    print(table(("said", "net", "mean %", "won %", "table", "mean %", "won %"), lines))


def _log_loss(said: F64, won: F64) -> F64:
    kept = np.clip(said, 1e-4, 1 - 1e-4)
    losses: F64 = -(won * np.log(kept) + (1 - won) * np.log(1 - kept))
    return losses


def _mean_by_game(values: F64, games: F64) -> tuple[float, float]:
    """Return the mean, and its standard error if whole games are drawn."""
    mean = values.mean()
    sums = np.bincount(games.astype(np.int64), values - mean)
    return float(mean), float((sums**2).sum() ** 0.5 / len(values))


if __name__ == "__main__":
    main()

"""What the third and further blanks are worth in the formula's leaves, by duels.

``PYTHONPATH=. python docs/results/training/blanks.py RULES.toml GAMES SEED`` has static players to
whom these blanks are worth the points in a row meet one to whom each is worth 20.
"""

from __future__ import annotations

import sys
from functools import partial

from engine.rules.rule_sets import load_rules
from harness.lab.studies.duel import KernelEvaluator, play_duel
from harness.lab.study_context import Field
from lexicons import formula_leaves
from lexicons.leaves import table_of
from lexicons.store import load_lexicon

TRIED = ((14,) * 4, (10,) * 4, (10, 5, 0, 0), (6, 1, -2, -3), (0,) * 4, (-5,) * 4)


def judge(field: Field, further: tuple[int, ...]) -> KernelEvaluator:
    """Return a static player by the formula with other values of these blanks."""
    third, fourth, fifth, sixth = (1000 * points for points in further)
    formula_leaves.BLANKS = (25_000, 20_000, third, fourth, fifth, sixth)
    tiles = field.rules.distribution
    leaves = table_of(tiles, partial(formula_leaves._worths, distribution=tiles))
    return KernelEvaluator(", ".join(map(str, further)), leaves)


if __name__ == "__main__":
    field = Field.of(load_lexicon("scowl"), load_rules(sys.argv[1]))
    games, seed = map(int, sys.argv[2:])
    usual = judge(field, (20,) * 4)
    for further in TRIED:
        row = play_duel(judge(field, further), usual, field, games, threads=1, seed=seed)
        print(
            f"{row.player:15} {row.difference:+6.2f} ± {row.error:.2f} {row.win_rate:.1%}",
            flush=True,
        )

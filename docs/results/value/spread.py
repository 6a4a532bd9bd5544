"""Print by how much gains differ, and those of the moves of one turn, followed in the same luck.

python docs/results/value/spread.py
"""

from __future__ import annotations

import numpy as np

from engine.rules.rules import standard_rules
from harness.lab.study_context import Field
from harness.lab.training.value import WANTED, Share, play_share
from lexicons.store import load_lexicon

GAMES = 512


def main() -> None:
    """Follow moves for one turn and for two."""
    field = Field.of(load_lexicon(), standard_rules())
    for plies in (1, 2):
        listed = play_share(field, Share((1, 1, 0), GAMES, WANTED._replace(plies=plies)))
        means = np.bincount(listed.groups, listed.gains) / np.bincount(listed.groups)
        within = listed.gains - means[listed.groups]
        print(f"turns followed: {plies}; standard deviation of gains: {listed.gains.std():.1f}")
        print(f"points, of those of the moves of one turn: {within.std():.1f} points")


if __name__ == "__main__":
    main()

"""Print by how much gains differ, and those of the moves of one turn, followed in the same luck.

python docs/results/value/spread.py
"""

from __future__ import annotations

import numpy as np

from engine.rules.rules import standard_rules
from harness.lab.study_context import Field
from harness.lab.training.value import Share, play_share
from lexicons.store import load_lexicon
from lexicons.value_net import TURNS

GAMES = 512


def main() -> None:
    """Follow moves for one turn and for two."""
    field = Field.of(load_lexicon(), standard_rules())
    listed = play_share(field, Share((1, 1, 0), GAMES))
    for turn in range(TURNS):
        gains = listed.gains[:, turn]
        means = np.bincount(listed.groups, gains) / np.bincount(listed.groups)
        within = gains - means[listed.groups]
        print(f"turns followed: {turn + 1}; standard deviation of gains: {gains.std():.1f} points,")
        print(f"of those of the moves of one turn: {within.std():.1f} points")


if __name__ == "__main__":
    main()

"""Print the least processor time of 300 static games, of many runs, and a hash of 2,000 scores.

    python docs/results/languages/least_time.py [RUNS]

Run it in turns with two commits, each with its own TILEWIRE_CACHE: the least time is what a busy
machine disturbs least, and the hash says whether the games are the same.
"""

from __future__ import annotations

import hashlib
import sys
import time

from engine.rules.rule_sets import load_rules
from engine.simulation.selfplay import play_static_games
from lexicons.store import load_lexicon
from lexicons.tables import leaves_for


def main(runs: int) -> None:
    """Play the same games again and again."""
    lexicon, rules = load_lexicon(), load_rules()
    leaves = leaves_for(rules.distribution)
    scores = play_static_games(lexicon, rules, leaves, 2_000, seed=0, threads=1).scores
    print(hashlib.sha256(scores.tobytes()).hexdigest()[:16])
    times = []
    for _ in range(runs):
        began = time.process_time()
        play_static_games(lexicon, rules, leaves, 300, seed=1, threads=1)
        times.append(time.process_time() - began)
    print(f"{1_000 * min(times):.0f} ms")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 40)

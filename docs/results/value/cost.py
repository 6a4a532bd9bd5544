"""Time a value net: a position whose sums follow the board, one made anew, a choice of moves.

python docs/results/value/cost.py --net F.npz
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from engine.kernels.value_net import SUMS, rank_by_value, sum_position, value_move
from engine.movegen.generator import Generator
from engine.movegen.position_value import AMONG
from engine.rules.position import Position, unseen
from engine.rules.rules import standard_rules
from engine.simulation.selfplay import play_static_games
from lexicons.jit import kernel
from lexicons.store import load_lexicon
from lexicons.tables import leaves_for, load_value_net
from lexicons.value_net import NetArrays

GAMES = 20
TIMES = 20
ROUNDS = 7


@kernel
def sum_anew(state_array: Any, net: NetArrays, sums_array: Any, times: int) -> None:
    """Value the position on the board, as it is, so many times."""
    for _ in range(times):
        sum_position(net, sums_array[0], state_array[0].board)
        value_move(net, sums_array[0], state_array[0].board, 0, 50, 0)


def main() -> None:
    """Measure in turn, and print the medians of several rounds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--net", required=True)
    given = parser.parse_args()
    rules, lexicon = standard_rules(), load_lexicon()
    leaves = leaves_for(rules.distribution)
    net = load_value_net(given.net, rules.layout, rules.distribution).arrays
    generator, sums = Generator(lexicon, rules, leaves), np.zeros(1, SUMS)
    played = play_static_games(lexicon, rules, leaves, GAMES, seed=1, record=True)
    positions = [
        played.position(game, turn, rules)
        for game in range(GAMES)
        for turn in range(int(played.turns[game]))
        if played.results.bags[game, turn]
    ]
    took: dict[str, list[float]] = {"search": [], "best": [], "rank": [], "anew": []}

    def timed(what: str, work: Callable[[], object]) -> None:
        began = time.thread_time()
        work()
        took[what].append((time.thread_time() - began) * 1e6)

    def measure(position: Position) -> None:
        timed("best", lambda: generator.keep_best(position, 1))
        timed("search", lambda: generator.keep_best(position, AMONG))
        hidden = unseen(position, position.on_turn, rules)
        sums["unseen"][0, : len(hidden)] = hidden
        arguments = generator.state, generator.words.words, net, sums, 50, 0
        timed("rank", lambda: rank_by_value(*arguments))
        timed("anew", lambda: sum_anew(generator.state, net, sums, TIMES))

    measure(positions[0])
    rows = []
    for _ in range(ROUNDS):
        for times in took.values():
            times.clear()
        for position in positions:
            measure(position)
        rows.append({what: float(np.mean(times)) for what, times in took.items()})
    median = {what: float(np.median([row[what] for row in rows])) for what in took}
    print(f"{len(positions)} positions, medians of {ROUNDS} rounds, one thread")
    print(f"the best move by equity                {median['best']:7.1f} µs")
    print(f"the best {AMONG} by equity                  {median['search']:7.1f} µs")
    print(f"… and their values                     {median['rank']:7.1f} µs")
    print(f"a position after a move, made and undone {median['rank'] / AMONG:5.2f} µs")
    print(f"a position anew                        {median['anew'] / TIMES:7.2f} µs")


if __name__ == "__main__":
    main()

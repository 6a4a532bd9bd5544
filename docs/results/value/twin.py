"""Hold the sums of a value net that follow the board against sums made anew.

Games of the static player are played; in each turn the best moves are made and taken back, one
after another. After each move what the net makes of each line, by sums made anew for the lines
that changed, has to equal what it makes of the whole board anew; and after each undo the sums of
all lines those of before.

    python docs/results/value/twin.py --net F.npz --games 10000 --seed 1
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from engine.kernels.board import clear_board, forget_changes, undo_to
from engine.kernels.crosses import play
from engine.kernels.game import carry_out, choose_among, deal, new_game, settle
from engine.kernels.moves import EXCHANGE, tile_count
from engine.kernels.selfplay import Deals
from engine.kernels.value_net import SUMS, count_kept, count_unseen, sum_position, value_move
from engine.movegen.generator import Generator
from engine.rules.rules import standard_rules
from engine.simulation.selfplay import deals_of
from lexicons.arrays import I64
from lexicons.jit import helper, kernel
from lexicons.leaves import LeaveArrays
from lexicons.store import load_lexicon
from lexicons.tables import leaves_for, load_value_net
from lexicons.value_net import NetArrays

AMONG = 12
GAMES_AT_ONCE = 500


@kernel
def compare(
    state_array: Any,
    game_array: Any,
    words_array: Any,
    leaves: LeaveArrays,
    net: NetArrays,
    sums_array: Any,
    deals: Deals,
    counts: I64,
) -> None:
    """Play games; ``counts`` has moves, sums that differ after one, and after it is undone."""
    state, game, words = state_array[0], game_array[0], words_array[0]
    sums, fresh = sums_array[0], sums_array[1]
    board, top, rack = state.board, state.top, state.rack
    for number in range(len(deals.orders)):
        clear_board(board)
        deal(game, deals.orders[number], deals.seeds[number])
        seat = 0
        while not game.over:
            choose_among(state, game, words, leaves, seat, AMONG)
            bag = game.back - game.front
            count_unseen(sums.unseen, game, seat)
            count_unseen(fresh.unseen, game, seat)
            sum_position(net, sums, board)
            for nth in range(top.count):
                move = top.moves[nth]
                if move < EXCHANGE:
                    count_kept(sums.kept, rack, np.int64(top.subracks[nth]))
                    count_kept(fresh.kept, rack, np.int64(top.subracks[nth]))
                    left = max(bag - tile_count(move), 0)
                    play(board, words, move)
                    value_move(net, sums, board, 0, left, 0)
                    sum_position(net, fresh, board)
                    value_move(net, fresh, board, board.changes, left, 0)
                    counts[0] += 1
                    counts[1] += _differ(net, sums.hidden, fresh.hidden, len(net.second_start))
                    undo_to(board, 0)
                    sum_position(net, fresh, board)
                    counts[2] += _differ(net, sums.lines, fresh.lines, net.start.shape[1])
            if top.moves[0] < EXCHANGE:
                play(board, words, top.moves[0])
                forget_changes(board)
            carry_out(game, seat, top.moves[0], np.int64(top.scores[0]))
            settle(game, board.points, seat)
            seat = 1 - seat


@helper
def _differ(net: NetArrays, first: Any, second: Any, columns: Any) -> Any:
    for line in range(len(net.sights.kinds)):
        for column in range(columns):
            if net.sights.kinds[line] >= 0 and first[line, column] != second[line, column]:
                return 1
    return 0


def main() -> None:
    """Play, and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--net", required=True)
    parser.add_argument("--games", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    rules, lexicon = standard_rules(), load_lexicon()
    generator = Generator(lexicon, rules, leaves_for(rules.distribution))
    net = load_value_net(given.net, rules.layout, rules.distribution)
    game, sums, counts = new_game(rules, mirrored=True), np.zeros(2, SUMS), np.zeros(3, np.int64)
    deals = deals_of(rules, given.games, given.seed)
    for first in range(0, given.games, GAMES_AT_ONCE):
        compare(
            generator.state,
            game,
            generator.words.words,
            generator.leaves.arrays,
            net.arrays,
            sums,
            Deals._make(array[first : first + GAMES_AT_ONCE] for array in deals),
            counts,
        )
    moves, after, undone = counts.tolist()
    print(f"{given.games:,} games, {moves:,} moves made and taken back: lines differ after")
    print(f"{after} of them, and after {undone} that were taken back")


if __name__ == "__main__":
    main()

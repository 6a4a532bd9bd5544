"""Print what a value of positions could gain at most, if it told perfectly what follows a move.

In one turn of each of many games of the static player, the best moves are followed in many lucks:
racks of the opponent and tiles to be drawn, the same for all moves. By half of the lucks a move is
chosen, and the other half say what that gains over the move of the highest equity.

    python docs/results/value/ceiling.py --positions 600 --lucks 120 --seed 3
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from engine.kernels.board import clear_board, forget_changes, undo_to
from engine.kernels.crosses import play
from engine.kernels.game import carry_out, choose_among, deal, give_leave, new_game, settle
from engine.kernels.moves import EXCHANGE
from engine.movegen.evaluation import POINT
from engine.movegen.generator import Generator
from engine.rules.rules import standard_rules
from engine.simulation.selfplay import deals_of
from harness.figures import share
from lexicons.arrays import F64, I64, U8
from lexicons.bits import next_random, random_below
from lexicons.jit import helper, kernel
from lexicons.leaves import LeaveArrays
from lexicons.store import load_lexicon
from lexicons.tables import leaves_for

MOVES = 8
TURNS = np.array([1, 2, 4, 6])
MOST_SKIPPED = 22
"""The turn of a game is drawn from so many."""


@kernel
def follow_moves(
    state_array: Any,
    games_array: Any,
    words_array: Any,
    leaves: LeaveArrays,
    order: U8,
    seed: Any,
    skipped: int,
    turns: I64,
    equities: F64,
    gains: F64,
) -> bool:
    """Fill ``equities`` [moves] and ``gains`` [moves, lucks, turns]; return whether it was done.

    It is not if the game was over, the bag empty, or there are fewer moves. ``games_array`` has
    three games, which are scratch.
    """
    state, words, game = state_array[0], words_array[0], games_array[0]
    board, top, rack = state.board, state.top, state.rack
    clear_board(board)
    deal(game, order, seed)
    seat = 0
    for _ in range(skipped):
        choose_among(state, game, words, leaves, seat, 1)
        _make(state, game, words, seat, top.moves[0], np.int64(top.scores[0]))
        forget_changes(board)
        if game.over:
            return False
        seat = 1 - seat
    choose_among(state, game, words, leaves, seat, len(equities))
    if game.back == game.front or top.count < len(equities):
        return False
    moves, scores = top.moves[: len(equities)].copy(), top.scores[: len(equities)].copy()
    kept = np.empty(len(equities), np.int64)
    for nth in range(len(equities)):
        kept[nth] = rack.leaves[(1 << rack.held) - 1 ^ np.int64(top.subracks[nth])]
        equities[nth] = scores[nth] + kept[nth] / POINT
    games_array[1] = games_array[0]
    nothing, luck = np.zeros(1, np.uint8), np.empty(1, np.uint64)
    luck[0] = ~seed
    for number in range(gains.shape[1]):
        games_array[0] = games_array[1]
        luck[0] = next_random(luck[0])
        game.chance = luck[0]
        give_leave(game, 1 - seat, nothing, 0)
        _shuffle_bag(game, luck)
        games_array[2] = games_array[0]
        for nth in range(len(equities)):
            games_array[0] = games_array[2]
            ahead = game.scores[seat] - game.scores[1 - seat] + scores[nth]
            game.kept[seat], game.kept[1 - seat] = kept[nth], 0
            _make(state, game, words, seat, moves[nth], np.int64(scores[nth]))
            _follow(state, game, words, leaves, seat, ahead, turns, gains[nth, number])
            for each in range(len(turns)):
                gains[nth, number, each] -= kept[nth] / POINT
            undo_to(board, 0)
    return True


@helper
def _shuffle_bag(game: Any, luck: Any) -> None:
    for last in range(game.back - game.front - 1, 0, -1):
        luck[0] = next_random(luck[0])
        first, other = game.front + last, game.front + random_below(luck[0], last + 1)
        tile = game.bag[first]
        game.bag[first] = game.bag[other]
        game.bag[other] = tile


@helper
def _make(state: Any, game: Any, words: Any, seat: Any, move: Any, score: Any) -> None:
    if move < EXCHANGE:
        play(state.board, words, move)
    carry_out(game, seat, move, score)
    settle(game, state.board.points, seat)


@helper
def _follow(
    state: Any,
    game: Any,
    words: Any,
    leaves: LeaveArrays,
    mover: Any,
    ahead: Any,
    turns: Any,
    gains: Any,
) -> None:
    """Let static players go on; note the mover's gain, with the last leaves, after some turns."""
    rack, top = state.rack, state.top
    seat, turn = 1 - mover, 0
    for nth in range(len(turns)):
        while turn < turns[nth] and not game.over:
            choose_among(state, game, words, leaves, seat, 1)
            game.kept[seat] = rack.leaves[(1 << rack.held) - 1 ^ np.int64(top.subracks[0])]
            _make(state, game, words, seat, top.moves[0], np.int64(top.scores[0]))
            seat = 1 - seat
            turn += 1
        gains[nth] = np.float64(game.scores[mover] - game.scores[1 - mover] - ahead)
        if not game.over and game.back > game.front:
            gains[nth] += (game.kept[mover] - game.kept[1 - mover]) / POINT


def main() -> None:
    """Follow moves, and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--positions", type=int, default=600)
    parser.add_argument("--lucks", type=int, default=120)
    parser.add_argument("--seed", type=int, default=3)
    given = parser.parse_args()
    rules, lexicon = standard_rules(), load_lexicon()
    generator = Generator(lexicon, rules, leaves_for(rules.distribution))
    games = np.concatenate([new_game(rules, mirrored=True)] * 3)
    deals = deals_of(rules, 2 * given.positions, given.seed)
    skipped = np.random.default_rng(given.seed).integers(MOST_SKIPPED, size=len(deals.orders))
    all_equities: list[F64] = []
    all_gains: list[F64] = []
    for number in range(len(deals.orders)):
        equities = np.zeros(MOVES)
        gains = np.zeros((MOVES, given.lucks, len(TURNS)))
        if len(all_gains) < given.positions and follow_moves(
            generator.state,
            games,
            generator.words.words,
            generator.leaves.arrays,
            deals.orders[number],
            deals.seeds[number],
            int(skipped[number]),
            TURNS,
            equities,
            gains,
        ):
            all_equities.append(equities)
            all_gains.append(gains)
    report(np.array(all_equities), np.array(all_gains))


def report(equities: F64, gains: F64) -> None:
    """Print how moves differ in the next turns, and what a choice by them gains in points."""
    positions, _, lucks, _ = gains.shape
    print(f"{positions} positions, {MOVES} moves of each, {lucks} lucks")
    within = gains - gains.mean(axis=1, keepdims=True)
    noise = within.var(axis=2, ddof=1).mean(axis=(0, 1))
    signal = (within.mean(axis=2) ** 2).mean(axis=(0, 1)) - noise / lucks
    best, everyone = equities.argmax(axis=1), np.arange(positions)
    half = lucks // 2
    later = gains[:, :, half:].mean(axis=2)
    judges = "".join(f"{f'judged by {turns}':>16}" for turns in TURNS)
    print(f"turns  moves differ by  can be told{judges}")
    for nth, turns in enumerate(TURNS):
        told = signal[nth] / (signal[nth] + noise[nth])
        trust = signal[nth] / (signal[nth] + noise[nth] / half)
        chosen = (equities + trust * gains[:, :, :half, nth].mean(axis=2)).argmax(axis=1)
        row = f"{turns:5}  {(signal[nth] + noise[nth]) ** 0.5:15.1f}  {share(told):>11}"
        for judge in range(len(TURNS)):
            worth = equities + later[..., judge]
            gained = worth[everyone, chosen] - worth[everyone, best]
            row += f"   {gained.mean():+.2f} ± {1.96 * gained.std() / positions**0.5:.2f}"
        print(row)


if __name__ == "__main__":
    main()

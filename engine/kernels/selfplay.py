"""Whole games between static players, many in one call.

All chance is in the orders of the bags, shuffled by the caller, and in the places of exchanged
tiles, drawn by a generator seeded for each game. So a game can be replayed, and two games can share
their luck: with the same order and ``mirrored``, where seat 1 draws from the back, each seat draws
the same tiles in both, until tiles go back; the players swap seats.

A leave can be *forced*: on a given turn the mover swaps its rack for that leave and random tiles,
if bag and rack have its tiles. Training does so with leaves that are rarely dealt.
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np

from lexicons.arrays import I32, U8, U64
from lexicons.jit import helper, kernel
from lexicons.leaves import LeaveArrays
from lexicons.word_map import WordsArray

from .board import clear_board, forget_changes
from .game import GameArray, choose, deal, give_leave, make_move, settle
from .moves import MAX_PLACED
from .racks import EVALUATION, use_evaluation
from .search_state import StateArray


class Deals(NamedTuple):
    """The deals of the games."""

    orders: Annotated[U8, 2]  # [games, tiles] of the bag; the first is drawn first
    seeds: U64  # [games] for the places of tiles that go back
    begins: U8  # [games] which player, 0 or 1, has seat 0 and begins
    forced: Annotated[U8, 3]  # [games, first turns, 7] leaves for the mover; turns may be 0
    forced_sizes: Annotated[U8, 2]  # [games, first turns] their tiles; 0: none


class Results(NamedTuple):
    """Results by game, and by turn up to ``room``; filled in by the kernel."""

    scores: Annotated[I32, 2]  # [games, 2] by seat
    bingos: Annotated[I32, 2]  # [games, 2] by seat
    turns: I32  # [games]
    moves: Annotated[U64, 2]  # [games, room] packed
    racks: Annotated[U8, 3]  # [games, room, 7] the mover's tiles, sorted
    sizes: Annotated[U8, 2]  # [games, room] number of these tiles
    equities: Annotated[I32, 2]  # [games, room] thousandths of a point
    spreads: Annotated[I32, 2]  # [games, room] the mover's lead before the move
    bags: Annotated[I32, 2]  # [games, room] tiles in the bag before the move
    leaves: Annotated[I32, 2]  # [games, room] of the tiles kept, thousandths of a point


@kernel
def play_games(
    state_array: StateArray,
    game_array: GameArray,
    words_array: WordsArray,
    leaves: tuple[LeaveArrays, LeaveArrays],
    evaluations: Annotated[Any, EVALUATION],
    deals: Deals,
    results: Results,
) -> None:
    """Play a game for each row of ``deals``; ``leaves`` and ``evaluations`` are by player.

    State, game and ``results`` are modified in place.
    """
    state, game, words = state_array[0], game_array[0], words_array[0]
    for number in range(len(deals.orders)):
        clear_board(state.board)
        deal(game, deals.orders[number], deals.seeds[number])
        results.bingos[number, :] = 0
        seat, turn = 0, 0
        while not game.over:
            player = deals.begins[number] ^ seat
            use_evaluation(state.evaluation, evaluations[player])
            if turn < deals.forced_sizes.shape[1] and deals.forced_sizes[number, turn]:
                size = deals.forced_sizes[number, turn]
                give_leave(game, seat, deals.forced[number, turn], size)
            choose(state, game, words, leaves[player], seat)
            move, score = state.top.moves[0], state.top.scores[0]
            if turn < results.moves.shape[1]:
                _record(state, game, seat, results, number, turn)
            placed = make_move(state, game, words, seat, move, score)
            forget_changes(state.board)
            results.bingos[number, seat] += placed == state.board.bonus_tiles
            settle(game, state.board.points, seat)
            seat = 1 - seat
            turn += 1
        results.turns[number] = turn
        for seat in range(2):
            results.scores[number, seat] = game.scores[seat]


@helper
def _record(state: Any, game: Any, seat: Any, results: Results, number: Any, turn: Any) -> None:
    results.moves[number, turn] = state.top.moves[0]
    results.equities[number, turn] = state.top.equities[0]
    results.spreads[number, turn] = game.scores[seat] - game.scores[1 - seat]
    results.bags[number, turn] = game.back - game.front
    kept = (1 << state.rack.held) - 1 ^ np.int64(state.top.subracks[0])
    results.leaves[number, turn] = state.rack.leaves[kept]
    results.sizes[number, turn] = state.rack.held
    for at in range(MAX_PLACED):
        results.racks[number, turn, at] = state.rack.tiles[at]

"""Rollouts: a move is made, static players go on for some turns, and all is taken back.

What the mover does not see, the opponent's rack and the order of the bag, is drawn anew each time.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from engine.kernels.board import undo_to
from engine.kernels.crosses import cross_everywhere
from engine.kernels.game import below, choose, draw_tiles, make_move, settle
from lexicons.jit import helper, kernel
from lexicons.leaves import LeaveArrays

__all__ = ["roll_out"]

U8: TypeAlias = npt.NDArray[np.uint8]


@kernel
def roll_out(
    desk_array: Any,
    game_array: Any,
    words_array: Any,
    leaves: LeaveArrays,
    rack: U8,
    unseen: U8,
    opponent_tiles: int,
    move: np.uint64,
    score: int,
    plies: int,
    seed: np.uint64,
    spreads: npt.NDArray[np.int32],
) -> int:
    """Fill ``spreads``, [rollouts], with what the mover gains on his opponent; give turns taken.

    Args:
        desk_array: its board has been set up; it is as before afterwards.
        game_array: scratch.
        words_array: the lexicon.
        leaves: of both players.
        rack: the mover's tiles, sorted.
        unseen: the tiles that he does not see; their order is changed.
        opponent_tiles: how many of them the opponent holds.
        move: what the mover does, packed.
        score: its points.
        plies: how many turns static players take after it, if the game is not over before.
        seed: for the draws.
        spreads: points, one for each rollout.
    """
    desk, game, words = desk_array[0], game_array[0], words_array[0]
    board = desk.board
    cross_everywhere(board, words.nodes)
    game.chance = seed
    turns = 0
    for number in range(len(spreads)):
        _deal_unseen(game, rack, unseen, opponent_tiles)
        make_move(desk, game, words, 0, move, score)
        settle(game, board.points, 0)
        seat, ply = 1, 0
        while ply < plies and not game.over:
            choose(desk, game, words, leaves, seat)
            make_move(desk, game, words, seat, desk.found.moves[0], desk.found.scores[0])
            settle(game, board.points, seat)
            seat = 1 - seat
            ply += 1
        turns += ply
        spreads[number] = game.scores[0] - game.scores[1]
        undo_to(board, 0)
    return turns


@helper
def _deal_unseen(game: Any, rack: U8, unseen: U8, opponent_tiles: Any) -> None:
    """Shuffle what is unseen; the opponent draws his rack from it and the rest is the bag."""
    for last in range(len(unseen) - 1, 0, -1):
        other = below(game, last + 1)
        unseen[last], unseen[other] = unseen[other], unseen[last]
    for at in range(len(unseen)):
        game.bag[at] = unseen[at]
    game.front = 0
    game.back = len(unseen)
    game.scoreless = 0
    game.over = False
    for seat in range(2):
        game.scores[seat] = 0
        game.held[seat] = 0
    for at in range(len(rack)):
        game.racks[0, at] = rack[at]
    game.held[0] = len(rack)
    draw_tiles(game, 1, opponent_tiles)

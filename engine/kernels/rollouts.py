"""Rollouts: a candidate is played, static players go on for some turns, and all is taken back.

What the mover does not see, the opponent's rack and the order of the bag, is drawn anew for each
sample: the opponent holds what a distribution over *holdings* says, tiles that it is thought to
have kept, and for the rest random ones. Sample ``n`` draws the same for every candidate (common
random numbers), and each player draws from an end of the bag of its own, so that candidates are
compared in the same luck, however many tiles each of them takes.

A rollout is worth two things to the mover. Its *equity* is the points that it gains on its opponent
from before the candidate on, and what the two last leaves are worth. Its *win* is how likely it
then wins, by a table of spread and unseen tiles; of a game that has ended 1, ½ or 0.

All sums are integers, so that it makes no difference who works out which sample, and in what order.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from lexicons.bits import wrapping_add, wrapping_mul
from lexicons.jit import helper, kernel
from lexicons.leaves import LeaveArrays

from .board import undo_to
from .crosses import cross_everywhere, play
from .equity_terms import POINT
from .game import below, carry_out, choose, draw_tiles, settle
from .moves import EXCHANGE, tile_count
from .shadow_slots import update_slots

__all__ = ["CERTAIN", "Candidates", "Chances", "Holdings", "Scene", "Tally", "lay_out", "roll_out"]

U8: TypeAlias = npt.NDArray[np.uint8]
I64: TypeAlias = npt.NDArray[np.int64]

CERTAIN = 100_000
"""A sure win; wins are counted in parts of it."""

_STREAM = np.uint64(0xD1342543DE82EF95)


class Holdings(NamedTuple):
    """What the opponent may hold, as far as it is not random; none: its whole rack is."""

    tiles: U8  # [holdings, rack size] the first ``sizes`` of each, sorted
    sizes: U8  # [holdings]
    sums: npt.NDArray[np.float64]  # [holdings] of the weights up to and with each


class Chances(NamedTuple):
    """Win probabilities of the player on turn."""

    values: npt.NDArray[np.int32]  # [spreads, counts] in parts of ``CERTAIN``
    first_spread: int  # points
    first_unseen: int  # tiles in the bag and on the other rack


class Scene(NamedTuple):
    """What every sample begins with."""

    rack: U8  # [held] the mover's tiles, sorted
    hidden: U8  # [unseen] what it does not see, sorted
    opponent_tiles: int  # how many of them the opponent holds
    spread: int  # points that the mover is ahead
    scoreless: int  # turns in a row
    plies: int  # turns after the candidate, if the game is not over before
    seed: np.uint64


class Candidates(NamedTuple):
    """The moves that are compared, side by side."""

    moves: npt.NDArray[np.uint64]  # packed
    scores: npt.NDArray[np.int32]  # points
    leaves: npt.NDArray[np.int32]  # worth of what each keeps, thousandths of a point


class Tally(NamedTuple):
    """What came of them: sums over the samples of each candidate."""

    samples: I64  # [candidates]
    sums: I64  # [candidates, 2] of wins, in parts of CERTAIN, and equities, thousandths of a point
    squares: I64  # [candidates, 2]
    products: I64  # [candidates] of the two
    turns: I64  # [candidates, plies] how often a ply was played at all
    scores: I64  # [candidates, plies] points
    score_squares: I64  # [candidates, plies]
    bingos: I64  # [candidates, plies]


@kernel
def lay_out(state_array: Any, words_array: Any) -> None:
    """Work out what belongs to a board that has been set up; once before ``roll_out``."""
    state, words = state_array[0], words_array[0]
    cross_everywhere(state.board, words.nodes)


@kernel
def roll_out(
    state_array: Any,
    game_array: Any,
    words_array: Any,
    leaves: LeaveArrays,
    scene: Scene,
    holdings: Holdings,
    chances: Chances,
    candidates: Candidates,
    work: I64,
    values: npt.NDArray[np.int32],
    tally: Tally,
) -> None:
    """Work samples out, add them up in ``tally``, and write each one down.

    Args:
        state_array: ``lay_out`` was called for its board; that is as before afterwards.
        game_array: scratch, mirrored.
        words_array: the lexicon.
        leaves: of both players.
        scene: what samples begin with.
        holdings: what the opponent may hold.
        chances: the win probabilities.
        candidates: the moves.
        work: [tasks, 3] candidate, first sample, number of samples.
        values: [2, candidates, room] wins and equities by sample, as far as there is room.
        tally: modified in place.
    """
    state, game, words = state_array[0], game_array[0], words_array[0]
    board = state.board
    for task in range(len(work)):
        one, first, count = work[task, 0], work[task, 1], work[task, 2]
        move = candidates.moves[one]
        if move < EXCHANGE:
            play(board, words.nodes, move)
        update_slots(state.slots, board)
        laid = board.changes
        for sample in range(first, first + count):
            _deal(game, scene, holdings, sample)
            carry_out(game, 0, move, candidates.scores[one])
            settle(game, board.points, 0)
            game.kept[0] = candidates.leaves[one]
            on_turn = _go_on(state, game, words, leaves, scene.plies, tally, one)
            undo_to(board, laid)
            win, gained = _value(game, scene, chances, on_turn)
            _add_up(tally, one, win, gained)
            if sample < values.shape[2]:
                values[0, one, sample] = win
                values[1, one, sample] = gained
        undo_to(board, 0)


@helper
def _deal(game: Any, scene: Scene, holdings: Holdings, sample: Any) -> None:
    """Return the opponent a rack that it may have, and shuffle the rest into a bag."""
    game.chance = wrapping_mul(wrapping_add(scene.seed, np.uint64(sample)), _STREAM)
    hidden = scene.hidden
    for at in range(len(hidden)):
        game.bag[at] = hidden[at]
    game.front = 0
    game.back = len(hidden)
    game.scoreless = scene.scoreless
    game.over = False
    for seat in range(2):
        game.scores[seat] = 0
        game.held[seat] = 0
    for at in range(len(scene.rack)):
        game.racks[0, at] = scene.rack[at]
    game.held[0] = len(scene.rack)
    if len(holdings.sums):
        _hold(game, holdings)
    for last in range(game.back - 1, 0, -1):
        other = below(game, last + 1)
        game.bag[last], game.bag[other] = game.bag[other], game.bag[last]
    draw_tiles(game, 1, scene.opponent_tiles - game.held[1])


@helper
def _hold(game: Any, holdings: Holdings) -> None:
    """Take one of the holdings out of the bag and onto the opponent's rack."""
    sums = holdings.sums
    wanted = np.float64(below(game, 1 << 31)) / (1 << 31) * sums[len(sums) - 1]
    low, high = 0, len(sums) - 1
    while low < high:
        middle = (low + high) // 2
        if sums[middle] > wanted:
            high = middle
        else:
            low = middle + 1
    for nth in range(holdings.sizes[low]):
        tile = holdings.tiles[low, nth]
        at = game.front
        while game.bag[at] != tile:
            at += 1
        game.back -= 1
        game.bag[at] = game.bag[game.back]
        game.racks[1, nth] = tile
    game.held[1] = holdings.sizes[low]


@helper
def _go_on(
    state: Any, game: Any, words: Any, leaves: LeaveArrays, plies: Any, tally: Tally, one: Any
) -> Any:
    """Let static players take turns; return the seat that is on turn then."""
    found, seat, ply = state.top, 1, 0
    while ply < plies and not game.over:
        choose(state, game, words, leaves, seat)
        move, score = found.moves[0], np.int64(found.scores[0])
        game.kept[seat] = state.rack.leaves[
            (1 << state.rack.held) - 1 ^ np.int64(found.subracks[0])
        ]
        tally.turns[one, ply] += 1
        tally.scores[one, ply] += score
        tally.score_squares[one, ply] += score * score
        if move < EXCHANGE:
            tally.bingos[one, ply] += tile_count(move) == state.board.bonus_tiles
            if ply + 1 < plies:  # nobody looks at the board after the last turn
                play(state.board, words.nodes, move)
        carry_out(game, seat, move, score)
        settle(game, state.board.points, seat)
        seat = 1 - seat
        ply += 1
    return seat


@helper
def _value(game: Any, scene: Scene, chances: Chances, on_turn: Any) -> Any:
    """Compute what a rollout came to: win and equity."""
    gained = (game.scores[0] - game.scores[1]) * POINT
    if not game.over and game.back > game.front:  # without a bag nothing is drawn to a leave
        gained += game.kept[0] - game.kept[1]
    return _win(game, chances, gained + scene.spread * POINT, on_turn), gained


@helper
def _add_up(tally: Tally, one: Any, win: Any, gained: Any) -> None:
    tally.samples[one] += 1
    tally.sums[one, 0] += win
    tally.sums[one, 1] += gained
    tally.squares[one, 0] += win * win
    tally.squares[one, 1] += gained * gained
    tally.products[one] += win * gained


@helper
def _win(game: Any, chances: Chances, ahead: Any, on_turn: Any) -> Any:
    """Compute how likely the mover wins who is so many thousandths of a point ahead."""
    if game.over:
        return CERTAIN // 2 * (np.int64(ahead > 0) + np.int64(ahead >= 0))
    unseen = game.back - game.front + game.held[1 - on_turn] - chances.first_unseen
    column = min(max(unseen, 0), chances.values.shape[1] - 1)
    own = (-ahead if on_turn else ahead) + POINT // 2
    row = min(max(own // POINT - chances.first_spread, 0), len(chances.values) - 1)
    win = np.int64(chances.values[row, column])
    return CERTAIN - win if on_turn else win

"""Rollouts: play a candidate, let static players go on for some turns, and undo it all.

What the mover does not know, the opponent's rack and the order of the bag, is drawn anew for each
sample: the opponent holds one of the *holdings*, tiles that it is believed to have kept, and random
tiles for the rest. Sample ``n`` draws the same for every candidate (common random numbers), and
each player draws from its own end of the bag, so that candidates are compared with the same luck,
however many tiles each takes.

A rollout has three values for the mover. *Equity*: its points less the opponent's from before the
candidate on, plus the difference of the last two leaves. *Win*: its probability of winning, by a
table of spread and unseen tiles; 1, ½ or 0 if the game has ended. *Lead*: its final lead with the
leaves, squashed by a logistic function into 0 to 1: each point counts, but less the more decided
the game is.

If shorter rollouts have been made already, longer ones need only measure the difference: with a
*baseline*, the value of a rollout is the known value of its candidate after the baseline's turns,
plus what this rollout gained after them. Far fewer samples are needed, since most of the luck is
that of the first turns (multilevel Monte Carlo; Giles 2008).

Sums are integers, so that the split of samples among workers, and their order, make no difference.
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np

from lexicons.arrays import F64, I32, I64, U8, U64
from lexicons.bits import wrapping_add, wrapping_mul
from lexicons.jit import helper, kernel
from lexicons.leaves import LeaveArrays
from lexicons.word_map import WordsArray

from .board import undo_to
from .crosses import cross_everywhere, play
from .game import GameArray, below, carry_out, choose, draw_tiles, settle
from .moves import EXCHANGE, tile_count
from .racks import POINT
from .search_state import StateArray
from .shadow_slots import keep_slots, restore_slots, update_slots

CERTAIN = 100_000  # a sure win; wins are counted in parts of this

_STREAM = np.uint64(0xD1342543DE82EF95)


class Holdings(NamedTuple):
    """Tiles that the opponent may hold; none: its whole rack is random."""

    tiles: Annotated[U8, 2]  # [holdings, rack size] the first ``sizes`` of each are used, sorted
    sizes: U8  # [holdings]
    sums: F64  # [holdings] cumulative weights


class Chances(NamedTuple):
    """Win probabilities of the player on turn."""

    values: Annotated[I32, 2]  # [spreads, counts] in parts of ``CERTAIN``
    first_spread: int  # points
    first_unseen: int  # tiles in the bag and on the other rack


class Scene(NamedTuple):
    """The start of every sample."""

    rack: U8  # [held] the mover's tiles, sorted
    hidden: U8  # [unseen] tiles, sorted
    opponent_tiles: int  # of ``hidden``, on the opponent's rack
    spread: int  # the mover's lead in points
    scale: float  # points of lead that are squashed into 0.73
    scoreless: int  # turns in a row
    passes: int  # in a row
    exchanges: tuple[int, int]  # of the mover and of the opponent
    plies: int  # turns after the candidate, at most
    baseline: int  # turns of the baseline; 0 without one
    seed: np.uint64


class Candidates(NamedTuple):
    """The moves to compare, side by side."""

    moves: U64  # packed
    scores: I32  # points
    leaves: I32  # thousandths of a point
    known: Annotated[
        I64, 2
    ]  # [candidates, 3] values of the baseline, in the units of ``SampleSums.sums``; else 0


class SampleSums(NamedTuple):
    """Sums over the samples of each candidate."""

    samples: I64  # [candidates]
    sums: Annotated[I64, 2]
    """[candidates, 3] wins, equities in thousandths of a point, leads; in parts of ``CERTAIN``"""
    turns: Annotated[I64, 2]  # [candidates, plies] times played
    scores: Annotated[I64, 2]  # [candidates, plies]
    score_squares: Annotated[I64, 2]  # [candidates, plies]
    bingos: Annotated[I64, 2]  # [candidates, plies]


@kernel
def lay_out(state_array: StateArray, words_array: WordsArray) -> None:
    """Prepare ``roll_out`` for a board that is set up."""
    state, words = state_array[0], words_array[0]
    cross_everywhere(state.board, words)


@kernel
def roll_out(
    state_array: StateArray,
    game_array: GameArray,
    words_array: WordsArray,
    leaves: LeaveArrays,
    scene: Scene,
    holdings: Holdings,
    chances: Chances,
    candidates: Candidates,
    work: Annotated[I64, 2],
    values: Annotated[I32, 3],
    tally: SampleSums,
) -> None:
    """Play samples, add them to ``tally``, and record the first in ``values``.

    ``lay_out`` must have been called for the state's board, which is restored; the game is scratch
    and must be mirrored. ``work``, [tasks, 3], has candidate, first sample, number of samples.
    ``values``, [3, candidates, room], takes wins, equities and leads of the first ``room`` samples.
    """
    state, game, words = state_array[0], game_array[0], words_array[0]
    board = state.board
    for task in range(len(work)):
        candidate, first, count = work[task, 0], work[task, 1], work[task, 2]
        move = candidates.moves[candidate]
        if move < EXCHANGE:
            play(board, words, move)
        update_slots(state.slots, board, words)
        keep_slots(state.slots, True)
        laid = board.changes
        for sample in range(first, first + count):
            _deal(game, scene, holdings, sample)
            carry_out(game, 0, move, candidates.scores[candidate])
            settle(game, board.points, 0)
            game.kept[0] = candidates.leaves[candidate]
            worth = _go_on(state, game, words, leaves, scene, chances, tally, candidate)
            undo_to(board, laid)
            restore_slots(state.slots, board)
            tally.samples[candidate] += 1
            for measure in range(3):
                value = worth[measure] + candidates.known[candidate, measure]
                tally.sums[candidate, measure] += value
                if sample < values.shape[2]:
                    values[measure, candidate, sample] = value
        undo_to(board, 0)
        keep_slots(state.slots, False)


@helper
def _deal(game: Any, scene: Scene, holdings: Holdings, sample: Any) -> None:
    """Deal the opponent a rack that it may have, and shuffle the rest into a bag."""
    game.chance = wrapping_mul(wrapping_add(scene.seed, np.uint64(sample)), _STREAM)
    hidden = scene.hidden
    for at in range(len(hidden)):
        game.bag[at] = hidden[at]
    game.front = 0
    game.back = len(hidden)
    game.scoreless = scene.scoreless
    game.passes = scene.passes
    game.over = False
    for seat in range(2):
        game.exchanges[seat] = scene.exchanges[seat]
        game.scores[seat] = 0
        game.held[seat] = 0
    for at in range(len(scene.rack)):
        game.racks[0, at] = scene.rack[at]
    game.held[0] = len(scene.rack)
    if len(holdings.sums):
        _draw_holding(game, holdings)
    for last in range(game.back - 1, 0, -1):
        other = below(game, last + 1)
        game.bag[last], game.bag[other] = game.bag[other], game.bag[last]
    draw_tiles(game, 1, scene.opponent_tiles - game.held[1])


@helper
def _draw_holding(game: Any, holdings: Holdings) -> None:
    """Draw a holding by its weight, and move its tiles from the bag to the opponent's rack."""
    sums = holdings.sums
    drawn = np.float64(below(game, 1 << 31)) / (1 << 31) * sums[len(sums) - 1]
    low, high = 0, len(sums) - 1
    while low < high:
        middle = (low + high) // 2
        if sums[middle] > drawn:
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
    state: Any,
    game: Any,
    words: Any,
    leaves: LeaveArrays,
    scene: Scene,
    chances: Chances,
    tally: SampleSums,
    candidate: Any,
) -> Any:
    """Let static players take turns; return the three values, less those at the baseline's end."""
    top, seat, ply = state.top, 1, 0
    before = np.int64(0), np.int64(0), np.int64(0)
    while ply < scene.plies and not game.over:
        if 0 < ply == scene.baseline:
            before = _value(game, scene, chances, seat)
        choose(state, game, words, leaves, seat)
        move, score = top.moves[0], np.int64(top.scores[0])
        game.kept[seat] = state.rack.leaves[(1 << state.rack.held) - 1 ^ np.int64(top.subracks[0])]
        tally.turns[candidate, ply] += 1
        tally.scores[candidate, ply] += score
        tally.score_squares[candidate, ply] += score * score
        if move < EXCHANGE:
            tally.bingos[candidate, ply] += tile_count(move) == state.board.bonus_tiles
            if ply + 1 < scene.plies:  # the last board is not used
                play(state.board, words, move)
        carry_out(game, seat, move, score)
        settle(game, state.board.points, seat)
        seat = 1 - seat
        ply += 1
    if 0 < scene.baseline >= ply:  # no turn was played beyond the baseline
        return before
    value = _value(game, scene, chances, seat)
    return value[0] - before[0], value[1] - before[1], value[2] - before[2]


@helper
def _value(game: Any, scene: Scene, chances: Chances, on_turn: Any) -> Any:
    gained = (game.scores[0] - game.scores[1]) * POINT
    if not game.over and game.back > game.front:  # with an empty bag leaves are worth nothing
        gained += game.kept[0] - game.kept[1]
    ahead = gained + scene.spread * POINT
    lead = CERTAIN / (1 + np.exp(-ahead / (POINT * scene.scale)))
    return np.int64(_win(game, chances, ahead, on_turn)), np.int64(gained), np.int64(lead + 0.5)


@helper
def _win(game: Any, chances: Chances, ahead: Any, on_turn: Any) -> Any:
    """Compute the probability that the mover, ahead by thousandths of a point, wins."""
    if game.over:
        return CERTAIN // 2 * (np.int64(ahead > 0) + np.int64(ahead >= 0))
    unseen = game.back - game.front + game.held[1 - on_turn] - chances.first_unseen
    column = min(max(unseen, 0), chances.values.shape[1] - 1)
    own = (-ahead if on_turn else ahead) + POINT // 2
    row = min(max(own // POINT - chances.first_spread, 0), len(chances.values) - 1)
    win = np.int64(chances.values[row, column])
    return CERTAIN - win if on_turn else win

"""Whole games between static players, many in one call.

Each player makes the move of the highest equity. All chance is in the orders of the bags, which the
caller shuffles, and in the places where the tiles of an exchange go back, drawn from a generator
that is seeded for each game; so a game can be played again, and two games can have the same luck:
with the same order and the seats swapped, and ``mirrored``, where seat 1 draws from the back, each
player draws the same tiles from an end of his own, until tiles go back.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from engine.kernels.board import clear_board, forget_changes
from engine.kernels.crosses import play
from engine.kernels.desk import find_moves, take_rack
from engine.kernels.everything import find_everything
from engine.kernels.found import keep_only
from engine.kernels.moves import (
    BLANK_CODE,
    EXCHANGE,
    LETTER_MASK,
    MAX_PLACED,
    PASS_MOVE,
    move_tile,
    tile_count,
)
from engine.kernels.parts import NEVER
from engine.kernels.worths import use_evaluation
from lexicons.alphabet import BLANK
from lexicons.jit import helper, kernel
from lexicons.leaves import LeaveArrays

__all__ = ["GAME", "MOST_TILES", "Deals", "Results", "list_in_games", "play_games"]

MOST_TILES = 512
U8: TypeAlias = npt.NDArray[np.uint8]

GAME = np.dtype(
    [
        ("bag", np.uint8, (MOST_TILES,)),
        ("front", np.int64),  # the tiles left are those from here
        ("back", np.int64),  # to before here
        ("chance", np.uint64),  # state of the generator
        ("racks", np.uint8, (2, MAX_PLACED + 1)),  # by seat, sorted
        ("held", np.int64, (2,)),
        ("scores", np.int64, (2,)),
        ("scoreless", np.int64),  # turns in a row
        ("over", np.bool_),
        ("mirrored", np.bool_),
        ("rack_size", np.int64),
        ("exchange_minimum", np.int64),
        ("scoreless_limit", np.int64),
    ],
    align=True,
)


class Deals(NamedTuple):
    """What each game is dealt from."""

    orders: U8  # [games, tiles] of the bag; the first is drawn first
    seeds: npt.NDArray[np.uint64]  # [games] for the places of tiles that go back
    begins: U8  # [games] which player, 0 or 1, sits in seat 0 and begins


class Results(NamedTuple):
    """By game, and by turn as far as there is room; filled in by the kernel."""

    scores: npt.NDArray[np.int32]  # [games, 2] by seat
    bingos: npt.NDArray[np.int32]  # [games, 2] by seat
    turns: npt.NDArray[np.int32]  # [games] how many were taken
    moves: npt.NDArray[np.uint64]  # [games, room] packed
    racks: U8  # [games, room, 7] the mover's tiles, sorted
    sizes: U8  # [games, room] how many of them there are


@kernel
def play_games(
    desk_array: Any,
    game_array: Any,
    words_array: Any,
    leaves: tuple[LeaveArrays, LeaveArrays],
    evaluations: Any,
    deals: Deals,
    results: Results,
) -> None:
    """Play a game for each row of ``deals``; ``leaves`` and ``evaluations`` are by player.

    Desk and game, arrays of one, and ``results`` are modified in place.
    """
    desk, game, words = desk_array[0], game_array[0], words_array[0]
    for number in range(len(deals.orders)):
        clear_board(desk.board)
        _deal(game, deals.orders[number], deals.seeds[number])
        results.bingos[number, :] = 0
        seat, turn = 0, 0
        while not game.over:
            player = deals.begins[number] ^ seat
            use_evaluation(desk.evaluation, evaluations[player])
            _choose(desk, game, words, leaves[player], seat)
            move, score = desk.found.moves[0], desk.found.scores[0]
            if turn < results.moves.shape[1]:
                results.moves[number, turn] = move
                results.sizes[number, turn] = desk.rack.size
                for at in range(MAX_PLACED):
                    results.racks[number, turn, at] = desk.rack.tiles[at]
            placed = _make(desk, game, words, seat, move, score)
            results.bingos[number, seat] += placed == desk.board.bonus_tiles
            _settle(game, desk.board.points, seat)
            seat = 1 - seat
            turn += 1
        results.turns[number] = turn
        for seat in range(2):
            results.scores[number, seat] = game.scores[seat]


@helper
def _choose(desk: Any, game: Any, words: Any, leaves: LeaveArrays, seat: Any) -> None:
    """Find the move of the highest equity for a seat: the first of ``desk.found``."""
    other = 1 - seat
    bag = game.back - game.front
    points = _points_on_rack(game, other, desk.board.points)
    take_rack(desk, game.racks[seat], game.held[seat], leaves, bag, game.held[other], points)
    keep_only(desk.found, 1, NEVER, 2)
    find_moves(desk, words)
    if not desk.found.count:
        desk.found.moves[0] = PASS_MOVE
        desk.found.scores[0] = 0


@helper
def _make(desk: Any, game: Any, words: Any, seat: Any, move: Any, score: Any) -> Any:
    """Make a move and draw; give the number of tiles placed."""
    if move >= EXCHANGE:
        game.scoreless += 1
        if move < PASS_MOVE:
            _exchange(game, seat, move)
        return np.int64(0)
    game.scoreless = 0
    game.scores[seat] += score
    play(desk.board, words.nodes, move)
    forget_changes(desk.board)
    placed = tile_count(move)
    _take_off(game, seat, move)
    _draw(game, seat, placed)
    return placed


@helper
def _settle(game: Any, points: Any, seat: Any) -> None:
    """End the game if this seat's turn did, and settle the racks."""
    if game.held[seat] == 0:
        game.scores[seat] += 2 * _points_on_rack(game, 1 - seat, points)
        game.over = True
    elif game.scoreless >= game.scoreless_limit:
        for one in range(2):
            game.scores[one] -= _points_on_rack(game, one, points)
        game.over = True


@helper
def _deal(game: Any, order: U8, seed: Any) -> None:
    for at in range(len(order)):
        game.bag[at] = order[at]
    game.front = 0
    game.back = len(order)
    game.chance = seed
    game.scoreless = 0
    game.over = False
    for seat in range(2):
        game.scores[seat] = 0
        game.held[seat] = 0
    for seat in range(2):
        _draw(game, seat, game.rack_size)


@helper
def _draw(game: Any, seat: Any, count: Any) -> None:
    """Draw so many tiles, or as many as there are, onto a rack, which stays sorted."""
    for _ in range(min(count, game.back - game.front)):
        if game.mirrored and seat == 1:
            game.back -= 1
            tile = game.bag[game.back]
        else:
            tile = game.bag[game.front]
            game.front += 1
        at = game.held[seat]
        while at > 0 and game.racks[seat, at - 1] > tile:
            game.racks[seat, at] = game.racks[seat, at - 1]
            at -= 1
        game.racks[seat, at] = tile
        game.held[seat] += 1


@helper
def _take_off(game: Any, seat: Any, move: Any) -> None:
    """Take the tiles of a placement or an exchange off a rack."""
    for nth in range(tile_count(move)):
        code = move_tile(move, nth)
        tile = np.int64(0) if code & BLANK_CODE else np.int64(code & LETTER_MASK)
        at = 0
        while game.racks[seat, at] != tile:
            at += 1
        game.held[seat] -= 1
        while at < game.held[seat]:
            game.racks[seat, at] = game.racks[seat, at + 1]
            at += 1


@helper
def _exchange(game: Any, seat: Any, move: Any) -> None:
    """Draw first; then the tiles go back, one after another, to places that chance says."""
    count = tile_count(move)
    _take_off(game, seat, move)
    _draw(game, seat, count)
    for nth in range(count):
        code = move_tile(move, nth)
        tile = np.uint8(0) if code & BLANK_CODE else np.uint8(code & LETTER_MASK)
        if game.front == 0:  # only after nobody drew from the front
            for at in range(game.back, 0, -1):
                game.bag[at] = game.bag[at - 1]
            game.front, game.back = 1, game.back + 1
        to = game.front + _below(game, game.back - game.front + 1)
        game.front -= 1
        for at in range(game.front, to - 1):
            game.bag[at] = game.bag[at + 1]
        game.bag[to - 1] = tile


@helper
def _below(game: Any, count: Any) -> Any:
    """Give a number from 0 to ``count`` − 1: SplitMix64 (Steele, Lea and Flood 2014)."""
    game.chance += np.uint64(0x9E3779B97F4A7C15)
    mixed = game.chance
    mixed = (mixed ^ mixed >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ mixed >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(31)
    # The upper half times the count: off from even by less than one in 2²⁴.
    return np.int64((mixed >> np.uint64(32)) * np.uint64(count) >> np.uint64(32))


@helper
def _points_on_rack(game: Any, seat: Any, points: Any) -> Any:
    total = np.int64(0)
    for at in range(game.held[seat]):
        total += points[game.racks[seat, at]]
    return total


@kernel
def list_in_games(
    desk_array: Any,
    words_array: Any,
    leaves: LeaveArrays,
    games: Results,
    fewest_blanks: int,
    most_blanks: int,
) -> tuple[int, int]:
    """Go through recorded games and list all placements in the positions with so many blanks.

    Where they are listed is overwritten each time. Gives the number of positions and of placements.
    """
    desk, words = desk_array[0], words_array[0]
    positions, listed = 0, 0
    for number in range(len(games.turns)):
        clear_board(desk.board)
        for turn in range(games.turns[number]):
            size, tiles = games.sizes[number, turn], games.racks[number, turn]
            blanks = 0
            for at in range(size):
                blanks += tiles[at] == BLANK
            if fewest_blanks <= blanks <= most_blanks:
                take_rack(desk, tiles, size, leaves, 1, MAX_PLACED, 0)
                find_everything(desk, words)
                positions += 1
                listed += desk.listed.count
            if games.moves[number, turn] < EXCHANGE:
                play(desk.board, words.nodes, games.moves[number, turn])
                forget_changes(desk.board)
    return positions, listed

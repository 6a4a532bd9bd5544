"""A game in a kernel: bag (as ``engine.rules.bag``), racks, scores, and a static player's turn."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

import numpy as np

from engine.rules.rules import Rules
from lexicons.bits import next_random, random_below
from lexicons.jit import helper, record_dtype
from lexicons.leaves import LeaveArrays

from .crosses import play
from .moves import (
    BLANK_CODE,
    EXCHANGE,
    LETTER_MASK,
    MAX_PLACED,
    PASS_MOVE,
    keep_only,
    move_tile,
    tile_count,
)
from .racks import NEVER, PASS_EQUITY
from .search_state import find_moves, take_rack

MOST_TILES = 512
GAME = record_dtype(
    [
        ("bag", np.uint8, (MOST_TILES,)),
        ("front", np.int64),  # first tile left
        ("back", np.int64),  # end of the tiles left
        ("chance", np.uint64),  # state of the generator
        ("racks", np.uint8, (2, MAX_PLACED + 1)),  # by seat, sorted
        ("held", np.int64, (2,)),
        ("scores", np.int64, (2,)),
        ("kept", np.int64, (2,)),  # by seat, for callers: the last leave, thousandths of a point
        ("scoreless", np.int64),  # turns in a row
        ("passes", np.int64),  # in a row
        ("exchanges", np.int64, (2,)),  # by seat
        ("over", np.bool_),
        ("mirrored", np.bool_),
        ("rack_size", np.int64),
        ("scoreless_limit", np.int64),
        ("pass_limit", np.int64),
        ("exchange_limit", np.int64),
    ],
)
GameArray: TypeAlias = Annotated[Any, GAME]  # [1]


def new_game(rules: Rules, mirrored: bool = False) -> Any:
    """Return an array of one ``GAME``, without tiles."""
    game = np.zeros(1, GAME)
    game["rack_size"] = rules.rack_size
    game["scoreless_limit"] = rules.scoreless_limit
    game["pass_limit"] = rules.pass_limit
    game["exchange_limit"] = rules.exchange_limit
    game["mirrored"] = mirrored
    return game


@helper
def choose(state: Any, game: Any, words: Any, leaves: LeaveArrays, seat: Any) -> None:
    """Find the move of the highest equity for a seat: the first of ``state.top``."""
    choose_among(state, game, words, leaves, seat, 1)


@helper
def choose_among(
    state: Any, game: Any, words: Any, leaves: LeaveArrays, seat: Any, limit: Any
) -> None:
    """Find a seat's moves of the highest equity, at most ``limit``; a pass if there is none."""
    other = 1 - seat
    bag = game.back - game.front
    points = points_on_rack(game, other, state.board.points)
    may_exchange = game.exchanges[seat] < game.exchange_limit
    take_rack(state, game.racks[seat], game.held[seat], leaves, bag, points, may_exchange)
    keep_only(state.top, limit, NEVER)
    find_moves(state, words)
    if not state.top.count:
        state.top.count = 1
        state.top.moves[0] = PASS_MOVE
        state.top.scores[0] = 0
        state.top.equities[0] = PASS_EQUITY
        state.top.subracks[0] = 0


@helper
def make_move(state: Any, game: Any, words: Any, seat: Any, move: Any, score: Any) -> Any:
    """Make a move and draw; return the number of tiles placed. The board can be undone."""
    if move < EXCHANGE:
        play(state.board, words, move)
    return carry_out(game, seat, move, score)


@helper
def carry_out(game: Any, seat: Any, move: Any, score: Any) -> Any:
    """Score a move and draw, leaving the board alone; return the number of tiles placed."""
    if move >= EXCHANGE:
        game.scoreless += 1
        if move < PASS_MOVE:
            game.passes = 0
            game.exchanges[seat] += 1
            _exchange(game, seat, move)
        else:
            game.passes += 1
        return np.int64(0)
    game.scoreless = 0
    game.passes = 0
    game.scores[seat] += score
    placed = tile_count(move)
    _take_off(game, seat, move)
    draw_tiles(game, seat, game.rack_size - game.held[seat])
    return placed


@helper
def settle(game: Any, points: Any, seat: Any) -> None:
    """End the game if this seat's turn did, and settle the racks."""
    if game.held[seat] == 0:
        game.scores[seat] += 2 * points_on_rack(game, 1 - seat, points)
        game.over = True
    elif game.scoreless >= game.scoreless_limit or game.passes >= game.pass_limit:
        for player in range(2):
            game.scores[player] -= points_on_rack(game, player, points)
        game.over = True


@helper
def deal(game: Any, order: Any, seed: Any) -> None:
    """Begin a game: seat 0 draws a rack, then seat 1."""
    for at in range(len(order)):
        game.bag[at] = order[at]
    game.front = 0
    game.back = len(order)
    game.chance = seed
    game.scoreless = 0
    game.passes = 0
    game.over = False
    for seat in range(2):
        game.exchanges[seat] = 0
        game.scores[seat] = 0
        game.held[seat] = 0
    for seat in range(2):
        draw_tiles(game, seat, game.rack_size)


@helper
def draw_tiles(game: Any, seat: Any, count: Any) -> None:
    """Draw ``count`` tiles, or as many as are left, onto a rack, which stays sorted."""
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
def give_leave(game: Any, seat: Any, leave: Any, size: Any) -> Any:
    """Swap a seat's rack for a leave and random tiles, as many in all; return whether it was done.

    Nothing changes if bag and rack lack a tile of the leave, or the leave is too large. The rack
    stays sorted.
    """
    held, in_bag = game.held[seat], game.back - game.front
    if size > held or not _are_within_reach(game, seat, leave, size):
        return False
    for nth in range(size):
        _take_in(game, seat, nth, leave[nth])
    for nth in range(size, held):
        to = below(game, in_bag + held - nth)
        if to < in_bag:
            _swap_with_bag(game, seat, nth, game.front + to)
        else:
            _swap(game, seat, nth, nth + to - in_bag)
    for nth in range(1, held):
        at = nth
        while at > 0 and game.racks[seat, at - 1] > game.racks[seat, at]:
            _swap(game, seat, at - 1, at)
            at -= 1
    return True


@helper
def _are_within_reach(game: Any, seat: Any, leave: Any, size: Any) -> Any:
    wanted = np.int64(0)
    for nth in range(size):
        wanted = wanted + 1 if nth and leave[nth] == leave[nth - 1] else np.int64(1)
        available = np.int64(0)
        for at in range(game.held[seat]):
            available += game.racks[seat, at] == leave[nth]
        for at in range(game.front, game.back):
            available += game.bag[at] == leave[nth]
        if available < wanted:
            return False
    return True


@helper
def _take_in(game: Any, seat: Any, nth: Any, tile: Any) -> None:
    """Move a tile from the bag, or from further on in the rack, to the rack's nth place."""
    for at in range(nth, game.held[seat]):
        if game.racks[seat, at] == tile:
            _swap(game, seat, nth, at)
            return
    for at in range(game.front, game.back):
        if game.bag[at] == tile:
            _swap_with_bag(game, seat, nth, at)
            return


@helper
def _swap(game: Any, seat: Any, nth: Any, at: Any) -> None:
    tile = game.racks[seat, nth]
    game.racks[seat, nth] = game.racks[seat, at]
    game.racks[seat, at] = tile


@helper
def _swap_with_bag(game: Any, seat: Any, nth: Any, at: Any) -> None:
    tile = game.racks[seat, nth]
    game.racks[seat, nth] = game.bag[at]
    game.bag[at] = tile


@helper
def _take_off(game: Any, seat: Any, move: Any) -> None:
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
    """Draw first; then the tiles go back, one after another, to random places."""
    count = tile_count(move)
    _take_off(game, seat, move)
    draw_tiles(game, seat, count)
    for nth in range(count):
        code = move_tile(move, nth)
        tile = np.uint8(0) if code & BLANK_CODE else np.uint8(code & LETTER_MASK)
        if game.front == 0:  # nothing was drawn from the front
            for at in range(game.back, 0, -1):
                game.bag[at] = game.bag[at - 1]
            game.front, game.back = 1, game.back + 1
        to = game.front + below(game, game.back - game.front + 1)
        game.front -= 1
        for at in range(game.front, to - 1):
            game.bag[at] = game.bag[at + 1]
        game.bag[to - 1] = tile


@helper
def below(game: Any, count: Any) -> Any:
    """Draw a number from 0 to ``count`` − 1."""
    game.chance = next_random(game.chance)
    return random_below(game.chance, count)


@helper
def points_on_rack(game: Any, seat: Any, points: Any) -> Any:
    """Sum the points of a seat's rack; ``points`` are by tile."""
    total = np.int64(0)
    for at in range(game.held[seat]):
        total += points[game.racks[seat, at]]
    return total

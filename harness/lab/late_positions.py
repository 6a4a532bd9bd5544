"""Positions late in games between static players, with the racks of both and what is in the bag.

Each is of a game of its own, which seed and number decide; games that never come to such a position
are passed over. So any one of them can be made without the others, in whatever process.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from engine.notation.cgp import read_cgp, write_cgp
from engine.rules.bag import Bag, DrawStream
from engine.rules.game import Game
from engine.rules.position import Board, Position, Rack, unseen
from engine.rules.rules import Rules
from engine.simulation.selfplay import StaticGames, play_static_games
from lexicons.leaves import LeaveTable
from lexicons.store import Lexicon

from .sampled_positions import situation

__all__ = [
    "EMPTY_BAG",
    "FEW_TILES",
    "Late",
    "Wanted",
    "as_game",
    "late_position",
    "mirrored",
    "read_late",
    "with_seats_swapped",
]

_MOST_GAMES = 10_000


class Wanted(NamedTuple):
    """Which turns of a game will do; any of them is as likely, but of an empty bag it is the first.

    A game goes on with an empty bag until somebody is out: its first turn there is the endgame,
    and all others are parts of it.
    """

    bag: range = range(1)
    """Tiles in the bag."""
    tiles: int = 7
    """No rack holds more."""


EMPTY_BAG = Wanted()
FEW_TILES = Wanted(tiles=3)


@dataclass(frozen=True)
class Late:
    """A position of which everything is known."""

    position: Position
    """With the racks of both."""
    bag: Rack
    """The tiles in the bag, sorted."""

    def cgp(self, rules: Rules) -> str:
        """Write it in a line, as ``read_late`` reads it: the bag is all that is not in it."""
        return write_cgp(self.position, rules)


def read_late(text: str, rules: Rules) -> Late:
    """Read what ``Late.cgp`` wrote; whoever is on turn sits in seat 0.

    Raises:
        NotationError: it is no CGP.
    """
    position = read_cgp(text, rules).position
    return Late(position, _hidden(position, rules))


def late_position(
    lexicon: Lexicon, rules: Rules, leaves: LeaveTable, seed: int, number: int, wanted: Wanted
) -> Late:
    """Give a position of the first game of seed and number that has one that is wanted.

    Raises:
        ValueError: none of ten thousand games has any.
    """
    for attempt in range(_MOST_GAMES):
        state = np.random.SeedSequence((seed, number, attempt)).generate_state(2)
        games = play_static_games(lexicon, rules, leaves, 1, seed=int(state[0]), record=True)
        found = [
            late
            for late in (_late(games, turn, rules) for turn in _turns(games, wanted.bag))
            if max(map(len, late.position.racks)) <= wanted.tiles
        ]
        if found:
            empty = [late for late in found if not late.bag]
            some = [late for late in found if late not in empty[1:]]
            return some[np.random.default_rng(int(state[1])).integers(len(some))]
    raise ValueError(
        f"no game of {_MOST_GAMES:,} has a turn with {wanted.bag.start} to {wanted.bag.stop - 1} "
        f"tiles in the bag and {wanted.tiles} at most on each rack; ask for others"
    )


def _turns(games: StaticGames, bag: range) -> list[int]:
    """List the turns of the only game that began with so many tiles in the bag."""
    bags = games.results.bags[0, : games.turns[0]].tolist()
    # Behind the last turn nobody tells what the other held, except where nothing else is unseen.
    return [turn for turn in range(len(bags) - (bags[-1] > 0)) if bags[turn] in bag]


def _late(games: StaticGames, turn: int, rules: Rules) -> Late:
    """Give what a turn of the only game began with."""
    seen = situation(games, 0, turn, rules)
    position = seen.position
    if seen.bag:  # the other's rack is that of the next turn
        size = int(games.results.sizes[0, turn + 1])
        other = tuple(games.results.racks[0, turn + 1, :size].tolist())
    else:
        other = _hidden(position, rules)
    own = position.racks[position.on_turn]
    known = replace(position, racks=(other, own) if position.on_turn else (own, other))
    return Late(known, _hidden(known, rules))


def _hidden(position: Position, rules: Rules) -> Rack:
    """List what is neither on the board nor on a rack."""
    left = list(unseen(position, position.on_turn, rules))
    for tile in position.racks[1 - position.on_turn]:
        left[tile] -= 1
    return tuple(tile for tile, times in enumerate(left) for _ in range(times))


# --- a position in other forms --------------------------------------------------------------------


def mirrored(position: Position) -> Position:
    """Swap rows and columns; on a board that is its own mirror image the game stays the same."""
    layout = position.board.layout
    squares = position.board.array().T.tobytes()
    return replace(position, board=Board(layout, squares))


def with_seats_swapped(position: Position) -> Position:
    """Have the players change chairs, racks and scores and all."""
    return replace(
        position,
        racks=position.racks[::-1],
        scores=position.scores[::-1],
        on_turn=1 - position.on_turn,
    )


def as_game(position: Position, rules: Rules, bag: Rack = ()) -> Game:
    """Take up a game with an empty bag, or with one whose tiles will be drawn as they are given."""
    return Game(rules, position, Bag(bag, DrawStream(b"")), ((), ()))

"""Leave examples from self-play of *mc+rh* (``bot.players.cs221``).

A move is chosen after a few samples, but its target is the plain equity: its points plus the
present value of its leave.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from bot.player import Budget, Choice, Player, View
from bot.players.cs221 import sampled_choice
from engine.rules.game import Game, Turn
from engine.rules.moves import PASS, Exchange, Place
from engine.rules.position import Rack
from engine.rules.rules import Rules, rack_tiles
from harness.lab.in_process import play_game
from lexicons.leaves import LeaveTable
from lexicons.store import Lexicon

__all__ = ["Lesson", "lessons", "play_sampled_games"]

_SECRET_BYTES = 32


class Lesson(NamedTuple):
    """A leave and the equity that followed."""

    leave: Rack
    equity: float
    """In points, of the same player's next move."""


def play_sampled_games(
    lexicon: Lexicon, rules: Rules, leaves: LeaveTable, games: int, *, seed: int, threads: int
) -> list[Game]:
    """Play games between two sampling players with the same leave table.

    Raises:
        ValueError: mismatched tile sets, or no thread.
    """
    chance = np.random.default_rng(seed)

    def play(secret: bytes) -> Game:
        return play_game((_Learning(leaves), _Learning(leaves)), lexicon, rules, secret)

    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(play, [chance.bytes(_SECRET_BYTES) for _ in range(games)]))


class _Learning(Player):
    def __init__(self, leaves: LeaveTable) -> None:
        self._leaves = leaves

    def choose(self, view: View, budget: Budget) -> Choice:
        return sampled_choice(view, budget, self._leaves)


def lessons(game: Game, leaves: LeaveTable) -> Iterator[Lesson]:
    """Yield a lesson for each turn with a full rack and at least as many tiles in the bag."""
    full = game.rules.rack_size
    bag = game.rules.distribution.total - 2 * full
    for number, turn in enumerate(game.turns):
        if number >= 2 and len(turn.rack) == full <= bag:
            before = game.turns[number - 2]  # of the same player
            if PASS not in (before.move, turn.move):
                yield Lesson(_kept(before), turn.score + leaves.value(_kept(turn)))
        if isinstance(turn.move, Place):
            bag -= len(turn.drawn)


def _kept(turn: Turn) -> Rack:
    left = list(turn.rack)
    match turn.move:
        case Exchange(tiles=used):
            pass
        case Place() as place:
            used = rack_tiles(place.placed)
        case _:
            used = ()
    for tile in used:
        left.remove(tile)
    return tuple(left)

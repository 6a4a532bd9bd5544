"""Positions late in games between static players, with both racks and the bag known.

Seed and number decide the game; games without such a position are skipped. So each position can be
made without the others, in any process.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from engine.notation.cgp import write_cgp
from engine.rules.position import Position, Rack, unseen
from engine.rules.rules import Rules
from engine.simulation.selfplay import StaticGames, play_static_games
from lexicons.leaves import LeaveTable
from lexicons.store import Lexicon

from .sampled_positions import situation

__all__ = ["EMPTY_BAG", "Late", "Wanted", "late_position"]

_MOST_GAMES = 10_000


class Wanted(NamedTuple):
    """The wanted turns of a game, all equally likely.

    With an empty bag only the first counts, the endgame: later turns are parts of it.
    """

    bag: range = range(1)
    tiles: int = 7


EMPTY_BAG = Wanted()


@dataclass(frozen=True)
class Late:
    """A position with full information."""

    position: Position
    """With both racks."""
    bag: Rack
    """The tiles in the bag, sorted."""

    def cgp(self, rules: Rules) -> str:
        """Return it as CGP, with both racks; the remaining tiles are the bag."""
        return write_cgp(self.position, rules)


def late_position(
    lexicon: Lexicon, rules: Rules, leaves: LeaveTable, seed: int, number: int, wanted: Wanted
) -> Late:
    """Return a position from the first game of this seed and number that has a wanted turn.

    Raises:
        ValueError: none of 10,000 games has one.
    """
    for attempt in range(_MOST_GAMES):
        state = np.random.SeedSequence((seed, number, attempt)).generate_state(2)
        games = play_static_games(lexicon, rules, leaves, 1, seed=int(state[0]), record=True)
        candidates = [
            late
            for late in (_late(games, turn, rules) for turn in _turns(games, wanted.bag))
            if max(map(len, late.position.racks)) <= wanted.tiles
        ]
        if candidates:
            empty = [late for late in candidates if not late.bag]
            choices = [late for late in candidates if late not in empty[1:]]
            return choices[np.random.default_rng(int(state[1])).integers(len(choices))]
    raise ValueError(
        f"no game of {_MOST_GAMES:,} has a turn with {wanted.bag.start} to {wanted.bag.stop - 1} "
        f"tiles in the bag and {wanted.tiles} at most on each rack; ask for others"
    )


def _turns(games: StaticGames, bag: range) -> list[int]:
    """List the turns of the only game that began with this many tiles in the bag."""
    bags = games.results.bags[0, : games.turns[0]].tolist()
    # After the last turn the other rack is known only if nothing else is unseen.
    return [turn for turn in range(len(bags) - (bags[-1] > 0)) if bags[turn] in bag]


def _late(games: StaticGames, turn: int, rules: Rules) -> Late:
    seen = situation(games, 0, turn, rules)
    position = seen.position
    if seen.bag:  # the next turn's rack is the other
        size = int(games.results.sizes[0, turn + 1])
        other = tuple(games.results.racks[0, turn + 1, :size].tolist())
    else:
        other = _hidden(position, rules)
    own = position.racks[position.on_turn]
    known = replace(position, racks=(other, own) if position.on_turn else (own, other))
    return Late(known, _hidden(known, rules))


def _hidden(position: Position, rules: Rules) -> Rack:
    """Return the tiles neither on the board nor on a rack."""
    left = list(unseen(position, position.on_turn, rules))
    for tile in position.racks[1 - position.on_turn]:
        left[tile] -= 1
    return tuple(tile for tile, times in enumerate(left) for _ in range(times))

"""Rare leaves forced into play, so that each has a floor of samples.

Chance deals JQXZ?? once in a hundred million racks. So before each round of games it is counted how
far behind its share of the floor each leave of one tile less than a rack is, and those behind are
handed out: on one of the first turns of a game the mover is given such a leave and random tiles
(``engine.simulation.selfplay.Forced``), and plays on with them. Smaller leaves need no forcing,
being parts of these. What cannot be given, for a tile of it lies on the board already, is tried
again in the next round.
"""

from __future__ import annotations

import numpy as np

from engine.kernels.moves import MAX_PLACED
from engine.simulation.selfplay import Forced
from lexicons.leaves import LeaveMatrix

from .racks import Longs, Racks

__all__ = ["FORCED_TURNS", "force", "missing", "room_for"]

FORCED_TURNS = 6
"""Leaves are forced on the first turns, when most tiles are still in the bag."""
_MOST_FORCED = 2
"""… on this many of them in a game at most, so that most of the play stays as it is."""
_RACKS_HELP = 3
"""A rack holds several leaves that may be behind, so that a part of the samples will do."""
_MOST_AT_ONCE = 100
"""How often a leave is listed for a round at most, however far behind it is."""


def missing(racks: Racks, counts: Longs, floor: float, room: int, seed: int) -> LeaveMatrix:
    """List leaves that have fewer samples than the floor, each as often as it should be forced.

    Args:
        racks: the multisets.
        counts: how often each rack came up, by number.
        floor: how many samples each leave should have.
        room: how many leaves to list at most; which of them, if there are more, is chance.
        seed: for that, and for their order.
    """
    size = racks.rack_size - 1
    found = racks.samples(counts)[racks.places[size]]
    wanted = np.ceil(np.maximum(floor - found, 0) / _RACKS_HELP)
    rows = np.repeat(np.arange(len(wanted)), np.minimum(wanted, _MOST_AT_ONCE).astype(np.int64))
    chosen = np.random.default_rng(seed).permutation(rows)[:room]
    leaves: LeaveMatrix = racks.by_size[size][chosen]
    return leaves


def room_for(games: int) -> int:
    """Return how many leaves can be forced in a number of games."""
    return games * _MOST_FORCED


def force(leaves: LeaveMatrix, games: int, seed: int) -> Forced:
    """Spread leaves over the first turns of games, each on a turn of its own, by chance.

    Raises:
        ValueError: there are more than ``room_for`` the games.
    """
    if len(leaves) > room_for(games):
        raise ValueError(f"{len(leaves)} leaves forced in {games} games; {room_for(games)} fit")
    given = np.zeros((games, FORCED_TURNS, MAX_PLACED), np.uint8)
    sizes = np.zeros((games, FORCED_TURNS), np.uint8)
    turns = np.random.default_rng(seed).permuted(
        np.tile(np.arange(FORCED_TURNS), (games, 1)), axis=1
    )
    nth = np.arange(len(leaves))
    game = nth % games
    turn = turns[game, nth // games]
    given[game, turn, : leaves.shape[1]] = leaves
    sizes[game, turn] = leaves.shape[1]
    return Forced(given, sizes)

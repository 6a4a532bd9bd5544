"""Rare leaves forced into play, so that each has a minimum of samples.

Chance deals JQXZ?? once in a hundred million racks. So before each round of games, each leave of
one tile less than a rack is compared with its share of the floor. Those behind are assigned to
games: on one of the first turns the mover gets such a leave and random tiles
(``engine.simulation.selfplay.Forced``), and plays on with them. Smaller leaves are parts of these
and need no forcing. Leaves that can't be dealt, since a tile lies on the board already, are retried
in the next round.
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
"""Most forced turns of a game, to keep most of the play natural."""
_RACKS_HELP = 3
"""A rack holds several leaves that may be behind, so fewer forced samples suffice."""
_MOST_AT_ONCE = 100
"""Most times that a leave is listed for a round."""


def missing(racks: Racks, counts: Longs, floor: float, room: int, seed: int) -> LeaveMatrix:
    """List leaves that have fewer samples than the floor, each as often as it should be forced.

    ``counts`` are occurrences by rack number, ``floor`` samples per leave; at most ``room`` leaves
    are chosen, at random.
    """
    size = racks.rack_size - 1
    seen = racks.samples(counts)[racks.places[size]]
    wanted = np.ceil(np.maximum(floor - seen, 0) / _RACKS_HELP)
    rows = np.repeat(np.arange(len(wanted)), np.minimum(wanted, _MOST_AT_ONCE).astype(np.int64))
    chosen = np.random.default_rng(seed).permutation(rows)[:room]
    leaves: LeaveMatrix = racks.by_size[size][chosen]
    return leaves


def room_for(games: int) -> int:
    """Return how many leaves can be forced in a number of games."""
    return games * _MOST_FORCED


def force(leaves: LeaveMatrix, games: int, seed: int) -> Forced:
    """Assign each leave at random to its own turn among the first turns of games.

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

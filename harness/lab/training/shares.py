"""A share of the games behind a leave table: played anywhere, in any order, and added up.

A leave's target is the equity of the mover's next move: its points plus the value of its own leave
in the present table, which stands for later points. Turns near the end of the bag say little about
the rest of the game and are left out.

Chance deals JQXZ?? once in a hundred million racks, so rare leaves are forced into play until each
has a minimum of samples. Before each round, leaves of one tile less than a rack that are behind
their share of the floor are assigned to games: on one of the first turns the mover gets such a
leave and random tiles (``engine.simulation.selfplay.Forced``), and plays on with them. Smaller
leaves are parts of these and need no forcing. Leaves that can't be dealt, since a tile lies on the
board already, are retried in the next round.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from engine.kernels.moves import MAX_PLACED
from engine.simulation.selfplay import Forced, play_static_games
from harness.lab.study_context import Field
from lexicons.arrays import I64, U32
from lexicons.leaves import LeaveMatrix

from .racks import Racks
from .smoothing import Samples

FORCED_TURNS = 6
"""Leaves are forced on the first turns, when most tiles are still in the bag."""
_MOST_FORCED = 2
"""Most forced turns of a game, to keep most of the play natural."""
_RACKS_HELP = 3
"""A rack holds several leaves that may be behind, so fewer forced samples suffice."""
_MOST_AT_ONCE = 100
"""Most times that a leave is listed for a round."""


def missing(racks: Racks, counts: I64, floor: float, room: int, seed: int) -> LeaveMatrix:
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
        ValueError: there are more leaves than ``room_for`` allows.
    """
    if len(leaves) > room_for(games):
        raise ValueError(f"{len(leaves)} leaves forced in {games} games; {room_for(games)} fit")
    tiles = np.zeros((games, FORCED_TURNS, MAX_PLACED), np.uint8)
    sizes = np.zeros((games, FORCED_TURNS), np.uint8)
    shuffled_turns = np.random.default_rng(seed).permuted(
        np.tile(np.arange(FORCED_TURNS), (games, 1)), axis=1
    )
    leaf = np.arange(len(leaves))
    game = leaf % games  # each game gets a leaf before any gets a second
    turn = shuffled_turns[game, leaf // games]
    tiles[game, turn, : leaves.shape[1]] = leaves
    sizes[game, turn] = leaves.shape[1]
    return Forced(tiles, sizes)


# --- shares ---------------------------------------------------------------------------------------


class Share(NamedTuple):
    """Games to be played."""

    games: int
    seed: tuple[int, ...]
    forced: LeaveMatrix


class RackSums(NamedTuple):
    """A share's results: the count and sum of equities of each rack that came up."""

    games: int
    points: int
    """Of both players in all games."""
    racks: U32
    """By number (``Racks.numbers``), ascending."""
    counts: U32
    sums: I64
    squares: int
    """The sum of all squared equities, each in tenths of a point, rounded down."""


@dataclass
class Totals:
    """The sum of shares, in integers, so that the order makes no difference."""

    counts: I64
    sums: I64
    squares: int = 0
    games: int = 0
    points: int = 0

    @classmethod
    def none(cls, racks: Racks) -> Totals:
        """Return empty totals."""
        return cls(np.zeros(racks.count, np.int64), np.zeros(racks.count, np.int64))

    def add(self, tally: RackSums) -> None:
        """Add a share."""
        self.counts[tally.racks] += tally.counts
        self.sums[tally.racks] += tally.sums
        self.squares += tally.squares
        self.games += tally.games
        self.points += tally.points

    @property
    def samples(self) -> Samples:
        """The samples of each rack."""
        return Samples(self.counts, self.sums, self.squares * 100.0**2)


def play_share(field: Field, share: Share) -> RackSums:
    """Play a share in one thread; equal arguments give equal tallies."""
    games_seed, forcing_seed = np.random.SeedSequence(share.seed).generate_state(2).tolist()
    played = play_static_games(
        field.lexicon,
        field.rules,
        field.leaves,
        share.games,
        seed=games_seed,
        record=True,
        forced=force(share.forced, share.games, forcing_seed),
    )
    results = played.results
    racks = Racks(field.rules.distribution, field.rules.rack_size)
    room = results.moves.shape[1]
    counted = (np.arange(room) < played.turns[:, np.newaxis]) & (results.bags >= racks.rack_size)
    equities = results.equities[counted].astype(np.int64)
    held = results.racks[counted][:, : racks.rack_size]
    numbers, which, counts = np.unique(racks.numbers(held), return_inverse=True, return_counts=True)
    sums = np.zeros(len(numbers), np.int64)
    np.add.at(sums, which, equities)
    return RackSums(
        games=share.games,
        points=int(played.scores.sum()),
        racks=numbers.astype(np.uint32),
        counts=counts.astype(np.uint32),
        sums=sums,
        squares=int(((equities // 100) ** 2).sum()),
    )

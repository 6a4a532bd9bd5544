"""A share of the games behind a leave table: played anywhere, in any order, and added up.

A leave's target is the equity of the mover's next move: its points plus the value of its own leave
in the present table, which stands for later points. So a rack is worth the mean equity of its
moves, and a leave the mean of the racks it may become (``harness.lab.training.racks``). Turns near
the end of the bag say little about the rest of the game and are left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from engine.rules.rules import Rules
from engine.simulation.selfplay import play_static_games
from lexicons.leaves import LeaveMatrix, LeaveTable
from lexicons.store import Lexicon

from .forcing import force
from .racks import Longs, Racks
from .smoothing import Samples

__all__ = ["Ground", "Share", "Tally", "Totals", "play_share"]


class Ground(NamedTuple):
    """The common data of a generation's shares."""

    lexicon: Lexicon
    rules: Rules
    leaves: LeaveTable


class Share(NamedTuple):
    """Games to be played."""

    games: int
    seed: tuple[int, ...]
    forced: LeaveMatrix


class Tally(NamedTuple):
    """A share's results: the count and sum of equities of each rack that came up."""

    games: int
    points: int
    """Of both players in all games."""
    bingos: int
    turns: int
    racks: npt.NDArray[np.uint32]
    """By number (``Racks.numbers``), ascending."""
    counts: npt.NDArray[np.uint32]
    sums: Longs
    squares: int
    """Of all equities, in tenths of a point."""


@dataclass
class Totals:
    """The sum of shares, in integers, so that the order makes no difference."""

    counts: Longs
    sums: Longs
    squares: int = 0
    games: int = 0
    points: int = 0
    bingos: int = 0
    turns: int = 0

    @classmethod
    def none(cls, racks: Racks) -> Totals:
        """Return empty totals."""
        return cls(np.zeros(racks.count, np.int64), np.zeros(racks.count, np.int64))

    def add(self, tally: Tally) -> None:
        """Add a share."""
        self.counts[tally.racks] += tally.counts
        self.sums[tally.racks] += tally.sums
        self.squares += tally.squares
        self.games += tally.games
        self.points += tally.points
        self.bingos += tally.bingos
        self.turns += tally.turns

    @property
    def samples(self) -> Samples:
        """The samples of each rack."""
        return Samples(self.counts, self.sums, self.squares * 100.0**2)


def play_share(ground: Ground, share: Share) -> Tally:
    """Play a share in one thread; equal arguments give equal tallies."""
    games_seed, forcing_seed = np.random.SeedSequence(share.seed).generate_state(2).tolist()
    played = play_static_games(
        ground.lexicon,
        ground.rules,
        ground.leaves,
        share.games,
        seed=games_seed,
        record=True,
        forced=force(share.forced, share.games, forcing_seed),
    )
    results = played.results
    racks = Racks(ground.rules.distribution, ground.rules.rack_size)
    room = results.moves.shape[1]
    counted = (np.arange(room) < played.turns[:, np.newaxis]) & (results.bags >= racks.rack_size)
    equities = results.equities[counted].astype(np.int64)
    held = results.racks[counted][:, : racks.rack_size]
    numbers, which, counts = np.unique(racks.numbers(held), return_inverse=True, return_counts=True)
    sums = np.zeros(len(numbers), np.int64)
    np.add.at(sums, which, equities)
    return Tally(
        games=share.games,
        points=int(played.scores.sum()),
        bingos=int(played.bingos.sum()),
        turns=int(played.turns.sum()),
        racks=numbers.astype(np.uint32),
        counts=counts.astype(np.uint32),
        sums=sums,
        squares=int(((equities // 100) ** 2).sum()),
    )

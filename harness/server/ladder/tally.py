"""Results by pair of players: what ratings and tables need to know of games.

The size grows with the pairs of players that have met, not with their games.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from harness.matches.rating_list import Meetings
from lexicons.arrays import I64

POINTS = np.array([1.0, 0.5, 0.0])
"""Points of the player that moved first, in the order of ``Sums.counts``."""
_PLACES = {float(points): place for place, points in enumerate(POINTS)}

FEWEST_LOOSE = 256
LOOSE_SHARE = 16
"""Pairs are packed once more than ``FEWEST_LOOSE``, and 1 in ``LOOSE_SHARE``, are loose."""


class Sums(NamedTuple):
    """Games by pair: first and second to move; arrays of [rows]. A pair may have several rows."""

    pair: I64
    """Number of the first player, shifted left by 32 bits, plus that of the second."""
    counts: npt.NDArray[np.uint32]
    """Wins, ties and losses of the first; [rows, 3]."""
    spread: I64
    """Scores of the first less those of the second."""

    @property
    def first(self) -> I64:
        """Who moved first."""
        return self.pair >> 32

    @property
    def second(self) -> I64:
        """Who moved second."""
        return self.pair & 0xFFFF_FFFF

    def up_to(self, number: int) -> Sums:
        """Return the first ``number`` rows."""
        return Sums(self.pair[:number], self.counts[:number], self.spread[:number])

    def having(self, player: int) -> Sums:
        """Return the rows of a player."""
        rows = np.flatnonzero((self.first == player) | (self.second == player))
        return Sums(self.pair[rows], self.counts[rows], self.spread[rows])


class Tally:
    """Games of two players each, summed by pair."""

    def __init__(self) -> None:
        self._packed = _sums_of({})
        self._loose: dict[int, list[int]] = {}
        """Counts and spread of pairs not packed yet, which take ten times as much memory."""

    def take(self, first: int, second: int, points: float, spread: int) -> None:
        """Add a game; ``points`` and ``spread`` are those of who moved first."""
        sums = self._loose.setdefault(first << 32 | second, [0, 0, 0, 0])
        sums[_PLACES[points]] += 1
        sums[-1] += spread
        if len(self._loose) > max(FEWEST_LOOSE, self._packed.pair.size // LOOSE_SHARE):
            self.sums()

    def sums(self) -> Sums:
        """Pack all pairs, and return the sums, a row for each pair."""
        if self._loose:
            self._packed = _summed(joined((self._packed, _sums_of(self._loose))))
            self._loose = {}
        return self._packed

    def add(self, other: Tally) -> None:
        """Add the games of another."""
        self._packed = _summed(joined((self.sums(), other.sums())))


def joined(parts: Iterable[Sums]) -> Sums:
    """Return the rows of some sums, one after another."""
    pairs, counts, spreads = zip(*parts, strict=True)
    return Sums(np.concatenate(pairs), np.concatenate(counts), np.concatenate(spreads))


def meetings_of(sums: Sums) -> Meetings:
    """Return the games of sums, in their order."""
    row, place = np.nonzero(sums.counts)
    games = sums.counts[row, place].astype(np.int64)
    return Meetings(sums.first[row], sums.second[row], POINTS[place], games)


def _sums_of(loose: dict[int, list[int]]) -> Sums:
    table = np.array([*loose.values()], np.int64).reshape(-1, 4)
    return Sums(np.array([*loose], np.int64), table[:, :3].astype(np.uint32), table[:, 3])


def _summed(sums: Sums) -> Sums:
    """Return a row for each pair."""
    order = np.argsort(sums.pair, kind="stable")
    pair = sums.pair[order]
    begins = np.flatnonzero(np.diff(pair, prepend=-1))
    counts = np.add.reduceat(sums.counts[order], begins, axis=0, dtype=np.uint32)
    return Sums(pair[begins], counts, np.add.reduceat(sums.spread[order], begins))

"""What a player may have kept, and the racks that it may have drawn to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import comb

import numpy as np

from engine.kernels.leave_prior import (
    LeavePriorTable,
    draw_racks,
    enter_prior,
    list_multisets,
    rack_priors,
)
from engine.rules.position import Rack
from lexicons.arrays import F64, I64, U8, Bools

_MOST_OF_A_TILE = 512


@dataclass(frozen=True, eq=False)
class LeavePrior:
    """What a player may have kept on its rack when it last drew: multisets of one size."""

    tiles: U8  # [count, size], each sorted
    weights: F64  # [count] probabilities
    doubt: float = 0.0  # probability that all this is wrong and the whole rack random

    @classmethod
    def nothing(cls) -> LeavePrior:
        """Return the prior that knows nothing: the whole rack is random."""
        return cls(np.zeros((1, 0), np.uint8), np.ones(1))

    @classmethod
    def certain(cls, leave: Rack) -> LeavePrior:
        """Return the prior that is sure of one leave."""
        return cls(np.array([sorted(leave)], np.uint8), np.ones(1))

    @property
    def size(self) -> int:
        """Tiles of each leave."""
        return int(self.tiles.shape[1])

    def without(self, drawn: Sequence[int], counts: Sequence[int]) -> LeavePrior | None:
        """Condition on tiles that somebody else drew, with the likelihood Π C(Uₜ − Kₜ, Dₜ).

        Both are by tile number; ``counts`` were unseen before. None if no leave is possible.
        """
        pool = sum(counts) - self.size
        if pool < sum(drawn):
            return None
        likelihood, by_chance = np.ones(len(self.tiles)), 1.0
        for tile, count in enumerate(drawn):
            if count:
                held = (self.tiles == tile).sum(axis=1)
                ways = [comb(max(counts[tile] - had, 0), count) for had in range(self.size + 1)]
                likelihood *= np.array(ways, np.float64)[held]
                by_chance *= comb(counts[tile], count)
        weights = self.weights * likelihood
        total = float(weights.sum())
        if not total > 0:
            return None
        possible = weights > 0
        all_ways = comb(sum(counts), sum(drawn)), comb(pool, sum(drawn))
        wrong, right = self.doubt * by_chance / all_ways[0], (1 - self.doubt) * total / all_ways[1]
        return LeavePrior(self.tiles[possible], weights[possible] / total, wrong / (wrong + right))

    def are_possible(self, counts: I64) -> Bools:
        """Tell of each leave, [count], whether ``counts``, by tile, allow it."""
        times = np.ones(self.tiles.shape, np.int64)  # occurrences of the tile so far
        for at in range(1, self.size):
            again = self.tiles[:, at] == self.tiles[:, at - 1]
            times[again, at] += times[again, at - 1]
        possible: Bools = np.all(times <= counts[self.tiles], axis=1)
        return possible

    def part_of(self, counts: Sequence[int]) -> LeavePrior | None:
        """Return the prior of the leaves that ``counts``, by tile, allow; None if none are."""
        possible = self.are_possible(np.array(counts, np.int64))
        total = float(self.weights[possible].sum())
        if not total > 0:
            return None
        return LeavePrior(self.tiles[possible], self.weights[possible] / total, self.doubt)

    def table(self) -> LeavePriorTable:
        """Return the leaves as a table for kernels, without the doubt."""
        places = 2
        while places < 2 * len(self.tiles):
            places *= 2
        table = LeavePriorTable(np.zeros(places, np.uint64), np.zeros(places), self.size)
        if self.size:
            enter_prior(np.ascontiguousarray(self.tiles), self.weights, table)
        return table


def joined(parts: U8, tiles: Rack) -> U8:
    """Add tiles to each multiset, [count, size]; return them sorted."""
    same = np.broadcast_to(np.array(tiles, np.uint8), (len(parts), len(tiles)))
    return np.sort(np.concatenate((parts, same), axis=1), axis=1)


def count_multisets(counts: Sequence[int], size: int) -> int:
    """Count the multisets of ``size`` tiles out of ``counts`` of each."""
    by_size = [1] + [0] * size
    for count in counts:
        by_size = [sum(by_size[max(0, s - count) : s + 1]) for s in range(size + 1)]
    return by_size[size]


def all_multisets(counts: Sequence[int], size: int) -> U8:
    """List the multisets of ``size`` tiles, [count, size], each sorted, in order."""
    parts = np.empty((count_multisets(counts, size), size), np.uint8)
    if len(parts):
        list_multisets(np.array(counts, np.int64), size, parts)
    return parts


def priors_of(racks: U8, counts: Sequence[int], kept: LeavePrior) -> F64:
    """Return the prior of each rack, [racks, size] sorted; ``counts`` are unseen, by tile."""
    racks = np.ascontiguousarray(racks)  # frozen kernels take no others
    size, numbers, total = racks.shape[1], np.array(counts, np.int64), np.zeros(len(racks))
    for part, share in components(kept):
        if part.size > size:  # more than it holds
            continue
        priors = np.zeros(len(racks))
        rack_priors(racks, numbers, part.table(), _binomials(size), priors)
        total += share / comb(sum(counts) - part.size, size - part.size) * priors
    return total


def components(kept: LeavePrior) -> list[tuple[LeavePrior, float]]:
    """Split a prior into belief and doubt, each with its share."""
    if not kept.doubt or not kept.size:
        return [(replace(kept, doubt=0.0), 1.0)]
    return [(replace(kept, doubt=0.0), 1 - kept.doubt), (LeavePrior.nothing(), kept.doubt)]


class CompletedRacks:
    """Racks that contain ``played``: what was ``kept``, and random tiles of the unseen ``counts``.

    ``counts`` and ``played`` are by tile number; ``size`` is the number of tiles of a rack.
    """

    def __init__(
        self, counts: Sequence[int], kept: LeavePrior, played: Sequence[int], size: int
    ) -> None:
        self._size = size
        self._parts = [_Ways(part, share, counts, played, size) for part, share in components(kept)]
        self._total = sum(part.total for part in self._parts)
        self.knows = self._parts[0].total > 0  # whether the belief, doubt aside, allows such a rack

    def draw(self, count: int, chance: np.random.Generator) -> tuple[U8, F64]:
        """Draw racks, [count, size], each sorted; no racks if none is possible.

        The mean of their weights, [count], is the probability of a rack that contains ``played``.
        """
        if not self._total > 0:
            return np.zeros((0, self._size), np.uint8), np.zeros(0)
        shares = [part.total / self._total for part in self._parts]
        each = chance.multinomial(count, shares).tolist()
        drawn = [
            part.draw(share_count, chance)
            for part, share_count in zip(self._parts, each, strict=True)
        ]
        racks, odds = (np.concatenate(both) for both in zip(*drawn, strict=True))
        mixed = chance.permutation(count)  # so that any prefix is a sample of all
        return racks[mixed], odds[mixed] * self._total


class _Ways:
    """The ways to have ``played`` on the rack: what was kept, and what is missing drawn to it.

    ``total`` is the probability, counting a rack once for each way in which it contains ``played``.
    """

    def __init__(
        self,
        kept: LeavePrior,
        share: float,
        counts: Sequence[int],
        played: Sequence[int],
        size: int,
    ) -> None:
        self._kept, self._size = kept, size
        self._unseen = np.array(counts, np.int64)
        self._played = np.array(played, np.int64)
        pool = sum(counts) - size
        weights = np.where(kept.are_possible(self._unseen), kept.weights, 0.0)
        missing = np.zeros(len(kept.tiles), np.int64)
        for tile, wanted in enumerate(played):
            if wanted:
                held = (kept.tiles == tile).sum(axis=1)
                ways = [
                    comb(max(counts[tile] - had, 0), max(wanted - had, 0))
                    for had in range(kept.size + 1)
                ]
                weights *= np.array(ways, np.float64)[held]
                missing += np.maximum(wanted - held, 0)
        rest = size - kept.size - missing
        possible = [comb(pool + left, left) if pool >= 0 else 0 for left in range(size + 1)]
        weights *= np.where(rest < 0, 0.0, np.array(possible, np.float64)[np.maximum(rest, 0)])
        self._sums = np.cumsum(weights)
        drawn = comb(max(sum(counts) - kept.size, 0), max(size - kept.size, 0))
        self.total = share * float(self._sums[-1]) / max(drawn, 1)

    def draw(self, draws: int, chance: np.random.Generator) -> tuple[U8, F64]:
        """Draw racks; return them and their weights."""
        racks, odds = np.empty((draws, self._size), np.uint8), np.empty(draws)
        if draws:
            state = chance.integers(1 << 64, dtype=np.uint64)
            tiles, sums = np.ascontiguousarray(self._kept.tiles), self._sums / self._sums[-1]
            draw_racks(tiles, sums, self._unseen, self._played, self._size, state, racks, odds)
        return racks, odds


@lru_cache(maxsize=8)
def _binomials(size: int) -> F64:
    """Return C(n, k) as [n, k], for k up to a rack of ``size`` tiles."""
    rows = [[comb(n, k) for k in range(size + 1)] for n in range(_MOST_OF_A_TILE + 1)]
    return np.array(rows, np.float64)

"""Forecasts from a belief about an opponent's leave: its tiles and its chance of a bingo.

The tiles that it exchanged count among the unseen, since they are not known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import comb, sqrt
from typing import NamedTuple

import numpy as np

from engine.movegen.generator import Generator
from engine.rules.moves import Place
from engine.rules.position import Position, Rack, unseen
from lexicons.arrays import F64

from .leave_prior import CompletedRacks, LeavePrior


class Sampled(NamedTuple):
    """A sampled probability and its standard error."""

    chance: float
    error: float


def tile_chances(kept: LeavePrior, counts: Sequence[int], drawn: int) -> F64:
    """Return the exact probability, by tile, that a player holds at least one.

    A rack lacks tile *t* if the leave and the draw lack it: hypergeometric (Feller 1968, II.6),
    Σ w(K) · C(n − |K| − Uₜ, d) / C(n − |K|, d) over all K without *t*, with n tiles unseen, Uₜ of
    them *t*, and d drawn. With the probability ``kept.doubt`` the whole rack is random.

    ``counts`` are unseen tiles by tile number; ``drawn`` is the number drawn to the leave.

    Raises:
        ValueError: ``drawn`` is below 0, or more tiles than there are.
    """
    pool = sum(counts) - kept.size
    if not 0 <= drawn <= pool:
        raise ValueError(f"{drawn} tiles drawn from {max(pool, 0)}")
    if kept.size and kept.doubt:
        known = tile_chances(replace(kept, doubt=0.0), counts, drawn)
        random = tile_chances(LeavePrior.nothing(), counts, kept.size + drawn)
        return (1 - kept.doubt) * known + kept.doubt * random
    ways = comb(pool, drawn)
    chances = np.empty(len(counts))
    first = np.ones(kept.tiles.shape, bool)  # of equal tiles in a leave
    first[:, 1:] = kept.tiles[:, 1:] != kept.tiles[:, :-1]
    weights = np.broadcast_to(kept.weights[:, np.newaxis], kept.tiles.shape)
    held = np.bincount(kept.tiles[first], weights[first], len(counts))
    for tile, count in enumerate(counts):
        chances[tile] = 1 - (1 - held[tile]) * (comb(max(pool - count, 0), drawn) / ways)
    return np.clip(chances, 0.0, 1.0)


def bingo_chance(
    generator: Generator, position: Position, kept: LeavePrior, drawn: int, samples: int, seed: int
) -> Sampled:
    """Return the estimate of a ``BingoForecast``; arguments and errors are the same."""
    forecast = BingoForecast(generator, position, kept, drawn, samples, seed)
    forecast.advance(samples)
    return forecast.sampled


class BingoForecast:
    """Estimates, step by step, the probability that the mover's static choice is a bingo.

    The mover drew ``drawn`` tiles to what it ``kept``, none of them from the other rack if that is
    known. ``samples`` of its racks are drawn. If it can't hold a whole rack the probability is 0.

    Raises:
        ValueError: no leave of ``kept`` is possible.
    """

    def __init__(
        self,
        generator: Generator,
        position: Position,
        kept: LeavePrior,
        drawn: int,
        samples: int,
        seed: int,
    ) -> None:
        self._generator, self._position = generator, position
        self._racks: list[Rack] = []  # none, unless a full rack, and so a bingo, is possible
        self._looked_at = self._bingos = 0
        seat, rules = position.on_turn, generator.rules
        size = kept.size + drawn
        if size < rules.rack_size:
            return
        counts = unseen(position, 1 - seat, rules)
        draws = CompletedRacks(counts, kept, [0] * len(counts), size)
        racks, _ = draws.draw(samples, np.random.default_rng(seed & (1 << 64) - 1))
        if not len(racks):
            raise ValueError("none of the possible leaves fits the unseen tiles")
        self._racks = [tuple(rack) for rack in racks.tolist()]

    def advance(self, amount: int) -> int:
        """Search up to ``amount`` more racks; return their number, less only at the end.

        Raises:
            ValueError: as ``Generator.best``.
        """
        racks = self._racks[self._looked_at : self._looked_at + amount]
        for rack in racks:
            position = self._position.with_rack(self._position.on_turn, rack)
            move = self._generator.best(position)[0].move
            whole = self._generator.rules.rack_size
            self._bingos += isinstance(move, Place) and len(move.placed) == whole
        self._looked_at += len(racks)
        return len(racks)

    @property
    def is_over(self) -> bool:
        """Whether all racks are searched."""
        return self._looked_at == len(self._racks)

    @property
    def sampled(self) -> Sampled:
        """The estimate from the racks searched so far."""
        count = max(self._looked_at, 1)
        chance = self._bingos / count
        return Sampled(chance, sqrt(chance * (1 - chance) / count))

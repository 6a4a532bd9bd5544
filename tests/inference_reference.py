"""The slow twin of inference: exact Bayes by counting, each tile that is unseen a thing of its own.

Of ``engine.inference.leave_prior``, ``engine.inference.inference`` and
``engine.inference.rack_filter`` it has the words alone. Racks and draws are combinations of
physical tiles, gaps are found by listing all moves, and what he may hold is followed as whole
racks, from draw to draw, in the order in which things happened.

Which prior is right? He holds a rack R of physical tiles, all equally likely, and has shown the
tiles T; so a leave L is as likely as there are physical racks L + T: Π C(Uₜ, Lₜ + Tₜ) over the
tiles t. The paper (Richards and Amir 2007) draws L from what is unseen once T is gone: there are
Π C(Uₜ − Tₜ, Lₜ) such draws. Where play and leave share no letter it is the same but for a constant
factor. Where they do, the paper counts a rack once for each choice of the tiles that were played:
of E₁ and E₂ either may lie on the board, and the leave E is met twice, though the player had one
rack only. The two differ by Π Lₜ! Tₜ! / (Lₜ + Tₜ)!, which turns the paper's into the exact one.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from engine.inference.equity_loss import OpponentPlay
from engine.inference.leave_prior import LeavePrior
from engine.inference.likelihood import (
    _ALTERNATIVES,
    _MOVES,
    _TEMPERATURES,
    Model,
    likelihood_power,
)
from engine.movegen.evaluation import PLAIN
from engine.movegen.generator import Generator
from engine.movegen.move_codec import pack
from engine.rules.moves import PASS, Exchange, Pass, Place
from engine.rules.position import Position, Rack, bag_count
from engine.rules.rules import Rules
from lexicons.leaves import LeaveTable
from lexicons.store import Lexicon

Leaves = dict[Rack, float]
"""Probabilities that add up to 1; what is impossible is left out."""
Likelihood = Callable[[Rack], float]
"""Of a play, by the rack that it was made with."""


def leaves_in(kept: LeavePrior) -> list[Rack]:
    """Return the leaves of a prior."""
    return list(map(tuple, kept.tiles.tolist()))


def tiles_of(counts: Sequence[int]) -> list[int]:
    """Lay out what is unseen, a tile each."""
    return [tile for tile, count in enumerate(counts) for _ in range(count)]


def without(tiles: Iterable[int], gone: Iterable[int]) -> Rack | None:
    """Take tiles off others; None if they are not all there."""
    left = Counter(tiles)
    left.subtract(gone)
    return tuple(sorted(left.elements())) if min(left.values(), default=0) >= 0 else None


def physical_racks(unseen: Iterable[int], size: int) -> Counter[Rack]:
    """Count the choices of so many physical tiles, by what they look like."""
    return Counter(tuple(sorted(choice)) for choice in combinations(list(unseen), size))


def normalised(weights: Mapping[Rack, float]) -> Leaves:
    total = math.fsum(weights.values())
    return {rack: weight / total for rack, weight in weights.items() if weight}


def furthest(found: Leaves, exact: Leaves) -> float:
    """Give the greatest difference of two distributions over all leaves."""
    every = found.keys() | exact.keys()
    return max(abs(found.get(one, 0.0) - exact.get(one, 0.0)) for one in every)


# --- one turn -------------------------------------------------------------------------------------


def posterior_of_leaves(
    unseen: Iterable[int], played: Rack, size: int, likelihood: Likelihood
) -> Leaves:
    """Weigh every physical rack that has the tiles that were played."""
    weights: dict[Rack, float] = defaultdict(float)
    for rack, ways in physical_racks(unseen, size).items():
        leave = without(rack, played)
        if leave is not None:
            weights[leave] += ways * likelihood(rack)
    return normalised(weights)


# --- what a play tells ----------------------------------------------------------------------------


class Judged(NamedTuple):
    """Equities in thousandths of a point, and what stays on the rack."""

    best: int
    own: int
    keeps: Rack


class SlowJudge:
    """Compares a play with all that could have been done; a greedy one looks at scores alone."""

    def __init__(
        self, lexicon: Lexicon, rules: Rules, leaves: LeaveTable | None, judge: str = "static"
    ) -> None:
        if judge == "greedy":
            self._generator = Generator(lexicon, rules, None, PLAIN)
        else:
            self._generator = Generator(lexicon, rules, leaves)
        self._known: dict[tuple[OpponentPlay, Rack], Judged] = {}

    def loss(self, play: OpponentPlay, rack: Rack) -> int:
        """Say by how many thousandths of a point something would have been better."""
        judged = self.of(play, rack)
        return max(0, judged.best - judged.own)

    def likelihood(self, play: OpponentPlay, model: Model) -> Likelihood:
        """Say how likely a play is by a model that has this judge."""
        return lambda rack: likelihood_of(self.loss(play, rack), model)

    def of(self, play: OpponentPlay, rack: Rack) -> Judged:
        """Judge a play with a rack; an exchange keeps the best that it can."""
        if (play, rack) not in self._known:
            self._known[play, rack] = self._found(play, rack)
        return self._known[play, rack]

    def _found(self, play: OpponentPlay, rack: Rack) -> Judged:
        """A pass, which the generator puts behind all else, is worth what it scores: nothing."""
        position = Position(play.board, (rack, ()), (0, 0))
        assert bag_count(position, self._generator.rules) == play.bag
        found = self._generator.arrays(position)
        equities = {
            move: equity
            for move, equity in zip(found.packed.tolist(), found.equities.tolist(), strict=True)
            if move != pack(PASS)
        }
        best = max(equities.values(), default=0)
        if isinstance(play.move, Pass):
            return Judged(best, 0, rack)
        own, gone = pack(play.move) if isinstance(play.move, Place) else 0, play.tiles
        if isinstance(play.move, int):
            changed = {pack(Exchange(each)): each for each in set(combinations(rack, play.move))}
            own = max(changed, key=lambda move: equities[move])
            gone = changed[own]
        keeps = without(rack, gone)
        assert keeps is not None
        return Judged(best, equities[own], keeps)


def likelihood_of(loss: int, model: Model) -> float:
    """A part of each temperature, as small as many moves share it; never less than the floor."""
    if loss > model.reach:
        return model.floor
    over = max(0.0, loss / 1_000 - model.margin)
    total = 0.0
    for temperature, share in model.temperatures:
        logs = [math.log(each) for each in _ALTERNATIVES[model.judge]]
        moves = math.exp(float(np.interp(temperature, _TEMPERATURES, logs)))
        falls = math.exp(-over / temperature) if temperature else float(over == 0)
        total += share * falls / moves * (1 - _MOVES * model.floor)
    return max(total, model.floor)


# --- turn after turn ------------------------------------------------------------------------------


class SlowTracker:
    """Follows all the racks that an opponent may hold, each with the ways in which it came about.

    Args:
        unseen: the tiles on his rack and in the bag.
        size: of his rack.
    """

    def __init__(self, unseen: Iterable[int], size: int) -> None:
        self.unseen: Rack = tuple(unseen)
        self.racks: dict[Rack, float] = dict(physical_racks(self.unseen, size))

    def watch(self, play: OpponentPlay, judge: SlowJudge, model: Model) -> Leaves:
        """See a play, with the bag not yet empty; give what he may have kept. Then he draws."""
        before: dict[Rack, float] = defaultdict(float)
        after: dict[Rack, float] = defaultdict(float)
        for rack, weight in self.racks.items():
            if without(rack, play.tiles) is not None:
                leave = judge.of(play, rack).keeps
                before[leave] += weight
                after[leave] += weight * likelihood_of(judge.loss(play, rack), model)
        kept = {
            leave: before[leave] * (after[leave] / before[leave]) ** likelihood_power(play.bag)
            for leave in before
        }
        racks: dict[Rack, float] = defaultdict(float)
        for rack, weight in self.racks.items():
            if without(rack, play.tiles) is None or not after[judge.of(play, rack).keeps]:
                continue
            leave = judge.of(play, rack).keeps
            likely = weight * likelihood_of(judge.loss(play, rack), model)
            likely *= kept[leave] / after[leave]
            bag = self._bag(rack)
            draws = physical_racks(bag, min(len(rack) - len(leave), len(bag)))
            for draw, ways in draws.items():
                racks[tuple(sorted(leave + draw))] += likely * ways
        self.racks = normalised(racks)
        self.unseen = self._unseen_without(play.tiles)
        return normalised(kept)

    def drew(self, tiles: Rack) -> None:
        """See that somebody else drew these from the bag."""
        self.racks = normalised(
            {
                rack: weight * physical_racks(self._bag(rack), len(tiles))[tuple(sorted(tiles))]
                for rack, weight in self.racks.items()
            }
        )
        self.unseen = self._unseen_without(tiles)

    def doubts(self, share: float) -> None:
        """Take it that with such a chance all was wrong, and his rack is any."""
        size = len(next(iter(self.racks)))
        any_rack = normalised(physical_racks(self.unseen, size))
        self.racks = {
            rack: (1 - share) * self.racks.get(rack, 0.0) + share * each
            for rack, each in any_rack.items()
        }

    def showed(self, tiles: Rack) -> None:
        """See that he holds these."""
        held = {rack: ways for rack, ways in self.racks.items() if without(rack, tiles) is not None}
        self.racks = normalised(held)

    def _bag(self, rack: Rack) -> Rack:
        bag = without(self.unseen, rack)
        assert bag is not None
        return bag

    def _unseen_without(self, tiles: Rack) -> Rack:
        left = without(self.unseen, tiles)
        assert left is not None
        return left

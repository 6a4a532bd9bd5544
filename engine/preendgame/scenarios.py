"""The cases late in a game: what the opponent holds, what is in the bag, and in which order."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass
from itertools import permutations
from math import comb, factorial

import numpy as np

from engine.inference.leave_prior import LeavePrior, all_multisets, priors_of
from engine.rules.game import adjusted, settlement
from engine.rules.moves import Exchange, Move
from engine.rules.position import Position, Rack, unseen
from engine.rules.rules import Rules, leave_of
from engine.simulation.rollout_input import TO_THE_END, believed, scene

_SEEDS = 1 << 64


@dataclass(frozen=True, slots=True)
class Scenario:
    """One way in which the unseen tiles may lie."""

    rack: Rack  # the opponent's
    bag: Rack  # sorted; all orders are equally likely
    weight: float  # all cases sum to 1


def list_scenarios(
    position: Position, rules: Rules, belief: LeavePrior | None, seed: int, most: int
) -> tuple[list[Scenario], float]:
    """List the racks that the player not on turn may hold, each once.

    They are weighted by the belief; tiles outside it are drawn as physical tiles, so that two equal
    tiles count twice. If there are more than ``most`` racks, ``most`` draws are made at even
    distances of cumulative weight (systematic sampling, Madow 1944): no rack of weight 1 / ``most``
    or more is left out, and racks drawn repeatedly weigh more.

    Return the cases in random order, so that the first few are a sample; and the share of the
    belief that they cover, 1 if all were listed.

    Raises:
        ValueError: as ``engine.simulation.rollout_input.scene`` and ``believed``.
    """
    begins = scene(position, rules, TO_THE_END, seed)
    leave_belief = believed(position, begins, belief, rules)
    counts = unseen(position, position.on_turn, rules)
    racks = all_multisets(counts, begins.opponent_tiles)
    weights = priors_of(racks, counts, leave_belief)
    chance = np.random.default_rng(seed % _SEEDS)
    order = chance.permutation(np.flatnonzero(weights > 0))
    racks, weights = racks[order], weights[order] / weights.sum()
    mass = 1.0
    if len(racks) > most:
        marks = (np.arange(most) + chance.random()) / most
        drawn = np.searchsorted(np.cumsum(weights), marks).clip(max=len(racks) - 1)
        chosen, times = np.unique(drawn, return_counts=True)
        racks, mass, weights = racks[chosen], float(weights[chosen].sum()), times / most
    tiles = Counter(dict(enumerate(counts)))
    listed = [
        Scenario(tuple(rack), tuple(sorted((tiles - Counter(rack)).elements())), weight)
        for rack, weight in zip(racks.tolist(), weights.tolist(), strict=True)
    ]
    return listed, mass


def orders_of(
    bag: Rack, together: int, most: int, seed: int
) -> tuple[list[tuple[Rack, float]], bool]:
    """List the orders in which a bag may be drawn, with their probabilities.

    The first ``together`` tiles are drawn at once: their order does not matter. If there are more
    than ``most`` orders of physical tiles, ``most`` are drawn. Also return whether all are listed.
    """
    together = min(together, len(bag))
    if together == len(bag):
        return [(bag, 1.0)], True
    count = comb(len(bag), together) * factorial(len(bag) - together)
    if count <= most:
        tally = Counter(
            (*sorted(order[:together]), *order[together:]) for order in permutations(bag)
        )
        return [(order, times / tally.total()) for order, times in sorted(tally.items())], True
    chance = random.Random(seed)
    drawn = [tuple(chance.sample(bag, len(bag))) for _ in range(most)]
    return [(order, 1 / most) for order in drawn], False


@dataclass(frozen=True, slots=True)
class FullPosition:
    """A position with both racks, and the bag in drawing order."""

    position: Position
    bag: Rack
    over: bool = False

    def after(self, move: Move, score: int, rules: Rules, seed: int = 0) -> FullPosition:
        """Play a legal move; ``seed`` is for the places of exchanged tiles in the bag."""
        position, seat = self.position, self.position.on_turn
        leave = leave_of(position.racks[seat], move)
        missing = rules.rack_size - len(leave)
        rack = tuple(sorted((*leave, *self.bag[:missing])))
        bag = self.bag[missing:]
        if isinstance(move, Exchange):
            # Seeded by the bag too; else the tiles would go to the same places in every case.
            chance = random.Random(f"{seed} {self.bag} {position.racks}")
            bag = tuple(chance.sample((*bag, *move.tiles), len(bag) + len(move.tiles)))
        after = position.after(move, score, rack, rules)
        settled = settlement(after, len(bag), seat, rules)
        if settled is None:
            return FullPosition(after, bag)
        return FullPosition(adjusted(after, settled[1]), bag, over=True)

"""Two moves of a pre-endgame judged by games that are played out in common cases.

A case is a rack of the opponent and an order of the bag, the same for both moves: all cases if they
are few, else a sample. After the move both sides play statically until the bag is empty; the
endgame is then solved as far as a number of nodes goes. Both moves get equal work. Give another
seed than the player that chose the move had, so that its luck is not judged as skill.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from engine.endgame.solver import EndgameSolver
from engine.movegen.generator import Generator, RankedMove
from engine.rules.moves import Exchange
from engine.rules.position import Position
from engine.rules.rules import used_tiles
from lexicons.arrays import F64

from .bounds import EPSILON
from .scenarios import FullPosition, list_scenarios, orders_of

CASES = 120
"""Most cases in which moves are compared."""
NODES = 300_000
"""Nodes for all endgames of a move, shared equally among the cases."""


@dataclass(frozen=True)
class Verdict:
    """What the first of two moves gains over the second; errors are standard errors."""

    win: float  # share of games; a tie counts half
    win_error: float  # 0 if all cases were listed, or there is only one
    points: float
    points_error: float
    cases: int


def judge(
    solver: EndgameSolver,
    generator: Generator,
    position: Position,
    moves: Sequence[RankedMove],
    *,
    seed: int,
    cases: int = CASES,
    nodes: int = NODES,
) -> Verdict:
    """Compare two legal moves of a position with tiles in the bag.

    The opponent may hold anything, if its rack is not given. ``seed`` is for drawn cases and the
    places of exchanged tiles.

    Raises:
        ValueError: as ``list_scenarios``.
    """
    seat, rules = position.on_turn, generator.rules
    together = min(len(used_tiles(ranked.move)) for ranked in moves)
    scenarios, mass = list_scenarios(position, rules, None, seed, cases)
    fulls, is_all = [], mass > 1 - EPSILON  # both racks and a bag, with the case's weight
    for nth, case in enumerate(scenarios):
        most = max(1, cases // len(scenarios))
        orders, listed = orders_of(case.bag, together, most, seed + nth)
        known = position.with_rack(1 - seat, case.rack)
        fulls += [(FullPosition(known, bag), case.weight * share) for bag, share in orders]
        is_all = is_all and listed
    # An exchange puts its tiles back at random places, of which only one choice is looked at.
    is_all = is_all and not any(isinstance(ranked.move, Exchange) for ranked in moves)
    spreads = np.zeros((len(fulls), len(moves)))
    for nth, (full, _) in enumerate(fulls):
        for which, ranked in enumerate(moves):
            after = full.after(ranked.move, ranked.score, rules, seed)
            spreads[nth, which] = _final(solver, generator, after, seat, nodes // len(fulls), seed)
    weights = np.array([weight for _, weight in fulls])
    won = np.sign(spreads) / 2
    win, points = (gains[:, 0] - gains[:, 1] for gains in (won, spreads))
    return Verdict(*_mean(win, weights, is_all), *_mean(points, weights, is_all), len(fulls))


def _final(
    solver: EndgameSolver,
    generator: Generator,
    full: FullPosition,
    seat: int,
    nodes: int,
    seed: int,
) -> float:
    """Play a game out, and return a seat's final spread; a guess if the nodes prove nothing."""
    while full.bag and not full.over:
        best = generator.best(full.position)[0]
        full = full.after(best.move, best.score, generator.rules, seed)
    lead, sign = full.position.spread(seat), 1 if full.position.on_turn == seat else -1
    if full.over:
        return float(lead)
    solver.begin(full.position)
    solver.advance(nodes)
    return float(lead + sign * solver.solution.to_play(sign * lead)[1])


def _mean(gains: F64, weights: F64, is_all: bool) -> tuple[float, float]:
    """Return the weighted mean and its standard error."""
    share = weights / weights.sum()
    mean = float(share @ gains)
    if is_all or len(gains) < 2:
        return mean, 0.0
    spread = share**2 @ (gains - mean) ** 2 * len(gains) / (len(gains) - 1)
    return mean, float(np.sqrt(spread))

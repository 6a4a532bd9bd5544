"""The cost of a play whose rack is not recorded: an average over racks that may have been held.

What was kept is a belief, given the play (``engine.inference``): tiles that are unseen, by how
likely the play is with them. Racks are drawn from it, and each is analysed as if it was recorded,
with its share of the work. If no more racks are possible, each is analysed, and weighed.

The belief goes by equity, and players look further: a rack with which rollouts find the play bad is
less likely. It weighs less by the points lost in the rollouts that chose the best move. The cost
comes from those that compare the two alone; with the same ones, luck would be weighed too.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from bot.search.analysis.findings import Findings, SearchTools, analyse
from bot.search.analysis.inferred import observe
from engine.inference.equity_loss import Judges
from engine.inference.inference import Inference
from engine.inference.leave_prior import LeavePrior
from engine.inference.likelihood import likelihood_power, stranger
from engine.rules.moves import Place
from engine.rules.position import Position
from engine.simulation.rollout_results import Difference

RACKS = 12
"""Racks drawn for a play."""

_WIDER = 2.201 / 1.96  # Student's t for 12 draws, over the factor of exact errors
_POINTS = 6.0  # lost in rollouts, over which the weight of a rack falls to 1/e
_EXAMINED = 4_000  # racks examined for the belief
_OTHER_LUCK = 1 << 62  # separates the draws of racks from those of rollouts


@dataclass(frozen=True, kw_only=True)
class OverRacks:
    """The findings on a play for each of some racks that the player may have had."""

    position: Position
    """The rack on turn has only the tiles that are known."""
    played: Place
    each: tuple[Findings, ...]
    """By rack; fewer than were drawn if the work was stopped."""
    weights: tuple[float, ...]
    """By rack; they add up to 1."""
    is_complete: bool
    """Whether these are all racks that are possible, and not drawn."""

    @property
    def is_known(self) -> bool:
        """Whether the cost can be told, of every rack."""
        is_done = self.is_complete or len(self.each) == RACKS
        return is_done and all(findings.is_known for findings in self.each)

    @property
    def best_in(self) -> int:
        """In how many of the racks no other move was found to be better."""
        return sum(findings.question.played == findings.best.move for findings in self.each)

    @property
    def cost(self) -> Difference:
        """What the play cost on average; the errors allow for any of the racks."""
        leads = [findings.ahead_of(self.played) for findings in self.each]
        win, win_error = self._mean([(lead.win, lead.win_error) for lead in leads])
        points, error = self._mean([(lead.equity, lead.equity_error) for lead in leads])
        return Difference(win, win_error, points, error)

    def _mean(self, costs: list[tuple[float, float]]) -> tuple[float, float]:
        values, errors = np.array(costs, np.float64).T
        weights = np.array(self.weights, np.float64)
        mean = float((weights * values).sum())
        spread = weights * (values - mean) ** 2
        if self.is_complete:
            return mean, math.hypot(math.sqrt(spread.sum()), *(weights * errors))
        # Drawn costs differ by racks and by rollouts, so that their spread has both errors.
        each = float(spread.sum() / (1 - (weights**2).sum()))
        return mean, _WIDER * math.sqrt(each + float((weights * spread).sum()))


def analyse_over_racks(
    settings: SearchTools,
    position: Position,
    played: Place,
    stopped: Callable[[], bool] = lambda: False,
) -> OverRacks:
    """Average the cost of a play over racks that hold what is known, at most ``RACKS``.

    The rack on turn has the known tiles, among them those played. There are tiles in the bag.

    Raises:
        ValueError: the move is illegal or a phony, or the bag is empty.
    """
    rules, seat, words = settings.rules, position.on_turn, settings.resources.lexicon
    seen = observe(position, played, rules, words)
    kept = Counter(position.racks[seat]) - Counter(seen.play.tiles)
    inference = Inference(
        Judges(words, rules, settings.leaves),
        seen.play,
        seen.counts,
        LeavePrior.certain(tuple(kept.elements())),
        stranger(),
        seed=settings.seed,
    )
    inference.advance(_EXAMINED)
    belief = inference.posterior().tempered(likelihood_power(seen.play.bag))
    is_complete = len(belief.leaves) <= RACKS and inference.is_over
    leaves, weights = belief.leaves, belief.posterior
    if not is_complete:
        chance = np.random.default_rng(settings.seed ^ _OTHER_LUCK)
        leaves = leaves[chance.choice(len(leaves), RACKS, p=weights / weights.sum())]
        weights = np.full(RACKS, 1 / RACKS)
    each: list[Findings] = []
    share = replace(
        settings,
        seconds=settings.seconds / len(leaves),
        rollouts=settings.rollouts and max(settings.rollouts // len(leaves), 1),
    )
    for at, leave in enumerate(leaves.tolist()):
        if stopped():
            break
        rack = tuple(sorted((*seen.play.tiles, *leave)))
        held = position.with_rack(seat, rack)
        each.append(analyse(replace(share, seed=settings.seed + at), held, played, stopped=stopped))
    done = weights[: len(each)] * np.exp([-_lost(findings, played) / _POINTS for findings in each])
    return OverRacks(
        position=position,
        played=played,
        each=tuple(each),
        weights=tuple((done / done.sum()).tolist()),
        is_complete=is_complete and len(each) == len(leaves),
    )


def _lost(findings: Findings, played: Place) -> float:
    """Return the points that a play lost in the rollouts that chose the best move.

    0 if it was not compared apart from these.
    """
    own = next(row.equity for row in findings.estimates if row.move == played)
    return max(findings.best.equity - own, 0.0) if findings.compared else 0.0

"""``go sim``: rollouts of some candidates, told as they go on."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from bot.search.simulating import ENOUGH, FIRST_SAMPLES, usual_candidates, usual_plies
from engine.inference.equity_loss import Judges
from engine.inference.leave_prior import LeavePrior
from engine.inference.likelihood import SIMULATING, Style
from engine.inference.rack_filter import DOUBT, RackFilter
from engine.rules.position import Rack
from engine.simulation.rollout_input import Belief
from engine.simulation.simulation import Simulation

from .candidate_moves import chosen
from .modes import Task
from .position import Situation
from .resources import Kit

__all__ = ["Simulating", "believed", "reveal"]


class Simulating:
    """A simulation as a ``go sim`` asks for it.

    Args:
        task: says what, and until when.
        kit: what it works with.
        kept: what the opponent may have kept, if it is to be drawn from.
    """

    def __init__(self, task: Task, kit: Kit, kept: LeavePrior | None) -> None:
        situation, go = task.situation, task.go
        generators = [kit.generator() for _ in range(task.threads)]
        count = task.settings.candidates or usual_candidates(situation.bag)
        candidates = chosen(generators[0], situation.position, count, task.only, task.also)
        each = go.iterations
        self.simulation = Simulation(
            generators,
            situation.position,
            candidates,
            kit.win_probabilities,
            plies=go.depth or usual_plies(situation.bag),
            seed=task.settings.seed,
            rule="top-two" if each is None else "equal",
            first=min(FIRST_SAMPLES, each or FIRST_SAMPLES),
            belief=believed(situation, kit, kept),
            limit=each and each * len(candidates),
        )
        self._wanted = go.stopcondition
        limits = (go.iterations, go.movetime_ms, go.stopcondition)
        self._is_unlimited = not go.infinite and not any(one is not None for one in limits)

    @property
    def is_settled(self) -> bool:
        """Whether the leader is as certain as was asked for, or, without any limit, enough."""
        if self._wanted is not None:
            return certainty(self.simulation) >= self._wanted / 100
        return self._is_unlimited and self.simulation.regret <= ENOUGH


def certainty(simulation: Simulation) -> float:
    """Say how certain it is that the leader is the best, 0 to 1.

    At least so certain: the chances that each of the others is better are added up (Bonferroni).
    Who has had the same as the leader in every sample is none of them.
    """
    if not simulation.is_sampled:
        return 0.0
    if simulation.exact or len(simulation.candidates) == 1:
        return 1.0
    statistics = simulation.statistics
    others = ~statistics.twins
    others[statistics.leader] = False
    better = sum(math.erfc(one / math.sqrt(2)) / 2 for one in statistics.scores()[others].tolist())
    return max(0.0, 1.0 - better)


# --- what the opponent may hold -------------------------------------------------------------------


def believed(situation: Situation, kit: Kit, kept: LeavePrior | None) -> Belief | None:
    """Say what the opponent may hold, by what was inferred and by what is certain."""
    known = situation.known
    if not situation.bag or situation.position.racks[1 - situation.seat]:
        return None
    if kept is not None:
        kept = kept.part_of(situation.hidden)
    if kept is None and not known:
        return None
    tracker = RackFilter(Judges(kit.lexicon, kit.rules, kit.leaves), Style.of(SIMULATING))
    tracker.prior = kept or LeavePrior.nothing()
    if known:
        reveal(tracker, known, situation.hidden, situation.opponent_tiles)
    return tracker.belief(0.0 if known else DOUBT)


def reveal(tracker: RackFilter, known: Rack, counts: Sequence[int], held: int) -> None:
    """Have a tracker take in tiles that are certain; what he believes of the rest may be wrong."""
    if tracker.prior.size:
        tracker.prior = replace(tracker.prior, doubt=max(tracker.prior.doubt, DOUBT))
    tracker.showed(known, counts, held)

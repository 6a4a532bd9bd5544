"""The opponent's possible racks: ``go infer``, and the belief of simulations."""

from __future__ import annotations

from collections import Counter

import numpy as np

from bot.search.belief import reveal
from engine.inference.equity_loss import Judges
from engine.inference.inference import Inference, Play, Posterior
from engine.inference.leave_prior import LeavePrior
from engine.inference.likelihood import MODELS, SIMULATING, Style
from engine.inference.rack_filter import DOUBT, RackFilter
from engine.rules.moves import Exchange
from engine.rules.position import bag_count, unseen
from engine.simulation.rollout_input import Belief
from protocol.siu.answers import InfoInfer

from .modes import Task
from .position import Situation
from .resources import Kit, view_at

__all__ = ["KEPT_DOUBT", "believed", "infer_lines", "inference_about", "most_racks"]

USUAL_RACKS = 200_000
"""Racks looked at unless limited; an upper bound if leaves are listed."""
MOST_RACKS = 1_000_000
KEPT_DOUBT = 0.02
"""Probability that an inference is wrong after all (``engine.inference.rack_filter``)."""


def most_racks(task: Task) -> int:
    """Return the largest number of racks for a ``go infer``."""
    limited = task.go.movetime_ms is not None or task.go.infinite
    return MOST_RACKS if limited else USUAL_RACKS


def inference_about(task: Task, kit: Kit) -> Inference:
    """Begin to infer the opponent's leave after its last move.

    Raises:
        ValueError: the opponent has not moved, or its move tells nothing.
    """
    situation, settings = task.situation, task.settings
    theirs = [at for at, turn in enumerate(situation.turns) if turn.seat != situation.seat]
    if not theirs:
        raise ValueError("'moves' has no move of the opponent; there is nothing to infer from")
    last = theirs[-1]
    turn, rules, before = situation.turns[last], situation.rules, situation.seen(last)
    if turn.phony:
        raise ValueError("the opponent's move was challenged off; he holds what it showed")
    returned = _returned(situation, last)
    counts = tuple(
        count - returned[tile] for tile, count in enumerate(unseen(before, situation.seat, rules))
    )
    move = len(turn.move.tiles) if isinstance(turn.move, Exchange) else turn.move
    play = Play(before.board, move, turn.score, rules.rack_size, bag_count(before, rules))
    kept = (
        LeavePrior(np.array([turn.held], np.uint8), np.ones(1))
        if turn.held
        else LeavePrior.nothing()
    )
    judges = Judges(kit.lexicon, kit.rules, kit.leaves)
    style = Style.of(MODELS[settings.infer_model])
    return Inference(judges, play, counts, kept, style, seed=settings.seed)


def _returned(situation: Situation, turn: int) -> Counter[int]:
    """Count the tiles that we gave back before the opponent drew; its leave can't contain them."""
    last = situation.turns[turn - 1] if turn else None
    if last is None or last.seat != situation.seat or not isinstance(last.move, Exchange):
        return Counter()
    return Counter(last.move.tiles)


def infer_lines(posterior: Posterior, task: Task, kit: Kit) -> tuple[InfoInfer, ...]:
    """Write the likeliest leaves."""
    write = kit.rules.distribution.alphabet.text
    top = posterior.top(task.settings.lines)
    return tuple(InfoInfer(write(leave), chance) for leave, _, chance in top)


def believed(task: Task, kit: Kit, kept: LeavePrior | None) -> Belief | None:
    """Return the belief from the inferred leave and the certain tiles."""
    view, known = view_at(task, kit), task.situation.known
    if not view.bag or view.position.racks[view.opponent]:
        return None
    if kept is not None:
        kept = kept.part_of(view.unseen)
    if kept is None and not known:
        return None
    tracker = RackFilter(Judges(kit.lexicon, kit.rules, kit.leaves), Style.of(SIMULATING))
    tracker.prior = kept or LeavePrior.nothing()
    if known:
        reveal(tracker, known, view)
    return tracker.belief(0.0 if known else DOUBT)

"""The opponent's possible racks, for ``go infer`` and for the belief of simulations."""

from __future__ import annotations

from collections import Counter

from bot.player import View
from bot.search.belief import judges_for, reveal
from engine.inference.equity_loss import OpponentPlay
from engine.inference.inference import Inference
from engine.inference.leave_prior import LeavePrior
from engine.inference.likelihood import MODELS, SIMULATING, Style
from engine.inference.rack_filter import DOUBT, RackFilter
from engine.rules.moves import Exchange
from engine.rules.position import Rack, bag_count, unseen
from engine.rules.rules import may_exchange

from .modes import SearchTask


def inference_about(task: SearchTask, view: View) -> Inference:
    """Begin to infer the opponent's leave after its last move.

    Raises:
        ValueError: it has not moved, or its last move was challenged off.
    """
    situation, settings = task.situation, task.settings
    theirs = [at for at, turn in enumerate(situation.turns) if turn.seat != situation.seat]
    if not theirs:
        raise ValueError("'moves' has no move of the opponent; there is nothing to infer from")
    last = theirs[-1]
    turn, rules, before = situation.turns[last], situation.rules, situation.seen(last)
    if turn.phony:
        raise ValueError("the last move was challenged off; the opponent holds what it showed")
    ours = situation.turns[last - 1] if last else None
    returned = Counter[int]()  # tiles that we exchanged in the turn before, which it can't have
    if ours is not None and ours.seat == situation.seat and isinstance(ours.move, Exchange):
        returned = Counter(ours.move.tiles)
    counts = tuple(
        count - returned[tile] for tile, count in enumerate(unseen(before, situation.seat, rules))
    )
    move = len(turn.move.tiles) if isinstance(turn.move, Exchange) else turn.move
    bag, allowed = bag_count(before, rules), may_exchange(before, rules)
    play = OpponentPlay(before.board, move, turn.score, rules.rack_size, bag, allowed)
    tracker = RackFilter(judges_for(view), Style.of(MODELS[settings.infer_model]))
    if turn.held:
        tracker.prior = LeavePrior.certain(turn.held)
    return tracker.watch(play, counts, seed=settings.seed)


def believed(view: View, known: Rack, kept: LeavePrior | None) -> LeavePrior | None:
    """Return the belief from the inferred leave, if any, and the tiles it certainly holds.

    None if nothing is hidden or nothing is known.
    """
    if not view.bag or view.position.racks[view.opponent]:
        return None
    if kept is not None:
        kept = kept.part_of(view.unseen)
    if kept is None and not known:
        return None
    tracker = RackFilter(judges_for(view), Style.of(SIMULATING))
    tracker.prior = kept or LeavePrior.nothing()
    if known:
        reveal(tracker, known, view)
    return tracker.belief(0.0 if known else DOUBT)

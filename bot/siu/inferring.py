"""``go infer``: what the opponent kept when he last moved."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from bot.search.anytime import Anytime
from engine.inference.inference import Inference, Judges, Play, Posterior
from engine.inference.leave_prior import LeavePrior
from engine.inference.likelihood import MODELS, Style
from engine.rules.moves import Exchange, Pass, Place
from engine.rules.position import bag_count, unseen
from protocol.siu.answers import InfoInfer

from .modes import Task
from .position import Situation
from .resources import Kit
from .search_budget import Watch

__all__ = ["Inferring"]

USUAL_RACKS = 200_000
"""Looked at unless there is a limit; where leaves are listed there are no more of them."""
MOST_RACKS = 1_000_000
KEPT_DOUBT = 0.02
"""How likely what a play tells is wrong after all (``engine.inference.rack_filter``)."""


class Inferring:
    """An inference as a ``go infer`` asks for it.

    Args:
        task: says about what, and until when.
        kit: what it works with.

    Raises:
        ValueError: the opponent has made no move, or there is nothing to infer from it.
    """

    def __init__(self, task: Task, kit: Kit) -> None:
        self._write = kit.rules.distribution.alphabet.text
        self._lines = task.settings.lines
        limited = task.go.movetime_ms is not None or task.go.infinite
        judges = Judges(kit.lexicon, kit.rules, kit.leaves)
        style = Style.of(MODELS[task.settings.infer_model])
        play, counts, before = _seen(task.situation)
        self._inference = Inference(judges, play, counts, before, style, seed=task.settings.seed)
        self._anytime = Anytime(self._inference, most=MOST_RACKS if limited else USUAL_RACKS)

    def slices(self, watch: Watch) -> Iterator[bool]:
        """Look at racks until all were looked at, or as many as are, or time is over."""
        return self._anytime.slices(watch.remaining_ms, lambda: self._inference.is_over)

    def posterior(self) -> Posterior:
        """Say what is believed so far."""
        return self._inference.posterior()

    def told(self, found: Posterior) -> tuple[InfoInfer, ...]:
        """Write the likeliest leaves."""
        top = found.top(self._lines)
        return tuple(InfoInfer(self._write(leave), chance) for leave, _, chance in top)

    @staticmethod
    def kept(found: Posterior) -> LeavePrior:
        """Give what a simulation may draw from."""
        return found.as_prior(KEPT_DOUBT)


def _seen(situation: Situation) -> tuple[Play, tuple[int, ...], LeavePrior]:
    """See the opponent's last move with our eyes: what it was, what was unseen, what he had."""
    theirs = [at for at, turn in enumerate(situation.turns) if turn.seat != situation.seat]
    if not theirs:
        raise ValueError("'moves' has no move of the opponent; there is nothing to infer from")
    turn, rules = situation.turns[theirs[-1]], situation.rules
    if turn.phony:
        raise ValueError("the opponent's move was challenged off; he holds what it showed")
    before = situation.seen(theirs[-1])
    bag = bag_count(before, rules)
    returned = _returned(situation, theirs[-1])
    counts = tuple(
        count - returned[tile] for tile, count in enumerate(unseen(before, situation.seat, rules))
    )
    play = Play(before.board, _as_seen(turn.move), turn.score, rules.rack_size, bag)
    kept = (
        LeavePrior(np.array([turn.held], np.uint8), np.ones(1))
        if turn.held
        else LeavePrior.nothing()
    )
    return play, counts, kept


def _returned(situation: Situation, at: int) -> Counter[int]:
    """Count the tiles that we gave back after he drew, so that he can't have had them."""
    last = situation.turns[at - 1] if at else None
    if last is None or last.seat != situation.seat or not isinstance(last.move, Exchange):
        return Counter()
    return Counter(last.move.tiles)


def _as_seen(move: Place | Exchange | Pass | int) -> Place | Pass | int:
    return len(move.tiles) if isinstance(move, Exchange) else move

"""Plays with what an observer knows, what inference says of them, and exact Bayes beside it."""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from typing import Any

from inference_games import LateGame
from inference_reference import (
    Leaves,
    SlowJudge,
    likelihood_of,
    posterior_of_leaves,
    tiles_of,
)
from rollout_positions import RULES, leaves, scowl

from engine.inference.equity_loss import Judges, OpponentPlay
from engine.inference.inference import Inference, Posterior
from engine.inference.leave_prior import LeavePrior
from engine.inference.likelihood import Model, Style
from engine.rules.position import Rack

ALL = 10**6
GREEDY = Model("greedy", "greedy", temperatures=((2.0, 1.0),), floor=0.0002)


@cache
def judges() -> Judges:
    """The same for all: they may be used again once an inference is over."""
    return Judges(scowl(), RULES, leaves())


@cache
def slow_judge(name: str) -> SlowJudge:
    return SlowJudge(scowl(), RULES, leaves(), name)


def inference(
    play: OpponentPlay,
    counts: tuple[int, ...],
    style: Style,
    before: LeavePrior | None = None,
    **options: Any,
) -> Inference:
    return Inference(judges(), play, counts, before or LeavePrior.nothing(), style, **options)


def told(
    play: OpponentPlay, counts: tuple[int, ...], style: Style, racks: int = ALL, **options: Any
) -> Posterior:
    begun = inference(play, counts, style, **options)
    begun.advance(racks)
    return begun.posterior()


def by_leave(posterior: Posterior) -> Leaves:
    found: Leaves = defaultdict(float)
    for leave, weight in zip(posterior.leaves.tolist(), posterior.posterior, strict=True):
        found[tuple(leave)] += float(weight)
    return {leave: weight for leave, weight in found.items() if weight}


def expected(play: OpponentPlay, counts: tuple[int, ...], style: Style) -> Leaves:
    """Exact Bayes for a style of one model or more."""

    def likelihood(rack: Rack) -> float:
        return sum(
            odd * likelihood_of(slow_judge(model.judge).loss(play, rack), model)
            for model, odd in zip(style.models, style.odds, strict=True)
        )

    return posterior_of_leaves(tiles_of(counts), play.tiles, play.held, likelihood)


def apart(found: Leaves, exact: Leaves) -> float:
    """The distance of two distributions, 0 to 1 (total variation)."""
    every = found.keys() | exact.keys()
    return sum(abs(found.get(one, 0.0) - exact.get(one, 0.0)) for one in every) / 2


Seen = tuple[OpponentPlay, tuple[int, ...]]


@cache
def seen(bag: int, blanks: int = 0, most: int = 3, nth: int = 0) -> Seen:
    """A play late in a game, and how many of each tile were unseen before it."""
    game = LateGame(bag, seed=bag, hidden_blanks=blanks)
    counts = game.counts
    return game.he_plays(most, nth, tries=2_000), counts


BEST = [(2, 0, 3), (4, 1, 3), (6, 2, 3), (7, 0, 2), (7, 1, 4)]
"""Bag, blanks unseen, tiles that he plays at most."""

"""The choice without looking ahead: the highest equity (``engine.movegen.evaluation``)."""

from __future__ import annotations

import random

from bot.player import Choice, Searched, View
from engine.movegen.evaluation import POINT
from engine.movegen.generator import Generator, RankedMove, passing

STATIC = Searched("static", plies=0)


def turn_chance(view: View) -> random.Random:
    """Return a turn's random numbers, the same if a question is repeated, as after a crash."""
    return random.Random(f"{view.seed}/{len(view.history)}/{len(view.refused)}")


def static_choice(view: View) -> Choice:
    """Return the legal move of the highest equity, without refused moves."""
    return best_choice(generator_for(view), view)


def best_choice(generator: Generator, view: View) -> Choice:
    """Return a generator's highest-ranked move, without refused moves."""
    ranked = generator.best(view.position, len(view.refused) + 1)
    return as_choice(not_refused(view, ranked)[0])


def generator_for(view: View) -> Generator:
    """Return a new generator for a view, in 0.1 ms; each thread of a turn needs its own."""
    return Generator(view.lexicon, view.rules, view.leave_table)


def not_refused(view: View, ranked: list[RankedMove]) -> list[RankedMove]:
    """Leave out refused moves; if nothing is left, return a pass, which is always legal."""
    refused = view.refused_moves
    left = [candidate for candidate in ranked if candidate.move not in refused]
    return left or [passing(view.position)]


def as_choice(best: RankedMove) -> Choice:
    """Return a ranked move as a player's choice."""
    return Choice(best.move, score=best.score, equity=best.equity / POINT, search=STATIC)

"""``static``: the highest equity (``engine.movegen.evaluation``), without looking ahead.

The option ``temperature``, in points, adds chance: a move that many points below the best is chosen
``e`` times less often.
"""

from __future__ import annotations

import math
import random

from bot.player import Budget, Choice, Player, View
from engine.movegen.evaluation import PASS_EQUITY, POINT
from engine.movegen.generator import Generator, RankedMove
from engine.rules.moves import PASS
from lexicons.tables import leaves_for

__all__ = ["StaticPlayer", "best_choice", "generator_for", "not_refused", "static_choice"]


class StaticPlayer(Player):
    """Plays the highest equity, or near it with a temperature.

    Raises:
        ValueError: the temperature is not a number of 0 or more.
    """

    def __init__(self, temperature: str = "0") -> None:
        try:
            self._temperature = float(temperature)
        except ValueError:
            self._temperature = math.nan
        if not 0 <= self._temperature < math.inf:
            raise ValueError(f"temperature is a number of points, 0 or more, not {temperature!r}")

    def choose(self, view: View, budget: Budget) -> Choice:
        """Choose by equity, with chance if there is a temperature."""
        if not self._temperature:
            return static_choice(view)
        ranked = not_refused(view, generator_for(view).everything(view.position))
        scale = self._temperature * POINT
        weights = [math.exp((move.equity - ranked[0].equity) / scale) for move in ranked]
        # A repeated question, as after a crash, gets the same answer.
        chance = random.Random(f"{view.seed}/{len(view.history)}/{len(view.refused)}")
        return _choice(chance.choices(ranked, weights)[0])


def static_choice(view: View) -> Choice:
    """Return the legal move of the highest equity, without refused moves."""
    return best_choice(generator_for(view), view)


def best_choice(generator: Generator, view: View) -> Choice:
    """Return a generator's highest-ranked move, without refused moves."""
    ranked = generator.best(view.position, len(view.refused) + 1)
    return _choice(not_refused(view, ranked)[0])


def generator_for(view: View) -> Generator:
    """Return a new generator for the game of a view, with the player's leave table.

    It takes 0.1 ms to make. Each thread of a turn needs its own.
    """
    leaves = view.leaves or leaves_for(view.rules.distribution)
    return Generator(view.lexicon, view.rules, leaves)


def not_refused(view: View, ranked: list[RankedMove]) -> list[RankedMove]:
    """Leave out refused moves; if nothing is left, return a pass, which is always legal."""
    refused = {refusal.move for refusal in view.refused}
    left = [candidate for candidate in ranked if candidate.move not in refused]
    return left or [RankedMove(PASS, 0, PASS_EQUITY, view.rack)]


def _choice(best: RankedMove) -> Choice:
    return Choice(best.move, score=best.score, equity=best.equity / POINT)

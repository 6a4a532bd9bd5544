"""``static``: the highest equity (``bot.evaluate``), without looking ahead.

With the option ``temperature``, in points, it plays now and then a move that it takes to be worse:
a move that many points below the best is chosen ``e`` times less often.
"""

from __future__ import annotations

import math
import random

from ..evaluate import POINT, Evaluated, evaluate
from ..player import Budget, Choice, Player, View

__all__ = ["StaticPlayer", "static_choice"]


class StaticPlayer(Player):
    """Plays the highest equity, or, with a temperature, often nearly so.

    Raises:
        ValueError: the temperature is no number ≥ 0.
    """

    def __init__(self, temperature: str = "0") -> None:
        try:
            self._temperature = float(temperature)
        except ValueError:
            self._temperature = math.nan
        if not 0 <= self._temperature < math.inf:
            raise ValueError(f"temperature is a number of points, 0 or more, not {temperature!r}")

    def choose(self, view: View, budget: Budget) -> Choice:
        """Choose by equity."""
        if not self._temperature:
            return static_choice(view)
        ranked = evaluate(view)
        scale = self._temperature * POINT
        weights = [math.exp((one.equity - ranked[0].equity) / scale) for one in ranked]
        # A turn that is asked again, after a crash for instance, gets the same answer.
        chance = random.Random(f"{view.seed}/{len(view.history)}/{len(view.refused)}")
        return _choice(chance.choices(ranked, weights)[0])


def static_choice(view: View) -> Choice:
    """Give the legal move of the highest equity; refused moves are none."""
    return _choice(evaluate(view)[0])


def _choice(best: Evaluated) -> Choice:
    return Choice(best.move, score=best.score, equity=best.equity)

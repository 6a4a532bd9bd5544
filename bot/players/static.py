"""``static``: the highest equity (``engine.movegen.evaluation``), without looking ahead.

The option ``temperature``, in points, adds chance: a move that many points below the best is chosen
``e`` times less often.
"""

from __future__ import annotations

import math
import random

from bot.player import Budget, Choice, Player, View
from bot.search.static_choice import as_choice, generator_for, not_refused, static_choice
from engine.movegen.evaluation import POINT

__all__ = ["StaticPlayer"]


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
        return as_choice(chance.choices(ranked, weights)[0])

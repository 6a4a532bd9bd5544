"""``static`` and ``greedy``, players that don't look ahead.

The option ``temperature`` of ``static``, in points, adds chance: a move that many points below the
best is chosen ``e`` times less often.
"""

from __future__ import annotations

import math

import numpy as np

from bot.player import Budget, Choice, Player, View
from bot.search.static_choice import (
    as_choice,
    generator_for,
    not_refused,
    static_choice,
    turn_chance,
)
from engine.movegen.evaluation import POINT
from engine.movegen.move_codec import unpack
from engine.rules.moves import PASS


class StaticPlayer(Player):
    """Plays the highest equity, or with a ``temperature`` above 0 often a move near it."""

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
        generator = generator_for(view)
        equities = -np.sort(-generator.arrays(view.position).equities).astype(np.float64)
        weights = np.exp((equities - equities[0]) / (self._temperature * POINT)).tolist()
        place = turn_chance(view).choices(range(len(weights)), weights)[0]
        most = place + 1 + len(view.refused)
        ranked = not_refused(view, generator.everything(view.position, most))
        return as_choice(ranked[min(place, len(ranked) - 1)])


class GreedyPlayer(Player):
    """Plays the highest score."""

    def choose(self, view: View, budget: Budget) -> Choice:
        """Return the move of the highest score, ties broken by equity."""
        moves = generator_for(view).arrays(view.position)
        order = np.lexsort((moves.packed, -moves.equities, -moves.scores))
        order = order[: len(view.refused) + 1]
        refused = view.refused_moves
        for index, move in zip(
            order, unpack(moves.packed[order], view.position.board), strict=True
        ):
            if move not in refused:
                equity = float(moves.equities[index]) / POINT
                return Choice(move, score=int(moves.scores[index]), equity=equity)
        return Choice(PASS, score=0)

"""``vanilla``: the highest score and nothing else, the baseline of CS221 (Stanford 2016).

Ties go to the first move in packed order (``engine.kernels.moves``), whatever its leave; ``greedy``
breaks them by equity. If no word can be played it exchanges one tile, the first by letter.
"""

from __future__ import annotations

from bot.player import Budget, Choice, Player, View
from bot.search.static_choice import best_choice
from engine.movegen.evaluation import PLAIN
from engine.movegen.generator import Generator

__all__ = ["VanillaPlayer"]


class VanillaPlayer(Player):
    """Plays the highest score."""

    def choose(self, view: View, budget: Budget) -> Choice:
        """Return the first move of the highest score."""
        return best_choice(Generator(view.lexicon, view.rules, None, PLAIN), view)

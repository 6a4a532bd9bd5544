"""``vanilla``: the highest score and nothing else, the baseline of CS221 (Stanford 2016).

Of equal scores it takes the first in the order of packed moves (``engine.kernels.moves``), whatever
it leaves; ``greedy`` takes the one of the highest equity. Where no word can be played it exchanges
one tile, the first of its letters.
"""

from __future__ import annotations

from bot.player import Budget, Choice, Player, View
from engine.movegen.evaluation import PLAIN
from engine.movegen.generator import Generator

from .static import best_choice

__all__ = ["VanillaPlayer"]


class VanillaPlayer(Player):
    """Plays the highest score."""

    def choose(self, view: View, budget: Budget) -> Choice:
        """Choose the first of the moves of the highest score."""
        return best_choice(Generator(view.lexicon, view.rules, None, PLAIN), view)

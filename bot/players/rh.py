"""``rh``: the score plus learned features of the leave, after CS221 (Stanford 2016).

The features and weights are those of ``lexicons.rack_features``. The built-in weights are for
English; the option ``weights`` names another file, written by ``tilewire train features``. The
seat's leave table is ignored, and nothing else adjusts equity.
"""

from __future__ import annotations

from bot.player import Budget, Choice, Player, View
from bot.search.static_choice import best_choice
from engine.movegen.evaluation import PLAIN
from engine.movegen.generator import Generator
from engine.rules.rules import Rules
from lexicons.rack_features import (
    RackWeights,
    Trained,
    leave_table,
    read_rack_weights,
    shipped_rack_weights,
)
from lexicons.store import Lexicon

__all__ = ["RackHeuristicPlayer", "rack_weights"]


class RackHeuristicPlayer(Player):
    """Plays the highest sum of score and weighted features of the leave.

    Raises:
        ValueError: the weights file cannot be read or parsed.
    """

    def __init__(self, weights: str = "") -> None:
        self._weights = rack_weights(weights, "rh")

    def warm_up(self, lexicon: Lexicon, rules: Rules) -> None:
        """Compute the leave values.

        Raises:
            ValueError: the weights are for another alphabet.
        """
        leave_table(self._weights, rules.distribution)

    def choose(self, view: View, budget: Budget) -> Choice:
        """Return the move of the highest sum."""
        leaves = leave_table(self._weights, view.rules.distribution)
        return best_choice(Generator(view.lexicon, view.rules, leaves, PLAIN), view)


def rack_weights(path: str, player: Trained) -> RackWeights:
    """Read weights from a file, or return a player's built-in weights.

    Raises:
        ValueError: the file cannot be read or parsed.
    """
    try:
        return read_rack_weights(path) if path else shipped_rack_weights(player)
    except OSError as error:
        raise ValueError(f"the weights {path!r} cannot be read: {error.strerror}") from None

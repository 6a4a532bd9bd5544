"""``rh``: the score plus what learned features say of the leave, after CS221 (Stanford 2016).

The features and their weights are those of ``lexicons.rack_features``. With the option ``weights``,
a file that ``tilewire train features`` wrote, it plays by others than the built-in ones, which are
for English. It does not look at a leave table that it is given, and adjusts equity by nothing else.
"""

from __future__ import annotations

from bot.player import Budget, Choice, Player, View
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

from .static import best_choice

__all__ = ["RackHeuristicPlayer", "rack_weights"]


class RackHeuristicPlayer(Player):
    """Plays the highest sum of score and weighted features of the leave.

    Raises:
        ValueError: the file of weights cannot be read, or holds none.
    """

    def __init__(self, weights: str = "") -> None:
        self._weights = rack_weights(weights, "rh")

    def warm_up(self, lexicon: Lexicon, rules: Rules) -> None:
        """Work the leaves out.

        Raises:
            ValueError: the weights are for another alphabet.
        """
        leave_table(self._weights, rules.distribution)

    def choose(self, view: View, budget: Budget) -> Choice:
        """Choose by that sum."""
        leaves = leave_table(self._weights, view.rules.distribution)
        return best_choice(Generator(view.lexicon, view.rules, leaves, PLAIN), view)


def rack_weights(path: str, player: Trained) -> RackWeights:
    """Read the weights of a file, or give those that a built-in player has.

    Raises:
        ValueError: the file cannot be read, or holds none.
    """
    try:
        return read_rack_weights(path) if path else shipped_rack_weights(player)
    except OSError as error:
        raise ValueError(f"the weights {path!r} cannot be read: {error.strerror}") from None

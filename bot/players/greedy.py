"""``greedy``: the highest score; equity breaks ties. A yardstick for other players."""

from __future__ import annotations

import numpy as np

from bot.player import Budget, Choice, Player, View
from bot.search.static_choice import generator_for
from engine.movegen.evaluation import POINT
from engine.movegen.move_codec import unpack
from engine.rules.moves import PASS

__all__ = ["GreedyPlayer"]


class GreedyPlayer(Player):
    """Plays the highest score."""

    def choose(self, view: View, budget: Budget) -> Choice:
        """Return the move of the highest score, ties broken by equity."""
        moves = generator_for(view).arrays(view.position)
        order = np.lexsort((moves.packed, -moves.equities, -moves.scores))
        order = order[: len(view.refused) + 1]
        refused = {refusal.move for refusal in view.refused}
        for at, move in zip(order, unpack(moves.packed[order], view.position.board), strict=True):
            if move not in refused:
                equity = float(moves.equities[at]) / POINT
                return Choice(move, score=int(moves.scores[at]), equity=equity)
        return Choice(PASS, score=0)

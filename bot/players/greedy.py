"""``greedy``: the highest score, whatever it leaves; of equal scores the better leave.

A measure for other players rather than a good one.
"""

from __future__ import annotations

from ..evaluate import leave_worth
from ..player import Budget, Choice, Player, View

__all__ = ["GreedyPlayer"]


class GreedyPlayer(Player):
    """Plays the highest score."""

    def choose(self, view: View, budget: Budget) -> Choice:
        """Choose among the moves of the highest score the one with the better leave."""
        moves = view.legal_moves()
        worth = leave_worth(view)
        highest = [scored.move for scored in moves if scored.score == moves[0].score]
        return Choice(max(highest, key=worth), score=moves[0].score)

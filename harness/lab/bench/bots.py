"""A player for measurements, which thinks hard."""

from __future__ import annotations

import time

from bot.player import Budget, Choice, Player, View
from engine.rules.moves import PASS


class Burner(Player):
    """Searches for moves for ``ms`` milliseconds, like a simulating player, and passes."""

    def __init__(self, ms: str = "1000") -> None:
        self._ms = int(ms)

    def choose(self, view: View, budget: Budget) -> Choice:
        """Keep one core busy with move generation."""
        from engine.movegen.generator import legal_moves

        until = time.monotonic() + self._ms / 1_000
        while time.monotonic() < until and not budget.expired:
            legal_moves(view.position, view.lexicon, view.rules)
        return Choice(PASS)

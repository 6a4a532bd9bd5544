"""The games of a match, and the side that moves first in each."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["PlannedGame", "pairs"]


@dataclass(frozen=True, slots=True)
class PlannedGame:
    """One game of the schedule; a journal stores its fields as the game's label."""

    number: int
    """From 1."""
    pair: int
    """From 1; games 1 and 2 are pair 1. Unpaired games are each a pair of their own."""
    first: int
    """The side of the match (0 or 1) that moves first."""

    def side_of(self, seat: int) -> int:
        """Return the match side at a seat or, equally, the seat of a side."""
        return seat if self.first == 0 else 1 - seat


def pairs(games: int, *, shared: bool) -> list[PlannedGame]:
    """Return the games of a match; the sides take turns to move first.

    ``shared``: games 1 and 2, 3 and 4, … have the same draws.
    """
    return [
        PlannedGame(number=at + 1, pair=at // 2 + 1 if shared else at + 1, first=at % 2)
        for at in range(games)
    ]

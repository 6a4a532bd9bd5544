"""Which questions an endgame is asked, one after another, until its value is known.

A question is whether the mover can gain more than so many points, looking so many plies ahead. The
answer is a bound, which may rest on a guess or be proven; it says what to ask next (MTD(f), Plaat
and others, Best-first fixed-depth minimax algorithms, 1996). When the bounds meet at one depth, the
next is a ply further; proven bounds hold at every depth.
"""

from __future__ import annotations

from engine.kernels.endgame_stack import MAX_PLIES
from engine.kernels.transpositions import UNKNOWN

__all__ = ["Mtdf"]


class Mtdf:
    """Which question comes next, and what the answers come to.

    Args:
        outcome: the value from which on the game is drawn, if only the outcome is asked for.
    """

    def __init__(self, outcome: int | None) -> None:
        self._outcome = outcome
        self.depth = 0
        """Plies ahead to which all is answered."""
        self.ahead = 1
        """Plies ahead that the question is about."""
        self.floor, self.ceiling = -UNKNOWN, UNKNOWN  # proven
        self._low, self._high = -UNKNOWN, UNKNOWN  # at this depth
        self.value = 0 if outcome is None else outcome
        self.alpha = self.value - 1
        self.is_over = False

    @property
    def is_proven(self) -> bool:
        """Whether what was asked for is certain."""
        return self._tells(self.floor, self.ceiling)

    def answered(self, value: int, solved: bool) -> None:
        """Take an answer in, and think of the next question."""
        if value > self.alpha:
            self._low, self._high = value, max(self._high, value)
            if solved:
                self.floor = max(self.floor, value)
        else:
            self._low, self._high = min(self._low, value), value
            if solved:
                self.ceiling = min(self.ceiling, value)
        self.value = min(max(value, self.floor), self.ceiling)
        while self._is_settled and not self.is_over:
            self.depth = self.ahead
            self.is_over = self.is_proven or self.depth >= MAX_PLIES
            if not self.is_over:  # look further, from what is proven
                self.ahead += 1
                self._low, self._high = self.floor, self.ceiling
        self.alpha = self._next()

    @property
    def _is_settled(self) -> bool:
        """Whether it is known as far as this depth tells."""
        return self.is_proven or self._tells(self._low, self._high)

    def _tells(self, floor: int, ceiling: int) -> bool:
        if self._outcome is None:
            return floor >= ceiling
        return floor >= ceiling or floor > self._outcome or ceiling < self._outcome

    def _next(self) -> int:
        """Ask whether it is as much as it seems to be, and then whether it is more."""
        if self._outcome is None:
            return self._low if self._low >= self.value else self.value - 1
        seems_won = self.value > self._outcome and self._high > self._outcome
        return self._outcome if self._low >= self._outcome or seems_won else self._outcome - 1

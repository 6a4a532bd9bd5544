"""MTD(f): the choice of questions to an endgame's kernel, until the value is known.

A question is whether the mover can gain more than ``alpha`` points, looking ``ahead`` plies. The
answer, a bound, decides the next question (Plaat and others, Best-first fixed-depth minimax
algorithms, 1996). When the bounds meet at one depth, the next questions look a ply further; proven
bounds hold at every depth.
"""

from __future__ import annotations

from engine.kernels.endgame_stack import MAX_PLIES
from engine.kernels.transpositions import UNKNOWN


class Mtdf:
    """The next question, and the bounds from the answers so far.

    ``drawing_gain`` is the gain that draws the game, to ask only for win, draw or loss; None asks
    for the value.
    """

    def __init__(self, drawing_gain: int | None) -> None:
        self._drawing_gain = drawing_gain
        self.depth = 0  # plies ahead, answered
        self.ahead = 1  # plies ahead, of the question
        self.floor, self.ceiling = -UNKNOWN, UNKNOWN  # proven
        self._low, self._high = -UNKNOWN, UNKNOWN  # at this depth
        self.value = 0 if drawing_gain is None else drawing_gain
        self.alpha = self.value - 1
        self.is_over = False

    @property
    def is_proven(self) -> bool:
        """Whether the value, or the outcome, is certain."""
        return self._tells(self.floor, self.ceiling)

    def answered(self, value: int, solved: bool) -> None:
        """Take an answer, and set the next question."""
        if value > self.alpha:
            self._low, self._high = value, max(self._high, value)
            if solved:
                self.floor = max(self.floor, value)
        else:
            self._low, self._high = min(self._low, value), value
            if solved:
                self.ceiling = min(self.ceiling, value)
        self.value = min(max(value, self.floor), self.ceiling)
        while not self.is_over and (self.is_proven or self._tells(self._low, self._high)):
            self.depth = self.ahead
            self.is_over = self.is_proven or self.depth >= MAX_PLIES
            if not self.is_over:  # look further, from the proven bounds
                self.ahead += 1
                self._low, self._high = self.floor, self.ceiling
        self.alpha = self._next()

    def _tells(self, floor: int, ceiling: int) -> bool:
        draws = self._drawing_gain
        return floor >= ceiling or (draws is not None and not floor <= draws <= ceiling)

    def _next(self) -> int:
        """Return the next alpha: test whether the value is as high as it seems, then higher."""
        draws = self._drawing_gain
        if draws is None:
            return self._low if self._low >= self.value else self.value - 1
        seems_won = self.value > draws and self._high > draws
        return draws if self._low >= draws or seems_won else draws - 1

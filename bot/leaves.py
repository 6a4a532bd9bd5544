"""What the tiles that stay on the rack are worth: a formula, for any language.

A leave's worth is the sum of its tiles' worth, less what they do to each other:

* each tile has a worth of its own, in the table below where the tile is an English letter, and
  otherwise by its points: a cheap tile is easy to play, a dear one is not;
* each tile that is kept is one that is not drawn, and a draw may bring a blank or an S;
* a second, third … tile of a kind is worth less by a fixed amount each, for a doubled letter fits
  fewer words; the second blank and the second S still bring most of their worth;
* vowels and consonants should be about as many; what is beyond one more of either costs;
* a Q without a U or a blank is a burden, a Q with a U is not.

The numbers are thousandths of a point. They are rounded guesses of ours in the manner of the
formulas that have been in print since Appel & Jacobson's time (Gordon 1994, "A comparison of
probabilistic search and weighted heuristics in a game with incomplete information"); measured
tables, where they are to be had, are better.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import cache

from lexicons.alphabet import BLANK, TileDistribution

__all__ = ["LeaveFormula", "leave_formula"]

BLANK_WORTH = 25_000
ENGLISH: dict[str, int] = {
    "A": 500, "B": -1_500, "C": 500, "D": 0, "E": 2_500, "F": -2_000, "G": -2_000,
    "H": 1_000, "I": -1_000, "J": -2_000, "K": -1_500, "L": 0, "M": 500, "N": 500,
    "O": -1_500, "P": 0, "Q": -7_000, "R": 1_500, "S": 8_000, "T": 500, "U": -3_500,
    "V": -5_500, "W": -3_500, "X": 4_000, "Y": -500, "Z": 3_500,
}  # fmt: skip
DEAR_TILE = -600
"""For each point above the first, where a letter is not in the table."""
REPEATED = -2_500
REPEATED_PRECIOUS = -5_000
"""A repeated blank or S, which lose of their worth but stay welcome."""
KEPT_TILE = -700
"""For each tile kept: about what the average tile of a bag is worth that is not drawn for it."""
UNBALANCED = -1_500
"""For each vowel or consonant beyond one more than of the other kind."""
Q_WITHOUT_U = -3_000
Q_WITH_U = 7_000


class LeaveFormula:
    """The formula for the tiles of one distribution."""

    def __init__(self, distribution: TileDistribution) -> None:
        letters = distribution.alphabet.letters
        self._vowels = distribution.vowels
        self._worth = tuple(
            ENGLISH.get(text, DEAR_TILE * max(0, points - 1))
            for text, points in zip(letters, distribution.points, strict=True)
        )
        number = {text: tile for tile, text in enumerate(letters)}
        self._precious = {BLANK, number.get("S", BLANK)}
        self._q, self._u = number.get("Q"), number.get("U")
        self._known: dict[tuple[int, ...], int] = {}

    def worth(self, leave: Iterable[int]) -> int:
        """Say what tiles, in any order, are worth to keep, in thousandths of a point."""
        key = tuple(sorted(leave))
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._work_out(Counter(key))
        return known

    def _work_out(self, counts: Counter[int]) -> int:
        blanks = counts[BLANK]
        total = blanks * BLANK_WORTH + counts.total() * KEPT_TILE
        vowels = consonants = 0
        for tile, count in counts.items():
            total += (count - 1) * (REPEATED_PRECIOUS if tile in self._precious else REPEATED)
            if tile != BLANK:
                total += count * self._worth[tile]
                vowels += count * self._vowels[tile]
                consonants += count * (not self._vowels[tile])
        total += UNBALANCED * max(0, abs(vowels - consonants) - 1)
        if self._q is not None and counts[self._q]:
            has_u = self._u is not None and counts[self._u]
            total += Q_WITH_U if has_u else 0 if blanks else Q_WITHOUT_U
        return total


@cache
def leave_formula(distribution: TileDistribution) -> LeaveFormula:
    """Give the formula for a distribution; it remembers the leaves that it has seen."""
    return LeaveFormula(distribution)

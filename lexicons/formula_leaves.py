"""A leave table for any language, by a formula; where there is no trained one players have it.

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

The table takes half a second to work out, so it is kept in the user's cache.
"""

from __future__ import annotations

from functools import lru_cache, partial

import numpy as np
import numpy.typing as npt

from .alphabet import BLANK, TileDistribution
from .cached_leaves import cached_leaves
from .leaves import RACK_SIZE, LeaveMatrix, LeaveTable, leave_places, possible_leaves

__all__ = ["formula_leaves"]

_VERSION = "usual leaves 1"  # change it when a number below changes

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


@lru_cache(maxsize=4)
def formula_leaves(distribution: TileDistribution, rack_size: int = RACK_SIZE) -> LeaveTable:
    """Return the formula's table for these tiles: worked out once, then read from the cache."""
    work_out = partial(_work_out, distribution, rack_size)
    return cached_leaves(_VERSION, work_out, distribution, rack_size)


def _work_out(distribution: TileDistribution, rack_size: int) -> LeaveTable:
    table = LeaveTable.zero(distribution, rack_size)
    values = table.values.copy()
    for leaves in possible_leaves(distribution, rack_size):
        values[leave_places(leaves, table.arrays)] = _worths(leaves, distribution)
    return LeaveTable(distribution, values, rack_size)


def _worths(leaves: LeaveMatrix, distribution: TileDistribution) -> npt.NDArray[np.int64]:
    """Work out what leaves of one size are worth, a row each."""
    number = {text: tile for tile, text in enumerate(distribution.alphabet.letters)}
    own = np.array(
        [
            ENGLISH.get(text, DEAR_TILE * max(0, points - 1))
            for text, points in zip(number, distribution.points, strict=True)
        ]
    )
    own[BLANK] = BLANK_WORTH
    again = np.full(len(own), REPEATED)
    again[[BLANK, number.get("S", BLANK)]] = REPEATED_PRECIOUS
    worth: npt.NDArray[np.int64] = own[leaves].sum(axis=1) + KEPT_TILE * leaves.shape[1]
    if leaves.shape[1] > 1:
        repeated = leaves[:, 1:] == leaves[:, :-1]
        worth += np.where(repeated, again[leaves[:, 1:]], 0).sum(axis=1)
    blanks = np.count_nonzero(leaves == BLANK, axis=1)
    vowels = (np.array(distribution.vowels)[leaves] & (leaves != BLANK)).sum(axis=1)
    consonants = leaves.shape[1] - blanks - vowels
    worth += UNBALANCED * np.maximum(0, np.abs(vowels - consonants) - 1)
    worth += _worths_of_q(leaves, number, blanks)
    return worth


def _worths_of_q(
    leaves: LeaveMatrix, number: dict[str, int], blanks: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    if "Q" not in number:
        return np.zeros(len(leaves), np.int64)
    has_q = (leaves == number["Q"]).any(axis=1)
    has_u = (leaves == number.get("U", -1)).any(axis=1)
    alone = np.where(blanks > 0, 0, Q_WITHOUT_U)
    worth: npt.NDArray[np.int64] = has_q * np.where(has_u, Q_WITH_U, alone)
    return worth

"""A leave table for any language, by a formula; used where there is no trained table.

The value of a leave is the sum of the values of its tiles, adjusted:

* each tile has a value: that of its letter in the table below, else one by its points;
* each tile kept costs a fixed amount, since a draw instead may bring a blank or an S;
* each repetition of a tile costs a fixed amount, since a doubled letter fits fewer words; a second
  S keeps most of its value;
* blanks are worth ever less, the more are kept;
* each vowel or consonant in excess of the other kind costs, beyond an excess of one;
* a Q without a U or a blank costs, a Q with a U gains.

The numbers, thousandths of a point, are rounded guesses in the manner of published formulas since
Appel & Jacobson (Gordon 1994, "A comparison of probabilistic search and weighted heuristics in a
game with incomplete information"). The table takes half a second to compute, so it is cached.
"""

from __future__ import annotations

from functools import lru_cache, partial

import numpy as np

from .alphabet import BLANK, TileDistribution
from .arrays import I64
from .leaves import LeaveMatrix, LeaveTable, cached_leaves, table_of

_VERSION = "usual leaves 3"  # change it when a number below changes

BLANKS = (25_000, 20_000, 6_000, 1_000, -2_000, -3_000)
"""The first kept, the second, …; measured from the third on (docs/results/training.md)."""
ENGLISH: dict[str, int] = {
    "A": 500, "B": -1_500, "C": 500, "D": 0, "E": 2_500, "F": -2_000, "G": -2_000,
    "H": 1_000, "I": -1_000, "J": -2_000, "K": -1_500, "L": 0, "M": 500, "N": 500,
    "O": -1_500, "P": 0, "Q": -7_000, "R": 1_500, "S": 8_000, "T": 500, "U": -3_500,
    "V": -5_500, "W": -3_500, "X": 4_000, "Y": -500, "Z": 3_500,
}  # fmt: skip
DEAR_TILE = -600  # per point above the first, for letters not in the table
REPEATED = -2_500
REPEATED_PRECIOUS = -5_000  # a repeated S
KEPT_TILE = -700  # per tile kept: about what the average tile, drawn instead, is worth
UNBALANCED = -1_500  # per vowel or consonant in excess of the other kind, beyond one
Q_WITHOUT_U = -3_000
Q_WITH_U = 7_000


@lru_cache(maxsize=4)
def formula_leaves(distribution: TileDistribution) -> LeaveTable:
    """Return the formula's table for these tiles: computed once, then read from the cache."""
    worths = partial(_worths, distribution=distribution)
    return cached_leaves(_VERSION, partial(table_of, distribution, worths), distribution)


def _worths(leaves: LeaveMatrix, distribution: TileDistribution) -> I64:
    number = {text: tile for tile, text in enumerate(distribution.alphabet.letters)}
    own = np.array(
        [
            ENGLISH.get(text, DEAR_TILE * max(0, points - 1))
            for text, points in zip(number, distribution.points, strict=True)
        ]
    )
    again = np.full(len(own), REPEATED)
    again[number.get("S", BLANK)] = REPEATED_PRECIOUS
    own[BLANK] = again[BLANK] = 0
    worth: I64 = own[leaves].sum(axis=1) + KEPT_TILE * leaves.shape[1]
    if leaves.shape[1] > 1:
        repeated = leaves[:, 1:] == leaves[:, :-1]
        worth += np.where(repeated, again[leaves[:, 1:]], 0).sum(axis=1)
    blanks = np.count_nonzero(leaves == BLANK, axis=1)
    worth += np.cumsum((0, *BLANKS))[blanks]
    vowels = (np.array(distribution.vowels)[leaves] & (leaves != BLANK)).sum(axis=1)
    consonants = leaves.shape[1] - blanks - vowels
    worth += UNBALANCED * np.maximum(0, np.abs(vowels - consonants) - 1)
    if "Q" in number:
        has_q = (leaves == number["Q"]).any(axis=1)
        has_u = (leaves == number.get("U", -1)).any(axis=1)
        worth += has_q * np.where(has_u, Q_WITH_U, np.where(blanks > 0, 0, Q_WITHOUT_U))
    return worth

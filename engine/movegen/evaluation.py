"""Static evaluation: what a move is worth without looking ahead, and the numbers that go into it.

The equity of a move is its score, the value of the tiles that stay on the rack, and adjustments,
each of which can be switched off to compare with engines that lack it. The constants are in
thousandths of a point, the numbers below in points.

**Opening** (on by default). On the first play each vowel, a blank's included, costs
0.35 for a double and 0.70 for a triple square directly above or below it (beside it, if the play is
down): it gives the opponent a place there. On the standard board that is 0.7 at C, G, I and M.
MAGPIE has this rule; Macondo and wolges have 0.7 at the same squares, after Sheppard's Maven.

**Going out** (on by default). With an empty bag leaves are worth nothing. Going out gains twice the
opponent's tiles, which are the unseen; not going out costs 10 and twice the leave's points.
Macondo, MAGPIE and wolges do the same; Quackle has 8 and 2.61 times. Without it such plays are
worth their score.

**Late bag** (on by default). The value of leaving a number of tiles in the bag, by Quackle's
table; its index is the tiles in the bag before the play, less those played, plus 7:
10 for leaving one tile, 2 for emptying it, −8 for emptying it and keeping a rack of one tile.
Macondo's and MAGPIE's own tables are all zeros. It is not applied to exchanges, whose tiles go
back.

What each is worth in games: ``docs/results/evaluation.md``.

While the bag has tiles, leaves have their full value, as in all four engines. An exchange is worth
its leave. A pass is worth −1,000, so that it comes last.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from engine.kernels.racks import EVALUATION, LATE_TILES, NOT_OUT, PASS_EQUITY, POINT
from lexicons.alphabet import TileDistribution

__all__ = [
    "LATE_BAG",
    "OPENING_VOWEL",
    "PASS_EQUITY",
    "PLAIN",
    "POINT",
    "STANDARD",
    "Evaluation",
]

OPENING_VOWEL = -350
LATE_BAG = (0, -8_000, 0, -500, -2_000, -3_500, -2_000, 2_000, 10_000, 7_000, 4_000, -1_000, -2_000)


@dataclass(frozen=True)
class Evaluation:
    """Which adjustments count besides score and leave."""

    opening: bool = True
    going_out: bool = True
    late_bag: bool = True

    def record(self, distribution: TileDistribution) -> npt.NDArray[Any]:
        """Return the kernels' record: an array of one ``EVALUATION``."""
        weights = np.zeros(1, EVALUATION)
        if self.opening:
            vowels = (1 << tile for tile, vowel in enumerate(distribution.vowels) if vowel)
            weights["vowels"] = sum(vowels)
            weights["opening_vowel"] = OPENING_VOWEL
        if self.going_out:
            weights["out_times"] = weights["kept_times"] = 2
            weights["not_out"] = NOT_OUT * POINT
        if self.late_bag:
            weights["late"][0, : min(len(LATE_BAG), LATE_TILES)] = LATE_BAG
        return weights


STANDARD = Evaluation()
PLAIN = Evaluation(opening=False, going_out=False, late_bag=False)  # score and leave alone

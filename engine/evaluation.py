"""Static evaluation: what a move is worth without looking ahead, and the numbers that go into it.

The equity of a move, in thousandths of a point, is its score, the value of the tiles that stay on
the rack, and adjustments, each of which can be switched off so that equities compare with those of
an engine that lacks it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from engine.kernels.worths import EVALUATION, LATE_TILES, PASS_EQUITY, POINT
from lexicons.alphabet import TileDistribution

__all__ = ["PASS_EQUITY", "PLAIN", "POINT", "STANDARD", "Evaluation"]

LATE = (0, -8_000, 0, -500, -2_000, -3_500, -2_000, 2_000, 10_000, 7_000, 4_000, -1_000, -2_000)
OPENING_VOWEL = -700
NOT_OUT = 10_000


@dataclass(frozen=True)
class Evaluation:
    """Which adjustments count."""

    opening: bool = True
    late_bag: bool = True
    going_out: bool = True

    def record(self, distribution: TileDistribution) -> npt.NDArray[Any]:
        """Give what kernels read: an array of one ``EVALUATION``."""
        weights = np.zeros(1, EVALUATION)
        if self.opening:
            weights["opening_vowel"] = OPENING_VOWEL
            weights["vowels"] = sum(
                1 << tile for tile, vowel in enumerate(distribution.vowels) if vowel
            )
        if self.late_bag:
            weights["late"][0, : len(LATE)] = LATE
        if self.going_out:
            weights["out_times"] = weights["kept_times"] = 2
            weights["not_out"] = NOT_OUT
        return weights


STANDARD = Evaluation()
PLAIN = Evaluation(opening=False, late_bag=False, going_out=False)
"""Score and leave alone."""
assert len(LATE) <= LATE_TILES

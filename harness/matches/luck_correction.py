"""The results of a match, corrected for the luck of the draws.

A result follows its luck (``luck``) by a share that was measured beforehand, on games of the static
player with itself (``lexicons.tables.luck_weights``), so that nothing is fitted to the games that
are judged. Reports need only this module; measuring luck loads the kernels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from harness.figures import DASH, counted, number
from lexicons.arrays import F64, I64
from lexicons.tables import LuckWeights

from .results import GameResult, Luck
from .significance import FEWEST_UNITS, mean_and_error


@dataclass(frozen=True)
class CorrectedMean:
    """A mean over games, with and without luck; errors are half widths of 95 % intervals."""

    plain: float | None
    plain_error: float | None
    corrected: float | None
    corrected_error: float | None
    luck: float | None
    """Plain less corrected; 0 on average."""
    luck_error: float | None

    @property
    def remaining(self) -> float | None:
        """The corrected error as a share of the plain one; games needed fall by its square."""
        if not self.plain_error or self.corrected_error is None:
            return None
        return self.corrected_error / self.plain_error


@dataclass(frozen=True)
class CorrectedMatch:
    """The result of a match, from side a's view, with and without luck."""

    games: int
    unknown: int
    """Games among them whose luck is not known, which count as they ended."""
    win_rate: CorrectedMean
    spread: CorrectedMean


def correction(values: F64, luck: F64, pair_of: I64) -> CorrectedMean:
    """Correct the mean of ``values`` for luck; all are [games], ``pair_of`` has pair numbers.

    Errors are None below ``FEWEST_UNITS``, which can't tell skill from luck.
    """
    found = [mean_and_error(each, pair_of) for each in (values, values - luck, luck)]
    if np.unique(pair_of).size < FEWEST_UNITS:
        found = [(mean, None) for mean, _ in found]
    return CorrectedMean(*chain(*found))


def corrected(
    results: Sequence[GameResult], lucks: Sequence[Luck | None], weights: LuckWeights
) -> CorrectedMatch:
    """Correct the results of a match for the luck of each game; void games are left out."""
    finished = [pair for pair in zip(results, lucks, strict=True) if not pair[0].void]
    pair_of = np.array([result.pair for result, _ in finished], np.int64)
    balances = [
        np.array(luck.balance if luck else (0.0, 0.0)) * (-1 if result.first else 1)
        for result, luck in finished
    ]
    points, wins = np.array(balances).reshape(-1, 2).T
    spreads = np.array([result.spread for result, _ in finished], np.float64)
    won = np.array([result.points for result, _ in finished], np.float64)
    return CorrectedMatch(
        games=len(finished),
        unknown=sum(luck is None for _, luck in finished),
        win_rate=correction(won, weights.wins * wins, pair_of),
        spread=correction(spreads, weights.points * points, pair_of),
    )


def rows(match: CorrectedMatch) -> list[tuple[str, str]]:
    """Return rows for the table of a match: a label and a text."""
    shown = [
        ("less luck", f"win rate {_cells(match.win_rate, 100, ' %')}"),
        ("", f"spread {_cells(match.spread, 1, '')}"),
    ]
    if match.unknown:
        ended = "taken as it ended" if match.unknown == 1 else "taken as they ended"
        shown.append(("luck not known", f"in {counted(match.unknown, 'game')}, {ended}"))
    return shown


def _cells(mean: CorrectedMean, times: int, unit: str) -> str:
    """Write a mean without luck, and as it was played."""
    means = ((mean.corrected, mean.corrected_error), (mean.plain, mean.plain_error))
    less, plain = (
        DASH
        if value is None
        else number(times * value, sign=times == 1)
        + (f" ± {number(times * error)}" if error is not None else "")
        + unit
        for value, error in means
    )
    return f"{less} (as played {plain})"

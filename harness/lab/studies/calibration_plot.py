"""Plots of a calibration: predicted tile chances against frequencies, and losses."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from harness.pictures import picture

from .calibration import TILE_BELIEFS, BinRow, LossRow

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_calibration"]


def draw_calibration(losses: Sequence[LossRow], bins: Sequence[BinRow], path: str | Path) -> None:
    """Draw rows into a PNG file.

    Raises:
        OSError: the file cannot be written.
    """
    with picture(path, 15, 6) as figure:
        left, middle, right = figure.subplots(1, 3)
        _draw_losses(left, [row for row in losses if row.leaves == "all"])
        for axes, of in ((middle, "rack"), (right, "leave")):
            _draw_bins(axes, [row for row in bins if row.of == of])
            axes.set(title=f"tiles on the {of}")


def _draw_losses(axes: Axes, rows: Sequence[LossRow]) -> None:
    names = [row.belief for row in rows]
    errors = [row.error or 0.0 for row in rows]
    axes.bar(names, [row.loss or 0.0 for row in rows], yerr=errors, capsize=4, color="tab:blue")
    axes.set(ylabel="nats a tile", title="log-loss of the true leave, with 95 % intervals")
    axes.grid(axis="y", alpha=0.3)


def _draw_bins(axes: Axes, rows: Sequence[BinRow]) -> None:
    for belief in TILE_BELIEFS:
        those = [row for row in rows if row.belief == belief]
        predicted = 100 * np.array([row.predicted for row in those])
        off = 100 * np.array([row.difference for row in those])
        errors = 100 * np.array([row.error or 0.0 for row in those])
        axes.errorbar(predicted, off, errors, fmt="o-", ms=4, lw=1, capsize=3, label=belief)
    axes.axhline(0, color="black", lw=1)
    axes.axhspan(-2, 2, color="grey", alpha=0.15)
    axes.set(xlabel="predicted chance, %", ylabel="observed less predicted, points")
    axes.grid(alpha=0.3)
    axes.legend()

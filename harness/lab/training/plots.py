"""Plots of a leave table: values of single tiles and pairs, and the spread of leaves."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from harness.pictures import picture
from lexicons.leaves import LeaveTable, leave_places, possible_leaves

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_leaves(leaves: LeaveTable, path: str | Path) -> None:
    """Draw a table into a PNG file."""
    with picture(path, 15, 9) as figure:
        grid = figure.add_gridspec(2, 2, height_ratios=(2, 3))
        _draw_tiles(figure.add_subplot(grid[0, :]), leaves)
        _draw_pairs(figure.add_subplot(grid[1, 0]), leaves)
        _draw_sizes(figure.add_subplot(grid[1, 1]), leaves)
        figure.suptitle("What leaves are worth, in points")


def _draw_tiles(axes: Axes, leaves: LeaveTable) -> None:
    letters = list(leaves.distribution.alphabet.letters)
    worths = [leaves.value((tile,)) for tile in range(len(letters))]
    axes.bar(letters, worths, color=["tab:blue" if worth > 0 else "tab:red" for worth in worths])
    axes.set_title("one tile")
    axes.grid(axis="y", alpha=0.3)


def _draw_pairs(axes: Axes, leaves: LeaveTable) -> None:
    """Draw the values of pairs beyond those of their tiles."""
    letters = list(leaves.distribution.alphabet.letters)
    counts = leaves.distribution.counts
    joint = np.full((len(letters), len(letters)), np.nan)
    for first in range(len(letters)):
        for second in range(len(letters)):
            if counts[first] >= 1 + (first == second):
                apart = leaves.value((first,)) + leaves.value((second,))
                joint[first, second] = leaves.value((first, second)) - apart
    far = float(np.nanmax(np.abs(joint))) or 1.0
    colours = axes.pcolormesh(joint, cmap="RdBu", vmin=-far, vmax=far)
    middles = np.arange(len(letters)) + 0.5
    axes.set_xticks(middles, letters, fontsize=8)
    axes.set_yticks(middles, letters, fontsize=8)
    axes.set_title("two tiles, beyond what each is worth alone")
    axes.figure.colorbar(colours, ax=axes)


def _draw_sizes(axes: Axes, leaves: LeaveTable) -> None:
    for size, matrix in enumerate(possible_leaves(leaves.distribution, leaves.rack_size)):
        if size > 1:
            worths = leaves.values[leave_places(matrix, leaves.arrays)] / 1000
            name = f"{size} tiles"
            axes.hist(worths, bins=80, density=True, histtype="step", label=name)
    axes.set_title("how leaves of a size are spread")
    axes.legend()
    axes.grid(alpha=0.3)

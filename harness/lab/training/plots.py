"""Plots of what was learned: values of leaves, a net's learning curve, linear weights."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from harness.lab.study_context import Field
from harness.pictures import picture
from lexicons.arrays import F64
from lexicons.leaves import LeaveTable, leave_places, possible_leaves
from lexicons.value_net import FIT_LIMITS, SCORE_LIMITS

from .linear_value import AWAY, Classes, LinearValue, premiums
from .value import Losses

if TYPE_CHECKING:
    from collections.abc import Sequence

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


def draw_curve(curve: Sequence[Losses], path: str | Path) -> None:
    """Draw into a PNG file how well a net predicted fresh games, by number of games learned."""
    games = [losses.games for losses in curve]
    told = {
        "of how moves differ in the next turn, % told": [
            100 * losses.reply_told for losses in curve
        ],
        "in the next two turns, % told": [100 * losses.told for losses in curve],
        "the final lead, nats": [losses.final for losses in curve],
    }
    with picture(path, 16, 5) as figure:
        for axes, (name, values) in zip(figure.subplots(1, 3), told.items(), strict=True):
            axes.plot(games, values)
            axes.set_title(name)
            axes.set_xlabel("games learned from")
            axes.grid(alpha=0.3)


def draw_linear(learned: LinearValue, classes: Classes, field: Field, path: str | Path) -> None:
    """Draw into a PNG file what hooks and floaters are worth to the player that leaves them."""
    layout, letters = field.rules.layout, field.rules.distribution.alphabet.letters[1:]
    triples, doubles, hooks, _ = classes.ends
    _, kinds = premiums(layout)
    with picture(path, 15, 9) as figure:
        grid = figure.add_gridspec(2, 2, height_ratios=(2, 3))
        for column, (name, weights) in enumerate(
            (
                ("3× word", learned.weights[:triples]),
                ("2× word", learned.weights[triples:doubles]),
            )
        ):
            axes = figure.add_subplot(grid[0, column])
            _draw_grid(axes, weights.reshape(len(AWAY), -1), AWAY, letters)
            axes.set_title(f"a letter, by the squares to the nearest {name}")
        axes = figure.add_subplot(grid[1, :])
        shown = learned.weights[doubles:hooks].reshape(len(kinds), -1)
        _draw_grid(axes, shown, kinds, [_crossing(kind) for kind in range(shown.shape[1])])
        axes.set_title("a square that tiles cross: letters that fit, and points of the tiles")
        figure.suptitle("What a player gains by leaving it to the opponent, in points")


def _crossing(kind: int) -> str:
    fits, scores = divmod(kind, len(SCORE_LIMITS) + 1)
    most = [f"≤ {limit / 10:g} %" for limit in FIT_LIMITS] + ["more"]
    points = [f"≤ {limit}" for limit in SCORE_LIMITS] + ["more"]
    return f"{most[fits]}\n{points[scores]}"


def _draw_grid(axes: Axes, values: F64, rows: Sequence[str], columns: Sequence[str]) -> None:
    far = float(np.abs(values).max()) or 1.0
    colours = axes.pcolormesh(values, cmap="RdBu", vmin=-far, vmax=far)
    axes.set_yticks(np.arange(len(rows)) + 0.5, rows)
    axes.set_xticks(np.arange(len(columns)) + 0.5, columns, fontsize=8)
    axes.figure.colorbar(colours, ax=axes)

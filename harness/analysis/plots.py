"""An inference in a picture: the likeliest leaves, and each tile before and after."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from engine.rules.rules import Rules
from harness.figures import counted
from harness.pictures import picture

from .inferred import Inferred

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_inferred"]

_MOST_BARS = 40


def draw_inferred(
    inferred: Inferred, rules: Rules, path: str | Path, *, top: int, title: str
) -> None:
    """Draw an inference into a PNG file, with the ``top`` leaves, 40 at most, to be legible.

    Raises:
        OSError: the file cannot be written.
    """
    bars = min(top, _MOST_BARS, len(inferred.posterior.leaves))
    with picture(path, 15, max(6.0, 1.5 + 0.25 * bars)) as figure:
        left, right = figure.subplots(1, 2, width_ratios=(2, 3))
        _draw_leaves(left, inferred, rules, bars)
        _draw_tiles(right, inferred, rules)
        figure.suptitle(title)


def _draw_leaves(axes: Axes, inferred: Inferred, rules: Rules, bars: int) -> None:
    alphabet = rules.distribution.alphabet
    count = counted(len(inferred.posterior.leaves), "leave")
    leaves, prior, posterior = zip(*inferred.posterior.top(bars), strict=True)
    rows = np.arange(len(leaves))
    axes.barh(rows, 100 * np.array(posterior), color="tab:blue", label="after the play")
    axes.plot(100 * np.array(prior), rows, "|", color="black", ms=9, mew=2, label="before it")
    axes.set_yticks(rows, [alphabet.text(leave) or "nothing" for leave in leaves])
    axes.invert_yaxis()
    axes.set(xlabel="chance, %", title=f"what was kept: the likeliest of {count}")
    axes.set_xlim(left=0)
    axes.grid(axis="x", alpha=0.3)
    axes.legend(loc="lower right")


def _draw_tiles(axes: Axes, inferred: Inferred, rules: Rules) -> None:
    letters = list(rules.distribution.alphabet.letters)
    places, width = np.arange(len(letters)), 0.4
    before, after = (100 * chances for chances in inferred.tiles)
    axes.bar(places - width / 2, before, width, color="lightgrey", ec="grey", label="before it")
    axes.bar(places + width / 2, after, width, color="tab:blue", label="after the play")
    axes.set_xticks(places, letters)
    axes.set(ylabel="chance of one or more, %", title="tiles on the rack now")
    axes.margins(x=0.01)
    axes.grid(axis="y", alpha=0.3)
    axes.legend()

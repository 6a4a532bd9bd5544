"""What players are worth by the game in a picture, beside what was published."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from harness.pictures import picture

from .richards_amir import Strength

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_strengths"]

_WIDTH = 0.4


def draw_strengths(found: Sequence[Strength], path: str | Path) -> None:
    """Draw what players gain on their opponents, and what both score, into a PNG file.

    Args:
        found: a group of bars each; those without a game have none of ours.
        path: of the file; one that is there is replaced.

    Raises:
        OSError: the file can't be written.
    """
    with picture(path, 3.0 + 4.0 * max(2, len(found)), 6.0) as figure:
        gains, means = figure.subplots(1, 2)
        _draw_differences(gains, found)
        _draw_means(means, found)
        names = [_named(one) for one in found]
        for axes in (gains, means):
            axes.set_xticks(np.arange(len(found)), names)
            axes.set_xlim(-0.7, len(found) - 0.3)
            axes.set_axisbelow(True)
            axes.grid(axis="y", alpha=0.3)
            axes.legend()


def _named(one: Strength) -> str:
    """Write a contest in lines, options below the players that have them."""
    sides = (seat.replace("?", "\n") for seat in (one.player, one.opponent))
    return "\nagainst ".join(sides) + f"\n{one.games:,} games"


def _draw_differences(axes: Axes, found: Sequence[Strength]) -> None:
    """Draw two bars for each contest: ours with its interval, and the published."""
    places = np.arange(len(found))
    ours = axes.bar(
        places - _WIDTH / 2,
        [one.difference or 0.0 for one in found],
        _WIDTH,
        yerr=[one.error or 0.0 for one in found],
        capsize=4,
        color="tab:blue",
        label="here, with 95 % intervals",
    )
    theirs = axes.bar(
        places + _WIDTH / 2,
        [one.published.difference for one in found],
        _WIDTH,
        color="lightgrey",
        ec="grey",
        label="Richards and Amir (2007)",
    )
    for bars in (ours, theirs):
        axes.bar_label(bars, fmt="%+.1f", padding=3)
    axes.axhline(0, color="black", lw=0.8)
    axes.set(ylabel="points a game", title="gained on the opponent")


def _draw_means(axes: Axes, found: Sequence[Strength]) -> None:
    """Draw two bars for each contest: what the player and the opponent score."""
    places = np.arange(len(found))
    sides = (
        ("the player", "tab:blue", [(one.mean, one.mean_error) for one in found]),
        (
            "its opponent",
            "tab:orange",
            [(one.opponent_mean, one.opponent_mean_error) for one in found],
        ),
    )
    for shift, (label, colour, scores) in zip((-_WIDTH / 2, _WIDTH / 2), sides, strict=True):
        bars = axes.bar(
            places + shift,
            [mean or 0.0 for mean, _ in scores],
            _WIDTH,
            yerr=[error or 0.0 for _, error in scores],
            capsize=4,
            color=colour,
            label=label,
        )
        axes.bar_label(bars, fmt="%.1f", padding=3)
    axes.set(ylabel="mean score", title="scores")

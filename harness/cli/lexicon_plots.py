"""Pictures of a lexicon's statistics: its letters, its lengths, and what first draws make."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from harness.pictures import picture
from lexicons.statistics import LexiconStatistics

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_statistics(found: LexiconStatistics, rack_size: int, folder: Path) -> None:
    """Draw ``letters.png`` and ``lengths.png`` into a folder.

    Raises:
        OSError: a file can't be written.
    """
    with picture(folder / "letters.png", 13, 9) as figure:
        shares, tiles = figure.subplots(2, 1)
        _draw_shares(shares, found, rack_size)
        _draw_tiles(tiles, found)
    with picture(folder / "lengths.png", 13, 5) as figure:
        lengths, hooks = figure.subplots(1, 2)
        _draw_lengths(lengths, found)
        _draw_hooks(hooks, found)


def _draw_shares(axes: Axes, found: LexiconStatistics, rack_size: int) -> None:
    """Draw letters by their share in words, most frequent first."""
    letters = sorted(found.letters, key=lambda letter: -letter.share)
    places = np.arange(len(letters))
    axes.bar(places, [100 * letter.in_bag for letter in letters], color="0.85", label="in the bag")
    marks = (
        ("in all words", "o", "tab:blue", [letter.share for letter in letters]),
        ("in words of 2–3 letters", "^", "tab:orange", [letter.short for letter in letters]),
        (
            f"in words of {rack_size}–{rack_size + 1} letters",
            "s",
            "tab:green",
            [letter.full for letter in letters],
        ),
    )
    for name, marker, colour, shares in marks:
        axes.plot(places, 100 * np.array(shares), marker, color=colour, ms=5, label=name)
    axes.set_xticks(places, [letter.letter for letter in letters])
    axes.set(title="Letters", ylabel="share, %", xlim=(-0.7, len(letters) - 0.3))
    axes.grid(axis="y", alpha=0.3)
    axes.legend()


def _draw_tiles(axes: Axes, found: LexiconStatistics) -> None:
    """Draw tiles and points beside those that follow from the words."""
    letters = sorted(found.letters, key=lambda letter: -letter.share)
    places, width = np.arange(len(letters)), 0.4
    tiles = [letter.tiles for letter in letters]
    would_be = [letter.tiles_by_share for letter in letters]
    points = [-letter.points for letter in letters]
    points_would_be = [-letter.points_by_share for letter in letters]
    axes.bar(places - width / 2, tiles, width, color="tab:gray", label="as they are")
    axes.bar(places + width / 2, would_be, width, color="tab:blue", label="by share in words")
    axes.bar(places - width / 2, points, width, color="tab:gray")
    axes.bar(places + width / 2, points_would_be, width, color="tab:blue")
    axes.axhline(0, color="black", lw=0.8)
    axes.locator_params(axis="y", integer=True)
    axes.yaxis.set_major_formatter(lambda value, _: f"{abs(value):.0f}")
    axes.set_xticks(places, [letter.letter for letter in letters])
    axes.set(
        title="Tiles (up) and points (down)",
        ylabel="points            tiles",
        xlim=(-0.7, len(letters) - 0.3),
    )
    axes.grid(axis="y", alpha=0.3)
    axes.legend()


def _draw_lengths(axes: Axes, found: LexiconStatistics) -> None:
    lengths = [row.letters for row in found.lengths]
    axes.bar(lengths, [row.words for row in found.lengths], color="tab:blue")
    axes.set_xticks(lengths)
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.set(title="Words by length", xlabel="letters", ylabel="words")
    axes.grid(axis="y", alpha=0.3)


def _draw_hooks(axes: Axes, found: LexiconStatistics) -> None:
    """Draw shares by length; the longest words of a list have no hooks, for the list ends there."""
    lengths = np.array([row.letters for row in found.lengths])
    words = np.array([row.words for row in found.lengths])
    for name, counts, shown in (
        ("a hook in front", [row.front for row in found.lengths], lengths < lengths.max()),
        ("a hook behind", [row.back for row in found.lengths], lengths < lengths.max()),
        ("an anagram", [row.anagrams for row in found.lengths], lengths > 0),
    ):
        axes.plot(lengths[shown], (100 * np.array(counts) / words)[shown], "o-", ms=4, label=name)
    axes.set_xticks(lengths)
    axes.set(title="Words with hooks and anagrams", xlabel="letters", ylabel="share, %")
    axes.set_ylim(0, 100)
    axes.grid(alpha=0.3)
    axes.legend()

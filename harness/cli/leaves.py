"""``tilewire leaves``: what leaves are worth."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from harness import figures

from .failing import UNREADABLE, sentences
from .options import DistributionOption

if TYPE_CHECKING:
    from lexicons.leaves import LeaveTable


def leaves(
    *tiles: str,
    table: str | None = None,
    distribution: DistributionOption = "english",
    top: int = 0,
) -> None:
    """Print what leaves are worth, in points.

    Args:
        tiles: Leaves, such as ?, QU or AEINST. [default: each tile alone]
        table: trained, formula, or a leave table (KLV2). [default: the players' own]
        top: How many of the best and of the worst to print, too.
    """
    from lexicons.alphabet import load_distribution
    from lexicons.tables import leaves_for, load_leaves

    with sentences(kinds=UNREADABLE):
        letters = load_distribution(distribution)
        loaded = leaves_for(letters) if table is None else load_leaves(table, letters)
        alphabet = loaded.distribution.alphabet
        asked = [alphabet.tiles(text) for text in tiles] or [(n,) for n in range(len(alphabet) + 1)]
        rows = [(alphabet.text(leave), _points(loaded.value(leave))) for leave in asked]
    print(figures.table(("leave", "worth"), rows))
    if top > 0:
        print()
        print(figures.table(("rank", "best", "worth", "worst", "worth"), _ranked(loaded, top)))


def _ranked(leaves: LeaveTable, top: int) -> list[tuple[str, ...]]:
    """Return rows of the best and the worst leaves side by side."""
    from lexicons.leaves import leave_places, possible_leaves

    alphabet = leaves.distribution.alphabet
    ends: list[tuple[int, str]] = []
    count = 0
    for matrix in possible_leaves(leaves.distribution, leaves.rack_size):
        if not matrix.shape[1]:
            continue
        values = leaves.values[leave_places(matrix, leaves.arrays)]
        order = np.argsort(-values, kind="stable")
        for row in {*order[:top].tolist(), *order[-top:].tolist()}:
            ends.append((int(values[row]), alphabet.text(matrix[row].tolist())))
        count += len(values)
    ends.sort(key=lambda end: (-end[0], end[1]))
    best, worst = ends[:top], ends[::-1][:top]
    return [
        (str(rank), good[1], _points(good[0] / 1000), bad[1], _points(bad[0] / 1000))
        for rank, (good, bad) in enumerate(zip(best, worst, strict=True), start=1)
    ]


def _points(worth: float) -> str:
    return figures.number(worth, 2, sign=True)

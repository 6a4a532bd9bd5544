"""``tilewire leaves``: what leaves are worth."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from harness import figures
from lexicons.alphabet import BLANK_FLAG

from .failing import UNREADABLE, print_json, sentences
from .options import Count, DistributionOption, JsonOption

if TYPE_CHECKING:
    from lexicons.leaves import LeaveTable

_Leaves: TypeAlias = list[tuple[str, float]]


def leaves(
    *tiles: str,
    table: str | None = None,
    distribution: DistributionOption = "english",
    top: Count | None = None,
    json_: JsonOption = False,
) -> None:
    """Print what leaves are worth, in points.

    Args:
        tiles: Leaves, such as ?, QU or AEINST. [default: each tile alone]
        table: trained, formula, or a leave table (KLV2). [default: the players' own]
        top: How many of the best and of the worst to print, too.
        json_: Print one JSON object: leaves, and with --top also best and worst, each a list of
            leave and worth.
    """
    from lexicons.alphabet import load_distribution
    from lexicons.tables import leaves_for, load_leaves

    with sentences(kinds=UNREADABLE):
        letters = load_distribution(distribution)
        loaded = leaves_for(letters) if table is None else load_leaves(table, letters)
        alphabet = loaded.distribution.alphabet
        asked = [_leave(text, loaded) for text in tiles]
        asked = asked or [(tile,) for tile in range(len(alphabet) + 1)]
        rows = [(alphabet.text(leave), loaded.value(leave)) for leave in asked]
    best, worst = _ends(loaded, top) if top else ([], [])
    lists = {"leaves": rows, "best": best, "worst": worst}
    if json_:
        known = {
            name: [{"leave": leave, "worth": worth} for leave, worth in listed]
            for name, listed in lists.items()
            if listed
        }
        print_json(known)
        return
    print(figures.table(("leave", "worth"), [(leave, _points(worth)) for leave, worth in rows]))
    if top:
        print()
        ranked = [
            (str(rank), good[0], _points(good[1]), bad[0], _points(bad[1]))
            for rank, (good, bad) in enumerate(zip(best, worst, strict=True), start=1)
        ]
        print(figures.table(("rank", "best", "worth", "worst", "worth"), ranked))


def _leave(text: str, table: LeaveTable) -> tuple[int, ...]:
    """Read a leave.

    Raises:
        ValueError: it has characters that are no tiles, too few or too many tiles, a blank that was
            played, or more of a tile than the bag.
    """
    letters = table.distribution
    leave, most = letters.alphabet.tiles(text), table.rack_size - 1
    if not 1 <= len(leave) <= most:
        raise ValueError(f"{text!r} has {len(leave)} tiles; a leave has 1 to {most}")
    for tile, count in Counter(leave).items():
        name = letters.alphabet.tile_text(tile)
        if tile & BLANK_FLAG:
            raise ValueError(
                f"{text}: {name} is a blank that was played; write {name.upper()} or ?"
            )
        if count > letters.counts[tile]:
            raise ValueError(
                f"{text} holds {count} of {name}; the bag of {letters.total} tiles has "
                f"{letters.counts[tile]}"
            )
    return leave


def _ends(leaves: LeaveTable, top: int) -> tuple[_Leaves, _Leaves]:
    """Return the best and the worst leaves, each with its worth in points."""
    from lexicons.leaves import leave_places, possible_leaves

    alphabet = leaves.distribution.alphabet
    ends: _Leaves = []
    for matrix in possible_leaves(leaves.distribution, leaves.rack_size):
        if not matrix.shape[1]:
            continue
        values = leaves.values[leave_places(matrix, leaves.arrays)]
        order = np.argsort(-values, kind="stable")
        for row in {*order[:top].tolist(), *order[-top:].tolist()}:
            ends.append((alphabet.text(matrix[row].tolist()), int(values[row]) / 1000))
    ends.sort(key=lambda end: (-end[1], end[0]))
    return ends[:top], ends[::-1][:top]


def _points(worth: float) -> str:
    return figures.number(worth, 2, sign=True)

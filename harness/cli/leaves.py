"""``tilewire leaves``: what leaves are worth."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from harness import figures
from lexicons.alphabet import BLANK, BLANK_FLAG

from . import options
from .failing import UNREADABLE, print_json, sentences

if TYPE_CHECKING:
    from lexicons.leaves import LeaveTable


def leaves(
    *tiles: str,
    table: str | None = None,
    lexicon: options.LexiconOption | None = None,
    distribution: options.WordsDistributionOption = None,
    top: options.Count | None = None,
    json_: options.JsonOption = False,
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
    from lexicons.leaves import leave_places, possible_leaves
    from lexicons.tables import FORMULA, leave_table_warnings, leaves_for, load_leaves, untrained

    words = lexicon and options.load_words_in(distribution, lexicon)
    with sentences(kinds=UNREADABLE):
        letters = load_distribution(distribution or options.rules_of(lexicon))
        loaded = leaves_for(letters) if table is None else load_leaves(table, letters)
        alphabet = loaded.distribution.alphabet
        warnings = leave_table_warnings(table, words) if words else []
        for sentence in (*untrained(table, FORMULA, letters), *warnings):
            options.print_notice(sentence)
        asked = [_leave(text, loaded) for text in tiles]
        asked = asked or [(tile,) for tile in range(len(alphabet) + 1)]
        rows = [(alphabet.text(leave), loaded.value(leave)) for leave in asked]
    ends: list[tuple[str, float]] = []
    for matrix in possible_leaves(letters, loaded.rack_size) if top else ():
        if matrix.shape[1]:
            values = loaded.values[leave_places(matrix, loaded.arrays)]
            order = np.argsort(-values, kind="stable")
            for row in {*order[:top].tolist(), *order[-(top or 1) :].tolist()}:
                ends.append((alphabet.text(matrix[row].tolist()), int(values[row]) / 1000))
    ends.sort(key=lambda end: (-end[1], end[0]))
    best, worst = ends[:top], ends[::-1][:top]
    lists = {"leaves": rows, "best": best, "worst": worst}
    if json_:
        fields = {
            name: [{"leave": leave, "worth": worth} for leave, worth in listed]
            for name, listed in lists.items()
            if listed
        }
        print_json(fields)
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
    """Read a leave, whose letters may all be small.

    Raises:
        ValueError: it has characters that are no tiles, too few or too many tiles, small letters
            beside capitals, or more of a tile than the bag.
    """
    letters, most = table.distribution, table.rack_size - 1
    read = [tile for tile in letters.alphabet.tiles(text) if tile != BLANK]
    if len({tile & BLANK_FLAG for tile in read}) > 1:  # as on a board, where it is a blank
        raise ValueError(f"{text}: write all letters small or none; a blank is '?'")
    leave = tuple(tile & ~BLANK_FLAG for tile in letters.alphabet.tiles(text))
    if not 1 <= len(leave) <= most:
        raise ValueError(f"{text!r} has {len(leave)} tiles; a leave has 1 to {most}")
    for tile, count in Counter(leave).items():
        name = letters.alphabet.tile_text(tile)
        if count > letters.counts[tile]:
            raise ValueError(f"{text} holds {count} of {name}; the bag has {letters.counts[tile]}")
    return leave


def _points(worth: float) -> str:
    return figures.number(worth, 2, sign=True)

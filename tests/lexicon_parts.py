"""A lexicon without words, leave tables of few values, the fields of a graph's narrow nodes."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from lexicons.alphabet import TileDistribution
from lexicons.kwg import NARROW, WordGraph
from lexicons.leaves import LeaveTable
from lexicons.store import Lexicon

TILE_SHIFT = NARROW.tile_shift
ACCEPTS = NARROW.accepts
LAST = NARROW.last
CHILD = NARROW.child_mask


def without_words(distribution: TileDistribution) -> Lexicon:
    """Return a lexicon without words, in which searches end at once."""
    return Lexicon("none", distribution, WordGraph(np.zeros(2, np.uint32)), "")


def leaves_worth(
    distribution: TileDistribution, values: Mapping[tuple[int, ...], float]
) -> LeaveTable:
    """Return a table of values given in points; missing leaves are worth 0."""
    table = LeaveTable.zero(distribution)
    worths = table.values.copy()
    for leave, worth in values.items():
        worths[table.place(leave)] = round(worth * 1000)
    return LeaveTable(distribution, worths)


def shorter_leaves(table: LeaveTable, rack_size: int) -> LeaveTable:
    """Return the part of a table that smaller racks have: the fewer tiles, the earlier a leave."""
    places = len(LeaveTable.zero(table.distribution, rack_size).values)
    return LeaveTable(table.distribution, table.values[:places], rack_size)

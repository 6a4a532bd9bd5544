"""A linear value of positions: what a net has to beat, and what can be read.

Features are classes of those of ``lexicons.value_net``, the same on all squares of a kind:

- *hooks*: what fits a crossed square, and the points there, by the premium of the square;
- *floaters*: letters by how far off a triple and a double word square are in their lines;
- tiles that the mover keeps, of which the leave table says nothing beyond their worth.

Moves of one turn are compared: the differences of what they gain in the next turns are explained by
those of their classes, by ridge regression (Hoerl and Kennard 1970).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from engine.kernels.value_games import MOST_MEMBERS, Listed
from harness.lab.study_context import Field
from lexicons.arrays import F64, I32, dot
from lexicons.jit import helper, kernel
from lexicons.layout import BoardLayout
from lexicons.value_net import CROSSINGS, OUTPUTS, UNIT, VALUE, ValueNet, feature_map

from .value import premiums

_RIDGE = 200.0
"""Weight of the penalty, in differences of one."""
AWAY = ("1", "2–3", "4–7", "more")
"""Classes of how far off the nearest premium of a kind is, along the lines of a square."""
_MOST_AWAY = 7


class Classes(NamedTuple):
    """The classes of features: first floaters by triples, then by doubles, hooks, kept tiles."""

    of: I32  # [features, 2]; −1: none
    ends: tuple[int, int, int, int]  # where each of these kinds ends


class LinearValue(NamedTuple):
    """What was learned."""

    net: ValueNet
    weights: F64  # [classes] points
    explained: float  # share of how the gains of a turn's moves differ, on what was learned from


def learn_linear(field: Field, shares: Iterable[Listed]) -> LinearValue:
    """Learn from positions, in their order."""
    rules, classes = field.rules, classes_of(field)
    count = classes.ends[-1]
    products, gains, squares = np.zeros((count, count)), np.zeros(count), np.zeros(1)
    for listed in shares:
        _add_up(classes.of, listed, products, gains, squares)
    solved = np.linalg.solve(products + _RIDGE * np.eye(count), gains)
    weights = solved.astype(np.float64)
    told = 2 * dot(weights, gains) - dot(weights, (products * weights).sum(axis=1))
    column = np.append(weights, 0.0)[classes.of].sum(axis=1) / UNIT
    unit = max(float(np.abs(column).max()), 1e-9) / np.iinfo(np.int16).max
    first = np.zeros((len(classes.of), 1 + OUTPUTS), np.int16)
    first[:, 1 + VALUE] = np.rint(column / unit)
    net = ValueNet(
        rules.layout,
        rules.distribution,
        first=first,
        start=np.zeros(1 + OUTPUTS, np.int32),
        unit=unit,
        second=np.zeros((1, 1), np.float32),
        second_start=np.zeros(1, np.float32),
        last=np.zeros((OUTPUTS, 1), np.float32),
        last_start=np.zeros(OUTPUTS, np.float32),
        lexicon_checksum=field.lexicon.checksum,
    )
    return LinearValue(net, weights, told / float(squares[0]))


def classes_of(field: Field) -> Classes:
    """Return the classes of a field's features."""
    layout, tiles = field.rules.layout, field.rules.distribution
    begins = feature_map(layout, tiles).begins.tolist()
    letters, squares = len(tiles.alphabet), layout.rows * layout.columns
    of = np.full((begins[-1], 2), -1, np.int32)
    ends = []
    placed = np.arange(squares * letters)
    for column, times in enumerate((3, 2)):
        away = _distances(layout, times)[placed // letters]
        of[: len(placed), column] = column * len(AWAY) * letters + away * letters + placed % letters
        ends.append((column + 1) * len(AWAY) * letters)
    kinds, called = premiums(layout)
    crossed = np.arange(begins[2] - begins[1])
    hooks = kinds[crossed // CROSSINGS % squares] * CROSSINGS + crossed % CROSSINGS
    of[begins[1] : begins[2], 0] = ends[-1] + hooks
    ends.append(ends[-1] + len(called) * CROSSINGS)
    kept = begins[3] - begins[2]
    of[begins[2] : begins[3], 0] = ends[-1] + np.arange(kept)
    ends.append(ends[-1] + kept)
    return Classes(of, (ends[0], ends[1], ends[2], ends[3]))


def _distances(layout: BoardLayout, times: int) -> I32:
    """Return by square the class of how far off the nearest such word premium is in its lines."""
    grid = np.reshape(layout.word_multipliers, (layout.rows, layout.columns)) == times
    classes = np.full(grid.shape, len(AWAY) - 1, np.int32)
    for row, column in np.ndindex(grid.shape):
        along = np.abs(np.flatnonzero(grid[row]) - column)
        down = np.abs(np.flatnonzero(grid[:, column]) - row)
        off = np.concatenate((along, down))
        off = off[(off > 0) & (off <= _MOST_AWAY)]
        if len(off):
            classes[row, column] = int(np.searchsorted((1, 3), off.min(), side="left"))
    return classes.reshape(-1)


@kernel
def _add_up(of: I32, listed: Listed, products: F64, gains: F64, squares: F64) -> None:
    """Add to the sums what the moves of each turn differ from their mean by."""
    classes = len(gains)
    counts, mean = np.zeros((MOST_MEMBERS, classes)), np.zeros(classes)
    touched = np.empty(classes, np.int64)
    first = 0
    while first < len(listed.ends):
        end = first + 1
        while end < len(listed.ends) and listed.groups[end] == listed.groups[first]:
            end += 1
        mean_gain, size = np.float64(0), end - first
        for at in range(first, end):
            mean_gain += listed.gains[at] / size
            _count(of, listed, at, counts[at - first], mean, size)
        for at in range(first, end):
            gain, row = listed.gains[at] - mean_gain, counts[at - first]
            squares[0] += gain * gain
            found = 0
            for each in range(classes):
                row[each] -= mean[each]
                if abs(row[each]) > 1e-9:
                    touched[found] = each
                    found += 1
            for nth in range(found):
                each = touched[nth]
                gains[each] += row[each] * gain
                for other in range(found):
                    products[each, touched[other]] += row[each] * row[touched[other]]
            row[:] = 0
        mean[:] = 0
        first = end


@helper
def _count(of: I32, listed: Listed, at: Any, counts: Any, mean: Any, size: Any) -> None:
    for nth in range(listed.ends[at - 1] if at else 0, listed.ends[at]):
        for each in of[listed.features[nth]]:
            if each >= 0:
                counts[each] += 1
                mean[each] += 1 / size

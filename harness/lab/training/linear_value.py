"""A linear value of positions: a baseline for nets, with weights that can be read.

It sees what a net sees (``lexicons.value_net``), in classes:

- *hooks*: what fits a crossed square, and the points there, by the premium of the square;
- *floaters*: letters by the distance to a triple and a double word square, in both their lines;
- tiles that the mover keeps, for what they gain beyond their worth by the leave table.

Moves of one turn are compared: ridge regression (Hoerl and Kennard 1970) explains the differences
of their gains in the next turns by the differences of their classes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from engine.kernels.value_games import MOST_MEMBERS, Listed
from harness.lab.study_context import Field
from lexicons.arrays import F64, I32, dot
from lexicons.jit import helper, kernel
from lexicons.layout import BoardLayout
from lexicons.value_net import (
    CROSSINGS,
    KEPT_COUNTS,
    OUTPUTS,
    UNIT,
    VALUE,
    Sights,
    ValueNet,
    sights_of,
)

from .value_kernels import group_size

_RIDGE = 200.0
"""Weight of the penalty, in numbers of squared differences of one."""
AWAY = ("1", "2–3", "4–7", "more")
"""Classes of the distance to the nearest premium square of a kind in a line."""
_MOST_AWAY = 7


class Classes(NamedTuple):
    """Numbers of classes: floaters by triple, floaters by double, hooks, then kept tiles."""

    of: I32  # [kinds, places, contents, 2] of a square's content; −1: none
    ends: tuple[int, int, int, int]  # where each of these four ends


class LinearValue(NamedTuple):
    """What was learned."""

    net: ValueNet
    weights: F64  # [classes] points
    explained: float  # share of how a turn's gains differ, on the games learned from


def learn_linear(field: Field, shares: Iterable[Listed]) -> LinearValue:
    """Learn from positions, in their order."""
    rules, classes = field.rules, classes_of(field)
    sights, count = sights_of(rules.layout, rules.distribution), classes.ends[-1]
    products, gains, squares = np.zeros((count, count)), np.zeros(count), np.zeros(1)
    for listed in shares:
        _add_up(classes.of, sights, listed, products, gains, squares)
    solved = np.linalg.solve(products + _RIDGE * np.eye(count), gains)
    weights = solved.astype(np.float64)
    told = 2 * dot(weights, gains) - dot(weights, (products * weights).sum(axis=1))
    of_lines = np.append(weights, 0.0)[classes.of].sum(axis=-1) / UNIT
    of_counts = np.zeros(int(sights.begins[-1]))
    of_counts[: count - classes.ends[2]] = weights[classes.ends[2] :] / UNIT
    unit = max(float(np.abs(of_lines).max()), float(np.abs(of_counts).max()), 1e-9)
    unit /= np.iinfo(np.int16).max
    lines = np.zeros((*of_lines.shape, 1 + OUTPUTS), np.int16)
    lines[..., 1 + VALUE] = np.rint(of_lines / unit)
    counts = np.zeros((len(of_counts), 1 + OUTPUTS), np.int16)
    counts[:, 1 + VALUE] = np.rint(of_counts / unit)
    net = ValueNet(
        rules.layout,
        rules.distribution,
        lines=lines,
        start=np.zeros((len(lines), 1 + OUTPUTS), np.int32),
        counts=counts,
        unit=unit,
        second=np.zeros((1, 2), np.float32),
        second_start=np.zeros(2, np.float32),
        last=np.zeros((OUTPUTS, 2), np.float32),
        last_start=np.zeros(OUTPUTS, np.float32),
        lexicon_checksum=field.lexicon.checksum,
    )
    return LinearValue(net, weights, told / float(squares[0]))


def classes_of(field: Field) -> Classes:
    """Return the classes for a field's board and tiles."""
    layout, tiles = field.rules.layout, field.rules.distribution
    sights, letters = sights_of(layout, tiles), len(tiles.alphabet)
    premium, called = premiums(layout)
    floaters, hooks = len(AWAY) * letters, len(called) * CROSSINGS
    kinds, contents = int(sights.kinds.max()) + 1, len(sights.shares) + CROSSINGS
    of = np.full((kinds, sights.places, contents, 2), -1, np.int32)
    squares = np.arange(layout.rows * layout.columns).reshape(layout.rows, layout.columns)
    multipliers = np.array(layout.word_multipliers)
    down = sights.places + 2
    for number, line in (*enumerate(squares, 1), *enumerate(squares.T, down + 1)):
        here = of[sights.kinds[number], : len(line)]
        for column, times in enumerate((3, 2)):
            away = _distances(multipliers[line] == times)[:, np.newaxis]
            here[:, 1 : 1 + letters, column] = (
                column * floaters + away * letters + np.arange(letters)
            )
        first = 2 * floaters + premium[line, np.newaxis] * CROSSINGS
        here[:, len(sights.shares) :, 0] = first + np.arange(CROSSINGS)
    kept = len(sights.shares) * KEPT_COUNTS
    ends = np.cumsum((floaters, floaters, hooks, kept)).tolist()
    return Classes(of, (ends[0], ends[1], ends[2], ends[3]))


def _distances(there: npt.NDArray[np.bool_]) -> I32:
    """Return, by place in a line, the class of the distance to the nearest other place marked."""
    classes = np.full(len(there), len(AWAY) - 1, np.int32)
    for place in range(len(there)):
        off = np.abs(np.flatnonzero(there) - place)
        off = off[(off > 0) & (off <= _MOST_AWAY)]
        if len(off):
            classes[place] = int(np.searchsorted((1, 3), off.min(), side="left"))
    return classes


@kernel
def _add_up(
    of: Annotated[I32, 4],
    sights: Sights,
    listed: Listed,
    products: Annotated[F64, 2],
    gains: F64,
    squares: F64,
) -> None:
    """Add to the sums the differences of each turn's moves from their mean, in place."""
    classes, tiles = len(gains), len(sights.shares)
    counts, mean = np.zeros((MOST_MEMBERS, classes)), np.zeros(classes)
    touched = np.empty(classes, np.int64)
    first = 0
    while first < len(listed.groups):
        mean_gain, size = np.float64(0), group_size(listed, first)
        end = first + size
        for at in range(first, end):
            mean_gain += listed.gains[at, VALUE] / size
            _count(of, sights, listed.lines[at], counts[at - first])
            for tile in range(tiles):
                kept = np.int64(listed.counts[at, tile])
                if kept:
                    counts[at - first, classes - (tiles - tile) * KEPT_COUNTS + kept] += 1
            mean += counts[at - first] / size
        for at in range(first, end):
            gain, row = listed.gains[at, VALUE] - mean_gain, counts[at - first]
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
def _count(of: I32, sights: Sights, lines: Any, counts: Any) -> None:
    for line in range(len(sights.kinds)):
        kind = np.int64(sights.kinds[line])
        if kind >= 0:
            for place in range(sights.places):
                for each in of[kind, place, np.int64(lines[line, place])]:
                    if each >= 0:
                        counts[each] += 1


def premiums(layout: BoardLayout) -> tuple[I32, list[str]]:
    """Return each square's kind of premium as a number, and the names of the kinds."""
    kinds = list(zip(layout.word_multipliers, layout.letter_multipliers, strict=True))
    known = sorted(set(kinds))
    names = {(1, 1): "plain"}
    for word, letter in known:
        both = (f"{letter}× letter" * (letter > 1), f"{word}× word" * (word > 1))
        names.setdefault((word, letter), " and ".join(filter(None, both)))
    numbers = np.array([known.index(kind) for kind in kinds], np.int32)
    return numbers, [names[kind] for kind in known]

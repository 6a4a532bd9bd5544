"""Position values in plain Python: what a net sees, and what it makes of that."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from engine.rules.position import Board, Rack
from engine.rules.rules import Rules
from lexicons.alphabet import BLANK, BLANK_FLAG
from lexicons.arrays import F64, I16, U8
from lexicons.layout import BoardLayout
from lexicons.store import Lexicon
from lexicons.value_net import (
    BAG_COUNTS,
    CROSSINGS,
    FIT_LIMITS,
    KEPT_COUNTS,
    OUTPUTS,
    SCORE_LIMITS,
    UNSEEN_COUNTS,
    ValueNet,
    sights_of,
)

HIDDEN = 6


class Seen(NamedTuple):
    """What a net sees of a position after a move."""

    lines: dict[int, list[int]]  # contents by line: rows from 1, columns from there on
    counts: list[int]


def random_net(rules: Rules, lexicon: Lexicon, seed: int = 0, width: int = 8) -> ValueNet:
    """Return a net of random weights, which values positions by some 10 points either way."""
    chance = np.random.default_rng(seed)
    sights = sights_of(rules.layout, rules.distribution)
    kinds, columns = int(sights.kinds.max()) + 1, width + OUTPUTS
    contents = len(sights.shares) + CROSSINGS

    def weights(*shape: int) -> I16:
        return chance.integers(-3000, 3000, shape, np.int16)

    return ValueNet(
        rules.layout,
        rules.distribution,
        lines=weights(kinds, sights.places, contents, columns),
        start=chance.integers(-3000, 3000, (kinds, columns), np.int32),
        counts=weights(int(sights.begins[-1]), columns),
        unit=1e-5,
        second=chance.normal(0, 0.5, (width, HIDDEN)).astype(np.float32),
        second_start=chance.normal(0, 0.1, HIDDEN).astype(np.float32),
        last=chance.normal(0, 0.3, (OUTPUTS, HIDDEN)).astype(np.float32),
        last_start=chance.normal(0, 0.1, OUTPUTS).astype(np.float32),
        lexicon_checksum=lexicon.checksum,
    )


def outputs(net: ValueNet, seen: Seen) -> F64:
    """Return what a net says of a position."""
    kinds, width = sights_of(net.layout, net.distribution).kinds, len(net.second)
    rows, begin = [], 0
    tiles = (len(seen.counts) - 2) // 2
    sizes = [KEPT_COUNTS] * tiles + [UNSEEN_COUNTS] * tiles + [BAG_COUNTS, 8]
    for nth, (count, size) in enumerate(zip(seen.counts, sizes, strict=True)):
        if count or nth >= tiles:
            rows.append(begin + min(count, size - 1))
        begin += size
    counted = net.counts[rows].astype(np.int64).sum(axis=0)
    said = net.last_start + counted[width:] * net.unit
    numbers = []
    for line, contents in seen.lines.items():
        total = net.start[kinds[line]].astype(np.int64)
        for place, content in enumerate(contents):
            if content:
                total = total + net.lines[kinds[line], place, content]
        said = said + total[width:] * net.unit
        first = np.maximum((total + counted)[:width], 0) * net.unit
        numbers.append(first @ net.second.astype(np.float64) + net.second_start)
    hidden, half = np.array(numbers), len(net.second_start) // 2
    added = np.maximum(hidden[:, :half], 0).sum(axis=0)
    together = np.append(added, np.log(np.exp(hidden[:, half:]).sum(axis=0)))
    all_said: F64 = said + net.last.astype(np.float64) @ together
    return all_said


def see(
    board: Board,
    kept: Rack,
    unseen: tuple[int, ...],
    bag: int,
    scoreless: int,
    rules: Rules,
    lexicon: Lexicon,
) -> Seen:
    """Return what a net sees after a move; ``bag`` is of after the draw."""
    rows, columns = board.layout.rows, board.layout.columns
    contents = np.zeros((2, rows, columns), np.int64)
    for row, column, letter, _ in _tiles(board, rules):
        contents[:, row, column] = letter
    for down, row, column, kind in _crossings(board, rules, lexicon):
        contents[down, row, column] = len(rules.distribution.counts) + kind
    lines = {row + 1: contents[0, row].tolist() for row in range(rows)}
    second = max(rows, columns) + 3
    lines |= {second + column: contents[1, :, column].tolist() for column in range(columns)}
    held = [kept.count(tile) for tile in range(len(unseen))]
    return Seen(lines, [*held, *unseen, min(bag, BAG_COUNTS - 1), scoreless])


def seen_by(layout: BoardLayout, lines: U8, counts: U8) -> Seen:
    """Return what was listed of a position."""
    side = max(layout.rows, layout.columns) + 2
    found = {row: lines[row, : layout.columns].tolist() for row in range(1, layout.rows + 1)}
    for column in range(side + 1, side + layout.columns + 1):
        found[column] = lines[column, : layout.rows].tolist()
    return Seen(found, counts.tolist())


def _tiles(board: Board, rules: Rules) -> Iterator[tuple[int, int, int, int]]:
    """Yield row, column, letter and points of each tile."""
    for row in range(board.layout.rows):
        for column in range(board.layout.columns):
            if tile := board.at(row, column):
                points = rules.distribution.points[BLANK if tile & BLANK_FLAG else tile]
                yield row, column, tile & ~BLANK_FLAG, points


def _crossings(board: Board, rules: Rules, lexicon: Lexicon) -> Iterator[tuple[int, int, int, int]]:
    """Yield for words across (0) and down: row, column, and class of the crossing."""
    tiles = {
        (row, column): (letter, points) for row, column, letter, points in _tiles(board, rules)
    }
    counts = np.array(rules.distribution.counts[1:])
    shares = [0, *(1000 * counts // counts.sum()).tolist()]
    for down in range(2):
        step = (0, 1) if down else (1, 0)  # along the word that crosses
        for row in range(board.layout.rows):
            for column in range(board.layout.columns):
                if (row, column) in tiles:
                    continue
                before = _run(tiles, row, column, (-step[0], -step[1]))[::-1]
                after = _run(tiles, row, column, step)
                if not before and not after:
                    continue
                fits = sum(
                    shares[letter]
                    for letter in range(1, len(shares))
                    if lexicon.graph.contains(
                        (*(one for one, _ in before), letter, *(one for one, _ in after))
                    )
                )
                score = sum(points for _, points in (*before, *after))
                kind = sum(fits > limit for limit in FIT_LIMITS) * (len(SCORE_LIMITS) + 1)
                kind += sum(score > limit for limit in SCORE_LIMITS)
                yield down, row, column, kind


def _run(
    tiles: dict[tuple[int, int], tuple[int, int]], row: int, column: int, step: tuple[int, int]
) -> list[tuple[int, int]]:
    run = []
    while (there := tiles.get((row := row + step[0], column := column + step[1]))) is not None:
        run.append(there)
    return run

"""Position values in plain Python: which features there are, and what a net makes of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from engine.rules.position import Board, Rack
from engine.rules.rules import Rules
from lexicons.alphabet import BLANK, BLANK_FLAG
from lexicons.arrays import F64
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
    feature_map,
)


def random_net(rules: Rules, lexicon: Lexicon, seed: int = 0, width: int = 8) -> ValueNet:
    """Return a net of random weights, which values positions by some 10 points either way."""
    chance = np.random.default_rng(seed)
    features = int(feature_map(rules.layout, rules.distribution).begins[-1])
    return ValueNet(
        rules.layout,
        rules.distribution,
        first=chance.integers(-3000, 3000, (features, width + OUTPUTS), np.int16),
        start=chance.integers(-3000, 3000, width + OUTPUTS, np.int32),
        unit=1e-5,
        second=chance.normal(0, 0.5, (width, 6)).astype(np.float32),
        second_start=chance.normal(0, 0.1, 6).astype(np.float32),
        last=chance.normal(0, 0.3, (OUTPUTS, 6)).astype(np.float32),
        last_start=chance.normal(0, 0.1, OUTPUTS).astype(np.float32),
        lexicon_checksum=lexicon.checksum,
    )


def outputs(net: ValueNet, features: set[int]) -> F64:
    """Return what a net says of a position with these features."""
    sums = (net.start + net.first[sorted(features)].astype(np.int64).sum(axis=0)) * net.unit
    width = len(net.second)
    hidden = np.maximum(sums[:width], 0) @ net.second.astype(np.float64) + net.second_start
    said: F64 = net.last.astype(np.float64) @ np.maximum(hidden, 0) + net.last_start + sums[width:]
    return said


def features(
    board: Board,
    kept: Rack,
    unseen: tuple[int, ...],
    bag: int,
    scoreless: int,
    rules: Rules,
    lexicon: Lexicon,
) -> set[int]:
    """Return the features of a position after a move; ``bag`` is of after the draw."""
    letters, squares = len(rules.distribution.alphabet), board.layout.rows * board.layout.columns
    begin = 0
    found = {
        (row * board.layout.columns + column) * letters + letter - 1
        for row, column, letter, _ in _tiles(board, rules)
    }
    begin += squares * letters
    found |= {begin + crossing for crossing in _crossings(board, rules, lexicon)}
    begin += 2 * squares * CROSSINGS
    found |= {begin + tile * KEPT_COUNTS + count for tile, count in Counter(kept).items()}
    begin += (letters + 1) * KEPT_COUNTS
    for tile, count in enumerate(unseen):
        found.add(begin + tile * UNSEEN_COUNTS + min(count, UNSEEN_COUNTS - 1))
    begin += (letters + 1) * UNSEEN_COUNTS
    found.add(begin + bag)
    found.add(begin + BAG_COUNTS + scoreless)
    return found


def _tiles(board: Board, rules: Rules) -> Iterator[tuple[int, int, int, int]]:
    """Yield row, column, letter and points of each tile."""
    for row in range(board.layout.rows):
        for column in range(board.layout.columns):
            if tile := board.at(row, column):
                points = rules.distribution.points[BLANK if tile & BLANK_FLAG else tile]
                yield row, column, tile & ~BLANK_FLAG, points


def _crossings(board: Board, rules: Rules, lexicon: Lexicon) -> Iterator[int]:
    """Yield the crossings, numbered from 0: first those of words that run across."""
    tiles = {
        (row, column): (letter, points) for row, column, letter, points in _tiles(board, rules)
    }
    counts = np.array(rules.distribution.counts[1:])
    shares = [0, *(1000 * counts // counts.sum()).tolist()]
    squares = board.layout.rows * board.layout.columns
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
                number = row * board.layout.columns + column
                yield (down * squares + number) * CROSSINGS + kind


def _run(
    tiles: dict[tuple[int, int], tuple[int, int]], row: int, column: int, step: tuple[int, int]
) -> list[tuple[int, int]]:
    run = []
    while (there := tiles.get((row := row + step[0], column := column + step[1]))) is not None:
        run.append(there)
    return run

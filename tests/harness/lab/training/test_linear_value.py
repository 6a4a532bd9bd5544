"""A linear value of positions: its classes, and that it is the ridge regression of differences."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest
import value_reference
from leave_trainings import RULES, TILES, few

from engine.kernels.value_games import Listed
from harness.lab.study_context import Field
from harness.lab.training import linear_value
from harness.lab.training.linear_value import AWAY, classes_of, learn_linear
from harness.lab.training.plots import draw_linear
from harness.lab.training.value import Share, play_share
from lexicons.arrays import F64
from lexicons.leaves import LeaveTable
from lexicons.value_net import CROSSINGS, KEPT_COUNTS, UNIT, VALUE, sights_of

FIELD = Field(few(), RULES, LeaveTable.zero(TILES, RULES.rack_size))
LETTERS = len(TILES.alphabet)
CLASSES = classes_of(FIELD)
SIGHTS = sights_of(RULES.layout, TILES)


@cache
def all_listed() -> tuple[Listed, ...]:
    return tuple(play_share(FIELD, Share((1, 0, number), 4)) for number in range(3))


def counted(listed: Listed, at: int) -> F64:
    """Count the classes of a position, one after another."""
    counts = np.zeros(CLASSES.ends[-1] + 1)
    for line, kind in enumerate(SIGHTS.kinds):
        for place in range(15):
            if kind >= 0:
                np.add.at(counts, CLASSES.of[kind, place, listed.lines[at, line, place]], 1)
    for tile, count in enumerate(listed.counts[at, : LETTERS + 1]):
        if count:
            counts[CLASSES.ends[2] + tile * KEPT_COUNTS + count] += 1
    return counts[:-1]


def test_it_is_the_regression_of_what_moves_of_a_turn_differ_by() -> None:
    """By numpy, from a matrix of all positions."""
    rows, gains = [], []
    for listed in all_listed():
        counts = np.array([counted(listed, at) for at in range(len(listed.groups))])
        for group in np.unique(listed.groups):
            turn = listed.groups == group
            rows.append(counts[turn] - counts[turn].mean(axis=0))
            gains.append(listed.gains[turn, VALUE] - listed.gains[turn, VALUE].mean())
    matrix, gained = np.concatenate(rows), np.concatenate(gains)
    products = matrix.T @ matrix + linear_value._RIDGE * np.eye(CLASSES.ends[-1])
    weights = np.linalg.solve(products, matrix.T @ gained)
    learned = learn_linear(FIELD, all_listed())
    np.testing.assert_allclose(learned.weights, weights, atol=1e-6)
    left = gained - matrix @ weights
    assert learned.explained == pytest.approx(1 - (left @ left) / (gained @ gained), abs=1e-6)


def test_the_net_adds_up_the_weights_of_what_it_sees() -> None:
    learned, listed = learn_linear(FIELD, all_listed()), all_listed()[0]
    for at in range(20):
        seen = value_reference.seen_by(RULES.layout, listed.lines[at], listed.counts[at])
        said = value_reference.outputs(learned.net, seen)[VALUE] * UNIT
        assert said == pytest.approx(counted(listed, at) @ learned.weights, abs=0.05)


def test_letters_are_classed_by_their_way_to_premiums() -> None:
    """8D is four squares from the triple 8A; the nearest double in the line is on 8H, four off."""
    letter = 2
    triple, double = CLASSES.of[SIGHTS.kinds[8], 3, letter].tolist()
    assert triple == AWAY.index("2–3") * LETTERS + letter - 1
    assert double == CLASSES.ends[0] + AWAY.index("4–7") * LETTERS + letter - 1


def test_hooks_are_classed_by_premium_and_kept_tiles_by_number() -> None:
    first, corner, plain = SIGHTS.kinds[1], 0, 1  # of the first row: a triple word square, a plain
    of = CLASSES.of[first, :, LETTERS + 1 :, 0] - CLASSES.ends[1]
    assert (of[corner] % CROSSINGS == np.arange(CROSSINGS)).all()
    assert len({int(kind) // CROSSINGS for kind in of[:, 0]}) == 3
    assert of[plain, 0] != of[corner, 0]
    assert CLASSES.ends[3] - CLASSES.ends[2] == (LETTERS + 1) * KEPT_COUNTS


def test_it_is_drawn(tmp_path: Path) -> None:
    path = tmp_path / "linear.png"
    draw_linear(learn_linear(FIELD, all_listed()), CLASSES, FIELD, path)
    assert path.stat().st_size > 20_000

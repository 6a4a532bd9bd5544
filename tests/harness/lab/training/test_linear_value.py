"""A linear value of positions: its classes, and that it is the ridge regression of differences."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import value_reference
from leave_trainings import RULES, TILES, few

from harness.lab.study_context import Field
from harness.lab.training import linear_value
from harness.lab.training.linear_value import AWAY, classes_of, learn_linear
from harness.lab.training.plots import draw_linear
from harness.lab.training.value import Share, play_share
from lexicons.leaves import LeaveTable
from lexicons.value_net import CROSSINGS, KEPT_COUNTS, UNIT, VALUE, feature_map

FIELD = Field(few(), RULES, LeaveTable.zero(TILES, RULES.rack_size))
LISTED = [play_share(FIELD, Share((1, 0, number), 4)) for number in range(3)]
LETTERS = len(TILES.alphabet)
CLASSES = classes_of(FIELD)


def test_it_is_the_regression_of_what_moves_of_a_turn_differ_by() -> None:
    """By numpy, from a matrix of all positions."""
    rows, gains = [], []
    for listed in LISTED:
        counts = np.zeros((len(listed.ends), CLASSES.ends[-1] + 1))
        for at, part in enumerate(np.split(listed.features, listed.ends[:-1])):
            np.add.at(counts[at], CLASSES.of[part].ravel(), 1)
        for group in np.unique(listed.groups):
            turn = listed.groups == group
            rows.append(counts[turn, :-1] - counts[turn, :-1].mean(axis=0))
            gains.append(listed.gains[turn] - listed.gains[turn].mean())
    matrix, gained = np.concatenate(rows), np.concatenate(gains)
    products = matrix.T @ matrix + linear_value._RIDGE * np.eye(CLASSES.ends[-1])
    weights = np.linalg.solve(products, matrix.T @ gained)
    learned = learn_linear(FIELD, iter(LISTED))
    np.testing.assert_allclose(learned.weights, weights, atol=1e-6)
    left = gained - matrix @ weights
    assert learned.explained == pytest.approx(1 - (left @ left) / (gained @ gained), abs=1e-6)


def test_the_net_adds_up_the_weights_of_its_features() -> None:
    learned = learn_linear(FIELD, iter(LISTED))
    for part in np.split(LISTED[0].features, LISTED[0].ends[:-1])[:20]:
        wanted = np.append(learned.weights, 0.0)[CLASSES.of[part]].sum()
        said = value_reference.outputs(learned.net, set(part.tolist()))[VALUE] * UNIT
        assert said == pytest.approx(wanted, abs=0.05)


def test_letters_are_classed_by_their_way_to_premiums() -> None:
    """8D is four squares from the triple 8A, and on the line of the double 4D."""
    letter = 2
    feature = (7 * 15 + 3) * LETTERS + letter - 1
    triple, double = CLASSES.of[feature].tolist()
    assert triple == AWAY.index("2–3") * LETTERS + letter - 1
    assert double == CLASSES.ends[0] + AWAY.index("4–7") * LETTERS + letter - 1


def test_hooks_are_classed_by_premium_and_kept_tiles_by_number() -> None:
    begins = feature_map(RULES.layout, TILES).begins.tolist()
    plain, corner = 1, 0  # 1B is a double word square, 1A a triple
    of = CLASSES.of[begins[1] : begins[2], 0].reshape(2, 225, CROSSINGS) - CLASSES.ends[1]
    assert (of[0] == of[1]).all()
    assert (of[0, corner] % CROSSINGS == np.arange(CROSSINGS)).all()
    assert len({int(kind) // CROSSINGS for kind in of[0, :, 0]}) == 5
    assert of[0, plain, 0] != of[0, corner, 0]
    kept = CLASSES.of[begins[2] + 2 * KEPT_COUNTS + 3, 0]
    assert kept == CLASSES.ends[2] + 2 * KEPT_COUNTS + 3


def test_it_is_drawn(tmp_path: Path) -> None:
    path = tmp_path / "linear.png"
    draw_linear(learn_linear(FIELD, iter(LISTED)), CLASSES, FIELD, path)
    assert path.stat().st_size > 20_000

"""Models of players: how likely a play is by its gap, and what plays tell of who makes them."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest
from inference_reference import likelihood_of
from rollout_positions import RULES, position_of, scowl

from engine.inference.likelihood import DETERMINISTIC, MODELS, Model, Style, margin, soft, stranger
from engine.movegen.generator import Generator
from lexicons.tables import leaves_for

GAPS = [0, 1, 999, 1_000, 1_001, 2_999, 3_000, 3_001, 7_500, 10_000, 10_001, 25_000, 10**6]
BOTH = Model("both", margin=1.0, temperatures=((2.0, 1.0),))
MIXED = Model("mixed", margin=0.5, temperatures=((0.0, 0.5), (0.3, 0.2), (5.0, 0.3)), floor=0.0005)


@pytest.mark.parametrize(
    "model",
    [
        DETERMINISTIC,
        margin(3.0),
        margin(0.3),
        soft(2.0),
        soft(0.25),
        *stranger().models,
        BOTH,
        MIXED,
        Model("greedy", "greedy", temperatures=((1.0, 1.0),)),
    ],
    ids=lambda model: model.name,
)
def test_likelihoods_are_those_of_the_twin(model: Model) -> None:
    found = model.likelihood(np.array(GAPS, np.int32))
    assert found == pytest.approx([likelihood_of(loss, model) for loss in GAPS], rel=1e-12)
    assert (np.diff(found) <= 0).all()
    assert (found <= 1).all()


@pytest.mark.parametrize("model", [*MODELS.values(), *stranger().models, BOTH, MIXED])
def test_beyond_its_reach_a_model_tells_gaps_no_longer_apart(model: Model) -> None:
    beyond = model.likelihood(np.array([model.reach + 1, model.reach + 50_000, 10**8]))
    assert beyond.tolist() == [model.floor] * 3
    assert model.likelihood(np.array([model.reach]))[0] >= model.floor


def test_beyond_the_temperatures_measured_the_best_play_is_ever_less_likely() -> None:
    for judge in ("static", "greedy"):
        best = [
            float(Model("hot", judge, temperatures=((hot, 1.0),)).likelihood(np.zeros(1))[0])
            for hot in (11.9, 12.0, 12.1, 40.0, 1_000.0)
        ]
        assert (np.diff(best) < 0).all()
        assert best[0] / best[2] < 1.1
        assert best[-1] == pytest.approx(1 / 500, rel=0.05)


def test_the_likelihoods_of_all_moves_of_a_rack_add_up_to_about_one() -> None:
    """Else a style could not tell a careful player from a careless one."""
    generator = Generator(scowl(), RULES, leaves_for(RULES.distribution))
    positions = [position_of(game, 2 * turn) for game in range(8) for turn in range(5)]
    every = [generator.arrays(position).equities for position in positions]
    for model in (soft(0.5), soft(2.0), soft(4.0)):
        sums = [model.likelihood(found.max() - found).sum() for found in every]
        assert 0.5 < math.exp(np.log(sums).mean()) < 2


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        ({"margin": -1.0}, "a margin of -1; it must be 0 to 1,000 points"),
        ({"margin": math.nan}, "a margin of nan"),
        ({"temperatures": ((1e20, 1.0),)}, "a temperature of 1e+20; it must be 0 to 1,000 points"),
        ({"temperatures": ((1.0, 0.5),)}, "shares of [0.5]; each is 0 or more, and they add up"),
        ({"temperatures": ((1.0, 1.5), (2.0, -0.5))}, "shares of [1.5, -0.5]"),
        ({"floor": -0.1}, "a floor of -0.1; it must be 0 or more and below 0.002"),
    ],
)
def test_a_model_has_numbers_that_make_sense(numbers: Any, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        Model("odd", **numbers)


# --- styles ---------------------------------------------------------------------------------------


def test_a_style_learns_by_bayes() -> None:
    style = Style((DETERMINISTIC, margin(3.0), soft(2.0)), (0.5, 0.3, 0.2))
    learned = style.learn([0.1, 0.2, 0.4])
    assert learned.models == style.models
    assert learned.odds == pytest.approx([0.05 / 0.19, 0.06 / 0.19, 0.08 / 0.19])
    again = learned.learn([0.3, 0.3, 0.1])
    at_once = style.learn([0.03, 0.06, 0.04])
    assert again.odds == pytest.approx(at_once.odds)


def test_odds_stay_probabilities() -> None:
    style = Style((DETERMINISTIC, soft(2.0)), (0.5, 0.5))
    for turn in range(300):
        style = style.learn([1e-9, 2e-9] if turn % 3 else [0.9, 0.01])
        assert sum(style.odds) == pytest.approx(1)
        assert min(style.odds) >= 0


@pytest.mark.parametrize("evidence", [[0.0, 0.0], [math.nan, 0.5], [math.inf, 1.0]])
def test_what_nobody_would_do_tells_nothing_of_who_it_was(evidence: list[float]) -> None:
    style = Style((DETERMINISTIC, soft(2.0)), (0.25, 0.75))
    assert style.learn(evidence) == style


@pytest.mark.parametrize("odds", [(1.0,), (0.5, 0.6), (), (0.5, math.nan), (1.5, -0.5)])
def test_odds_are_one_for_each_model_and_add_up_to_one(odds: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match="each has its own, and they add"):
        Style((DETERMINISTIC, soft(2.0)), odds)


def test_who_was_met_before_is_thought_to_be_as_he_was_then() -> None:
    style = stranger()
    last = style.models[-1].name
    again = stranger({last: 1.0, "of another time": 3.0})
    assert again.models == style.models
    assert sum(again.odds) == pytest.approx(1)
    assert 0.8 < again.named()[last] < 1
    assert min(again.odds) > 0  # he may have changed
    for known in ({}, {"of another time": 1.0}, {last: -1.0}, {last: math.inf}, {last: math.nan}):
        assert stranger(known) == style

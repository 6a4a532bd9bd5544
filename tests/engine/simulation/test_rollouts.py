"""What rollouts begin from: beliefs, what is wanted, and what is thought of candidates before."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from rollout_positions import RULES, generator, late_position, leave_prior, position_of

from engine.inference.leave_prior import LeavePrior
from engine.kernels.rollouts import Holdings
from engine.movegen.evaluation import PASS_EQUITY
from engine.movegen.generator import RankedMove
from engine.rules.moves import PASS, Exchange
from engine.rules.position import Position, unseen
from engine.simulation.rollout_input import (
    BY_POINTS,
    TO_THE_END,
    Utility,
    believed,
    holdings,
    scene,
    static_prior,
)
from lexicons.tables import win_probabilities_for
from lexicons.win_probability import WinProbabilities


def win_probabilities() -> WinProbabilities:
    return win_probabilities_for(RULES.distribution)


# --- beliefs --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("belief", "message"),
    [
        (leave_prior([(1, 2), (26, 26)], [1.0, 1.0]), "the opponent can't hold 'ZZ'"),
        (leave_prior([(1,)], [1.0, 2.0]), "2 weights for 1 leaves"),
        (leave_prior([(1,), (2,)], [1.0, 0.0]), "above 0"),
        (leave_prior([(1,)], [math.nan]), "above 0"),
        (LeavePrior(np.zeros((0, 3), np.uint8), np.zeros(0)), "0 weights for 0 leaves"),
        (leave_prior([(1, 99)], [1.0]), "can't hold (1, 99): these are no tiles"),
        (leave_prior([(1,)], [1.0], doubt=-0.1), "a doubt of -0.1; it is a share from 0 to 1"),
        (leave_prior([(1,)], [1.0], doubt=math.nan), "a doubt of nan"),
    ],
)
def test_a_belief_is_possible_with_what_is_unseen(belief: LeavePrior, message: str) -> None:
    position = position_of(0, 0)
    with pytest.raises(ValueError, match=re.escape(message)):
        believed(position, scene(position, RULES, 2, 0), belief, RULES)


def laid_out(position: Position, belief: LeavePrior | None) -> Holdings:
    return holdings(believed(position, scene(position, RULES, 2, 0), belief, RULES), RULES)


def test_a_belief_is_laid_out_and_weighed() -> None:
    laid = laid_out(position_of(0, 0), leave_prior([(20, 5), (1, 1), (5, 0)], [2.0, 1.0, 1.0]))
    assert laid.tiles.tolist() == [[5, 20, *[0] * 5], [1, 1, *[0] * 5], [0, 5, *[0] * 5]]
    assert laid.sizes.tolist() == [2, 2, 2]
    assert laid.sums.tolist() == [0.5, 0.75, 1.0]


@pytest.mark.parametrize("doubt", [0.1, 1.0])
def test_a_doubt_is_a_share_of_samples_in_which_nothing_is_known(doubt: float) -> None:
    laid = laid_out(position_of(0, 0), leave_prior([(1, 5), (5, 20)], [3.0, 1.0], doubt))
    assert laid.sizes.tolist() == [2, 2, 0]
    assert laid.sums == pytest.approx([0.75 * (1 - doubt), 1 - doubt, 1])


def test_a_rack_that_is_known_is_one_holding_and_leaves_nothing_to_believe() -> None:
    position = position_of(8, 6, both=True)
    known = position.racks[1 - position.on_turn]
    laid = laid_out(position, None)
    assert laid.tiles.tolist() == [sorted(known)]
    assert laid.sizes.tolist() == [7]
    with pytest.raises(ValueError, match="nothing is left to believe"):
        laid_out(position, LeavePrior.certain(known))


def test_of_nothing_that_is_believed_there_is_no_holding() -> None:
    for belief in (None, LeavePrior.nothing()):
        assert len(laid_out(position_of(0, 0), belief).sums) == 0


# --- the scene ------------------------------------------------------------------------------------


def test_a_scene_is_what_the_mover_sees() -> None:
    position = position_of(5, 9)
    seat = position.on_turn
    begins = scene(position, RULES, 1_000, 3)
    assert begins.rack.tolist() == sorted(position.racks[seat])
    counts = np.bincount(begins.hidden, minlength=27)
    assert counts.tolist() == list(unseen(position, seat, RULES))
    assert begins.spread == position.scores[seat] - position.scores[1 - seat]
    assert begins.plies == TO_THE_END
    late = scene(late_position(0, held=3), RULES, 2, 3)
    assert late.opponent_tiles == len(late.hidden) == 3


# --- what is wanted -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "wrong",
    [
        *({"win": -1.0}, {"win": math.inf}, {"lead": -0.5}, {"point": -0.1}, {"point": math.nan}),
        *({"win": 0.0, "lead": 0.0, "point": 0.0}, {"scale": 0.0}, {"scale": math.nan}),
    ],
    ids=str,
)
def test_what_is_wanted_is_worth_something(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="scale" if "scale" in wrong else "a win is worth"):
        Utility(**wrong)


def test_a_utility_weighs_wins_leads_and_points() -> None:
    utility = Utility(win=0.5, lead=0.25, point=0.001, scale=50.0)
    ahead = 1 / (1 + math.exp(-2))
    of = utility.of(np.array([1.0, 0.0]), np.array([100.0, 0.0]))
    assert of == pytest.approx([0.5 + 0.25 * ahead + 0.1, 0.125])


# --- what is thought before -----------------------------------------------------------------------


def test_a_prior_is_what_a_table_makes_of_static_equities() -> None:
    position = position_of(5, 9)
    compared = generator().best(position, 6)
    begins = scene(position, RULES, 2, 0)
    table, utility = win_probabilities(), Utility(win=1.0, lead=0.0, point=0.001)
    thought = static_prior(compared, begins, table, utility)
    bag = len(begins.hidden) - 7
    ahead = [begins.spread + one.equity / 1_000 for one in compared]
    for one, spread, mean in zip(compared, ahead, thought.means, strict=True):
        unseen = bag + len(one.leave)
        win = 1 - table.at(-round(spread), unseen)
        assert mean == pytest.approx(win + 0.001 * spread)
    assert (np.diff(thought.means) <= 0.02).all()
    by_points = static_prior(compared, begins, table, BY_POINTS)
    assert by_points.means == pytest.approx(ahead)
    assert by_points.deviation == 2.5
    without = static_prior(compared, begins, None, BY_POINTS)
    assert without.means == pytest.approx(ahead)
    # In the middle of a game some points of equity are some hundredths of a win.
    assert 0.002 < static_prior(compared, begins, table, Utility()).deviation < 0.05


def test_after_an_exchange_as_many_tiles_are_unseen_as_before() -> None:
    position = late_position(20)
    begins = scene(position, RULES, 2, 0)
    exchanges = [one for one in generator().everything(position) if len(one.leave) == 3]
    changed = next(one for one in exchanges if isinstance(one.move, Exchange))
    thought = static_prior([changed], begins, win_probabilities(), Utility(win=1.0, lead=0.0))
    spread = round(begins.spread + changed.equity / 1_000)
    assert thought.means[0] == pytest.approx(
        1 - win_probabilities().at(-spread, len(begins.hidden))
    )


def test_a_pass_is_thought_to_be_as_bad_as_the_worst() -> None:
    position = position_of(5, 9)
    begins = scene(position, RULES, 2, 0)
    compared = generator().best(position, 5)
    passed = RankedMove(PASS, 0, PASS_EQUITY, position.racks[position.on_turn])
    thought = static_prior([*compared, passed], begins, win_probabilities(), Utility())
    assert thought.means[5] == thought.means[:5].min()
    alone = static_prior([passed], begins, win_probabilities(), Utility())
    assert len(alone.means) == 1

"""Learning position values: what is listed of games, the steps, and that workers don't matter."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import value_reference
from leave_trainings import RULES, TILES, Backwards, Stopped, few

from engine.kernels.value_games import Listed, Wanted
from engine.movegen.move_codec import unpack
from engine.rules.position import bag_count, unseen
from engine.rules.rules import NO_LIMIT, leave_of
from engine.simulation.selfplay import StaticGames, play_static_games
from harness.lab.study_context import Field
from harness.lab.training import value
from harness.lab.training.checkpoint import CheckpointError
from harness.lab.training.plots import draw_curve
from harness.lab.training.value import Goal, Losses, Share, ValueTraining, no_losses, play_share
from harness.lab.training.value_kernels import Weights, learn
from harness.workers import Workers, open_workers
from lexicons.leaves import LeaveTable
from lexicons.store import Lexicon
from lexicons.value_net import LEAD, SCALE, TURNS, UNIT, ValueNet

NOTHING = LeaveTable.zero(TILES, RULES.rack_size)
WORTHS = np.random.default_rng(0).integers(-9_000, 9_000, len(NOTHING.values))
LEAVES = LeaveTable(TILES, WORTHS.astype(np.int32), RULES.rack_size)
FIELD = Field(few(), RULES, LEAVES)
GAMES = 4
SEED = (5, 0, 3)


@pytest.fixture(autouse=True)
def few_games(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(value, "GAMES_A_SHARE", GAMES)
    monkeypatch.setattr(value, "_FEWEST_GAMES", GAMES)
    monkeypatch.setattr(value, "_CHECKED_SHARES", 1)


# --- what is listed -------------------------------------------------------------------------------


@cache
def played() -> StaticGames:
    seed = int(np.random.SeedSequence(SEED).generate_state(1)[0])
    return play_static_games(few(), RULES, LEAVES, GAMES, seed=seed, mirrored=True, record=True)


@cache
def listed() -> Listed:
    """List the positions of these games, in which only the best move is followed."""
    wanted = Wanted(members=1, among=1, explored=0)
    return play_share(FIELD, Share(SEED, GAMES, wanted))


def turns_listed() -> list[tuple[int, int]]:
    """Give game and turn of those that leave tiles in the bag."""
    results = played().results
    return [
        (game, turn)
        for game in range(GAMES)
        for turn in range(int(results.turns[game]) - 1)
        if results.bags[game, turn + 1]
    ]


def test_what_is_seen_is_what_the_positions_have() -> None:
    found = listed()
    expected = []
    for game, turn in turns_listed():
        before = played().position(game, turn, RULES)
        after = played().position(game, turn + 1, RULES).board
        hidden = unseen(before, before.on_turn, RULES)
        (move,) = unpack(played().results.moves[game, turn : turn + 1], before.board)
        kept = leave_of(before.racks[before.on_turn], move)
        bag = int(played().results.bags[game, turn + 1])
        scoreless = 0 if after != before.board else _scoreless(game, turn)
        expected.append(value_reference.see(after, kept, hidden, bag, scoreless, RULES, few()))
        assert bag_count(before, RULES, hidden) == played().results.bags[game, turn]
    assert [seen_of(found, at) for at in range(len(found.groups))] == expected


def seen_of(found: Listed, at: int) -> value_reference.Seen:
    return value_reference.seen_by(RULES.layout, found.lines[at], found.counts[at])


def _scoreless(game: int, turn: int) -> int:
    boards = [played().position(game, at, RULES).board for at in range(turn + 2)]
    count = 0
    while count <= turn and boards[turn + 1 - count] == boards[turn - count]:
        count += 1
    return count


@pytest.mark.parametrize("turns", range(1, TURNS + 1))
def test_gains_are_those_of_the_next_turns(turns: int) -> None:
    """Points and last leaves of both, from the mover's side; with an empty bag points only."""
    found, results = listed(), played().results
    gains, finals = [], []
    for game, turn in turns_listed():
        last = int(results.turns[game])
        final = int(results.scores[game, turn % 2] - results.scores[game, 1 - turn % 2])
        ahead = -int(results.spreads[game, turn + 1])
        leave = float(results.leaves[game, turn]) / 1000
        finals.append(final - ahead - leave)
        end = turn + 1 + turns
        gain = float(final - ahead)
        if end < last:
            sign = 1 if turns % 2 else -1  # the player on turn then is the mover after odd turns
            gain = sign * int(results.spreads[game, end]) - ahead
            if results.bags[game, end]:
                kept = [float(results.leaves[game, at]) / 1000 for at in (end - 2, end - 1)]
                own = leave if turns == 1 else kept[turns % 2 == 0]
                gain += own - kept[turns % 2]
        gains.append(gain - leave)
    assert found.gains[:, turns - 1].tolist() == pytest.approx(gains, abs=1e-3)
    assert found.finals.tolist() == pytest.approx(finals, abs=1e-3)
    assert found.is_played.all()


def test_moves_of_a_turn_stand_side_by_side() -> None:
    found = play_share(FIELD, Share((1, 0, 0), GAMES))
    sizes = np.bincount(found.groups)
    assert sizes.min() >= 1
    assert sizes.max() == value.WANTED.members
    assert (np.diff(found.groups) >= 0).all()
    per_turn = np.bincount(found.groups, found.is_played)
    assert set(per_turn.tolist()) <= {0, 1}


def test_too_little_room_is_enlarged(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = play_share(FIELD, Share((1, 0, 0), GAMES))
    monkeypatch.setattr(value, "_POSITIONS_A_GAME", 1)
    for wanted, found in zip(expected, play_share(FIELD, Share((1, 0, 0), GAMES)), strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_a_game_that_does_not_end_is_left_out() -> None:
    endless = replace(RULES, scoreless_limit=NO_LIMIT)
    field = Field(Lexicon.wordless(TILES), endless, LEAVES)
    assert len(play_share(field, Share(SEED, GAMES)).groups) == 0


# --- steps ----------------------------------------------------------------------------------------


def test_steps_go_down_the_slope() -> None:
    """Of each layer, by the differences of the loss at a weight a little more and a little less."""
    training = ValueTraining(FIELD, Goal(GAMES, width=6, hidden=4))
    found = play_share(FIELD, Share((1, 0, 0), GAMES))
    size = int((found.groups == found.groups[-1]).sum())
    turn = Listed._make(each[-size:].copy() for each in found)
    assert size == value.WANTED.members
    chance = np.random.default_rng(3)
    for weights in training.weights:
        weights[...] += chance.normal(0, 0.05, weights.shape)
    training.weights.last[:] = chance.normal(0, 0.2, training.weights.last.shape)
    before = Weights(*(array.copy() for array in training.weights))
    for squares in training.squares:
        squares[:] = 1e12
    turn.finals[:] = 20  # near enough that no slope is cut
    turn.gains[:] = chance.normal(0, 10, turn.gains.shape)
    learn(training.weights, training.squares, training._sights, turn, 1e2, no_losses())
    for name, array, old in zip(Weights._fields, training.weights, before, strict=True):
        stepped = (old.astype(np.float64) - array) * 1e4  # the slope: a step is 1e2 / √1e12 of it
        steepest = np.argsort(-np.abs(stepped), axis=None)[:6]
        for place in steepest:
            at = np.unravel_index(place, array.shape)
            slope = _slope(training, before, turn, name, at)
            assert stepped[at] == pytest.approx(slope, rel=0.05, abs=2e-3), (name, at)


def _slope(
    training: ValueTraining, weights: Weights, turn: Listed, name: str, at: tuple[Any, ...]
) -> float:
    losses = []
    for change in (0.0005, -0.0005):
        changed = Weights(*(array.copy() for array in weights))
        getattr(changed, name)[at] += change
        sums = no_losses()
        learn(changed, training.squares, training._sights, turn, 0.0, sums)
        gains = sums[:TURNS, 0] + 0.1 * len(turn.groups) * sums[:TURNS, 2]
        losses.append(gains.sum() / 2 + 0.1 * sums[TURNS, 0])
    return float(losses[0] - losses[1]) / 0.001


def test_the_net_says_what_was_learned() -> None:
    """When it is rounded to integers."""
    training = ValueTraining(FIELD, Goal(GAMES, width=6, hidden=4))
    for nth, weights in enumerate(training.weights):
        weights[...] += np.random.default_rng(nth).normal(0, 0.05, weights.shape)
    at = 3
    one = Listed._make(each[at : at + 1] for each in listed())
    sums = no_losses()
    learn(training.weights, training.squares, training._sights, one, 0.0, sums)
    said = value_reference.outputs(training.net(), seen_of(one, 0))
    for turn in range(TURNS):
        error = said[turn] - one.gains[0, turn] / UNIT
        assert error**2 == pytest.approx(sums[turn, 2], rel=1e-2)
    away = abs(one.finals[0] / UNIT - said[LEAD]) / np.exp(said[SCALE])
    likelihood = said[SCALE] + away + 2 * np.log1p(np.exp(-away))
    assert likelihood == pytest.approx(sums[TURNS, 0], rel=1e-2)


# --- trainings ------------------------------------------------------------------------------------


def trained(workers: Workers, checkpoint: Path | None = None, seed: int = 1) -> ValueNet:
    training = ValueTraining(FIELD, Goal(10 * GAMES, seed, width=8, hidden=4), checkpoint)
    return training.run(workers, lambda losses: None, lambda: 0.0)


def assert_same(first: ValueNet, second: ValueNet) -> None:
    for name in ("lines", "start", "counts", "second", "second_start", "last", "last_start"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))


def test_workers_make_no_difference() -> None:
    alone = trained(Workers())
    assert_same(alone, trained(Backwards()))
    with open_workers(2) as workers:
        assert_same(alone, trained(workers))
    other = trained(Workers(), seed=2)
    assert (alone.lines != other.lines).any()


def test_a_training_that_was_stopped_goes_on(tmp_path: Path) -> None:
    checkpoint = tmp_path / "net.checkpoint"
    goal = Goal(10 * GAMES, 1, width=8, hidden=4)

    def stop(losses: Losses) -> None:
        if losses.games == 4 * GAMES:
            raise Stopped

    training = ValueTraining(FIELD, goal, checkpoint)
    with pytest.raises(Stopped):
        training.run(Workers(), stop, lambda: 0.0)
    again = ValueTraining(FIELD, goal, checkpoint)
    again.resume()
    assert again.games == 4 * GAMES
    assert_same(again.run(Workers(), lambda losses: None, lambda: 0.0), trained(Workers()))
    assert [losses.games for losses in again.curve] == [GAMES * nth for nth in range(1, 11)]
    other = ValueTraining(FIELD, Goal(11 * GAMES, 1, width=8, hidden=4), checkpoint)
    with pytest.raises(CheckpointError, match="with games 40, not 44"):
        other.resume()


def test_it_learns_what_positions_are_worth(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(value, "_CHECKED_SHARES", 50)
    training = ValueTraining(FIELD, Goal(400 * GAMES, 1, width=8, hidden=4))
    training.run(Workers(), lambda losses: None, lambda: 0.0)
    first, last = training.curve[0], training.curve[-1]
    assert last.final < first.final
    assert last.told > max(0.03, first.told)
    assert last.reply_told > first.reply_told


def test_a_curve_is_drawn(tmp_path: Path) -> None:
    path = tmp_path / "curve.png"
    draw_curve([Losses(10, 0.0, 0.01, 1.7), Losses(20, 0.01, 0.05, 1.6)], path)
    assert path.stat().st_size > 5_000


def test_a_training_of_too_few_games_is_refused() -> None:
    with pytest.raises(ValueError, match="3 games"):
        Goal(GAMES - 1)

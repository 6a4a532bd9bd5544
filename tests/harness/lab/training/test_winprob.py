"""Win probabilities: what is tallied, what is made of it, and how it is checked."""

from __future__ import annotations

import pickle
from collections import Counter
from fractions import Fraction
from functools import cache, reduce
from operator import add
from pathlib import Path

import numpy as np
import pytest
from rollout_positions import scowl

from engine.kernels.moves import EXCHANGE, MAX_PLACED, TILE_BITS
from engine.kernels.selfplay import Results
from engine.rules.rules import standard_rules
from engine.simulation.selfplay import play_static_games
from harness.lab.study_context import Field
from harness.lab.training.winprob import (
    GAMES_A_SHARE,
    MOST_SPREAD,
    WinCounts,
    calibration,
    draw_win_probabilities,
    effective_spreads,
    fit_win_probabilities,
    share_out,
    tally_results,
    tally_share,
    unseen_tiles,
)
from lexicons.formula_leaves import formula_leaves
from lexicons.win_probability import WinProbabilities

RULES = standard_rules()
MOST_UNSEEN = 93


@cache
def played() -> Results:
    leaves = formula_leaves(RULES.distribution)
    return play_static_games(scowl(), RULES, leaves, 200, seed=7, record=True).results


def test_what_is_tallied_of_games_is_what_plain_python_tallies() -> None:
    results = played()
    results = results._replace(scores=results.scores.copy())
    results.scores[:5] = 300  # ties, half a win for both
    spreads, unseen = effective_spreads(results), unseen_tiles(results, RULES)
    expected: Counter[tuple[int, int]] = Counter()
    for game, turns in enumerate(results.turns.tolist()):
        held, ended = [7, 7], turns - 1
        ahead = int(results.scores[game, 0] - results.scores[game, 1])
        for turn in range(turns):
            bag = int(results.bags[game, turn])
            mine = int(results.leaves[game, turn - 2]) if turn > 1 else 0
            other = int(results.leaves[game, turn - 1]) if turn else 0
            worth = Fraction(mine - other, 1000) if bag else Fraction(0)
            assert spreads[game, turn] == round(int(results.spreads[game, turn]) + worth)
            assert results.sizes[game, turn] == held[turn % 2]
            assert unseen[game, turn] == bag + held[1 - turn % 2]
            assert (bag == 0) == (unseen[game, turn] <= RULES.rack_size)
            far = min(max(int(spreads[game, turn]), -MOST_SPREAD), MOST_SPREAD) + MOST_SPREAD
            expected[far, int(unseen[game, turn]) - 1] += 1 + int(
                np.sign(-ahead if turn % 2 else ahead)
            )
            move = int(results.moves[game, turn])
            if move < int(EXCHANGE):
                held[turn % 2] -= sum(
                    move >> TILE_BITS * at & (1 << TILE_BITS) - 1 > 0 for at in range(MAX_PLACED)
                )
            if turn < ended:
                held[turn % 2] += bag - int(results.bags[game, turn + 1])
    tally = tally_results(results, RULES)
    half_wins = {
        at: int(tally.half_wins[at]) for at in zip(*np.nonzero(tally.half_wins), strict=True)
    }
    assert half_wins == +expected
    assert tally.games.sum() == results.turns.sum()
    with pytest.raises(ValueError, match=r"\d+ turns"):
        tally_results(results._replace(turns=results.turns + 1_000), RULES)


@pytest.mark.parametrize("games", [1, GAMES_A_SHARE, 2 * GAMES_A_SHARE + 1])
def test_shares_are_all_the_games_each_with_a_seed_of_its_own(games: int) -> None:
    shares = share_out(games, 5)
    assert sum(size for size, _ in shares) == games
    assert min(size for size, _ in shares) > 0
    assert len({seed for _, seed in shares}) == len(shares)
    assert shares != share_out(games, 6)
    more = share_out(games + 9 * GAMES_A_SHARE, 5)
    assert [seed for _, seed in more[: len(shares)]] == [seed for _, seed in shares]


def test_no_games_make_no_shares() -> None:
    with pytest.raises(ValueError, match="0 games"):
        share_out(0, 5)


def tally_of(
    games: np.ndarray[tuple[int, int]], half_wins: np.ndarray[tuple[int, int]]
) -> WinCounts:
    return WinCounts(games.astype(np.int64), half_wins.astype(np.int64), RULES.rack_size)


def nothing() -> WinCounts:
    empty = np.zeros((2 * MOST_SPREAD + 1, MOST_UNSEEN))
    return tally_of(empty, empty)


def by_chance(seed: int, most: int) -> WinCounts:
    chance = np.random.default_rng(seed)
    games = chance.integers(most, size=(2 * MOST_SPREAD + 1, MOST_UNSEEN))
    return tally_of(games, chance.integers(2 * games + 1))


@pytest.mark.parametrize("tally", [nothing(), by_chance(1, 2), by_chance(2, 10_000)])
def test_probabilities_never_fall_when_the_spread_grows(tally: WinCounts) -> None:
    table = fit_win_probabilities(tally)
    assert (table.spreads[0], table.spreads[-1]) == (-MOST_SPREAD, MOST_SPREAD)
    assert (table.unseen[0], table.unseen[-1]) == (1, MOST_UNSEEN)
    assert (np.diff(table.values, axis=0) >= 0).all()
    assert table.values.min() >= 0
    assert table.values.max() <= 1


def test_what_is_even_is_fitted_as_even() -> None:
    one = by_chance(3, 200)
    mirrored = tally_of(one.games[::-1], (2 * one.games - one.half_wins)[::-1])
    values = fit_win_probabilities(one + mirrored).values
    assert values[MOST_SPREAD] == pytest.approx(0.5, abs=1e-6)
    assert values + values[::-1] == pytest.approx(1, abs=1e-6)
    tied = fit_win_probabilities(tally_of(one.games + 10_000, one.games + 10_000)).values
    assert tied == pytest.approx(0.5, abs=0.01)


def test_a_step_with_an_empty_bag_is_kept_and_does_not_reach_fuller_bags() -> None:
    """One point decides the endgame; before, it is a slope that the step leaves alone."""
    spreads = np.arange(-MOST_SPREAD, MOST_SPREAD + 1)
    games = np.full((len(spreads), MOST_UNSEEN), 1_000)
    slope = np.repeat(np.rint(2_000 / (1 + np.exp(-spreads / 30)))[:, np.newaxis], MOST_UNSEEN, 1)
    step = slope.copy()
    step[:, : RULES.rack_size] = 1_000 * (1 + np.sign(spreads))[:, np.newaxis]
    fitted, without = (fit_win_probabilities(tally_of(games, wins)) for wins in (step, slope))
    assert (fitted.values[:, 7:] == without.values[:, 7:]).all()
    assert fitted.at(5, 7) > 0.95
    assert fitted.at(-5, 7) < 0.05
    assert fitted.values[:, 7] == pytest.approx(slope[:, 7] / 2_000, abs=0.01)


def test_calibration_by_tenths() -> None:
    table = WinProbabilities(
        np.array([0, 1], np.int32),
        np.array([2, 3], np.int32),
        np.array([[0.125, 0.0], [0.1875, 1.0]], np.float32),
    )
    tally = nothing()
    tally.games[MOST_SPREAD, 1], tally.half_wins[MOST_SPREAD, 1] = 30, 7
    tally.games[MOST_SPREAD + 1, 0], tally.half_wins[MOST_SPREAD + 1, 0] = 10, 5  # off the edge
    tally.games[-1, -1], tally.half_wins[-1, -1] = 8, 16
    tenths = calibration(table, tally)
    assert [tenth.name for tenth in tenths[::9]] == ["0–10 %", "90–100 %"]
    assert [tenth.positions for tenth in tenths] == [0, 40, *[0] * 7, 8]
    assert (tenths[0].predicted, tenths[0].won, tenths[0].difference) == (None, None, None)
    assert tenths[1].predicted == pytest.approx((30 * 0.125 + 10 * 0.1875) / 40)
    assert tenths[1].won == pytest.approx(6 / 40)
    assert tenths[1].difference == pytest.approx(100 * (6 / 40 - 5.625 / 40))
    assert (tenths[9].predicted, tenths[9].won, tenths[9].difference) == (1, 1, 0)


def test_a_small_training(tmp_path: Path) -> None:
    leaves = formula_leaves(RULES.distribution)
    shares = [(400, 1), (400, 2), (200, 3)]
    tallies = [tally_share(Field(scowl(), RULES, leaves), share) for share in shares]
    tally, turned = reduce(add, tallies), reduce(add, pickle.loads(pickle.dumps(tallies[::-1])))
    assert (tally.games == turned.games).all()
    assert (tally.half_wins == turned.half_wins).all()
    table = fit_win_probabilities(tally)
    assert table.at(-100, 40) < 0.25
    assert 0.45 < table.at(0, 93) < 0.7
    assert table.at(100, 40) > 0.8
    assert table.at(-60, 1) < 0.1
    assert table.at(60, 1) > 0.9
    fresh = calibration(table, tally_share(Field(scowl(), RULES, leaves), (400, 4)))
    assert max(abs(tenth.difference or 0) for tenth in fresh) < 15
    path = tmp_path / "winprob.png"
    draw_win_probabilities(table, path)
    assert path.read_bytes().startswith(b"\x89PNG")
    assert list(tmp_path.iterdir()) == [path]

"""Players against each other in kernels: sums worked by hand, and who beats whom."""

from __future__ import annotations

import numpy as np
import pytest

from engine.generate import Generator
from engine.rules import standard_rules
from engine.selfplay import StaticGames, play_static_games
from harness.bench.selfplay import Field
from harness.experiments.cs221 import measure_cs221
from harness.experiments.duel import Duel, duel_of, greedy, play_duel, static
from lexicons.rack_features import leave_table, shipped_rack_weights
from lexicons.store import load_lexicon


@pytest.fixture(scope="module")
def field() -> Field:
    return Field.of(load_lexicon(), standard_rules(), None, "")


def games_of(field: Field, scores: list[tuple[int, int]]) -> StaticGames:
    """Make up games in pairs, each as the points of player and opponent."""
    played = play_static_games(field.lexicon, field.rules, None, len(scores), pairs=True)
    by_seat = [points[::-1] if game % 2 else points for game, points in enumerate(scores)]
    played.results.scores[:] = np.array(by_seat)
    return played


def test_what_a_row_adds_up(field: Field) -> None:
    games = [(400, 300), (300, 400), (200, 400), (350, 350), (450, 150), (201, 400)]
    assert duel_of("one", "other", games_of(field, games)) == Duel(
        player="one",
        opponent="other",
        games=6,
        wins=round(2.5 / 6, 4),
        mean=round(1901 / 6, 2),
        opponent_mean=round(2000 / 6, 2),
        difference=-16.5,
        error=round(float(np.std([0, -100, 50.5], ddof=1) / 3**0.5), 2),
        lost_twice=round(1 / 6, 4),
        largest_ratio=3.0,
    )


def test_a_loser_without_points(field: Field) -> None:
    games = [(90, -4), (90, 0), (40, 60), (-8, -9)]
    assert duel_of("one", "other", games_of(field, games)).largest_ratio == 90
    lost = duel_of("one", "other", games_of(field, [(-5, 7), (0, 2), (1, 1), (-5, -4)]))
    assert lost.lost_twice == 0.75


def test_better_players_are_better(field: Field) -> None:
    table = leave_table(shipped_rack_weights(), field.rules.distribution)
    duels = measure_cs221(field, table, 200, 2, 1)
    names = [(one.player, one.opponent) for one in duels]
    assert names == [("static", "rh"), ("static", "vanilla"), ("rh", "vanilla")]
    assert {one.games for one in duels} == {200}
    for one in duels[1:]:
        assert one.difference > 10
        assert one.wins > 0.5
        assert one.mean - one.opponent_mean == pytest.approx(one.difference, abs=0.02)
    assert measure_cs221(field, table, 20, 1, 1) == measure_cs221(field, table, 20, 2, 1)


@pytest.mark.parametrize("games", [2, 5])
def test_games_come_in_pairs(field: Field, games: int) -> None:
    with pytest.raises(ValueError, match=f"^{games} games; they come in pairs"):
        measure_cs221(field, field.leaves, games, 1, 1)


def test_a_greedy_player_looks_at_leaves_only_where_scores_are_equal(field: Field) -> None:
    judge = greedy(field.leaves)
    played = play_static_games(
        field.lexicon, field.rules, judge.leaves, 8, record=True, evaluation=judge.evaluation
    )
    judging = Generator(field.lexicon, field.rules, field.leaves, judge.evaluation)
    scoring = Generator(field.lexicon, field.rules, judge.leaves, judge.evaluation)
    for game in range(8):
        position = played.position(game, 5, field.rules)
        ranked = judging.everything(position)
        highest = max(one.score for one in ranked)
        best = max(one.equity for one in ranked if one.score == highest)
        (chosen,) = scoring.best(position)
        assert chosen.score == highest
        leave = field.leaves.value(chosen.leave)
        assert leave * 1000 + highest * 1000 >= best - 1_000  # the table is coarser by this


def test_against_itself_a_player_is_not_ahead(field: Field) -> None:
    one = play_duel(
        ("a", "b"), (static(field.leaves),) * 2, field.lexicon, field.rules, 40, threads=2, seed=3
    )
    assert (one.difference, one.wins, one.error) == (0.0, 0.5, 0.0)

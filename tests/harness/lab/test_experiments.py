"""Players against each other in kernels: sums worked by hand, and who beats whom."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bot.player import Budget, Choice, ExchangedCount, Observed, Result, View
from bot.players.static import StaticPlayer
from engine.movegen.generator import Generator
from engine.rules.moves import Exchange
from engine.rules.position import bag_count
from engine.simulation.selfplay import play_static_games
from harness.lab import rows
from harness.lab.in_process import play_game
from harness.lab.studies.duel import (
    Duel,
    Games,
    add_up,
    judge_of,
    kernel_duels,
    play_duel,
)
from harness.lab.study import fill, open_records
from harness.lab.study_context import Field
from harness.workers import open_workers


def duel_of(games: list[tuple[int, int]]) -> Duel:
    """Add games up, given as the points of player and opponent."""
    scores = np.array(games)
    return add_up("one", "other", scores[:, 0], scores[:, 1], np.arange(len(games)) // 2)


def test_what_a_row_adds_up() -> None:
    games = [(400, 300), (300, 400), (200, 400), (350, 350), (450, 150), (201, 400)]
    found = duel_of(games)
    assert (found.player, found.opponent, found.games) == ("one", "other", 6)
    assert (found.wins, found.losses, found.ties) == (2, 3, 1)
    assert found.win_rate == pytest.approx(2.5 / 6)
    assert (found.mean, found.opponent_mean) == pytest.approx((1901 / 6, 2000 / 6))
    assert found.difference == -16.5
    # Pairs are ahead by 0, −100 and 50.5 a game; t is 4.303 with two degrees of freedom.
    error = 4.302653 * float(np.std([0, -100, 50.5], ddof=1) / 3**0.5)
    assert found.error == pytest.approx(error)
    rates = 4.302653 * float(np.std([0.5, 0.25, 0.5], ddof=1) / 3**0.5)
    assert found.win_rate_error == pytest.approx(rates)
    assert found.deviation == pytest.approx(np.std([100, -100, -200, 0, 300, -199], ddof=1))
    assert found.lost_twice == pytest.approx(1 / 6)
    assert found.largest_ratio == 3.0


def test_a_win_rate_is_between_none_and_all() -> None:
    lost = duel_of([(300, 310)] * 20)
    assert lost.win_rate_error == pytest.approx(1 - 0.025**0.1), "nothing varies, and much is open"
    assert "0.0 % (0.0 to 30.8)" in rows.table([lost])
    assert "5.0 % (0.0 to 16.3)" in rows.table([duel_of([(310, 300), *[(300, 310)] * 19])])
    assert "50.0 ± 0.0 %" in rows.table([duel_of([(310, 300), (300, 310)] * 20)])


def test_better_players_are_better(field: Field) -> None:
    duels = kernel_duels(field, 200, 2, 1)
    names = [(one.player, one.opponent) for one in duels]
    assert names == [("static", "rh"), ("static", "vanilla"), ("rh", "vanilla")]
    assert {one.games for one in duels} == {200}
    for one in duels[1:]:
        assert one.difference is not None
        assert one.difference > 10
    assert kernel_duels(field, 20, 1, 1) == kernel_duels(field, 20, 2, 1)


def test_a_greedy_player_looks_at_leaves_only_where_scores_are_equal(field: Field) -> None:
    judge = judge_of("greedy", field)
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
    static = judge_of("static", field)
    of_kernels = play_duel(static, static, field, 40, threads=2, seed=3)
    for one in (of_kernels, play(field, "mc?samples=2", "mc?samples=2", seed=3)):
        assert (one.difference, one.win_rate, one.error) == (0.0, 0.5, 0.0)


# --- turn by turn -------------------------------------------------------------------------------


def play(
    field: Field,
    *seats: str,
    games: int = 4,
    seed: int = 1,
    out: Path | None = None,
    workers: int = 1,
) -> Duel:
    """Play games between two seats, and add them up."""
    player, opponent = seats
    study = Games((player, opponent), field, seed)
    study.check(games)
    with (
        open_records(out, study.settings()) as file,
        open_workers(workers) as crew,
    ):
        return study.duel(fill(study, file, games, crew))


def test_games_in_a_file_are_not_played_again(field: Field, tmp_path: Path) -> None:
    whole, part = tmp_path / "whole.jsonl", tmp_path / "part.jsonl"

    def again(out: Path | None, games: int = 6, seed: int = 1, workers: int = 1) -> Duel:
        return play(field, "rh", "vanilla", games=games, seed=seed, out=out, workers=workers)

    found = again(whole)
    assert found == again(None, workers=2)
    lines = whole.read_bytes().splitlines(keepends=True)
    assert [json.loads(line)["number"] for line in lines[1:]] == list(range(6))
    changed = lines[1].replace(b'"scores": [', b'"scores": [1')
    part.write_bytes(lines[0] + changed + lines[2] + lines[3][:40])
    other = again(part)
    assert part.read_bytes().splitlines(keepends=True) == [lines[0], changed, *lines[2:]]
    assert other.mean is not None
    assert found.mean is not None
    assert other.mean > found.mean + 100, "a game that is there counts as it is"
    with pytest.raises(ValueError, match="with seed 1, not 2; use the same value"):
        again(part, seed=2)
    assert again(whole, games=4).games == 4
    assert whole.read_bytes().splitlines(keepends=True) == lines


def test_games_by_work_are_the_same_again(field: Field, tmp_path: Path) -> None:
    """Also the games of the champion as ``parts.py`` composes it if nothing is left out."""
    parts, out = Path(__file__).parents[3] / "docs/results/parts.py", tmp_path / "games.jsonl"
    seats = "champion?time=10ms", f"{parts}:Without?part=nothing&time=10ms"
    study = Games(seats, field, 1, by_work=True)
    with open_records(out, study.settings()) as file, open_workers(2) as workers:
        moves = [record["moves"] for record in fill(study, file, 4, workers)]
    assert moves[::2] == moves[1::2]
    assert study.record(3)["moves"] == moves[3]
    by_time = replace(study, by_work=False).settings()
    with pytest.raises(ValueError, match="by_work"), open_records(out, by_time):
        pass


@pytest.mark.parametrize(
    ("seats", "games", "workers", "says"),
    [
        (("rh", "vanilla"), 5, 1, "must be even and at least 4"),
        (("rh", "vanilla"), 4, 0, "0 workers"),
        (("rhh", "vanilla"), 4, 1, "'rhh'"),
        (("rh", "mc?samples=0"), 4, 1, "samples is a number from 2"),
        (("ws://127.0.0.1:1/x", "rh"), 4, 1, "is a remote bot, which can't be loaded here"),
    ],
)
def test_games_that_make_no_sense(
    field: Field, seats: tuple[str, str], games: int, workers: int, says: str
) -> None:
    with pytest.raises(ValueError, match=says.replace("?", r"\?")):
        play(field, *seats, games=games, workers=workers)


class Witness(StaticPlayer):
    """Notes what it is told; exchanges once."""

    def __init__(self) -> None:
        super().__init__()
        self.views: list[View] = []
        self.observed: list[Observed] = []
        self.result: Result | None = None

    def new_game(self, view: View) -> None:
        self.views.append(view)

    def observe(self, view: View, play: Observed) -> None:
        assert view.history == (*self.views[-1].history, play)
        self.views.append(view)
        self.observed.append(play)

    def choose(self, view: View, budget: Budget) -> Choice:
        assert view is self.views[-1]
        if len(view.history) < 2:
            return Choice(Exchange(view.rack[:3]))
        return super().choose(view, budget)

    def game_over(self, view: View, result: Result) -> None:
        self.result = result


def test_players_are_told_what_they_may_know(field: Field) -> None:
    players = Witness(), Witness()
    game = play_game(players, field, b"secret")
    assert game.over is not None
    for seat, player in enumerate(players):
        assert len(player.observed) == len(game.turns)
        first = [play.move for play in player.observed[:2]]
        assert first[1 - seat] == ExchangedCount(3)
        assert first[seat] == game.turns[seat].move
        for view in player.views:
            assert view.position.racks[1 - seat] == ()
        for number, (view, play) in enumerate(
            zip(player.views[1:-1], player.observed, strict=False)
        ):
            turn = game.turns[number]
            assert view.bag == play.bag == bag_count(view.position, field.rules)
            assert (play.seq, play.seat, play.score) == (number + 1, turn.seat, turn.score)
            assert play.scores == view.position.scores
        assert player.result is not None
        assert player.result.scores == game.position.scores
        assert player.result.outcome == game.over.reason
    assert players[0].views[0].seed != players[1].views[0].seed


def test_a_game_can_be_replayed_from_its_record(field: Field, tmp_path: Path) -> None:
    out = tmp_path / "games.jsonl"
    play(field, "rh", "vanilla", seed=8, out=out)
    for line in out.read_text().splitlines()[1:]:
        record = json.loads(line)
        game = Games(("rh", "vanilla"), field, 8).replayed(record)
        assert game.over is not None
        assert len(game.turns) == len(record["moves"])
        begins = record["number"] % 2
        scores = game.position.scores
        assert record["scores"] == [scores[begins], scores[1 - begins]]
        with pytest.raises(ValueError, match="rack"):
            Games(("rh", "vanilla"), field, 9).replayed(record)

"""``experiment oracle``: choices judged, sums worked by hand, and the command."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from command_line import CommandLine
from interrupts import interrupted

from bot.player import Budget, Choice, View
from bot.players.static import StaticPlayer
from engine.endgame.solver import EndgameSolver
from engine.movegen.generator import Generator, passing
from engine.notation.cgp import read_cgp, write_cgp
from engine.preendgame import MOST_IN_BAG
from engine.preendgame.judging import CASES, judge
from engine.rules.moves import PASS
from engine.rules.rule_sets import load_rules
from engine.rules.rules import Rules, standard_rules
from harness.lab.in_process import view_of
from harness.lab.positions import situation_in_play
from harness.lab.rows import as_text
from harness.lab.studies.calibration import Calibration
from harness.lab.studies.duel import Games
from harness.lab.studies.oracle import STRATA, Oracle
from harness.lab.study_context import Field
from lexicons.tables import win_probabilities_for
from lexicons.win_probability import write_win_probabilities

RULES = standard_rules()


class Passes(StaticPlayer):
    """Passes, but sees first that it was told the game so far."""

    def new_game(self, view: View) -> None:
        self.begun = view

    def choose(self, view: View, budget: Budget) -> Choice:
        assert view is self.begun
        assert len(view.rack) == 7 or view.bag == 0
        assert view.position.racks[view.opponent] == ()
        totals = view.history[-1].scores if view.history else (0, 0)
        assert totals == view.position.scores
        return Choice(PASS)


def oracle(field: Field, *seats: str, plies: int = 2) -> Oracle:
    chances = win_probabilities_for(RULES.distribution)
    first, second = seats
    return Oracle((first, second), field, 3, chances, plies, 200)


def test_a_better_choice_wins_more_often(field: Field) -> None:
    passes = f"{__file__}:Passes"
    found = [oracle(field, "static", passes).record(number) for number in range(3)]
    assert all(record["win"] > 0 and record["points"] > 0 for record in found)
    assert {record["moves"][1] for record in found} == {"-"}
    mirror = oracle(field, passes, "static")
    for number, record in enumerate(found):
        other = mirror.record(number)
        assert (other["cgp"], other["moves"]) == (record["cgp"], record["moves"][::-1])
        assert other["win"] == pytest.approx(-record["win"], abs=0.1)
        assert read_cgp(record["cgp"], RULES).racks[0]


@pytest.mark.parametrize(
    ("seats", "count", "says"),
    [
        (("static", "static"), 0, "at least one"),
        (("rhh", "static"), 1, "'rhh'"),
        (("static", "rhh"), 1, "'rhh'"),
    ],
)
def test_a_study_needs_positions_and_seats(
    field: Field, seats: tuple[str, str], count: int, says: str
) -> None:
    for study in (oracle(field, *seats), Calibration(Games(seats, field, 3), racks=100)):
        with pytest.raises(ValueError, match=says):
            study.check(count)


def test_equals_differ_in_nothing(field: Field) -> None:
    record = oracle(field, "static", "static?").record(0)
    assert (record["win"], record["points"]) == (0, 0)
    assert record["moves"][0] == record["moves"][1]


def test_a_longer_judge_looks_further(field: Field) -> None:
    short, long = (oracle(field, "static", "greedy", plies=plies) for plies in (1, 64))
    records = [(short.record(number), long.record(number)) for number in range(4)]
    differ = [pair for pair in records if pair[0]["moves"][0] != pair[0]["moves"][1]]
    assert differ
    assert all(one["moves"] == other["moves"] for one, other in records)
    assert any(one["points"] != other["points"] for one, other in differ)


def test_pre_endgames_are_judged_by_solved_endgames(field: Field) -> None:
    passes = f"{__file__}:Passes"
    study, mirror = (
        replace(oracle(field, *seats), plies=None)
        for seats in (("static", passes), (passes, "static"))
    )
    number = 95  # one tile in the bag, quickly solved
    record, other = study.record(number), mirror.record(number)
    assert record["bag"] <= MOST_IN_BAG
    assert (record["win"] > 0, record["points"] > 0) == (True, True)
    assert (other["win"], other["points"]) == pytest.approx((-record["win"], -record["points"]))
    situation = situation_in_play(field, 3, number, range(1, 5))
    assert write_cgp(situation.position, RULES) == record["cgp"]
    generator = Generator(field.lexicon, RULES, field.leaves)
    solver = EndgameSolver(field.lexicon, RULES, memory=32 << 20)
    moves = generator.best(situation.position)[0], passing(situation.position)
    verdict = judge(solver, generator, situation.position, moves, seed=1)
    assert verdict.points == pytest.approx(record["points"], abs=4 * verdict.points_error + 1)
    assert study.settings()["judge_cases"] == CASES
    assert replace(study, plies=2).settings()["judge_cases"] is None


def test_a_view_in_mid_game_has_its_history(field: Field) -> None:
    situation = situation_in_play(field, 3, 1)
    view = view_of(situation, field, 5)
    assert view.position == situation.position
    assert [play.seq for play in view.history] == list(range(1, len(situation.turns) + 1))
    assert [play.score for play in view.history] == [turn.score for turn in situation.turns]


def test_gains_by_hand(field: Field) -> None:
    def record(bag: int, win: float, *moves: str) -> dict[str, Any]:
        return {"bag": bag, "win": win, "points": 100 * win, "moves": list(moves)}

    records = [
        record(5, 0.1, "8D AB", "8D AC"),
        record(6, -0.04, "8D AB", "-"),
        record(30, 0.0, "-", "-"),
        record(31, 0.0, "-", "-"),
    ]
    study = oracle(field, "static", "greedy")
    few, many, game = study.summary(records)["positions"]
    assert (few.bag, many.bag, game.bag) == ("5-7", "15-40", "together")
    assert (few.positions, few.differ, many.differ) == (2, 1, 0)
    assert (few.win, few.points) == pytest.approx((0.03, 3))
    assert few.win_error == pytest.approx(0.07), "0.14 / √2 / √2"
    assert (many.win, many.win_error) == (0, 0)
    assert (0.2 < few.turns < 0.6, 2 < many.turns < 5) == (True, True), "in static games"
    assert few.game_win == pytest.approx(few.turns * 0.03)
    assert game.positions == 4
    assert game.turns == pytest.approx(few.turns + many.turns)
    assert (game.game_win, game.game_win_error) == (few.game_win, few.game_win_error)
    assert (game.game_points, game.win) == pytest.approx((few.turns * 3, few.game_win / game.turns))
    shown = as_text(study.summary(records), 80)
    assert max(map(len, shown.splitlines())) <= 80
    assert study.summary(records[:1])["positions"][0].win_error is None
    assert study.summary([])["positions"] == []


def test_each_stratum_has_its_positions(field: Field) -> None:
    study = oracle(field, "static", "static")
    bags = [study.record(number)["bag"] for number in study.numbers(10)]
    assert [
        bag in some for bag, some in zip(bags, 2 * list(STRATA.values()), strict=True)
    ] == 10 * [True]
    late = replace(study, bags=("5-7", "1-4"))
    assert list(late.numbers(4)) == [0, 1, 5, 6]
    assert late.settings() == study.settings()


def test_all_strata_are_a_game_with_any_number_of_tiles(field: Field) -> None:
    def turns(rules: Rules) -> list[float]:
        study = oracle(Field.of(field.lexicon, rules), "static", "static")
        records = [
            {"bag": tiles.start, "win": 0.0, "points": 0.0, "moves": ["-", "-"]}
            for tiles in study.strata.values()
        ]
        rows = study.summary(records)["positions"]
        full = rules.distribution.total - 14
        assert [row.bag for row in rows[-2:]] == [f"41-{full}", "a game"]
        return [row.turns for row in rows]

    *_, usual, _ = turns(RULES)
    *few, many, game = turns(load_rules("super"))
    assert many > 2 * usual
    assert game == pytest.approx(sum(few) + many)


def test_an_oracle_is_resumed(tilewire: CommandLine, tmp_path: Path, field: Field) -> None:
    out = tmp_path / "oracle.jsonl"
    judge = ("--judge-plies", 2, "--judge-rollouts", 50, "--seed", 2)
    command = ("experiment", "oracle", "static", "greedy", *judge, "--out", out)
    assert tilewire(*command, "--positions", 1) == 0, tilewire.err
    before = out.read_bytes()
    assert tilewire(*command, "--positions", 3, "--json") == 0, tilewire.err
    assert out.read_bytes().startswith(before)
    rows = json.loads(tilewire.out)
    assert (rows[-1]["bag"], rows[-1]["positions"]) == ("together", 3)
    assert sum(row["positions"] for row in rows[:-1]) == 3
    assert tilewire(*command, "--positions", 3, "--winprob", "trained") == 0
    assert "wins a game" in tilewire.out
    some = tilewire.json(*command, "--positions", 2, "--bag", "5-7", "--bag", "1-4")
    assert [row["bag"] for row in some] == ["1-4", "5-7", "together"]
    table = win_probabilities_for(RULES.distribution)
    write_win_probabilities(tmp_path / "new.csv", replace(table, spreads=table.spreads + 1))
    assert tilewire(*command, "--positions", 3, "--winprob", tmp_path / "new.csv") == 2
    assert "has results with winprob" in tilewire.err


def test_an_interrupt_shows_what_there_is(tmp_path: Path) -> None:
    out = tmp_path / "oracle.jsonl"
    judge = ("--judge-plies", "2", "--judge-rollouts", "50", "--positions", "100000")
    status, printed, told = interrupted(out, 3, "experiment", "oracle", "static", "greedy", *judge)
    assert status == 130, told
    assert "wins a game" in printed
    assert f"the same command goes on with {out}" in told

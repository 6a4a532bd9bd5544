"""Short simulations held against long ones: positions, results files, and sums worked by hand."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from command_line import CommandLine
from interrupts import interrupted

from bot.cores import usable_cores
from engine.movegen.generator import Generator
from engine.rules.moves import PASS, Direction, Exchange, Place
from engine.rules.position import bag_count
from engine.rules.rules import check_move, standard_rules
from engine.simulation.selfplay import play_static_games
from engine.simulation.simulation import Simulation
from harness.lab.sampled_positions import situation, situation_in_play, varied_situations
from harness.lab.studies.record_file import open_lines
from harness.lab.studies.regret import regret_rows
from harness.lab.studies.searches import Ground, Searches, Values, search_for
from harness.lab.study_context import Field
from lexicons.leaves import LeaveTable
from lexicons.store import load_lexicon
from lexicons.tables import win_probabilities_for
from lexicons.win_probability import write_win_probabilities


@pytest.fixture(scope="module")
def field() -> Field:
    return Field.of(load_lexicon(), standard_rules(), None, "")


# --- positions ------------------------------------------------------------------------------------


def test_a_position_is_where_its_turns_lead(field: Field) -> None:
    games = play_static_games(field.lexicon, field.rules, field.leaves, 3, seed=4, record=True)
    for game in range(3):
        last = int(games.turns[game]) - 1
        whole = situation(games, game, last, field.rules)
        for turn in range(last):
            before = situation(games, game, turn, field.rules)
            taken = whole.turns[turn]
            play = check_move(
                before.position, taken.move, field.rules, field.lexicon.graph.contains, before.bag
            )
            assert taken.score == (play.score if play else 0)
            after = situation(games, game, turn + 1, field.rules)
            assert after.position.scores == taken.scores
            assert after.bag == taken.bag == bag_count(after.position, field.rules)
            scoreless = 0 if play else before.position.scoreless_turns + 1
            assert after.position.scoreless_turns == scoreless
            assert before.turns == whole.turns[:turn]


def test_positions_in_play_have_a_bag_and_a_game_each(field: Field) -> None:
    found = [
        situation_in_play(field.lexicon, field.rules, field.leaves, 5, number)
        for number in range(12)
    ]
    assert all(one.bag > 0 for one in found)
    assert len({one.position for one in found}) == 12
    again = situation_in_play(field.lexicon, field.rules, field.leaves, 5, 11)
    assert again == found[11]
    other = situation_in_play(field.lexicon, field.rules, field.leaves, 6, 11)
    assert other != found[11]


def test_varied_positions(field: Field) -> None:
    found = varied_situations(field.lexicon, field.rules, field.leaves, 100, 1)
    assert len(found) == 100
    assert any(one.bag == 0 for one in found)
    assert any(0 < one.bag < 7 for one in found)
    generator = Generator(field.lexicon, field.rules, field.leaves)
    for one in found[::20]:
        (only,) = generator.best(one.position, 2)
        assert one.bag == 0 or only.move == PASS
    kinds = {type(turn.move) for one in found for turn in one.turns}
    assert kinds >= {Place, Exchange}


# --- searches -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def ground(field: Field) -> Ground:
    chances = win_probabilities_for(field.rules.distribution)
    assert chances is not None
    return Ground(field.lexicon, field.rules, field.leaves, chances, 4, 2, 9)


def test_a_search_ends_with_its_time(ground: Ground) -> None:
    searches = Searches(ground, 0)
    begun: list[Simulation] = []

    def clock() -> float:
        return sum(one.rollouts for one in begun) / 10_000

    def begin() -> Simulation:
        begun.append(searches.begin("equal", 0))
        return begun[-1]

    assert 195 <= search_for(begin, 0.020, until_certain=False, clock=clock).rollouts <= 205
    assert search_for(begin, 0.0, clock=clock).rollouts == 0


def test_what_a_simulation_says_is_by_candidate(ground: Ground) -> None:
    searches = Searches(ground, 1)
    simulation = searches.begin("top-two", 3)
    simulation.advance(200)
    values = Values.of(simulation)
    assert sum(values.samples) == 200
    for estimate in simulation.estimates():
        at = [one.move for one in searches.candidates].index(estimate.move)
        assert (values.samples[at], values.win[at]) == (estimate.samples, estimate.win)
        assert values.equity_error[at] == estimate.equity_error
    same = searches.begin("top-two", 3)
    same.advance(200)
    assert Values.of(same) == values
    other = searches.begin("top-two", 4)
    other.advance(200)
    assert Values.of(other) != values


def test_what_is_the_same_by_symmetry_is_searched_once(ground: Ground) -> None:
    opening = next(
        number
        for number in count()
        if situation_in_play(
            ground.lexicon, ground.rules, ground.leaves, ground.seed, number
        ).position.board.is_empty
    )
    moves = [one.move for one in Searches(ground, opening).candidates]
    assert len(moves) == ground.candidates
    assert all(one.direction is Direction.ACROSS for one in moves if isinstance(one, Place))


def test_tables_are_told_apart_by_what_they_hold(ground: Ground) -> None:
    same = LeaveTable(ground.leaves.distribution, ground.leaves.values.copy())
    assert ground._replace(leaves=same).about() == ground.about()
    other = ground._replace(leaves=LeaveTable.zero(ground.leaves.distribution))
    assert other.about()["leaves"] != ground.about()["leaves"]
    table = ground.win_probabilities
    moved = ground._replace(win_probabilities=replace(table, spreads=table.spreads + 1))
    assert moved.about()["winprob"] != ground.about()["winprob"]


# --- sums -----------------------------------------------------------------------------------------


def values(win: list[float], samples: int = 100) -> dict[str, Any]:
    """Make up what a simulation says; equities are all 0 and errors a hundredth."""
    alike = {"equity": [0.0] * len(win), "equity_error": [0.01] * len(win)}
    errors = {"samples": [samples] * len(win), "win_error": [0.01] * len(win)}
    return {"win": win, **errors, **alike}


def test_regret_by_hand() -> None:
    def choice(rule: str, chosen: int) -> dict[str, Any]:
        return {"rule": rule, "time_ms": 50, "chosen": chosen, "rollouts": 500}

    records: list[dict[str, Any]] = [
        {
            "number": 0,
            "reference": [values([0.5, 0.6, 0.4]), values([0.5, 0.56, 0.58])],
            "choices": [choice("top-two", 1), choice("equal", 2)],
        },
        {"number": 1, "reference": None, "choices": []},  # one move: nothing to regret
    ]
    static, top, equal = regret_rows(records, ("top-two", "equal"), (50,))
    assert (static.rule, static.time_ms, static.positions) == ("static", 0, 2)
    assert static.regret == pytest.approx(100 * (0.58 - 0.5) / 2)
    assert (top.regret, top.same, top.rollouts) == (0.0, 1.0, 250)
    assert equal.regret == pytest.approx(100 * (0.58 - 0.49) / 2)
    # One half says 1, which the other holds 0.02 worse than 2; that says 2, 0.2 worse than 1 here.
    assert equal.at_least == pytest.approx(100 * (-0.02 + 0.0) / 2 / 2)
    assert top.at_least == pytest.approx(100 * (0.0 - 0.2) / 2 / 2)
    assert top.over_equal == pytest.approx(-100 * (0.58 - 0.49) / 2)
    assert equal.over_equal is None
    assert regret_rows([], ("equal",), (50,))[0].regret is None


# --- files ----------------------------------------------------------------------------------------


def test_a_file_is_gone_on_with(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    with open_lines(path, {"seed": 1, "times": (5, 6)}) as lines:
        lines.add({"number": 3})
        lines.add({"number": 0, "found": [1.5]})
    with path.open("ab") as file:
        file.write(b'{"number": 1, "fou')  # killed in the middle of a line
    with open_lines(path, {"seed": 1, "times": (5, 6)}) as lines:
        assert lines.records == [{"number": 0, "found": [1.5]}, {"number": 3}]
        assert lines.missing(5) == [1, 2, 4]
        lines.add({"number": 1})
        with (
            pytest.raises(ValueError, match="another experiment writes"),
            open_lines(path, {"seed": 1}),
        ):
            pass
    assert len(path.read_bytes().splitlines()) == 4


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ('{"seed": 2}\n', r"with seed 2, not 1; go on with the same"),
        ('{"seed": 1, "more": 0}\n', r"with more 0, not None"),
        ("no JSON\n", r"line 1 is no result of an experiment; name another file"),
        ('{"seed": 1}\n{"number": null}\n', r"line 2 is no result"),
        ('{"seed": 1}\n[]\n', r"line 2 is no result"),
        ('{"seed": 1}\n{}\n', r"line 2 is no result"),
        ("something", r"holds no results of this experiment; remove it, or name another file"),
    ],
)
def test_other_files_are_left_alone(tmp_path: Path, content: str, says: str) -> None:
    path = tmp_path / "other"
    path.write_text(content)
    with pytest.raises(ValueError, match=says), open_lines(path, {"seed": 1}):
        pass
    assert path.read_text() == content


@pytest.mark.parametrize("content", ["", "{", '{"seed": 1}'])
def test_a_file_is_begun_again_if_its_first_line_was_cut_short(
    tmp_path: Path, content: str
) -> None:
    path = tmp_path / "results.jsonl"
    path.write_text(content)
    with open_lines(path, {"seed": 1}) as lines:
        assert lines.missing(2) == [0, 1]
        lines.add({"number": 1})
    assert path.read_text() == '{"seed": 1}\n{"number": 1}\n'


def test_parts_of_an_experiment_have_numbers_of_their_own(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    for at in (path, None):
        with open_lines(at, {"seed": 1}) as lines:
            one, other = lines.of(who=["a", "b"]), lines.of(who=["a"])
            one.add({"number": 1})
            other.add({"number": 0})
            assert (one.missing(2), other.missing(2)) == ([0], [1])
    with open_lines(path, {"seed": 1}) as lines:
        assert lines.of(who=["a", "b"]).records == [{"who": ["a", "b"], "number": 1}]
        assert len(lines.records) == 2


# --- the commands ---------------------------------------------------------------------------------


def test_regret_is_measured_and_gone_on_with(
    tilewire: CommandLine, tmp_path: Path, ground: Ground
) -> None:
    out = tmp_path / "regret.jsonl"
    given = (
        *("--times", "5ms,10ms", "--reference", "400ms", "--rules", "top-two,equal"),
        *("--candidates", 3, "--plies", 1, "--seed", 2, "--out", out),
    )
    assert tilewire("experiment", "regret", *given, "--positions", 1) == 0, tilewire.err
    assert tilewire("experiment", "regret", *given, "--positions", 3, "--json") == 0
    rows = json.loads(tilewire.out)
    assert [(one["rule"], one["time_ms"]) for one in rows] == [
        ("static", 0),
        *((rule, time) for time in (5, 10) for rule in ("top-two", "equal")),
    ]
    assert {one["positions"] for one in rows} == {3}
    assert all(one["regret"] >= 0 for one in rows)
    head, *records = map(json.loads, out.read_text().splitlines())
    assert head["experiment"] == "regret"
    assert sorted(one["number"] for one in records) == [0, 1, 2]
    assert len(records[0]["choices"]) == 4
    again = ("experiment", "regret", *given, "--positions", 3, "--winprob")
    assert tilewire(*again, "trained") == 0, "it is the players' own"
    table = ground.win_probabilities
    write_win_probabilities(tmp_path / "new.csv", replace(table, spreads=table.spreads + 1))
    assert tilewire(*again, tmp_path / "new.csv") == 2
    assert f"with winprob {ground.about()['winprob']}, not" in tilewire.err


@pytest.mark.parametrize(
    ("what", "options", "says"),
    [
        ("regret", ("--rules", "best"), "no rule is called 'best'"),
        ("regret", ("--times", "5"), "--times: '5' is no duration"),
        ("regret", ("--times", "0ms"), "--times must be at least 1ms (got 0s)"),
        ("regret", ("--candidates", "0"), "--candidates must be at least 1 (got 0)"),
        ("regret", ("--positions", "-1"), "--positions must be at least 1 (got -1)"),
        ("regret", ("--workers", f"{usable_cores() + 1}"), "need a core each"),
        ("regret", ("--reference", "1ms"), "1 ms is too short here to sample each of 15"),
    ],
)
def test_what_can_not_be_measured(
    tilewire: CommandLine, tmp_path: Path, what: str, options: tuple[str, str], says: str
) -> None:
    given = {"--out": str(tmp_path / "out.jsonl"), options[0]: options[1]}
    assert tilewire("experiment", what, *(part for pair in given.items() for part in pair)) == 2
    assert says in tilewire.err


def test_an_interrupt_shows_what_there_is(tmp_path: Path) -> None:
    out = tmp_path / "regret.jsonl"
    given = ("--times", "5ms", "--reference", "200ms", "--candidates", "3", "--positions", "100000")
    status, printed, told = interrupted(out, 3, "experiment", "regret", *given)
    assert status == 130, told
    assert "top-two" in printed
    assert f"the same command goes on with {out}" in told

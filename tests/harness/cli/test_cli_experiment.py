"""``experiment duel``, ``experiment cs221`` and ``leaves``: what they print."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import Mock

import pytest
from command_line import CommandLine

from harness.cli.study_run import StudyRun
from harness.lab.studies.duel import CS221_PLAYERS
from lexicons.alphabet import load_distribution
from lexicons.formula_leaves import formula_leaves
from lexicons.klv import write_klv
from lexicons.leaves import LeaveTable
from lexicons.rack_features import RackWeights, feature_names, write_rack_weights


def test_duels_name_players_and_tables(tilewire: CommandLine, tmp_path: Path) -> None:
    zero = tmp_path / "zero.klv2"
    write_klv(zero, LeaveTable.zero(load_distribution()))
    for one, other in (("trained", "greedy"), ("formula", "vanilla"), ("rh", str(zero))):
        (found,) = tilewire.json("experiment", "duel", one, other, "--games", 4)
        assert (found["player"], found["opponent"], found["games"]) == (one, other, 4)
    assert tilewire("experiment", "duel", "trained", "greedy", "--games", 4) == 0
    printed = tilewire.out
    (found,) = tilewire.json("experiment", "duel", "trained", "greedy", "--games", 4)
    assert f" ± {found['error']:.2f} " in printed, "both are half the width of the interval"


def test_seats_without_a_time_or_by_work_meet_turn_by_turn_and_may_share_a_core(
    tilewire: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _process: {0})
    out = tmp_path / "games.jsonl"
    command = ("experiment", "duel", "rh", "mc?samples=2", "--games", 4, "--out", out)
    (found,) = tilewire.json(*command, "--workers", 2)
    assert (found["player"], found["opponent"], found["games"]) == ("rh", "mc?samples=2", 4)
    before = out.read_bytes()
    assert tilewire(*command) == 0, tilewire.err
    assert out.read_bytes() == before
    assert tilewire("experiment", "duel", "trained", "rh", "--games", 4, "--out", out) == 2
    assert "--out" in tilewire.err
    by_work = ("--by-work", "--games", 4, "--workers", 2)
    assert tilewire("experiment", "duel", "trained", "rh", *by_work) == 2
    assert "--by-work" in tilewire.err
    monkeypatch.setattr(StudyRun, "work", Mock())
    assert tilewire("experiment", "duel", "sim?time=1ms", "static", *by_work) == 0, tilewire.err
    assert tilewire("experiment", "duel", "trained", "sim", "--games", 4) == 2
    assert "sim" in tilewire.err


@pytest.mark.parametrize(
    "timed",
    [
        ("duel", "sim?time=10ms", "static"),
        ("duel", "static", "full-knowledge?time=10ms"),
        ("calibration",),
    ],
)
def test_seats_with_a_time_have_a_core_each(
    tilewire: CommandLine, monkeypatch: pytest.MonkeyPatch, timed: tuple[str, ...]
) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _process: {0})
    assert tilewire("experiment", *timed, "--workers", 2) == 2
    assert "--workers 2" in tilewire.err


def test_the_tables_of_cs221(tilewire: CommandLine, tmp_path: Path) -> None:
    command = ("experiment", "cs221", "--games", 4, "--out", tmp_path / "g.jsonl")
    assert tilewire(*command) == 0
    rows = [tuple(line.split()[:2]) for line in tilewire.out.splitlines()[2:]]
    in_kernels = [("static", "rh"), ("static", "vanilla"), ("rh", "vanilla")]
    turn_by_turn = [(player, "vanilla") for player in ("vanilla", "rh", "mc", "mc+rh")]
    assert rows == in_kernels + turn_by_turn
    assert len((tmp_path / "g.jsonl").read_text().splitlines()) == 1 + 16
    assert len(tilewire.json(*command)) == 3 + 4
    assert len((tmp_path / "g.jsonl").read_text().splitlines()) == 1 + 16


def test_the_tables_of_cs221_in_another_language(tilewire: CommandLine, tmp_path: Path) -> None:
    words, weights = tmp_path / "words.txt", tmp_path / "a & b.json"
    words.write_text("ÄR\nÖDE\nRÄDERN\nSEIN\nREISEN\nSO\nES\nNIE\n", encoding="utf-8")
    letters = load_distribution("german").alphabet.letters
    write_rack_weights(weights, RackWeights(letters, (0.5,) * len(feature_names(letters))))
    command = ("experiment", "cs221", "--rules", "german", "--lexicon", words, "--games", 4)
    found = tilewire.json(*command, "--weights", weights)
    assert [row["player"].partition("?")[0] for row in found[3:]] == list(CS221_PLAYERS)
    assert tilewire(*command) == 2
    assert "german" in tilewire.err


def test_what_leaves_are_worth(tilewire: CommandLine) -> None:
    formula = formula_leaves(load_distribution())
    assert tilewire("leaves", "?", "QU", "--table", "formula", "--top", 3) == 0
    lines = tilewire.out.splitlines()
    alphabet = formula.distribution.alphabet
    for line, leave in zip(lines[2:4], ("?", "QU"), strict=True):
        worth = formula.value(alphabet.tiles(leave))
        assert line.split() == [leave, f"{worth:+.2f}".replace("-", "−")]
    _, best, most, worst, least = lines[-3].split()
    highest = max(formula.values.tolist()) / 1000
    assert formula.value(alphabet.tiles(best)) == highest == float(most)
    lowest = min(formula.values.tolist()) / 1000
    assert formula.value(alphabet.tiles(worst)) == lowest == float(least.replace("−", "-"))
    assert tilewire("leaves") == 0
    assert len(tilewire.out.splitlines()) == 2 + 27, "all tiles without a leave"


def test_a_leave_may_be_in_small_letters_and_a_formula_is_said_to_be_one(
    tilewire: CommandLine,
) -> None:
    assert tilewire("leaves", "aeinst") == 0
    small = tilewire.out
    assert tilewire("leaves", "AEINST") == 0
    assert tilewire.out == small
    assert "formula" not in tilewire.err
    assert tilewire("leaves", "Ż", "--distribution", "polish") == 0
    assert "formula" in tilewire.err

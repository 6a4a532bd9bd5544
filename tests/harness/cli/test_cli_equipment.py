"""What a command gives its seats, ``--leaves`` for instance, is checked before anything starts."""

from __future__ import annotations

import hashlib
import json
import shutil
from dataclasses import replace
from pathlib import Path
from unittest.mock import AsyncMock

import pytest
from command_line import CommandLine
from lexicon_parts import leaves_worth

from harness.cli.options import TableOptions, notice_once
from harness.matches.config import read_config
from harness.matches.tournament import Tournament
from lexicons.alphabet import load_distribution
from lexicons.klv import write_klv
from lexicons.leaves import LeaveTable
from lexicons.manifest import write_manifest
from lexicons.tables import trained_manifest

EMPTY = "/".join(["15"] * 15)
COMMANDS = {
    "match": ("match", "static", "greedy", "--out", "out"),
    "serve": ("serve", "--port", "0", "--db", "out"),
    "connect": ("connect", "ws://127.0.0.1:1", "--bot", "static"),
}


@pytest.fixture
def tilewire(tilewire: CommandLine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> CommandLine:
    monkeypatch.chdir(tmp_path)
    return tilewire


@pytest.fixture
def nobody_plays(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have matches end before their first game."""
    monkeypatch.setattr(Tournament, "play", AsyncMock())


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A list of words; tables that are broken, or for other tiles."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "few.txt").write_text("cat\nact\nat\n")
    (folder / "broken").write_text("nothing of the sort")
    (folder / "percent.csv").write_text(",0,1\n1,100,75\n")
    write_klv(folder / "polish.klv2", leaves_worth(load_distribution("polish"), {(29,): 3.0}))
    write_klv(folder / "zero.klv2", LeaveTable.zero(load_distribution()))
    return folder


@pytest.fixture
def files(made: Path, tmp_path: Path) -> Path:
    """These, for a test to do with as it likes."""
    return shutil.copytree(made, tmp_path, dirs_exist_ok=True)


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("options", "word"),
    [
        (("--lexicon", "nosuch"), "'nosuch'"),
        (("--leaves", "broken"), "broken"),
        (("--leaves", "polish.klv2"), "polish.klv2"),
        (("--winprob", "percent.csv"), "percent.csv, line 2"),
        (("--threads", "0"), "--threads"),
    ],
)
def test_what_is_wrong_is_one_sentence_and_nothing_starts(
    tilewire: CommandLine, files: Path, command: str, options: tuple[str, str], word: str
) -> None:
    lexicon = () if "--lexicon" in options else ("--lexicon", "few.txt")
    assert tilewire(*COMMANDS[command], *lexicon, *options) == 2, tilewire.err
    last = tilewire.err.splitlines()[-1]
    assert last.startswith("tilewire: ")
    assert word in last
    assert "Traceback" not in tilewire.err
    assert not (files / "out" / "match.json").exists()
    assert not (files / "out").is_file()


@pytest.mark.parametrize(
    ("command", "options"),
    [
        ("match", "--threads 3 --concurrency 2"),
        ("match", "--ponder --concurrency 2"),
        ("match", "--ponder --threads 2"),
        ("serve", "--ponder --max-games 4"),
        ("connect", "--ponder --threads 4"),
    ],
)
def test_players_that_would_share_a_core_are_refused(
    tilewire: CommandLine,
    files: Path,
    monkeypatch: pytest.MonkeyPatch,
    command: str,
    options: str,
) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _process: {0, 1, 2})
    given = options.split()
    assert tilewire(*COMMANDS[command], "--lexicon", "few.txt", *given) == 2
    assert given[-2] in tilewire.err
    assert not (files / "out").exists()


@pytest.mark.usefixtures("nobody_plays")
def test_a_match_with_pondering_is_taken_up_only_where_the_cores_are(
    tilewire: CommandLine, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _process: {0, 1})
    few = ("--lexicon", "few.txt", "--time", "1m", "--ponder")
    assert tilewire(*COMMANDS["match"], *few) == 0, tilewire.err
    assert read_config(files / "out").equipment.ponder
    monkeypatch.setattr("os.sched_getaffinity", lambda _process: {0})
    assert tilewire("match", "--resume", files / "out") == 2
    assert "--ponder" in tilewire.err


@pytest.mark.usefixtures("nobody_plays")
def test_a_match_keeps_what_its_seats_are_given(tilewire: CommandLine, files: Path) -> None:
    (files / "winpct.csv").write_text(",0,1\n1,1,0.75\n0,0.5,0.5\n")
    given = ("--leaves", "zero.klv2", "--winprob", "winpct.csv", "--threads", "2")
    options = ("--lexicon", "few.txt", "--time", "1m", "--seed", "1")
    assert tilewire(*COMMANDS["match"], *options, *given) == 0, tilewire.err
    equipment = read_config(files / "out").equipment
    assert equipment.leaves == str(files / "zero.klv2")
    assert equipment.win_probabilities == str(files / "winpct.csv")
    assert equipment.threads == 2
    (files / "zero.klv2").unlink()
    assert tilewire("match", "--resume", files / "out") == 2
    assert "zero.klv2" in tilewire.err


def test_names_stay_names_whatever_lies_in_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("scowl", "english", "own", "formula"):
        (tmp_path / name).touch()
    for named in ("scowl", "english", "formula"), ("none", "none", "trained"):
        given = TableOptions(named[0], named[2]).equipment(rules=named[1])
        assert (given.lexicon, given.rules, given.leaves) == named
    given = TableOptions("own", "./formula").equipment(rules="./english")
    files = tuple(str(tmp_path / name) for name in ("own", "english", "formula"))
    assert (given.lexicon, given.rules, given.leaves) == files


def doubts(text: str) -> list[str]:
    return [line for line in text.splitlines() if "trained on" in line]


@pytest.mark.usefixtures("nobody_plays")
def test_a_match_tells_once_of_tables_that_were_trained_on_other_words(
    tilewire: CommandLine, files: Path
) -> None:
    options = ("--lexicon", "few.txt", "--time", "1m", "--winprob", "trained", "--json")
    assert tilewire(*COMMANDS["match"], *options) == 0, tilewire.err
    leaves, winprob = doubts(tilewire.err)
    assert "tilewire train leaves" in leaves
    assert "win probabilities" in winprob
    assert doubts(tilewire.out) == []
    json.loads(tilewire.out.splitlines()[-1])
    assert tilewire("match", "--resume", files / "out") == 0
    assert len(doubts(tilewire.err)) == 2


def test_a_manifest_beside_a_table_says_what_it_was_trained_on(
    tilewire: CommandLine, files: Path
) -> None:
    sha256 = hashlib.sha256((files / "zero.klv2").read_bytes()).hexdigest()
    made = replace(trained_manifest("leaves"), sha256=sha256, lexicon="many")
    write_manifest(files / "zero.klv2", made)
    given = ("generate", f"{EMPTY} ACT/ 0/0 0", "--leaves", "zero.klv2")
    assert tilewire(*given, "--lexicon", "few.txt", "--json") == 0
    (sentence,) = doubts(tilewire.err)
    assert "zero.klv2" in sentence
    assert list(json.loads(tilewire.out)) == ["count", "moves"]
    assert tilewire(*given) == 0, "the words are those of scowl, whatever they are called"
    assert doubts(tilewire.err) == []
    (files / "zero.klv2.json").write_text("{")
    for command in (given, (*COMMANDS["match"], "--leaves", "zero.klv2")):
        assert tilewire(*command) == 2
        assert "zero.klv2.json" in tilewire.err


def test_what_processes_say_is_told_once_and_made_safe(capsys: pytest.CaptureFixture[str]) -> None:
    tell = notice_once()
    for sentence in ("compiling", "compiling", "\x1b[31mred", "x" * 5_000):
        tell(sentence)
    for number in range(1_000):
        tell(str(number))
    first, red, long, *more = capsys.readouterr().err.splitlines()
    assert first == "tilewire: compiling"
    assert "\x1b" not in red
    assert len(long) < 300
    assert len(more) < 50

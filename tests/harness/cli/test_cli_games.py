"""``tilewire games``: the games of a real match, from its journal."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from command_line import CommandLine
from event_samples import write_event
from match_samples import ended, opened
from msgspec.structs import replace
from tables import MINUTE, SHORT, Play

from harness.arbiter.database import JournalError
from harness.arbiter.journal import Journal
from harness.arbiter.journal_reading import read_ends, read_past
from harness.matches.folder import Corrected, MatchFolder
from harness.matches.results import game_record


@pytest.fixture
def match(tmp_path: Path) -> Path:
    """A match of two games."""
    write_event(tmp_path / "m", ("greedy-1", "greedy-2"))
    return tmp_path / "m"


def test_games_are_listed_and_written(tilewire: CommandLine, match: Path, tmp_path: Path) -> None:
    journal, out = match / "match.db", tmp_path / "gcgs"
    assert tilewire("games", journal) == 0
    _, _, *rows = tilewire.out.splitlines()
    printed = tilewire.out
    assert tilewire("games", match) == 0
    assert tilewire.out == printed
    assert tilewire("games", match.parent) == 2
    assert tilewire("games", journal, "--json") == 0
    listed = [json.loads(line) for line in tilewire.out.splitlines()]
    for row, one in zip(rows, listed, strict=True):
        begun = datetime.fromisoformat(one["begun"])
        assert begun.tzinfo == UTC
        assert row.startswith(begun.astimezone().strftime("%Y-%m-%d %H:%M "))
        assert f"{one['number']} {one['game']}" in row
        assert one["outcome"] in ("out", "zeroes")
    (tmp_path / "words.txt").write_text("aa\n")
    assert tilewire("games", journal, "--out", out, "--lexicon", tmp_path / "words.txt") == 0
    assert "0 of 2 games" in tilewire.err
    assert tilewire("games", journal, "--out", out) == 0, tilewire.err
    assert "2 of 2 games" in tilewire.err
    assert {path.stem for path in out.glob("*.gcg")} == {one["game"] for one in listed}
    assert tilewire("games", journal, "--out", tmp_path / "monthly", "--by-month") == 0
    months = {f"{datetime.fromisoformat(one['begun']):%Y-%m}" for one in listed}
    assert {path.parent.name for path in tmp_path.glob("monthly/*/*.gcg")} == months
    assert tilewire("games", journal, "--by-month") == 2
    assert "--out" in tilewire.err


def test_a_journal_of_others_writes_nothing_outside_the_folder(
    tilewire: CommandLine, match: Path, tmp_path: Path
) -> None:
    with closing(sqlite3.connect(match / "match.db")) as journal, journal:
        first, second = sorted(game for (game,) in journal.execute("SELECT game FROM games"))
        for table in ("games", "records", "clock_notes"):
            journal.execute(f"UPDATE {table} SET game = '../away' WHERE game = ?", (first,))
        journal.execute(
            f"UPDATE records SET content = replace(content, '{first}', '../away') WHERE number = 0"
        )
    out = tmp_path / "in" / "gcgs"
    for how in ((), ("--by-month",)):
        assert tilewire("games", match, "--out", out, *how) == 0, tilewire.err
        assert "1 of 1 game" in tilewire.err
        assert "its id '../away'" in tilewire.err
    assert {path.stem for path in tmp_path.rglob("*.gcg") if match not in path.parents} == {second}
    assert tilewire("games", match, "--json") == 0
    assert [json.loads(line)["game"] for line in tilewire.out.splitlines()] == [second]
    assert [past.game for past in read_past(match / "match.db", 9).games] == [second]
    assert list(read_ends(match / "match.db", ["../away", second])) == [second]


def test_games_with_other_tiles_are_written_with_a_list_of_ones_own(
    tilewire: CommandLine, tmp_path: Path
) -> None:
    words = tmp_path / "words.txt"
    words.write_text("ĄĘ\nĘĄ\nOĄ\n", encoding="utf-8")
    out, match = tmp_path / "gcgs", tmp_path / "m"
    played = ("--rules", "polish", "--lexicon", words, "--games", 1, "--out", match)
    assert tilewire("match", "greedy", "greedy", *played) == 0, tilewire.err
    assert tilewire("games", match, "--out", out, "--lexicon", words) == 0, tilewire.err
    assert "1 of 1 game" in tilewire.err
    assert untitled(out) == untitled(match / "games"), "as the match wrote them"
    words.write_text("QQQ\n")
    assert tilewire("games", match, "--out", out, "--lexicon", words) == 2
    assert "polish" in tilewire.err


def untitled(folder: Path) -> set[str]:
    """Give the games of a folder; a match numbers them in the title."""
    texts = [path.read_text() for path in folder.glob("*.gcg")]
    return {re.sub(r"^#title Game \d, ", "#title ", text, flags=re.M) for text in texts}


def test_a_journal_is_listed_while_a_host_writes_it(tilewire: CommandLine, tmp_path: Path) -> None:
    path = tmp_path / "games.db"
    host = Journal(path)
    try:
        for game in ("first", "second"):
            asyncio.run(host.create(opened(game), {}))
            assert tilewire("games", path) == 0
            assert tilewire.out.splitlines()[-1].split()[-3] == game
        assert len(tilewire.out.splitlines()) == 2 + 2
        with pytest.raises(JournalError, match=r"games\.db is in use"):
            Journal(path)
    finally:
        host.close()
    assert list(tmp_path.iterdir()) == [path]


def test_who_won_and_why_is_told_alike(tilewire: CommandLine, tmp_path: Path) -> None:
    play = Play(SHORT).start()
    play.wait(3 * MINUTE + 1)  # the first runs out of time
    lost, won = play.book.opened.players
    sheet = tmp_path / "game.gcg"
    sheet.write_text(game_record(play.book, "A game"))
    assert tilewire("show", sheet) == 0
    assert f"{won} wins, " in tilewire.out
    assert f"{lost} lost on time: " in tilewire.out
    assert f"{lost} lost on time: " in tilewire.json("show", sheet)["note"]

    journal = Journal(tmp_path / "games.db")
    endings = {"tied": ended(None, "zeroes"), "void": ended(None, "host_error"), "on": None}
    for game, end in endings.items():
        asyncio.run(journal.create(opened(game), {}, [end] if end else []))
    asyncio.run(journal.create(replace(play.book.opened, game="on-time"), {}, play.records[1:]))
    journal.close()
    assert tilewire("games", journal.address) == 0
    assert [row.split()[8] for row in tilewire.out.splitlines()[2:]] == ["tied", "no", "is", won]
    assert tilewire("games", journal.address, "--json") == 0
    told = [json.loads(line) for line in tilewire.out.splitlines()]
    assert [(game["winner"], game["outcome"]) for game in told] == [
        *((None, "zeroes"), (None, "host_error"), (None, None), (1, "time"))
    ]
    assert told[-1]["message"].startswith(f"{lost} lost on time: ")


def test_games_of_a_tournament_are_listed_as_they_were_corrected(
    tilewire: CommandLine, tmp_path: Path
) -> None:
    write_event(tmp_path, ("A", "B"))
    with MatchFolder(tmp_path) as files:
        one, two, *_ = files.results
        files.decide(Corrected(one.number, one.game, None, "hannah"))
        files.decide(Corrected(two.number, two.game, (310, 333), "hannah: misread"))
    assert tilewire("games", tmp_path / "match.db", "--json") == 0
    told = {game["game"]: game for game in map(json.loads, tilewire.out.splitlines())}
    assert two.first == 1
    assert (told[two.game]["scores"], told[two.game]["winner"]) == ([333, 310], 0)
    was = f"{two.sides[1].score} – {two.sides[0].score}"
    assert told[two.game]["message"] == f"corrected from {was} by director hannah: misread"
    assert [told[it.game]["outcome"] for it in (one, two)] == ["void", "corrected"]
    assert tilewire("games", tmp_path) == 0
    assert f"{two.sides[1].name} wins" in tilewire.out
    assert "no result" in tilewire.out


COMMANDS = """
import contextlib, io, json, sys
from harness.cli import run_command
said = []
for command in sys.argv[1:]:
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(out):
        status = run_command(command.split())
    said.append((status, out.getvalue()))
print(json.dumps(said))
"""
"""Runs commands in one process; prints their statuses and what they said."""


def as_a_reader(folder: Path, *commands: str) -> list[tuple[int, str]]:
    """Run commands that may not write in a folder; give their statuses and what they say."""
    bare = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"] if os.geteuid() == 0 else []
    if bare and shutil.which("setpriv") is None:
        pytest.skip("root may write everywhere, and there is no setpriv to take that away")
    for path in folder.iterdir():
        path.chmod(0o555 if path.is_dir() else 0o444)
    folder.chmod(0o555)
    run = [*bare, sys.executable, "-c", COMMANDS, *commands]
    ended = subprocess.run(run, capture_output=True, text=True, check=False, cwd=folder.parent)
    folder.chmod(0o755)
    assert ended.returncode == 0, ended.stderr
    return [(status, said) for status, said in json.loads(ended.stdout)]


def test_a_journal_that_may_only_be_read_is_read(match: Path) -> None:
    before = {path.name for path in match.iterdir()}
    games, report, copy, elsewhere = as_a_reader(
        match,
        "games m --json",
        "report m --out r.md --format markdown",
        "backup m b.db",
        "report m",
    )
    assert games[0] == 0, games
    assert len(games[1].splitlines()) == 2
    assert (report[0], copy[0]) == (0, 0), (report, copy)
    assert elsewhere[0] == 1
    assert "report.html" in elsewhere[1]
    assert {path.name for path in match.iterdir()} == before


def test_what_only_the_write_ahead_log_has_is_read_or_said(match: Path) -> None:
    host = Journal(match / "match.db")
    asyncio.run(host.create(opened("latest"), {}))
    ((status, said),) = as_a_reader(match, "games m")  # while the host has it
    assert (status, said.splitlines()[-1].split()[-3]) == (0, "latest")
    copy = shutil.copytree(match, match.with_name("copy"))
    host.close()
    (copy / "match.db-shm").unlink()
    for status, said in as_a_reader(copy, "games copy", "report copy"):
        assert status == 1
        assert "match.db-wal" in said

"""``tilewire games``: the games of a real match, from its journal."""

from __future__ import annotations

import asyncio
import json
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest
from command_line import CommandLine
from event_samples import write_event
from match_samples import opened

from harness.arbiter.database import JournalError
from harness.arbiter.journal import Journal


@pytest.fixture
def match(tmp_path: Path) -> Path:
    """A match of two games."""
    write_event(tmp_path / "m", ("greedy-1", "greedy-2"))
    return tmp_path / "m"


def test_games_are_listed_and_written(tilewire: CommandLine, match: Path, tmp_path: Path) -> None:
    assert tilewire("games", match / "match.db") == 0
    head, _, *rows = tilewire.out.splitlines()
    shown = ["begun", "players", "scores", "outcome", "game", "turns", "lexicon"]
    assert head.split() == shown
    printed = tilewire.out
    assert tilewire("games", match) == 0
    assert tilewire.out == printed
    assert tilewire("games", match.parent) == 2
    assert tilewire("games", match / "match.db", "--json") == 0
    listed = [json.loads(line) for line in tilewire.out.splitlines()]
    assert {one["players"][0] for one in listed} == {"greedy-1", "greedy-2"}
    for row, one in zip(rows, listed, strict=True):
        begun = datetime.fromisoformat(one["begun"])
        assert begun.tzinfo == UTC
        assert row.startswith(begun.astimezone().strftime("%Y-%m-%d %H:%M "))
        assert one["game"] in row
        assert one["outcome"] in ("out", "zeroes")
        assert one["turns"] > 0
    out = tmp_path / "gcgs"
    (tmp_path / "words.txt").write_text("aa\n")
    words = ("--lexicon", tmp_path / "words.txt")
    assert tilewire("games", match / "match.db", "--out", out, *words) == 0
    assert "0 of 2 games" in tilewire.err
    assert tilewire("games", match / "match.db", "--out", out) == 0, tilewire.err
    assert "2 of 2 games" in tilewire.err
    assert {path.stem for path in out.glob("*.gcg")} == {one["game"] for one in listed}
    monthly = tmp_path / "monthly"
    assert tilewire("games", match / "match.db", "--out", monthly, "--by-month") == 0
    months = {f"{datetime.fromisoformat(one['begun']):%Y-%m}" for one in listed}
    assert {path.parent.name for path in monthly.glob("*/*.gcg")} == months
    assert tilewire("games", match / "match.db", "--by-month") == 2
    assert "--out" in tilewire.err


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


def test_what_is_no_journal(tilewire: CommandLine, tmp_path: Path) -> None:
    for content in ("", "no journal " * 1_000):
        (tmp_path / "text.db").write_text(content)
        assert tilewire("games", tmp_path / "text.db") == 1
        assert "text.db" in tilewire.err


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


def test_a_narrow_terminal_has_fewer_columns(
    tilewire: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = Journal(tmp_path / "games.db")
    asyncio.run(host.create(opened("0123456789abcdef"), {}))
    host.close()
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    shown = []
    for columns in (60, 80, 160):
        monkeypatch.setenv("COLUMNS", str(columns))
        assert tilewire("games", tmp_path / "games.db") == 0
        assert max(map(len, tilewire.out.splitlines())) <= columns
        shown.append(len(tilewire.out.splitlines()[0].split()))
    assert shown == [4, 7, 7]

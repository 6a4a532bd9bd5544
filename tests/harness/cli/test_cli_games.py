"""``tilewire games``: the games of a real match, from its journal."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from command_line import CommandLine

from harness.arbiter.journal import Journal

WORDS = "aa\nae\nat\neat\nate\ntea\nseat\nteas\n"


@pytest.fixture
def match(tilewire: CommandLine, tmp_path: Path) -> Path:
    """Play two games, with few words so that they are short."""
    (tmp_path / "words.txt").write_text(WORDS)
    words = ("--lexicon", tmp_path / "words.txt")
    assert tilewire("match", "greedy", "greedy", "--games", 2, *words, "--out", tmp_path / "m") == 0
    return tmp_path / "m"


def test_games_are_listed_and_written(tilewire: CommandLine, match: Path, tmp_path: Path) -> None:
    assert tilewire("games", match / "match.db") == 0
    head, _, *rows = tilewire.out.splitlines()
    assert head.split() == ["game", "players", "scores", "turns", "outcome", "lexicon"]
    assert tilewire("games", match / "match.db", "--json") == 0
    listed = [json.loads(line) for line in tilewire.out.splitlines()]
    assert {one["players"][0] for one in listed} == {"greedy-1", "greedy-2"}
    for row, one in zip(rows, listed, strict=True):
        assert row.startswith(one["game"])
        assert one["outcome"] in ("out", "zeroes")
        assert one["turns"] > 0
    out = tmp_path / "gcgs"
    assert tilewire("games", match / "match.db", "--out", out) == 0
    assert tilewire.err.count("played with other words (") == 2
    assert "0 of 2 games written to" in tilewire.err
    words = ("--lexicon", tmp_path / "words.txt")
    assert tilewire("games", match / "match.db", "--out", out, *words) == 0, tilewire.err
    assert "2 of 2 games written to" in tilewire.err
    assert {path.stem for path in out.glob("*.gcg")} == {one["game"] for one in listed}
    assert untitled(out) == untitled(match / "games"), "as the match wrote them"


def untitled(folder: Path) -> set[str]:
    """Give the games of a folder; a match numbers them in the title."""
    texts = [path.read_text() for path in folder.glob("*.gcg")]
    return {re.sub(r"^#title Game \d, ", "#title ", text, flags=re.M) for text in texts}


def test_what_is_no_journal(tilewire: CommandLine, tmp_path: Path) -> None:
    assert tilewire("games", tmp_path / "none.db") == 2
    assert "there is no journal" in tilewire.err
    assert not (tmp_path / "none.db").exists()
    (tmp_path / "text.db").write_text("no journal " * 1_000)
    assert tilewire("games", tmp_path / "text.db") == 1
    assert "can't be used as a journal" in tilewire.err
    taken = Journal(tmp_path / "taken.db")
    try:
        assert tilewire("games", tmp_path / "taken.db") == 1
        assert "locked" in tilewire.err
    finally:
        taken.close()

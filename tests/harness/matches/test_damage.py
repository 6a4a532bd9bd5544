"""A match whose journal is damaged: it is said, and no game counts otherwise than it was."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import CommandLine
from e2e.processes import run_command
from postgres import tamper

WORDS = "aa\nae\nat\neat\nate\ntea\nseat\nteas\n"


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a match of two games; what damages it takes a copy."""
    folder = tmp_path_factory.mktemp("damage")
    (folder / "words.txt").write_text(WORDS)
    words = ("--lexicon", folder / "words.txt")
    run_command("match", "greedy", "greedy", "--games", "2", *words, "--out", folder / "match")
    return folder / "match"


def test_a_game_that_can_not_be_read_is_said(
    tilewire: CommandLine, played: Path, tmp_path: Path
) -> None:
    folder = shutil.copytree(played, tmp_path / "match")
    whole = (folder / "results.jsonl").read_text().splitlines(keepends=True)
    game = json.loads(whole[1])["game"]
    change = "UPDATE records SET content = replace(content, ?, ?) WHERE game = ?"
    for was, is_now, sentence in (
        ('"score":', '"score":7', f"game {game} can't be played from its records"),
        ('"record":"turn"', '"record":"tu"', f"game {game} can't be read"),
    ):
        tamper(folder / "match.db", change, was, is_now, game)
        for results, options in ((whole[:1], ()), (whole, ("--luck",))):
            (folder / "results.jsonl").write_text("".join(results))
            assert tilewire("match", "--resume", folder, *options) == 1
            assert sentence in tilewire.err


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (lambda text: text.replace(b"greedy-1", b"greedy-\xff"), "match.json"),
        (lambda text: text[:-20], "match.json"),
        (lambda text: text.replace(b'"greedy-1",', b""), "2 seats"),
        (lambda text: text.replace(b'"greedy",', b'"gone.py:Bot",', 1), "'gone.py:Bot'"),
    ],
)
def test_settings_that_can_not_be_read_are_said(
    tilewire: CommandLine,
    played: Path,
    tmp_path: Path,
    damage: Callable[[bytes], bytes],
    sentence: str,
) -> None:
    folder = shutil.copytree(played, tmp_path / "match")
    whole = (folder / "match.json").read_bytes()
    damaged = damage(whole)
    assert damaged != whole
    (folder / "match.json").write_bytes(damaged)
    assert tilewire("match", "--resume", folder, "--games", 4) in (1, 2)
    assert sentence in tilewire.err
    assert "Traceback" not in tilewire.err

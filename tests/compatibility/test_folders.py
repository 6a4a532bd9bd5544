"""Folders of matches and tournaments: they are read, reported, resumed and played to the end."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from command_line import CommandLine
from compatibility.kit import EXPECTED, lacks, listed, sheet, sheets, unpack

FOLDERS: dict[str, dict[str, Any]] = EXPECTED["folders"]
SUFFIXES = {"html": "html", "markdown": "md", "csv": "csv"}


def results(folder: Path) -> list[dict[str, Any]]:
    text = (folder / "results.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def scores(result: dict[str, Any]) -> dict[str, int]:
    return {side["name"]: side["score"] for side in result["sides"]}


@pytest.mark.parametrize("name", FOLDERS)
def test_a_folder_is_read(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cli, left, folder = CommandLine(capsys), FOLDERS[name], unpack(name, tmp_path / name)
    assert not lacks(left["games"], listed(cli, folder))
    rules, finished = left["rules"], results(folder)
    told = sheets(cli, folder, tmp_path / "out", rules=rules)
    assert told.keys() == {result["game"] for result in finished}
    for result in finished:
        written = folder / "games" / f"{result['number']:05d}.gcg"
        lines = left["sheets"][result["game"]]
        assert sheet(cli, written, rules) == told[result["game"]] == lines
    for form, suffix in SUFFIXES.items():
        assert cli("report", folder, "--format", form) == 0, cli.err
        report = (folder / f"report.{suffix}").read_text(encoding="utf-8")
        assert all(player in report for result in finished for player in scores(result))


@pytest.mark.parametrize("name", FOLDERS)
def test_a_folder_is_resumed(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cli, left, folder = CommandLine(capsys), FOLDERS[name], unpack(name, tmp_path / name)
    before = results(folder)
    assert cli(left["command"], "--resume", folder, "--json") == 0, cli.err
    assert not lacks(left["summary"], json.loads(cli.out.splitlines()[-1]))
    after = results(folder)
    assert after[: len(before)] == before
    assert [result["number"] for result in after] == list(range(1, left["total"] + 1))
    for new in after[len(before) :]:
        assert not lacks(before[0], new, before[0].keys())
        assert new["outcome"] in ("out", "zeroes")
    games = listed(cli, folder)
    assert games.keys() == {result["game"] for result in after}
    for result in after:
        game = games[result["game"]]
        assert scores(result) == dict(zip(game["players"], game["scores"], strict=True))
    played = sheets(cli, folder, tmp_path / "out", rules=left["rules"])
    for game, lines in left["sheets"].items():
        assert played[game][: len(lines)] == lines

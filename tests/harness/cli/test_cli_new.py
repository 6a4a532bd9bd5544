"""``new bot``: what it writes plays, is tested, and is refused where it would harm."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from command_line import CommandLine
from search_views import unlimited

from bot.player import View
from bot.registry import create_player
from bot.seat_text import parse_seat


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    return tmp_path


def test_a_new_bot_plays_and_passes_its_test(
    tilewire: CommandLine, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert tilewire("new", "bot", "quick_one") == 0
    assert "tilewire check quick_one:Bot" in tilewire.out
    made = here / "quick_one"
    written = sorted(str(path.relative_to(made)) for path in made.rglob("*") if path.is_file())
    assert written == [
        "README.md",
        "pyproject.toml",
        "quick_one/__init__.py",
        "tests/test_quick_one.py",
    ]
    assert "NAME" not in "".join((made / path).read_text() for path in written)
    project = tomllib.loads((made / "pyproject.toml").read_text())["project"]
    assert project["entry-points"] == {"tilewire.bots": {"quick_one": "quick_one:Bot"}}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"],
        cwd=made,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert (done.returncode, "1 passed" in done.stdout) == (0, True), done.stdout + done.stderr
    monkeypatch.chdir(made)
    player = create_player(parse_seat("quick_one:Bot"))
    view = View.from_cgp("15/15/15/15/15/15/15/3HOUSE7/15/15/15/15/15/15/15 AB/ 0/0 0")
    assert player.choose(view, unlimited()).move == view.ranked_moves(1)[0].move


def test_what_it_writes_is_formatted_as_ours_is(tilewire: CommandLine, here: Path) -> None:
    assert tilewire("new", "bot", "quick_two") == 0
    ruff = [sys.executable, "-m", "ruff"]
    for asked in (["format", "--check"], ["check"]):
        subprocess.run([*ruff, *asked, "--isolated", "--line-length", "100", "."], check=True)


def test_a_folder_that_can_not_be_written_to(
    tilewire: CommandLine, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "mkdir", refuse)
    assert tilewire("new", "bot", "quick_three") == 1
    assert "Permission denied" in tilewire.err

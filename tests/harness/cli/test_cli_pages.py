"""``tilewire --help`` and the pages of commands: what they name, and what they cost."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import pytest
from command_line import CommandLine
from cyclopts import App

from bot.players.options import parse_duration
from harness.cli import COMMANDS, command_line
from harness.cli.options import write_duration
from lexicons.cache import user_cache

ROOT = Path(__file__).parents[3]


def commands(group: App, *above: str) -> Iterator[tuple[str, ...]]:
    for name in group:
        if not name.startswith("-"):
            yield (*above, name)
            yield from commands(group[name], *above, name)


EVERY = list(commands(command_line(*COMMANDS)))


@pytest.mark.parametrize("command", EVERY, ids=" ".join)
def test_a_page_names_all_options(tilewire: CommandLine, command: tuple[str, ...]) -> None:
    assert tilewire(*command, "--help") == 0
    end = command_line(*COMMANDS).parse_commands(command)[1][-1]
    assert tilewire.out.startswith(f"Usage: tilewire {' '.join(command)} ")
    for argument in end.assemble_argument_collection() if end.default_command else ():
        is_option = argument.parse and argument.name.startswith("--")
        assert argument.name in tilewire.out or not is_option


def test_a_default_is_written_as_it_would_be_given(
    tilewire: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "500")
    for command, option, default in (("match", "--time", "25m"), ("endgame", "--memory", "256M")):
        assert tilewire(command, "--help") == 0
        (line,) = (line for line in tilewire.out.splitlines() if f" {option} " in line)
        assert default in line


@pytest.mark.parametrize("ms", [0, 1, 250, 1_000, 1_500, 60_000, 90_000, 1_500_000, 5_400_000])
def test_a_duration_is_written_as_it_is_read(ms: int) -> None:
    assert parse_duration(write_duration(ms)) == ms


@pytest.mark.parametrize(
    ("modules", "heavy"),
    [
        ("harness.cli", ("numba", "numpy", "engine.rules", "websockets")),
        ("harness.cli.show, harness.cli.watch, harness.cli.lexicon", ("numba",)),
        ("harness.cli.token, harness.cli.serve", ("numba",)),
    ],
)
def test_help_imports_no_command_and_few_commands_numba(
    modules: str, heavy: tuple[str, ...]
) -> None:
    help_ = "harness.cli.command_line()(['--help'], result_action='return_none')"
    code = f"import sys, {modules}; {help_}; sys.exit(any(m in sys.modules for m in {heavy}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert done.returncode == 0


def test_files_of_the_user_with_our_names_are_not_taken_for_ours(tmp_path: Path) -> None:
    for name in ("bot", "engine", "harness", "lexicons", "protocol"):
        (tmp_path / f"{name}.py").write_text("raise AssertionError('not ours')")
    command = [sys.executable, "-P", str(ROOT / "tilewire.py"), "lexicon", "list"]
    environment = {**os.environ, "PYTHONPATH": "."}
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_the_version_is_that_of_program_commit_and_cache(tilewire: CommandLine) -> None:
    assert tilewire("--version") == 0
    first, second, third = tilewire.out.splitlines()
    assert first.startswith(f"tilewire {version('tilewire')}")
    assert second.startswith(f"Python {platform.python_version()}, numba ")
    assert third == f"cache: {user_cache()}"

"""``tilewire --help`` and the pages of commands: what they tell, and what they cost."""

from __future__ import annotations

import inspect
import itertools
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import is_dataclass
from typing import get_args, get_type_hints, is_typeddict

import docstring_parser
import pytest
from command_line import CommandLine
from cyclopts import App

from bot.players.options import parse_duration
from harness.cli import COMMANDS, command_line
from harness.cli.options import write_duration


def commands(group: App, *above: str) -> Iterator[tuple[str, ...]]:
    for name in group:
        if not name.startswith("-"):
            yield (*above, name)
            yield from commands(group[name], *above, name)


EVERY = list(commands(command_line(*COMMANDS)))


@pytest.mark.parametrize("command", EVERY, ids=" ".join)
def test_a_page_tells_all_that_the_command_does(
    tilewire: CommandLine, command: tuple[str, ...]
) -> None:
    assert tilewire(*command, "--help") == 0
    page = " ".join(tilewire.out.split())
    function = command_line(*COMMANDS).parse_commands(command)[1][-1].default_command
    if function is not None:
        told = (inspect.getdoc(function) or "").partition("Args:")[0].replace("`", "")
        for paragraph in told.split("\n\n"):
            assert " ".join(paragraph.split()) in page
    assert "default: False" not in tilewire.out
    assert all(line.count("[default:") < 2 for line in tilewire.out.splitlines())


@pytest.mark.parametrize("command", EVERY, ids=" ".join)
def test_an_option_that_there_is_not(tilewire: CommandLine, command: tuple[str, ...]) -> None:
    assert tilewire(*command, "--no-such-option") == 2
    said = r'unknown (option: --no-such-option|command "--no-such-option"\. Available commands: .+)'
    assert re.fullmatch(f"tilewire: {said}\n", tilewire.err)
    assert not tilewire.out


@pytest.mark.parametrize("command", EVERY, ids=" ".join)
def test_no_help_in_a_docstring_is_hidden_by_that_of_a_shared_option(
    command: tuple[str, ...],
) -> None:
    end = command_line(*COMMANDS).parse_commands(command)[1][-1]
    if (function := end.default_command) is None:
        return
    arguments = end.assemble_argument_collection(parse_docstring=True)
    shown = {" ".join((argument.parameter.help or "").split()) for argument in arguments}
    groups = {
        name: [kind for kind in (hint, *get_args(hint)) if is_dataclass(kind) or is_typeddict(kind)]
        for name, hint in get_type_hints(function).items()
    }
    written = [
        param
        for documented in (function, *itertools.chain.from_iterable(groups.values()))
        for param in docstring_parser.parse_from_object(documented).params
        if not groups.get(param.arg_name)
    ]
    for param in written:
        assert " ".join((param.description or "").split()) in shown, param.arg_name


def test_defaults_are_written_as_they_would_be_given(
    tilewire: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "500")
    assert tilewire("match", "--help") == 0
    assert "--time DURATION" in tilewire.out
    assert "[default: 25m]" in tilewire.out
    assert tilewire("endgame", "--help") == 0
    assert "--memory MEMORY" in tilewire.out
    assert "[default: 256M]" in tilewire.out


@pytest.mark.parametrize("ms", [0, 1, 250, 1_000, 1_500, 60_000, 90_000, 1_500_000, 5_400_000])
def test_a_duration_is_written_as_it_is_read(ms: int) -> None:
    assert parse_duration(write_duration(ms)) == ms


def test_help_imports_no_command() -> None:
    code = (
        "import sys; from harness.cli import COMMANDS, command_line;"
        "command_line()(['--help'], result_action='return_none');"
        "sys.exit(any(m in sys.modules for m in ('numba', 'numpy', 'engine', 'websockets')))"
    )
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode
        == 0
    )


def test_commands_do_without_numba() -> None:
    code = """
import importlib, sys
for name in "show", "watch", "lexicon", "token", "serve":
    importlib.import_module(f"harness.cli.{name}")
    assert "numba" not in sys.modules, name
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0

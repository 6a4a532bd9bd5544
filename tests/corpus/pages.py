"""The pages of all commands."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from corpus.artefacts import Artefact
from corpus.command_runs import answer_to
from corpus.product import COMMANDS, command_line


def _commands_of(group: Any, *above: str) -> Iterator[tuple[str, ...]]:
    for name in group:
        if not name.startswith("-"):
            yield (*above, name)
            yield from _commands_of(group[name], *above, name)


def _every(top: str) -> list[tuple[str, ...]]:
    """Give a command and those that it has of its own, as they are called."""
    return [path for path in _commands_of(command_line(*COMMANDS)) if path[0] == top]


def _called(arguments: Sequence[str]) -> str:
    """Write what comes of a call in an empty folder; in files this is ``FOLDER``."""
    with tempfile.TemporaryDirectory() as folder:
        status, out, err = answer_to(arguments, Path(folder))
        said = "".join(
            (f"$ tilewire {' '.join(arguments)}\n", out, err, f"[exit status {status}]\n")
        )
        return said.replace(folder, "FOLDER") + "\n"


def _pages(top: str) -> str:
    return "".join(_called((*path, "--help")) for path in _every(top))


ARTEFACTS = (
    Artefact("help/tilewire.txt", partial(_called, ("--help",))),
    *(Artefact(f"help/{top}.txt", partial(_pages, top)) for top in COMMANDS),
)

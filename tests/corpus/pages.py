"""The pages of all commands, and what is said of calls that are wrong."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from corpus.artefacts import Artefact
from corpus.command_runs import answer_to
from corpus.product import COMMANDS, command_line

WRONG: dict[str, tuple[str, ...]] = {
    "match": ("", "static", "static nobody --games 1", "static greedy --games 0", "--resume none"),
    "tournament": (
        "",
        "static",
        "static greedy nobody",
        "static greedy static --format ladder",
        "static greedy static --hill 1",
        "static greedy static --name 4=x",
        "none.toml",
        "--resume none",
    ),
    "play": ("nobody", "guest:ann", "static --name greedy", "static --port 99999"),
    "new": ("bot", "bot Two Words", "bot greedy"),
    "check": ("", "nobody", "none.py:Bot", "ws://there/bot"),
    "serve": ("--config none.toml", "--port 99999"),
    "bridge": ("--config none.toml",),
    "siu": ("--threads 0",),
    "files": ("",),
    "connect": ("", "nowhere"),
    "direct": ("", "ws://there", "ws://there stop", "ws://there pause", "ws://there correct 7"),
    "report": ("", "none"),
    "watch": ("",),
    "show": ("", "none.gcg", "none.cgp"),
    "games": ("", "none.db"),
    "generate": ("", "none.cgp", "nonsense"),
    "analyze": ("", "none.gcg", "nonsense"),
    "endgame": ("", "none.cgp"),
    "preendgame": ("", "none.cgp"),
    "infer": ("", "none.gcg@3"),
    "lexicon": ("info none.txt", "build none.txt out.kwg", "check"),
    "train": ("leaves", "winprob"),
    "leaves": ("--lexicon none.txt", "ABC1"),
    "token": ("",),
    "experiment": (),
    "bench": ("attack --attack none",),
    "admin": ("", "ws://there", "ws://there dance"),
    "backup": ("", "none.db out.db"),
    "puzzles": ("make --out none", "list none", "check --every 0"),
}
"""Calls that are wrong, by command; each is also called with an option that there isn't."""


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


def _wrong_calls(top: str) -> str:
    unknown = [(*path, "--no-such-option") for path in _every(top)]
    known = [(top, *call.split()) for call in WRONG[top]]
    return "".join(map(_called, (*unknown, *known)))


ARTEFACTS = (
    Artefact("help/tilewire.txt", partial(_called, ("--help",))),
    *(Artefact(f"help/{top}.txt", partial(_pages, top)) for top in COMMANDS),
    *(Artefact(f"wrong/{top}.txt", partial(_wrong_calls, top)) for top in COMMANDS),
)

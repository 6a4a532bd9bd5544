"""Positions of static games, and what commands say of them by a clock that goes by work."""

from __future__ import annotations

import json
from functools import cache, partial
from pathlib import Path
from typing import Any

from corpus import by_work
from corpus.artefacts import INPUTS, Artefact, read_packed

GAME = INPUTS / "game.gcg"
"""Static against greedy, with all racks."""
POSITIONS = INPUTS / "positions.json"
"""By what is in the bag, each of a static game of its own."""
SHORT = ("aa", "qi", "xu", "zz", "retina", "RETAINS", "notaword")


@cache
def known_positions() -> dict[str, list[str]]:
    known: dict[str, list[str]] = json.loads(read_packed(POSITIONS))
    return known


def _commands() -> dict[str, list[list[str]]]:
    """Name what is asked, by file."""
    known, game = known_positions(), str(GAME.relative_to(Path(by_work.ROOT)))
    every = [cgp for of in known.values() for cgp in of]
    rolled = ["--rollouts", "300", "--candidates", "8", "--seed", "3", "--json"]
    drawn = ["--racks", "400", "--seed", "2", "--top", "8"]
    short = ["--time", "40ms", "--memory", "64M"]
    return {
        "generate": [["generate", cgp, "--top", "25", "--json"] for cgp in every]
        + [["generate", cgp, "--top", "8"] for cgp in every[:1]]
        + [["generate", cgp, "--top", "8", "--plain", "--json"] for cgp in every[1:2]]
        + [["generate", every[0], "--all", "--json"]],
        "analyze": [["analyze", cgp, *rolled] for cgp in every[:20:2]]
        + [["analyze", f"{game}@{line}", *rolled] for line in (4, 9, 23)],
        "infer": [
            ["infer", f"{game}@{line}", *drawn, *of, "--json"]
            for line, of in ((3, []), (6, []), (12, []), (12, ["--model", "margin"]), (16, []))
        ],
        "endgame": [
            ["endgame", cgp, "--memory", "64M", "--time", "500ms", "--json"]
            for cgp in known["none"]
        ]
        + [
            ["endgame", cgp, "--memory", "64M", "--first-win", "--json"]
            for cgp in known["none"][1:3]
        ]
        + [["endgame", f"{game}@{line}", "--memory", "64M", "--json"] for line in (22,)],
        "preendgame": [
            ["preendgame", cgp, "--candidates", "4", *short, "--seed", "5", "--json"]
            for cgp in (*known["one"], *known["two"])
        ]
        + [
            ["preendgame", cgp, "--candidates", "3", *short, "--model", model, "--json"]
            for cgp in known["one"][:1]
            for model in ("rational", "static")
        ],
        "show": [["show", game], ["show", game, "--turn", "9"], ["show", game, "--moves"]]
        + [["show", cgp] for cgp in every[:2]],
        "tables": [
            ["lexicon", "info"],
            ["lexicon", "list"],
            ["lexicon", "check", *SHORT],
            ["leaves"],
            ["leaves", "?S", "ERST", "Q", "UU"],
        ],
    }


@cache
def _answers() -> dict[str, list[Any]]:
    """Ask all that is asked, in one process."""
    asked = _commands()
    given = [command for of in asked.values() for command in of]
    told = iter(by_work.run("commands", given=json.dumps(given)))
    return {name: [next(told) for _ in of] for name, of in asked.items()}


def _file(name: str) -> str:
    parts = []
    for command, (status, out, err) in zip(_commands()[name], _answers()[name], strict=True):
        quoted = (f"'{argument}'" if " " in argument else argument for argument in command)
        parts.append(f"$ tilewire {' '.join(quoted)}\n{out}{err}[exit status {status}]\n")
    return "\n".join(parts)


ARTEFACTS = tuple(
    Artefact(f"answers/{name}.txt.xz", partial(_file, name))
    for name in ("generate", "analyze", "infer", "endgame", "preendgame", "show", "tables")
)

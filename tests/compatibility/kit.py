"""What programs of November 2026 left, unpacked, and how it is compared with what today's say."""

from __future__ import annotations

import json
import lzma
import zipfile
from collections.abc import Set
from pathlib import Path
from typing import Any

from command_line import CommandLine

DATA = Path(__file__).with_name("data")
EXPECTED: dict[str, Any] = json.loads((DATA / "expected.json").read_text(encoding="utf-8"))
"""By journal or folder, what the program that left it said about it."""


def unpack(name: str, folder: Path) -> Path:
    """Unpack what was left into a folder."""
    with zipfile.ZipFile(DATA / f"{name}.zip") as left:
        left.extractall(folder)
    return folder


def read_text(name: str) -> str:
    """Read a packed text."""
    return lzma.decompress((DATA / name).read_bytes()).decode()


def lacks(then: Any, now: Any, loose: Set[str] = frozenset(), where: str = "") -> list[str]:
    """List what of a value is missing or another now: all that a reader of then relies on.

    Maps may have gained keys. Of values under ``loose`` keys only the type counts.
    """
    if type(then) is not type(now):
        return [f"{where} was {then!r}, is {now!r}"]
    if isinstance(then, dict):
        missing = [f"{where}.{key} is gone" for key in then.keys() - now.keys()]
        for key in then.keys() & now.keys():
            if key not in loose:
                missing += lacks(then[key], now[key], loose, f"{where}.{key}")
            elif type(then[key]) is not type(now[key]):
                missing.append(f"{where}.{key} was {then[key]!r}, is {now[key]!r}")
        return missing
    if isinstance(then, list) and len(then) == len(now):
        pairs = enumerate(zip(then, now, strict=True))
        return [each for at, (a, b) in pairs for each in lacks(a, b, loose, f"{where}[{at}]")]
    return [] if then == now else [f"{where} was {then!r}, is {now!r}"]


def listed(cli: CommandLine, journal: Path | str) -> dict[str, dict[str, Any]]:
    """List the games of a journal by their ids."""
    assert cli("games", journal, "--json") == 0, cli.err
    return {game["game"]: game for game in map(json.loads, cli.out.splitlines())}


def sheet(cli: CommandLine, gcg: Path, rules: str = "english") -> list[str]:
    """Return the lines of a game's score sheet."""
    keys = "player", "kind", "rack", "move", "score", "total"
    lines = cli.json("show", gcg, "--rules", rules)["lines"]
    return [" ".join(str(line.get(key)) for key in keys) for line in lines]


def sheets(cli: CommandLine, journal: Path | str, out: Path, **rules: str) -> dict[str, list[str]]:
    """Return the score sheets of a journal's finished games by their ids."""
    assert cli("games", journal, "--out", out) == 0, cli.err
    return {gcg.stem: sheet(cli, gcg, **rules) for gcg in out.glob("*.gcg")}

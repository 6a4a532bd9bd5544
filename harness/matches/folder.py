"""The files of a match or tournament: results as they come, and the decisions about its rounds.

``results.jsonl`` has a game a line, ``decisions.jsonl`` a decision, ``luck.jsonl`` a game's luck
where that was asked for. A line counts once its line break is written; each survives the death of
the process, but not a power failure.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self, TypeAlias

import msgspec
from msgspec import Struct

from .luck import Luck
from .results import GameResult, read_results, result_line


class Paired(Struct, frozen=True, tag="paired", tag_field="decision"):
    """A round was paired, or the undecided pairings of a round play on."""

    round: int
    pairings: tuple[tuple[int, int], ...]
    """Entrants; the first of a pairing moves first in its first game."""
    byes: tuple[int, ...] = ()


class Withdrawn(Struct, frozen=True, tag="withdrawn", tag_field="decision"):
    """An entrant plays no more."""

    entrant: int
    why: str = ""


Decision: TypeAlias = Paired | Withdrawn


class MeasuredLuck(Struct, frozen=True):
    """The luck of the draws of a game."""

    number: int
    luck: Luck | None


class FolderContents:
    """What the files of a match or tournament say; they may be being written.

    Raises:
        OSError: a file can't be read.
        ValueError: a file is not what its name says.
    """

    def __init__(self, folder: str | Path) -> None:
        self.path = Path(folder)
        self._log = self.path / "results.jsonl"
        self._decided = self.path / "decisions.jsonl"
        self._lucks = self.path / "luck.jsonl"
        self.results: list[GameResult] = []
        if self._log.exists():
            self.results = read_results(self._log)
        self.decisions: list[Decision] = list(
            _read(self._decided, Decision, "a decision about a tournament")
        )
        self.counted = {result.number for result in self.results if not result.void}
        """Numbers of the games with a result that counts."""
        measured = _read(self._lucks, MeasuredLuck, "the luck of a game")
        self.lucks: dict[int, Luck | None] = {line.number: line.luck for line in measured}
        """The luck of games by number, where it was measured; None where racks are not known."""


class MatchFolder(FolderContents):
    """The files of a match or tournament, to be gone on with.

    A folder with results is resumed: ``results`` begins with them, and an unfinished last line is
    cut off; so it is with ``decisions`` and ``lucks``.

    Raises:
        OSError: the folder or a file can't be written.
        ValueError: a file is not what its name says.
    """

    def __init__(self, folder: str | Path) -> None:
        Path(folder).mkdir(parents=True, exist_ok=True)
        super().__init__(folder)
        for path in (self._log, self._decided, self._lucks):
            if path.exists():
                _cut(path)
        self._file = self._log.open("ab", buffering=0)

    def append(self, result: GameResult) -> None:
        """Store a game's result; raise ValueError if its number already has one that counts."""
        if not result.void:
            if result.number in self.counted:
                raise ValueError(
                    f"game {result.number} of the match has a result already in "
                    f"{self._file.name}; a game counts once"
                )
            self.counted.add(result.number)
        self._file.write(result_line(result))
        self.results.append(result)

    def decide(self, decision: Decision) -> None:
        """Store a decision."""
        _append(self._decided, decision)
        self.decisions.append(decision)

    def add_luck(self, number: int, luck: Luck | None) -> None:
        """Store the luck of a game."""
        _append(self._lucks, MeasuredLuck(number, luck))
        self.lucks[number] = luck

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()


def _cut(path: Path) -> None:
    """Cut off the unfinished last line of a file."""
    os.truncate(path, path.read_bytes().rfind(b"\n") + 1)


def _append(path: Path, value: Struct) -> None:
    with path.open("ab", buffering=0) as file:
        file.write(msgspec.json.encode(value) + b"\n")


def _read(path: Path, kind: Any, what: str) -> Iterator[Any]:
    """Read a file of lines of JSON, if it is there, but for text after the last line break."""
    if not path.exists():
        return
    *lines, _ = path.read_bytes().split(b"\n")
    for number, line in enumerate(lines, start=1):
        try:
            yield msgspec.json.decode(line, type=kind)
        except (ValueError, RecursionError) as error:
            raise ValueError(
                f"{path}, line {number} is not {what}: {error}; "
                "mend or remove the line, or use another folder"
            ) from error

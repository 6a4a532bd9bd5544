"""Results of a long experiment in a file, a line of JSON each, so that it can be gone on with.

The first line says what the experiment is; whoever goes on has to mean the same. The others are
records, each with a ``number``; where an experiment has parts, they say of which they are. A line
that was cut short when the experiment was killed is removed.
"""

from __future__ import annotations

import fcntl
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from harness.lab.workers import Crew

__all__ = ["Lines", "fill_in", "open_lines"]

_Common = TypeVar("_Common")
_Record = dict[str, Any]


class Lines:
    """Records that are in the file, and more of them as they come."""

    def __init__(
        self, file: BinaryIO | None, records: list[_Record], part: _Record | None = None
    ) -> None:
        self._file, self._all, self._part = file, records, part or {}

    def of(self, **part: object) -> Lines:
        """Give the records with these values, which those that are added to them get too."""
        return Lines(self._file, self._all, {**self._part, **part})

    @property
    def records(self) -> list[_Record]:
        """All of them, by number."""
        found = self._found()
        return [found[number] for number in sorted(found)]

    def missing(self, count: int) -> list[int]:
        """List which of the first so many are not there."""
        found = self._found()
        return [number for number in range(count) if number not in found]

    def _found(self) -> dict[int, _Record]:
        return {one["number"]: one for one in self._all if one | self._part == one}

    def add(self, record: _Record) -> None:
        """Write a record behind the others."""
        record = self._part | record
        self._all.append(record)
        if self._file is not None:
            _write(self._file, record)


@contextmanager
def open_lines(path: Path | None, settings: Mapping[str, Any]) -> Iterator[Lines]:
    """Open a file for the time of a block, a new one or one to be gone on with.

    Args:
        path: the file; without one, records are kept no longer than the block.
        settings: what the experiment is, in what JSON can say.

    Raises:
        ValueError: it is of another experiment, or another process is at it.
        OSError: it can't be read or written.
    """
    if path is None:
        yield Lines(None, [])
        return
    with path.open("a+b") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ValueError(f"another experiment writes {path}; wait for it") from None
        file.seek(0)
        content = file.read()
        whole = content[: content.rfind(b"\n") + 1]
        records = []
        if whole:
            first, *records = _parse(whole, path)
            _check_same(first, json.loads(json.dumps(settings)), path)
        elif not _packed(settings).startswith(content):
            raise ValueError(
                f"{path} holds no results of this experiment; remove it, or name another file"
            )
        file.truncate(len(whole))
        if not whole:
            _write(file, settings)
        yield Lines(file, records)


def fill_in(
    lines: Lines,
    count: int,
    crew: Crew,
    function: Callable[[_Common, int], _Record],
    common: _Common,
    tell: Callable[[int, int], object],
) -> None:
    """Have the crew work out which of the first so many records are missing.

    Args:
        lines: where they go.
        count: how many there are to be in all.
        crew: the workers.
        function: gives the record of a number; at the top of a module.
        common: what it needs besides.
        tell: told after each how many of those that were missing are done, and of how many.
    """
    missing = lines.missing(count)
    for done, (_, record) in enumerate(crew.work_through(function, common, missing), 1):
        lines.add(record)
        tell(done, len(missing))


def _write(file: BinaryIO, record: Mapping[str, Any]) -> None:
    file.write(_packed(record))
    file.flush()


def _packed(record: Mapping[str, Any]) -> bytes:
    return json.dumps(record, ensure_ascii=False).encode() + b"\n"


def _parse(content: bytes, path: Path) -> list[_Record]:
    records = []
    for number, line in enumerate(content.splitlines(), 1):
        try:
            record = json.loads(line)
        except ValueError:
            record = None
        if not isinstance(record, dict) or (number > 1 and type(record.get("number")) is not int):
            raise ValueError(
                f"{path}, line {number} is no result of an experiment; name another file"
            )
        records.append(record)
    return records


def _check_same(first: _Record, settings: _Record, path: Path) -> None:
    for name in settings | first:
        if settings.get(name) != first.get(name):
            has = f"with {name} {first[name]}" if name in first else f"that knows no {name}"
            raise ValueError(
                f"{path} is of an experiment {has}, not {settings.get(name)}; go on with the "
                "same, or name another file"
            )

"""Results of a long experiment in a file, a line of JSON each, so that it can be gone on with.

The first line says what the experiment is; whoever goes on has to mean the same. A line that was
cut short when the experiment was killed is removed.
"""

from __future__ import annotations

import fcntl
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from ..train.crew import Crew

__all__ = ["Lines", "fill_in", "open_lines"]

_Common = TypeVar("_Common")
_Record = dict[str, Any]


class Lines:
    """Records that are in the file, by ``number``, and more of them as they come."""

    def __init__(self, file: BinaryIO, records: Iterable[_Record]) -> None:
        self._file = file
        self._by_number = {int(one["number"]): one for one in records}

    @property
    def records(self) -> list[_Record]:
        """All of them, by number."""
        return [self._by_number[number] for number in sorted(self._by_number)]

    def missing(self, count: int) -> list[int]:
        """List which of the first so many are not there."""
        return [number for number in range(count) if number not in self._by_number]

    def add(self, record: _Record) -> None:
        """Write a record behind the others."""
        self._by_number[int(record["number"])] = record
        _write(self._file, record)


@contextmanager
def open_lines(path: Path, settings: Mapping[str, Any]) -> Iterator[Lines]:
    """Open a file for the time of a block, a new one or one to be gone on with.

    Args:
        path: the file.
        settings: what the experiment is, in what JSON can say.

    Raises:
        ValueError: it is of another experiment, or another process is at it.
        OSError: it can't be read or written.
    """
    with path.open("a+b") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ValueError(f"another experiment writes {path}; wait for it") from None
        file.seek(0)
        content = file.read()
        if not content:
            _write(file, settings)
            yield Lines(file, [])
            return
        whole = content[: content.rfind(b"\n") + 1]
        if not whole:
            raise ValueError(f"{path} holds no results of an experiment")
        first, *records = _parse(whole, path)
        _check_same(first, json.loads(json.dumps(settings)), path)
        file.truncate(len(whole))
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
    file.write(json.dumps(record, ensure_ascii=False).encode() + b"\n")
    file.flush()


def _parse(content: bytes, path: Path) -> list[_Record]:
    records = []
    for number, line in enumerate(content.splitlines(), 1):
        try:
            record = json.loads(line)
        except ValueError:
            record = None
        if not isinstance(record, dict) or (number > 1 and "number" not in record):
            raise ValueError(f"{path}, line {number} is no result of an experiment")
        records.append(record)
    return records


def _check_same(first: _Record, settings: _Record, path: Path) -> None:
    for name in settings | first:
        if settings.get(name) != first.get(name):
            raise ValueError(
                f"{path} is of an experiment with {name} {first.get(name)}, not "
                f"{settings.get(name)}; go on with the same, or name another file"
            )

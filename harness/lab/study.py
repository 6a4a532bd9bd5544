"""A study: a question asked of numbered units of work, and a file that keeps the answers.

The file has the settings in its first line, and then a line of JSON per record; resuming requires
the same settings. A record has a ``number``; studies that share a file mark theirs
(``Study.part``). A line cut short when the process was killed is removed.
"""

from __future__ import annotations

import fcntl
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, ClassVar, TypeAlias

from harness.workers import Workers
from harness.writing import append_line, whole_lines

from .rows import Tables

Record: TypeAlias = dict[str, Any]


class Study(ABC):
    """Frozen settings, sent to the workers, and the work on them."""

    unit: ClassVar[str] = "positions"
    """What is counted, in the plural."""
    one_row: ClassVar[bool] = False
    """Whether its only table has one row, printed as a list of figures."""

    @abstractmethod
    def settings(self) -> dict[str, object]:
        """Return the common settings of a file's records, as JSON values."""

    @abstractmethod
    def record(self, number: int) -> Record:
        """Do one unit of work; the same number gives the same record, apart from times."""

    @abstractmethod
    def summary(self, records: Sequence[Record]) -> Tables:
        """Summarize records."""

    @property
    def part(self) -> Record:
        """Fields that mark its records in a file shared by several studies."""
        return {}

    @property
    def name(self) -> str:
        """Its name among studies that share its file; empty if it is alone."""
        return ""

    def check(self, count: int) -> None:
        """Raise ``ValueError`` if the settings or the count are invalid."""
        if count < 1:
            raise ValueError(f"there must be at least one of the {self.unit} (got {count})")

    def numbers(self, count: int) -> Iterable[int]:
        """Return the units in order; work stops when the count is reached."""
        return range(count)

    def weight(self, record: Record) -> int:
        """Return a record's contribution to the count."""
        return 1


class RecordFile:
    """The records of a file, growing as results come."""

    def __init__(self, file: BinaryIO | None, records: list[Record]) -> None:
        self._file, self._all = file, records

    def by_number(self, study: Study) -> dict[int, Record]:
        """Return the records of a study."""
        return {record["number"]: record for record in self._all if record | study.part == record}

    def chosen(self, study: Study, count: int) -> list[Record]:
        """Return the records that make up the count, or all if there are fewer."""
        there, total = self.by_number(study), 0
        chosen: list[Record] = []
        for number in study.numbers(count):
            if total >= count or len(chosen) == len(there):
                break
            if number in there:
                chosen.append(there[number])
                total += study.weight(there[number])
        return sorted(chosen, key=lambda record: record["number"])

    def add(self, record: Record) -> None:
        """Append a record."""
        self._all.append(record)
        if self._file is not None:
            _write(self._file, record)


def fill(
    study: Study,
    file: RecordFile,
    count: int,
    workers: Workers,
    tell: Callable[[int], object] = lambda done: None,
) -> list[Record]:
    """Have workers do missing units; return the records that make up the count.

    ``tell`` is called after each record with the count done, by ``Study.weight``.
    """
    there, done = file.by_number(study), 0

    def missing() -> Iterator[int]:
        nonlocal done
        for number in study.numbers(count):
            if done >= count:
                return
            if number in there:
                done += study.weight(there[number])
            else:
                yield number

    for _, record in workers.work_through(type(study).record, study, missing()):
        file.add(study.part | record)
        done += study.weight(record)
        tell(done)
    return file.chosen(study, count)


@contextmanager
def open_records(path: Path | None, settings: Mapping[str, Any]) -> Iterator[RecordFile]:
    """Open a file of records, new or resumed; a context manager.

    Without a path, records last no longer than the block; ``settings`` are JSON values.

    Raises:
        ValueError: it has other settings or is something else, or another process writes it.
        OSError: it can't be read or written.
    """
    if path is None:
        yield RecordFile(None, [])
        return
    with path.open("a+b") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ValueError(f"another experiment is writing {path}; wait for it") from None
        file.seek(0)
        content = file.read()
        whole = whole_lines(content)
        records = []
        if whole:
            first, *records = _parse(whole, path)
            wanted = json.loads(json.dumps(settings))
            for name in wanted | first:
                if wanted.get(name) != first.get(name):
                    has = (
                        f"with {name} {first[name]}, not"
                        if name in first
                        else f"without {name}, not with"
                    )
                    raise ValueError(
                        f"{path} has results {has} {wanted.get(name)}; use the same value, or "
                        "name another file"
                    )
        elif not _packed(settings).startswith(content):
            raise ValueError(
                f"{path} holds no results of this experiment; remove it, or name another file"
            )
        file.truncate(len(whole))
        if not whole:
            _write(file, settings)
        yield RecordFile(file, records)


def _write(file: BinaryIO, record: Mapping[str, Any]) -> None:
    append_line(file.fileno(), _packed(record), Path(file.name))


def _packed(record: Mapping[str, Any]) -> bytes:
    return json.dumps(record, ensure_ascii=False).encode() + b"\n"


def _parse(content: bytes, path: Path) -> list[Record]:
    records = []
    for number, line in enumerate(content.splitlines(), 1):
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            record = None
        if not isinstance(record, dict) or (number > 1 and type(record.get("number")) is not int):
            raise ValueError(
                f"{path}, line {number} is no result of an experiment; name another file"
            )
        records.append(record)
    return records

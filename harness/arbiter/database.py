"""The interface of a journal to its database.

``journal_file`` implements it with SQLite and ``journal_postgres`` with PostgreSQL;
``journal_reading.database_at`` chooses one by the address. Statements are SQL that both understand,
with ``?`` in place of values.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol, TypeAlias

Address: TypeAlias = Path | str
"""The address of a journal: a file, or the URL of a PostgreSQL database."""

Value: TypeAlias = str | int | float | None
Statement: TypeAlias = tuple[str, Sequence[tuple[Value, ...]]]
"""Executed once for each row of values."""
Work: TypeAlias = Sequence[Statement]
"""Statements committed together or not at all."""

UNFINISHED = "unfinished"
"""The key in the table ``state`` of a copy that is not finished."""


class JournalError(Exception):
    """The journal can't be read or written; the message names it and the reason."""


def unfinished_copy(name: str) -> JournalError:
    """Return the error of a journal marked ``UNFINISHED``."""
    return JournalError(f"{name} is a copy that was not finished; make another")


class InUse(JournalError):
    """Another host has the journal open; ``serving`` is its advertised address, or ``""``."""

    def __init__(self, sentence: str, serving: str = "") -> None:
        super().__init__(sentence)
        self.serving = serving


class NoAnswer(JournalError):
    """The database does not answer in time; it may later."""


class Unreadable(Exception):
    """The database can't answer; the message is its reason, which may contain its data."""


class Reader(Protocol):
    """Reads a journal by queries."""

    def rows(self, question: str, *values: Value) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a query.

        Raises:
            Unreadable: it has no answer; another query may have one.
            JournalError: the database is lost.
        """


class Store(Protocol):
    """A journal that this host alone has open for writing."""

    @property
    def idle_s(self) -> float | None:
        """Longest time without a commit, in seconds; None: no limit."""

    @property
    def commits(self) -> int:
        """Number of commits in all, also before this start."""

    @property
    def notice(self) -> str:
        """A warning about the database for whoever runs this host; ``""``: none."""

    def commit(self, work: Work) -> None:
        """Make work durable, or change nothing and raise any Exception with the reason.

        Raises:
            LeaseLost: another host has the journal, or may have it; the work may be durable.
        """

    def full(self) -> str | None:
        """Return why there is no room for another game; None if there is. May raise OSError."""

    def size(self) -> int:
        """Return the size of the journal in bytes."""

    def close(self) -> None:
        """Let other hosts have it."""


class Database(Protocol):
    """A place for a journal, by its address."""

    @property
    def name(self) -> str:
        """Its name in messages, without a password."""

    def reading(self) -> AbstractContextManager[Reader]:
        """Read the journal as it is at this moment, while a host may write it.

        Raises:
            JournalError: it is no journal, of another version, or an unfinished copy.
            Unreadable: it can't be read at all.
        """

    def open(self, reserve: int, advertised: str = "") -> Store:
        """Open the journal for writing; create it if missing.

        No game begins with less than ``reserve`` bytes free. ``advertised`` is the address at which
        other hosts reach this one.

        Raises:
            JournalError: it can't be used.
            NoAnswer: the database does not answer in time.
            InUse: another host has it open.
        """

"""What a journal needs of the database that it lies in, whichever that is.

``journal_file`` has SQLite behind this interface, ``journal_postgres`` PostgreSQL, and
``journal_reading.database_at`` says which of them an address means. Statements are of the SQL that
both understand, with ``?`` in place of values.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol, TypeAlias

Address: TypeAlias = Path | str
"""Of a journal: a file, or the URL of a PostgreSQL database."""

Value: TypeAlias = str | int | float | None
Statement: TypeAlias = tuple[str, Sequence[tuple[Value, ...]]]
"""Executed once for each row of values."""
Work: TypeAlias = Sequence[Statement]
"""Statements committed together or not at all."""

UNFINISHED = "unfinished"
"""The key that ``state`` has in a copy that is being made."""


class JournalError(Exception):
    """The journal can't be read or written; the message names it and the reason."""


class InUse(JournalError):
    """Another host writes the journal; ``serving`` is the address that it told, or ``""``."""

    def __init__(self, sentence: str, serving: str = "") -> None:
        super().__init__(sentence)
        self.serving = serving


class NoAnswer(JournalError):
    """The database does not answer in time; it may later."""


class Unreadable(Exception):
    """The database can't answer; the message has its reason, in which bytes of it may be."""


class Reader(Protocol):
    """Answers questions about a journal."""

    def rows(self, question: str, *values: Value) -> Iterator[tuple[Any, ...]]:
        """Yield the rows that answer a question.

        Raises:
            Unreadable: it has no answer; another may have.
            JournalError: the database is lost.
        """


class Store(Protocol):
    """A journal that this host alone has open, to write it."""

    @property
    def idle_s(self) -> float | None:
        """How long it may be without a commit; None: for good."""

    @property
    def commits(self) -> int:
        """How many there were in all, also before this start."""

    @property
    def notice(self) -> str:
        """What whoever runs this host should know of the database; ``""``: nothing."""

    def commit(self, work: Work) -> None:
        """Make work durable, or change nothing and raise any Exception with the reason.

        Raises:
            LeaseLost: another host has the journal, or may have it; the work may be durable.
        """

    def full(self) -> str | None:
        """Return why there is no room for another game; None if there is. May raise OSError."""

    def size(self) -> int:
        """Return the bytes that the journal takes."""

    def close(self) -> None:
        """Let other hosts have it."""


class Database(Protocol):
    """A place for a journal, by its address."""

    @property
    def name(self) -> str:
        """What sentences call it; without a password."""

    def reading(self) -> AbstractContextManager[Reader]:
        """Read the journal as it is at this moment, while a host may write it.

        Raises:
            JournalError: it is no journal, or of another version.
            Unreadable: it can't be read at all.
        """

    def open(self, reserve: int, advertised: str = "") -> Store:
        """Open the journal to write it, make it if it isn't there; ``reserve`` bytes stay free.

        ``advertised`` is where other hosts reach this one.

        Raises:
            JournalError: it can't be used.
            NoAnswer: the database does not answer in time.
            InUse: another host has it open.
        """

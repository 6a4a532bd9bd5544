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

SCHEMA_VERSION = 2

TABLES = """
CREATE TABLE IF NOT EXISTS games (
    game     {text} PRIMARY KEY,
    created  {real} NOT NULL,       -- seconds since 1970
    label    TEXT NOT NULL,         -- JSON: what the host needs to seat the players again
    open     {whole} NOT NULL       -- 1 while the game is on
){end};
CREATE TABLE IF NOT EXISTS records (
    game     {text} NOT NULL,
    number   {whole} NOT NULL,      -- from 0, without gaps
    at       {real} NOT NULL,
    content  TEXT NOT NULL,         -- JSON of harness.arbiter.records
    PRIMARY KEY (game, number)
){end};
CREATE TABLE IF NOT EXISTS clock_notes (
    game     {text} PRIMARY KEY,
    first    {whole} NOT NULL,      -- milliseconds left to seat 0
    second   {whole} NOT NULL,
    seq      {whole} NOT NULL       -- the event that the seat to move was choosing
){end};
CREATE TABLE IF NOT EXISTS names (
    name     {text} PRIMARY KEY,
    hash     TEXT NOT NULL          -- SHA-256 of the token that claimed the name
){end};
CREATE TABLE IF NOT EXISTS styles (
    name     {text} PRIMARY KEY,    -- whose
    odds     TEXT NOT NULL,         -- JSON: model of a player to the chance that it fits
    games    {whole} NOT NULL,      -- games that it rests on
    at       {real} NOT NULL        -- when it was last changed, seconds since 1970
){end};
CREATE TABLE IF NOT EXISTS state (
    key      {text} PRIMARY KEY,
    value    {value} NOT NULL
){end};
CREATE TABLE IF NOT EXISTS bans (
    whom     {text} PRIMARY KEY,    -- a name, an address or a network
    until    {real},                -- seconds since 1970; null: for good
    why      TEXT NOT NULL
){end};
CREATE TABLE IF NOT EXISTS invitations (
    hash     {text} PRIMARY KEY,    -- SHA-256 of a token
    name     {text}                 -- whose it has become; null: nobody's yet
){end};
CREATE TABLE IF NOT EXISTS origins (
    name     {text} PRIMARY KEY,    -- claimed and not used yet, or an entrant's without a token
    block    TEXT NOT NULL,         -- keyed hash of the network or address that it came from
    at       {real} NOT NULL        -- when, seconds since 1970
){end};
CREATE INDEX IF NOT EXISTS open_games ON games (created) WHERE open = 1;
CREATE INDEX IF NOT EXISTS past_games ON games (created, game) WHERE open = 0;
"""
"""The tables, with a database's own words for ``text`` sorted by its bytes, ``real`` and ``whole``
numbers, a ``value`` of either kind, and the ``end`` of a table. Copies rely on equal columns."""

UNFINISHED = "unfinished"
"""The key in the table ``state`` of a copy that is not finished."""


class JournalError(Exception):
    """The journal can't be read or written; the message names it and the reason."""


def unfinished_copy(name: str) -> JournalError:
    """Return the error of a journal marked ``UNFINISHED``."""
    return JournalError(f"{name} is a copy that was not finished; make another")


class InUse(JournalError):
    """Another host has the journal open; ``holder`` says which, if that is known."""

    def __init__(self, sentence: str, holder: str = "") -> None:
        super().__init__(sentence)
        self.holder = holder


class NoAnswer(JournalError):
    """The database does not answer in time; it may later."""


class DatabaseUnreadable(Exception):
    """The database can't answer; the message is its reason, which may contain its data."""


class JournalReader(Protocol):
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
    def is_held(self) -> bool:
        """Whether no other host may have the journal by now."""

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

    def reading(self) -> AbstractContextManager[JournalReader]:
        """Read the journal as it is at this moment, while a host may write it.

        Raises:
            JournalError: it is no journal, of another version, or an unfinished copy.
            Unreadable: it can't be read at all.
        """

    def open(self, reserve: int) -> Store:
        """Open the journal for writing; create it if missing.

        No game begins with less than ``reserve`` bytes free.

        Raises:
            JournalError: it can't be used.
            NoAnswer: the database does not answer in time.
            InUse: another host has it open.
        """

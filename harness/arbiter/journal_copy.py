"""Copy a journal: as of one moment while a host writes it, or what is left of a damaged one.

From or to a PostgreSQL database it is copied table by table.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from harness.writing import replacing

from .database import (
    SCHEMA_VERSION,
    UNFINISHED,
    Address,
    DatabaseUnreadable,
    JournalError,
    JournalReader,
    Work,
)
from .journal_file import SCHEMA, UNREADABLE, check_journal, check_structure, reading
from .journal_reading import database_at, rows_at


class Copied(NamedTuple):
    """The result of a copy."""

    games: int
    damage: JournalError | None
    """Why something is missing; None: the copy is complete."""


def copy_journal(path: Path, to: Path) -> Copied:
    """Copy a journal to a file that only its owner can read, and check the copy.

    Raises:
        JournalError: it is no journal, an unfinished copy, or nothing of it can be read.
        OSError: the copy can't be written.
    """
    try:
        with reading(path) as source, replacing(to) as fresh:
            check_journal(source, path)
            os.close(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
            damage = None
            with closing(sqlite3.connect(fresh)) as copy:
                source.backup(copy)
                copy.execute("PRAGMA journal_mode = DELETE")  # it is one file
                try:
                    check_structure(copy, path)
                except JournalError as error:
                    damage = error
            if damage is not None:
                fresh.write_bytes(b"")
                _salvage(source, fresh)
            with reading(fresh) as copy:
                (games,) = copy.execute("SELECT count(*) FROM games").fetchone()
                return Copied(games, damage)
    except UNREADABLE as error:
        code = getattr(error, "sqlite_errorcode", None)
        is_full = code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_WRITE)
        what = f"{to} can't be written" if is_full else f"{path} can't be copied"
        raise JournalError(f"{what}: {error}") from None


_TABLES = ("games", "records", "clock_notes", "names", "styles", "bans", "invitations", "origins")
"""Tables that are copied row by row; both schemas have the same columns in the same order."""

_LATER = ("origins",)
"""Those that a journal of an earlier version lacks, until a server has opened it."""

_STATE = ("paused", "origins")
"""Keys of the table ``state`` that are copied."""

CHUNK = 1_000
"""Rows that are copied in one commit."""


def carry_journal(address: Address, to: Address) -> Copied:
    """Copy a journal from one database to another, which has none yet or an empty one.

    A copy that was not finished can't be opened, read or copied.

    Raises:
        JournalError: it is no journal or can't be read, or the copy can't be written.
    """
    source, target = database_at(address), database_at(to)
    try:
        with source.reading() as reader, closing(target.open(0)) as store:
            if any(rows_at(to, f"SELECT 1 FROM {table} LIMIT 1") for table in _TABLES):
                raise JournalError(f"{target.name} has a journal already; name another")

            def write(work: Work) -> None:
                try:
                    store.commit(work)
                except Exception as error:
                    raise JournalError(f"{target.name} can't be written: {error}") from None

            write([("INSERT INTO state VALUES (?, '')", [(UNFINISHED,)])])
            for table in [each for each in _TABLES if each not in _LATER or _has(reader, each)]:
                rows = reader.rows(f"SELECT * FROM {table}")
                while chunk := list(islice(rows, CHUNK)):
                    places = ", ".join("?" * len(chunk[0]))
                    write([(f"INSERT INTO {table} VALUES ({places})", chunk)])
            asked = "SELECT key, value FROM state WHERE key = ?"
            state = [row for key in _STATE for row in reader.rows(asked, key)]
            write(
                [
                    ("DELETE FROM state WHERE key = ?", [(key,) for key in (*_STATE, UNFINISHED)]),
                    ("INSERT INTO state VALUES (?, ?)", state),
                ]
            )
            ((games,),) = rows_at(to, "SELECT count(*) FROM games")
            return Copied(games, None)
    except DatabaseUnreadable as error:
        raise JournalError(f"{source.name} can't be copied: {error}") from None


def _has(reader: JournalReader, table: str) -> bool:
    try:
        list(reader.rows(f"SELECT 1 FROM {table} LIMIT 1"))
    except DatabaseUnreadable:
        return False
    return True


def _salvage(source: sqlite3.Connection, to: Path) -> None:
    """Copy what can be read of a damaged journal: tables from both ends, then game by game."""
    with closing(sqlite3.connect(to)) as copy, copy:
        copy.executescript(f"{SCHEMA} PRAGMA user_version = {SCHEMA_VERSION};")
        tables = copy.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        for (table,) in tables:
            fields = copy.execute(f"PRAGMA table_info({table})").fetchall()
            key = [name for _, name, _, _, _, place in fields if place]
            for order in ("", " DESC"):
                by = ", ".join(f"{name}{order}" for name in key)
                _take(source, copy, table, f"ORDER BY {by}")
        for (game,) in copy.execute("SELECT game FROM games").fetchall():
            _take(source, copy, "records", "WHERE game = ?", game)


def _take(
    source: sqlite3.Connection, copy: sqlite3.Connection, table: str, which: str, *values: str
) -> None:
    for row in _readable(source, f"SELECT * FROM {table} {which}", values):
        places = ", ".join("?" * len(row))
        with suppress(sqlite3.IntegrityError):  # a damaged row lacks fields
            copy.execute(f"INSERT OR REPLACE INTO {table} VALUES ({places})", row)


def _readable(
    source: sqlite3.Connection, question: str, values: Sequence[str]
) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a query up to the first that can't be read."""
    with suppress(*UNREADABLE):
        yield from source.execute(question, values)

"""A copy of a journal: of one moment while a host writes it, and what is left of a damaged one.

Between a file and a PostgreSQL database it is copied table by table, all in one transaction.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, NamedTuple

from lexicons.cache import replacing

from .database import Address, JournalError, Reader, Statement, Unreadable
from .journal_file import (
    SCHEMA,
    SCHEMA_VERSION,
    UNREADABLE,
    check_structure,
    check_version,
    reading,
)
from .journal_reading import database_at


class Copied(NamedTuple):
    """What a copy has."""

    games: int
    damage: JournalError | None
    """Why it is not all."""


def copy_journal(path: Path, to: Path) -> Copied:
    """Copy a journal to a file that only its owner can read, and check the copy.

    Raises:
        JournalError: it is no journal, or nothing of it can be read.
        OSError: the copy can't be written.
    """
    try:
        with reading(path) as source, replacing(to) as fresh:
            check_version(source, path)
            os.close(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
            damage = _copy(source, fresh, path)
            if damage is not None:
                fresh.write_bytes(b"")
                _salvage(source, fresh)
            with reading(fresh) as copy:
                (games,) = copy.execute("SELECT count(*) FROM games").fetchone()
                return Copied(games, damage)
    except UNREADABLE as error:
        raise JournalError(f"{path} can't be copied: {error}") from None


_FIELDS = {
    "games": "game, created, label, open",
    "records": "game, number, at, content",
    "clock_notes": "game, first, second, seq",
    "names": "name, hash",
    "styles": "name, odds, games, at",
    "bans": "whom, until, why",
    "invitations": "hash, name",
}


def carry_journal(address: Address, to: Address) -> Copied:
    """Copy a journal from one database to another, which has none yet or an empty one.

    Raises:
        JournalError: it is no journal or can't be read, or the copy can't be written.
    """
    source, target = database_at(address), database_at(to)
    try:
        with source.reading() as reader, closing(target.open(0)) as store:
            if any(list(store.rows(f"SELECT 1 FROM {table} LIMIT 1")) for table in _FIELDS):
                raise JournalError(f"{target.name} has a journal already; name another")
            work: list[Statement] = [
                (
                    f"INSERT INTO {table} VALUES ({', '.join('?' * (fields.count(',') + 1))})",
                    _Rows(reader, f"SELECT {fields} FROM {table}"),
                )
                for table, fields in _FIELDS.items()
            ]
            paused = _Rows(reader, "SELECT key, value FROM state WHERE key = 'paused'")
            store.commit([*work, ("INSERT INTO state VALUES (?, ?)", paused)])
            ((games,),) = store.rows("SELECT count(*) FROM games")
            return Copied(games, None)
    except Unreadable as error:
        raise JournalError(f"{source.name} can't be copied: {error}") from None


class _Rows:
    """The rows that answer a question, asked each time anew: a commit may be tried twice."""

    def __init__(self, reader: Reader, question: str) -> None:
        self._reader, self._question = reader, question

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return self._reader.rows(self._question)


def _copy(source: sqlite3.Connection, to: Path, path: Path) -> JournalError | None:
    with closing(sqlite3.connect(to)) as copy:
        source.backup(copy)
        copy.execute("PRAGMA journal_mode = DELETE")  # it is one file
        try:
            check_structure(copy, path)
        except JournalError as error:
            return error
    return None


def _salvage(source: sqlite3.Connection, to: Path) -> None:
    """Write what can be read of a damaged journal: each table from both its ends, games singly."""
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
    with suppress(*UNREADABLE):
        for row in source.execute(f"SELECT * FROM {table} {which}", values):
            places = ", ".join("?" * len(row))
            copy.execute(f"INSERT OR REPLACE INTO {table} VALUES ({places})", row)

"""The journal: every game's records are on disk before anybody is told of them.

One SQLite file in WAL mode, written by one thread. Records that arrive during a commit go into the
next, so a busy host commits many games at once. With ``synchronous=FULL`` an acknowledged move
survives a crash of the process or the machine. A lock on a file beside it keeps a second host out;
others may read meanwhile (``read_games``).
"""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import queue
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import msgspec

from protocol.parts import Style

from .records import ClockNote, Opened, Record

SCHEMA_VERSION = 2

_SCHEMA = """
CREATE TABLE IF NOT EXISTS games (
    game     TEXT PRIMARY KEY,
    created  REAL NOT NULL,         -- seconds since 1970
    label    TEXT NOT NULL,         -- JSON: what the host needs to seat the players again
    open     INTEGER NOT NULL       -- 1 while the game is on
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS records (
    game     TEXT NOT NULL REFERENCES games,
    number   INTEGER NOT NULL,      -- from 0, without gaps
    at       REAL NOT NULL,
    content  TEXT NOT NULL,         -- JSON of harness.arbiter.records
    PRIMARY KEY (game, number)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS clock_notes (
    game     TEXT PRIMARY KEY REFERENCES games,
    first    INTEGER NOT NULL,      -- milliseconds left to seat 0
    second   INTEGER NOT NULL,
    seq      INTEGER NOT NULL       -- the event that the seat to move was choosing
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS names (
    name     TEXT PRIMARY KEY,
    hash     TEXT NOT NULL          -- SHA-256 of the token that claimed the name
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS styles (
    name     TEXT PRIMARY KEY,      -- whose
    odds     TEXT NOT NULL,         -- JSON: model of a player to the chance that it fits
    games    INTEGER NOT NULL,      -- games that it rests on
    at       REAL NOT NULL          -- when it was last changed, seconds since 1970
) WITHOUT ROWID;
"""

_INSERT_RECORD = """
INSERT INTO records SELECT ?, coalesce(max(number) + 1, 0), ?, ? FROM records WHERE game = ?
"""

_Statement: TypeAlias = tuple[str, Sequence[tuple[str | int | float, ...]]]
_Work: TypeAlias = Sequence[_Statement]
"""Statements committed together or not at all."""


class JournalError(Exception):
    """The journal can't be read or written; the message names the file and the reason."""


@dataclass(frozen=True, slots=True)
class KeptGame:
    """A game as stored in the journal."""

    game: str
    created: float
    """Seconds since 1970."""
    label: dict[str, Any]
    records: tuple[Record, ...]
    note: ClockNote | None


def read_games(path: Path) -> Iterator[KeptGame]:
    """Yield all games of a journal, oldest first, as they are now; a host may be writing it.

    Raises:
        JournalError: it is no journal, or can't be read.
    """
    try:
        address = f"{path.absolute().as_uri()}?mode=rw"
        with closing(sqlite3.connect(address, uri=True, isolation_level=None)) as connection:
            connection.execute("PRAGMA query_only = 1")
            connection.execute("BEGIN")  # all that follows is of one moment
            _check_version(connection, path)
            yield from _games(connection, path, "")
    except sqlite3.Error as error:
        raise JournalError(f"{path} can't be read as a journal: {error}") from None


class Journal:
    """A journal file, open for reading and writing; created if missing.

    JournalError if it is no journal or of another version, or another host has it open.
    """

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self._lock_path = self.path.with_name(f"{self.path.name}-lock")
        self._styles: dict[str, Style] = {}
        self._queue: queue.SimpleQueue[tuple[_Work, asyncio.Future[None] | None] | None]
        self._queue = queue.SimpleQueue()
        try:
            self._lock = self._locked()
            self._connection = self._open()
        except (OSError, sqlite3.Error) as error:
            why = error.strerror if isinstance(error, OSError) else error
            raise JournalError(f"{self.path} can't be used as a journal: {why}") from None
        self._names: dict[str, str] = dict(self._connection.execute("SELECT * FROM names"))
        self._thread = threading.Thread(target=self._write, name="journal", daemon=True)
        self._thread.start()

    def _locked(self) -> int:
        """Keep other hosts out: two that resume the same games would contradict each other."""
        path = self._lock_path
        while True:
            lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                with suppress(FileNotFoundError):
                    if os.path.samestat(os.fstat(lock), path.stat()):
                        return lock
            except BlockingIOError:
                os.close(lock)
                raise JournalError(f"{self.path} is in use by another server or match") from None
            os.close(lock)  # its last owner has removed it meanwhile

    def _unlock(self) -> None:
        self._lock_path.unlink(missing_ok=True)
        os.close(self._lock)

    def _open(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self.path, timeout=1, check_same_thread=False, isolation_level=None
        )
        try:
            self._prepare(connection)
        except BaseException:
            connection.close()
            self._unlock()
            raise
        return connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        _check_version(connection, self.path)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.executescript(
            f"BEGIN IMMEDIATE; {_SCHEMA} PRAGMA user_version = {SCHEMA_VERSION}; COMMIT;"
        )
        for name, odds in connection.execute("SELECT name, odds FROM styles"):
            try:
                self._styles[name] = msgspec.json.decode(odds, type=Style)
            except msgspec.DecodeError as error:
                raise JournalError(
                    f"{self.path}: how {name} plays can't be read: {error}; "
                    "delete the row of that name from the table 'styles'"
                ) from None

    # --- writing --------------------------------------------------------------------------------

    async def create(
        self, opened: Opened, label: dict[str, Any], rest: Sequence[Record] = ()
    ) -> None:
        """Store a game's label and first record in one transaction; raise as ``append``.

        A game that was played elsewhere has the ``rest`` of its records, to the last.
        """
        game, now = opened.game, time.time()
        label_text, is_open = json.dumps(label), int(not rest)
        await self._done(
            [
                ("INSERT INTO games VALUES (?, ?, ?, ?)", [(game, now, label_text, is_open)]),
                (_INSERT_RECORD, [(game, now, _encode(each), game) for each in (opened, *rest)]),
            ]
        )

    async def append(self, game: str, records: Sequence[Record], *, last: bool = False) -> None:
        """Append the next records to a game, durable on return; with the ``last`` it ends.

        Raises:
            JournalError: they could not be written.
        """
        now = time.time()
        work: list[_Statement] = [
            (_INSERT_RECORD, [(game, now, _encode(record), game) for record in records])
        ]
        if last:
            work.append(("UPDATE games SET open = 0 WHERE game = ?", [(game,)]))
            work.append(("DELETE FROM clock_notes WHERE game = ?", [(game,)]))
        await self._done(work)

    def note(self, note: ClockNote) -> None:
        """Note the running clocks; return without waiting for the commit."""
        row = (note.game, *note.clocks, note.seq)
        self._queue.put(([("REPLACE INTO clock_notes VALUES (?, ?, ?, ?)", [row])], None))

    def keep_style(self, name: str, style: Style) -> None:
        """Store an opponent's style after a game, without waiting for the commit.

        It replaces the previous style, which it was learned from. If several games with one
        opponent run at once, the last to end wins.
        """
        self._styles[name] = style
        statement = (
            "INSERT INTO styles VALUES (?, ?, 1, ?) ON CONFLICT (name) DO UPDATE "
            "SET odds = excluded.odds, games = games + 1, at = excluded.at"
        )
        odds = msgspec.json.encode(style).decode()
        self._queue.put(([(statement, [(name, odds, time.time())])], None))

    async def claim_name(self, name: str, token_hash: str) -> None:
        """Claim a name for the holder of a token, unless it is claimed."""
        await self._done([("INSERT OR IGNORE INTO names VALUES (?, ?)", [(name, token_hash)])])
        self._names.setdefault(name, token_hash)

    async def _done(self, work: _Work) -> None:
        if not self._thread.is_alive():
            raise JournalError(f"{self.path} is closed; nothing more can be written")
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queue.put((work, future))
        await future

    def _write(self) -> None:
        while True:
            batch = [self._queue.get()]
            while not self._queue.empty():
                batch.append(self._queue.get())
            jobs = [job for job in batch if job is not None]
            failure = self._commit([statement for work, _ in jobs for statement in work])
            for work, future in jobs:
                # One game's fault must not fail others: a failed batch is retried work by work.
                alone = self._commit(work) if failure and len(jobs) > 1 else failure
                if future is not None:
                    with suppress(RuntimeError):  # its loop is closed
                        future.get_loop().call_soon_threadsafe(_settle, future, alone)
            if None in batch:
                return

    def _commit(self, work: _Work) -> JournalError | None:
        try:
            with self._connection as connection:
                connection.execute("BEGIN IMMEDIATE")
                for statement, rows in work:
                    connection.executemany(statement, rows)
        except Exception as error:  # any error is reported; the thread goes on
            return JournalError(f"{self.path} can't be written: {error}")
        return None

    def close(self) -> None:
        """Write pending records and close the file."""
        self._queue.put(None)
        self._thread.join()
        self._connection.close()
        self._unlock()

    # --- reading (at the start, before any game runs) -------------------------------------------

    def unfinished(self) -> list[KeptGame]:
        """Return the games that were running when the host stopped, oldest first."""
        return list(_games(self._connection, self.path, "WHERE open = 1"))

    def finished(self) -> Iterator[KeptGame]:
        """Yield finished games, oldest first; together they may be large."""
        return _games(self._connection, self.path, "WHERE open = 0")

    def token_hash(self, name: str) -> str | None:
        """Return the hash of the token that claimed a name."""
        return self._names.get(name)

    def style_of(self, name: str) -> Style | None:
        """Return an opponent's last style; the caller keeps its odds away from certainty."""
        return self._styles.get(name)


def _check_version(connection: sqlite3.Connection, path: Path) -> None:
    """Check that a database is a journal of this version, or empty."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version not in (0, SCHEMA_VERSION):
        raise JournalError(
            f"{path} is a journal of version {version}; this program reads version {SCHEMA_VERSION}"
        )
    if version == 0 and connection.execute("SELECT 1 FROM sqlite_master").fetchone():
        raise JournalError(f"{path} is a database of something else, not a journal")


def _games(connection: sqlite3.Connection, path: Path, which: str) -> Iterator[KeptGame]:
    rows = connection.execute(
        "SELECT game, created, label, first, second, seq "
        f"FROM games LEFT JOIN clock_notes USING (game) {which} ORDER BY created, game"
    )
    for game, created, label, *clocks, seq in rows.fetchall():
        note = None if seq is None else ClockNote(game=game, clocks=tuple(clocks), seq=seq)
        yield KeptGame(game, created, json.loads(label), _records(connection, path, game), note)


def _records(connection: sqlite3.Connection, path: Path, game: str) -> tuple[Record, ...]:
    rows = connection.execute("SELECT content FROM records WHERE game = ? ORDER BY number", (game,))
    try:
        return tuple(msgspec.json.decode(content, type=Record) for (content,) in rows)
    except msgspec.DecodeError as error:
        raise JournalError(f"{path}: game {game} can't be read: {error}") from None


def _encode(record: Record) -> str:
    return msgspec.json.encode(record).decode()


def _settle(future: asyncio.Future[None], failure: JournalError | None) -> None:
    if future.done():
        return
    if failure is None:
        future.set_result(None)
    else:
        future.set_exception(failure)

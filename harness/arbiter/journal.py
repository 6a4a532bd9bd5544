"""The journal: every game's records are on disk before anybody is told of them.

One SQLite file in WAL mode, written by one thread. Records that arrive during a commit go into the
next, so a busy host commits many games at once. With ``synchronous=FULL`` an acknowledged move
survives a crash of the process or the machine. ``journal_file`` keeps a second host out and finds
damage; others may read meanwhile, by ``journal_reading``.
"""

from __future__ import annotations

import asyncio
import json
import queue
import shutil
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias

import msgspec
import structlog

from bot.seat.containment import unhide
from protocol.parts import Style

from .journal_file import (
    SCHEMA,
    SCHEMA_VERSION,
    UNREADABLE,
    JournalError,
    JournalLock,
    check,
    commits_of,
    files_of,
    keep_private,
)
from .journal_reading import Damaged, KeptGame, games_of, raise_damage
from .records import ClockNote, Opened, Record

log = structlog.get_logger(__name__)

PROBE_S = 1.0
"""Interval at which a journal that can't be written is tried again, and asked for its health."""

WAL_BYTES = 64 << 20
"""To this size the write-ahead log is cut once a reader that held it up has gone."""

_INSERT_RECORD = """
INSERT INTO records SELECT ?, coalesce(max(number) + 1, 0), ?, ? FROM records WHERE game = ?
"""

_DROP_BETWEEN = """
DELETE FROM records WHERE game = ? AND number > 0
AND number < (SELECT max(number) FROM records AS last WHERE last.game = ?)
"""

_Statement: TypeAlias = tuple[str, Sequence[tuple[str | int | float | None, ...]]]
_Work: TypeAlias = Sequence[_Statement]
"""Statements committed together or not at all."""


class Journal:
    """A journal file, open for reading and writing; created if missing.

    JournalError if it is no journal or of another version, if it is damaged or lacks what was
    acknowledged, or another host has it open. No game begins with less than ``reserve`` bytes free
    on its disk, so that those that are on have room to end.
    """

    def __init__(self, path: Path | str, reserve: int = 0) -> None:
        self.path = Path(path)
        self._reserve = reserve
        self._styles: dict[str, Style] = {}
        self._names: dict[str, str] = {}
        self.commits = 0
        """In all, also before this start."""
        self.commit_s = 0.0
        """Time that commits took, since this start."""
        self._failure: JournalError | None = None
        """Of the last commit."""
        self._probed = 0.0
        self._queue: queue.SimpleQueue[tuple[_Work, asyncio.Future[None] | None] | None]
        self._queue = queue.SimpleQueue()
        try:
            self._lock = JournalLock(self.path)
            self._connection = self._open()
        except (OSError, *UNREADABLE) as error:
            why = error.strerror if isinstance(error, OSError) else error
            raise JournalError(f"{self.path} can't be used as a journal: {why}") from None
        self._thread = threading.Thread(target=self._write, name="journal", daemon=True)
        self._thread.start()

    def _open(self) -> sqlite3.Connection:
        connection: sqlite3.Connection | None = None
        try:
            check(self.path, self._lock.acknowledged)
            keep_private(self.path)
            connection = sqlite3.connect(
                self.path, timeout=1, check_same_thread=False, isolation_level=None
            )
            self._prepare(connection)
        except BaseException:
            if connection is not None:
                connection.close()
            self._lock.leave()
            raise
        return connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute(f"PRAGMA journal_size_limit = {WAL_BYTES}")
        connection.executescript(
            f"BEGIN IMMEDIATE; {SCHEMA} PRAGMA user_version = {SCHEMA_VERSION}; COMMIT;"
        )
        self.commits = commits_of(connection)
        self._names.update(connection.execute("SELECT name, hash FROM names"))
        for name, odds in connection.execute("SELECT name, odds FROM styles"):
            try:
                self._styles[name] = msgspec.json.decode(odds, type=Style)
            except msgspec.DecodeError as error:  # it is learned again
                log.error("style not read", journal=str(self.path), name=name, reason=str(error))

    # --- writing --------------------------------------------------------------------------------

    async def create(
        self, opened: Opened, label: dict[str, Any], rest: Sequence[Record] = ()
    ) -> None:
        """Store a game's label and first record in one transaction; raise as ``append``.

        A game that was played elsewhere has the ``rest`` of its records, to the last.
        """
        self._check_room()
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

    async def change(self, *statements: tuple[str, tuple[str | int | float | None, ...]]) -> None:
        """Change what the server itself keeps, by statements that succeed together or not at all.

        Raises:
            JournalError: it could not be written.
        """
        await self._done([(statement, [values]) for statement, values in statements])

    async def claim_name(self, name: str, token_hash: str) -> None:
        """Claim a name for the holder of a token, unless it is claimed."""
        await self._done([("INSERT OR IGNORE INTO names VALUES (?, ?)", [(name, token_hash)])])
        self._names.setdefault(name, token_hash)

    async def drop_moves(self, games: Sequence[str]) -> None:
        """Drop all records of finished games but the first and the last; raise as ``append``."""
        await self._done(
            [
                (_DROP_BETWEEN, [(game, game) for game in games]),
                (
                    "UPDATE records SET number = 1 WHERE game = ? AND number > 1",
                    [(g,) for g in games],
                ),
            ]
        )

    async def _done(self, work: _Work) -> None:
        if not self._thread.is_alive():
            raise JournalError(f"{self.path} is closed; nothing more can be written")
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queue.put((work, future))
        await future

    def _check_room(self) -> None:
        if self._reserve:
            free = shutil.disk_usage(self.path.parent).free
            if free < self._reserve:
                raise JournalError(
                    f"{free >> 20} MB are free on the disk of {self.path}; "
                    f"no game begins with less than {self._reserve >> 20} MB"
                )

    def trouble(self) -> str | None:
        """Return why nothing can be written now, or no game begun; None if all is well.

        It is what the last commit came to. Now and then asking makes one, for the next who asks.
        """
        if (now := time.monotonic()) >= self._probed + PROBE_S:
            self._probed = now
            self._queue.put(([], None))
        try:
            self._check_room()
        except (JournalError, OSError) as error:
            return str(error)
        return None if self._failure is None else str(self._failure)

    def size(self) -> int:
        """Return the bytes of the journal and its write-ahead log."""
        files = self.path, self.path.with_name(f"{self.path.name}-wal")
        return sum(file.stat().st_size for file in files if file.exists())

    def _write(self) -> None:
        while True:
            batch = self._waiting()
            jobs = [job for job in batch if job is not None]
            failure = self._commit([statement for work, _ in jobs for statement in work])
            self._note_failure(failure and self._commit([]))  # or was it one game's own fault?
            for work, future in jobs:
                # One game's fault must not fail others: a failed batch is retried work by work.
                alone = self._commit(work) if failure and len(jobs) > 1 else failure
                if future is not None:
                    with suppress(RuntimeError):  # its loop is closed
                        future.get_loop().call_soon_threadsafe(_settle, future, alone)
            if None in batch:
                return

    def _waiting(self) -> list[tuple[_Work, asyncio.Future[None] | None] | None]:
        """Return all the work that there is, after a while none if the last could not be done."""
        try:
            batch = [self._queue.get(timeout=None if self._failure is None else PROBE_S)]
        except queue.Empty:
            return []
        while not self._queue.empty():
            batch.append(self._queue.get())
        return batch

    def _commit(self, work: _Work) -> JournalError | None:
        began = time.monotonic()
        try:
            with self._connection as connection:
                connection.execute("BEGIN IMMEDIATE")
                for statement, rows in work:
                    connection.executemany(statement, rows)
                connection.execute("UPDATE state SET value = value + 1 WHERE key = 'commits'")
        except Exception as error:  # any error is reported; the thread goes on
            return JournalError(f"{self.path} can't be written: {error}")
        self.commits += 1
        self.commit_s += time.monotonic() - began
        self._lock.mark(self.commits)
        return None

    def _note_failure(self, failure: JournalError | None) -> None:
        before, self._failure = self._failure, failure
        if failure is not None and before is None:
            log.error("journal can't be written", reason=str(failure))
        if failure is None and before is not None:
            log.warning("journal is written again", journal=str(self.path))

    def close(self) -> None:
        """Write pending records and close the file."""
        self._queue.put(None)
        self._thread.join()
        self._connection.close()
        unhide(*files_of(self.path))
        self._lock.release()

    # --- reading (at the start, before any game runs) -------------------------------------------

    def rows(self, question: str) -> list[tuple[Any, ...]]:
        """Return the rows that answer a question in SQL."""
        return self._connection.execute(question).fetchall()

    def unfinished(self, damaged: Damaged = raise_damage) -> list[KeptGame]:
        """Return the games that were running when the host stopped, oldest first."""
        return list(games_of(self._connection, self.path, "WHERE open = 1", damaged))

    def finished(self) -> Iterator[KeptGame]:
        """Yield finished games, oldest first; together they may be large."""
        return games_of(self._connection, self.path, "WHERE open = 0", raise_damage)

    @property
    def claimed_names(self) -> int:
        """How many names are claimed."""
        return len(self._names)

    def token_hash(self, name: str) -> str | None:
        """Return the hash of the token that claimed a name."""
        return self._names.get(name)

    def style_of(self, name: str) -> Style | None:
        """Return an opponent's last style; the caller keeps its odds away from certainty."""
        return self._styles.get(name)


def _encode(record: Record) -> str:
    return msgspec.json.encode(record).decode()


def _settle(future: asyncio.Future[None], failure: JournalError | None) -> None:
    if future.done():
        return
    if failure is None:
        future.set_result(None)
    else:
        future.set_exception(failure)

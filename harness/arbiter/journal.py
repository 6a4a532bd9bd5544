"""The journal: every game's records on disk before anybody is told of them.

One SQLite file in WAL mode, written by one thread. What is handed over while a commit is under
way goes into the next one, so that a busy host commits many games at once; the future of an
append is done only after its commit, and only then is a move acknowledged. ``synchronous=FULL``:
an acknowledged move outlives the process and the machine.
"""

from __future__ import annotations

import asyncio
import json
import queue
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from protocol.parts import Style

from .records import ClockNote, Opened, Record

__all__ = ["Journal", "JournalError", "KeptGame"]

SCHEMA_VERSION = 2
"""Version 1 had no styles; a file of it becomes one of version 2 when it is opened."""

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
    odds     TEXT NOT NULL,         -- JSON: model of a player to the chance that it fits him
    games    INTEGER NOT NULL,      -- how many it rests on
    at       REAL NOT NULL          -- when it was last changed, seconds since 1970
) WITHOUT ROWID;
"""

_Work = Callable[[sqlite3.Connection], None]


@dataclass(frozen=True, slots=True)
class _Statement:
    """A piece of work that is one statement."""

    text: str
    values: tuple[str | int | float, ...]

    def __call__(self, connection: sqlite3.Connection) -> None:
        connection.execute(self.text, self.values)


class JournalError(Exception):
    """The journal can't be read or written; the sentence says which file and why."""


@dataclass(frozen=True, slots=True)
class KeptGame:
    """A game as the journal has it."""

    game: str
    label: dict[str, Any]
    records: tuple[Record, ...]
    note: ClockNote | None


class Journal:
    """A journal file, open for reading and writing.

    Args:
        path: the file; made if it isn't there.

    Raises:
        JournalError: it is no journal, is of another version, or another host has it open.
    """

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self._numbers: dict[str, int] = {}
        self._styles: dict[str, Style] = {}
        self._queue: queue.SimpleQueue[tuple[_Work, asyncio.Future[None] | None] | None]
        self._queue = queue.SimpleQueue()
        try:
            self._connection = self._open()
        except sqlite3.Error as error:
            raise JournalError(f"{self.path} can't be used as a journal: {error}") from None
        self._names: dict[str, str] = dict(self._connection.execute("SELECT * FROM names"))
        self._thread = threading.Thread(target=self._write, name="journal", daemon=True)
        self._thread.start()

    def _open(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self.path, timeout=1, check_same_thread=False, isolation_level=None
        )
        try:
            self._prepare(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        # Two hosts that play the same games on from one file would contradict each other.
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if not 0 <= version <= SCHEMA_VERSION:
            raise JournalError(
                f"{self.path} is a journal of version {version}; "
                f"this program reads versions 1 to {SCHEMA_VERSION}"
            )
        if version == 0 and connection.execute("SELECT 1 FROM sqlite_master").fetchone():
            raise JournalError(f"{self.path} is a database of something else, not a journal")
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

    async def create(self, opened: Opened, label: dict[str, Any]) -> None:
        """Begin a game: its label and its first record, together or not at all.

        Raises:
            JournalError: it could not be written.
        """
        text, content = json.dumps(label), _encode(opened)
        now = time.time()
        self._numbers[opened.game] = 1

        def work(connection: sqlite3.Connection) -> None:
            connection.execute("INSERT INTO games VALUES (?, ?, ?, 1)", (opened.game, now, text))
            connection.execute(
                "INSERT INTO records VALUES (?, 0, ?, ?)", (opened.game, now, content)
            )

        try:
            await self._done(work)
        except JournalError:
            del self._numbers[opened.game]
            raise

    async def append(self, game: str, records: Sequence[Record], *, last: bool = False) -> None:
        """Keep records of a game; they are durable when this returns.

        Args:
            game: which.
            records: in order.
            last: whether the game ends with them.

        Raises:
            JournalError: they could not be written.
        """
        first, now = self._numbers[game], time.time()
        self._numbers[game] = first + len(records)
        rows = [(game, first + at, now, _encode(record)) for at, record in enumerate(records)]

        def work(connection: sqlite3.Connection) -> None:
            connection.executemany("INSERT INTO records VALUES (?, ?, ?, ?)", rows)
            if last:
                connection.execute("UPDATE games SET open = 0 WHERE game = ?", (game,))
                connection.execute("DELETE FROM clock_notes WHERE game = ?", (game,))

        try:
            await self._done(work)
        except JournalError:
            self._numbers[game] = first
            raise
        if last:
            del self._numbers[game]

    def note(self, note: ClockNote) -> None:
        """Note what running clocks show; nobody waits for it."""
        row = (note.game, *note.clocks, note.seq)
        statement = "REPLACE INTO clock_notes VALUES (?, ?, ?, ?)"
        self._queue.put((_Statement(statement, row), None))

    def keep_style(self, name: str, style: Style) -> None:
        """Keep how an opponent plays, after a game with him; nobody waits for it.

        It takes the place of what was known, since whoever learned it began with that. Where
        several games with one opponent are on at once, the one that ends last has the last word.
        """
        self._styles[name] = style
        statement = (
            "INSERT INTO styles VALUES (?, ?, 1, ?) ON CONFLICT (name) DO UPDATE "
            "SET odds = excluded.odds, games = games + 1, at = excluded.at"
        )
        odds = msgspec.json.encode(style).decode()
        self._queue.put((_Statement(statement, (name, odds, time.time())), None))

    async def claim_name(self, name: str, token_hash: str) -> None:
        """Give a name to the holder of a token, if nobody has it."""
        await self._done(
            _Statement("INSERT OR IGNORE INTO names VALUES (?, ?)", (name, token_hash))
        )
        self._names.setdefault(name, token_hash)

    async def _done(self, work: _Work) -> None:
        if not self._thread.is_alive():
            raise JournalError(f"{self.path} is closed; nothing more can be written")
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queue.put((work, future))
        await future

    def _write(self) -> None:
        """The writer thread: whatever is waiting goes into one commit."""
        while True:
            batch = [self._queue.get()]
            while not self._queue.empty():
                batch.append(self._queue.get())
            jobs = [job for job in batch if job is not None]
            failure = self._commit([work for work, _ in jobs])
            for work, future in jobs:
                # One game's fault is not another's: what fails together is tried one by one.
                alone = self._commit([work]) if failure and len(jobs) > 1 else failure
                if future is not None:
                    with suppress(RuntimeError):  # its loop is closed, and nobody waits
                        future.get_loop().call_soon_threadsafe(_settle, future, alone)
            if None in batch:
                return

    def _commit(self, batch: Sequence[_Work]) -> JournalError | None:
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            for work in batch:
                work(self._connection)
            self._connection.execute("COMMIT")
        except Exception as error:  # whatever it is, the thread lives on and says so
            with suppress(sqlite3.Error):
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
            return JournalError(f"{self.path} can't be written: {error}")
        return None

    def close(self) -> None:
        """Write what is waiting and close the file."""
        self._queue.put(None)
        self._thread.join()
        self._connection.close()

    # --- reading (at the start, before games are on) --------------------------------------------

    def unfinished(self) -> list[KeptGame]:
        """The games that were on when the host stopped, oldest first."""
        rows = self._connection.execute(
            "SELECT game, label FROM games WHERE open ORDER BY created, game"
        ).fetchall()
        games = [self._kept(game, label) for game, label in rows]
        self._numbers |= {kept.game: len(kept.records) for kept in games}
        return games

    def finished(self) -> Iterator[KeptGame]:
        """The games that have ended, oldest first, one by one: together they may be large."""
        rows = self._connection.execute(
            "SELECT game, label FROM games WHERE NOT open ORDER BY created, game"
        ).fetchall()
        for game, label in rows:
            yield self._kept(game, label)

    def token_hash(self, name: str) -> str | None:
        """The hash of the token that claimed a name."""
        return self._names.get(name)

    def style_of(self, name: str) -> Style | None:
        """How an opponent plays, by the games with him so far, as it was last kept.

        The odds are handed on as they are; that no history makes them certain is for whoever goes
        on learning from them to see to.
        """
        return self._styles.get(name)

    def _kept(self, game: str, label: str) -> KeptGame:
        rows = self._connection.execute(
            "SELECT content FROM records WHERE game = ? ORDER BY number", (game,)
        ).fetchall()
        try:
            records = tuple(msgspec.json.decode(content, type=Record) for (content,) in rows)
        except msgspec.DecodeError as error:
            raise JournalError(f"{self.path}: game {game} can't be read: {error}") from None
        row = self._connection.execute(
            "SELECT first, second, seq FROM clock_notes WHERE game = ?", (game,)
        ).fetchone()
        note = ClockNote(game=game, clocks=(row[0], row[1]), seq=row[2]) if row else None
        return KeptGame(game, json.loads(label), records, note)


def _encode(record: Record) -> str:
    return msgspec.json.encode(record).decode()


def _settle(future: asyncio.Future[None], failure: JournalError | None) -> None:
    if future.done():
        return
    if failure is None:
        future.set_result(None)
    else:
        future.set_exception(failure)

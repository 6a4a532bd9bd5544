"""The journal: every game's records are on disk before anybody is told of them.

One SQLite file in WAL mode, written by one thread. Records that arrive during a commit go into the
next, so a busy host commits many games at once. With ``synchronous=FULL`` an acknowledged move
survives a crash of the process or the machine. ``journal_file`` keeps a second host out and finds
damage; others may read meanwhile (``read_games``).
"""

from __future__ import annotations

import asyncio
import json
import queue
import shutil
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
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
    check_version,
    commits_of,
    files_of,
    keep_private,
    reading,
)
from .records import ClockNote, Ended, Opened, Record

__all__ = [
    "Journal",
    "JournalError",
    "KeptGame",
    "PastGame",
    "read_ended",
    "read_ended_game",
    "read_games",
    "read_older",
    "read_past",
]

log = structlog.get_logger(__name__)

PROBE_S = 1.0
"""Interval at which a journal that can't be written is tried again, and asked for its health."""

WAL_BYTES = 64 << 20
"""To this size the write-ahead log is cut once a reader that held it up has gone."""

_INSERT_RECORD = """
INSERT INTO records SELECT ?, coalesce(max(number) + 1, 0), ?, ? FROM records WHERE game = ?
"""

_PAST = """
SELECT game, created,
    (SELECT content FROM records WHERE records.game = games.game ORDER BY number LIMIT 1),
    (SELECT content FROM records WHERE records.game = games.game ORDER BY number DESC LIMIT 1)
FROM games WHERE open = 0 AND (
    :before IS NULL OR (created, game) < (SELECT created, game FROM games WHERE game = :before)
) ORDER BY created DESC, game DESC LIMIT :most
"""

_DROP_BETWEEN = """
DELETE FROM records WHERE game = ? AND number > 0
AND number < (SELECT max(number) FROM records AS last WHERE last.game = ?)
"""

_OPENED, _ENDED = msgspec.json.Decoder(Opened), msgspec.json.Decoder(Ended)

_Statement: TypeAlias = tuple[str, Sequence[tuple[str | int | float | None, ...]]]
_Work: TypeAlias = Sequence[_Statement]
"""Statements committed together or not at all."""


@dataclass(frozen=True, slots=True)
class KeptGame:
    """A game as stored in the journal."""

    game: str
    created: float
    """Seconds since 1970."""
    label: dict[str, Any]
    records: tuple[Record, ...]
    note: ClockNote | None

    @property
    def is_short(self) -> bool:
        """Whether its moves were dropped."""
        ended = self.records[-1]
        return len(self.records) == 2 and isinstance(ended, Ended) and ended.seq > 0


def _raise(error: JournalError) -> None:
    raise error


Damaged: TypeAlias = Callable[[JournalError], None]
"""Takes the reason why a game can't be read; if it returns, the game is left out."""


def read_games(path: Path, damaged: Damaged = _raise) -> Iterator[KeptGame]:
    """Yield all games of a journal, oldest first, as they are now; a host may be writing it.

    Raises:
        JournalError: it is no journal, or can't be read.
    """
    with _of_one_moment(path) as connection:
        yield from _games(connection, path, "", damaged)


@contextmanager
def _of_one_moment(path: Path) -> Iterator[sqlite3.Connection]:
    try:
        with reading(path) as connection:
            connection.execute("BEGIN")
            check_version(connection, path)
            yield connection
    except UNREADABLE as error:
        raise JournalError(f"{path} can't be read as a journal: {error}") from None


@dataclass(frozen=True, slots=True)
class EndedGame:
    """How a game of the journal ended, without what happened before."""

    game: str
    label: dict[str, Any]
    at: float
    """When it ended, in seconds since 1970."""
    ended: Ended


def read_ended(path: Path, key: str) -> Iterator[EndedGame]:
    """Yield how games ended whose label has a key, in that order; a host may be writing.

    A game whose end can't be read is left out.

    Raises:
        JournalError: it is no journal, or can't be read.
    """
    with _of_one_moment(path) as connection:
        rows = connection.execute(
            "SELECT games.game, label, at, content FROM games JOIN records ON records.game = "
            "games.game AND number = (SELECT max(number) FROM records AS last WHERE "
            "last.game = games.game) WHERE open = 0 AND "
            "CASE WHEN json_valid(label) THEN label ->> ? END IS NOT NULL ORDER BY at",
            (key,),
        )
        for game, label, at, content in rows:
            with suppress(msgspec.DecodeError, ValueError, TypeError, RecursionError):
                yield EndedGame(game, json.loads(label), at, _ENDED.decode(content))


def read_ended_game(path: Path, game: str) -> KeptGame | None:
    """Return a game of a journal if it is over: what is hidden in one that is on stays so.

    Raises:
        JournalError: the journal or the game can't be read.
    """
    with _of_one_moment(path) as connection:
        found = _games(connection, path, "WHERE open = 0 AND game = ?", _raise, game)
        return next(found, None)


def read_older(path: Path, before: float, most: int, after: str | None = None) -> list[KeptGame]:
    """Return finished games, oldest first, that began ``before`` a time, with their moves.

    Those whose moves were dropped are left out, and those up to the game ``after``, and what can't
    be read.

    Raises:
        JournalError: the journal can't be read.
    """
    which = (
        "WHERE open = 0 AND created < ? AND (? IS NULL OR (created, game) > "
        "(SELECT created, game FROM games WHERE game = ?)) AND EXISTS "
        "(SELECT 1 FROM records WHERE records.game = games.game AND number = 2)"
    )
    with _of_one_moment(path) as connection:
        games = _games(connection, path, which, lambda _error: None, before, after, after)
        return list(islice(games, most))


@dataclass(frozen=True, slots=True)
class PastGame:
    """A finished game, without what happened in it."""

    game: str
    created: float
    """Seconds since 1970."""
    opened: Opened
    ended: Ended


def read_past(path: Path, most: int, before: str | None = None) -> list[PastGame]:
    """Return the games that were begun last, or last ``before`` another, of those that are over.

    A game that can't be read is left out.

    Raises:
        JournalError: the journal can't be read.
    """
    with _of_one_moment(path) as connection:
        rows = connection.execute(_PAST, {"before": before, "most": most}).fetchall()
    past = []
    for game, created, opened, ended in rows:
        with suppress(msgspec.DecodeError, ValueError, TypeError, RecursionError):
            past.append(PastGame(game, created, _OPENED.decode(opened), _ENDED.decode(ended)))
    return past


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

    def unfinished(self, damaged: Damaged = _raise) -> list[KeptGame]:
        """Return the games that were running when the host stopped, oldest first."""
        return list(_games(self._connection, self.path, "WHERE open = 1", damaged))

    def finished(self) -> Iterator[KeptGame]:
        """Yield finished games, oldest first; together they may be large."""
        return _games(self._connection, self.path, "WHERE open = 0", _raise)

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


def _games(
    connection: sqlite3.Connection,
    path: Path,
    which: str,
    damaged: Damaged,
    *values: str | float | None,
) -> Iterator[KeptGame]:
    try:
        listing = f"SELECT game, created FROM games {which} ORDER BY created, game"
        games = connection.execute(listing, values).fetchall()
    except UNREADABLE as error:
        raise JournalError(f"{path} can't be read as a journal: {error}") from None
    for game, created in games:
        try:
            note, records = _note(connection, game), _records(connection, game)
            kept = KeptGame(game, created, _label(connection, game), records, note)
        except (ValueError, RecursionError, *UNREADABLE) as error:
            damaged(JournalError(f"{path}: game {game} can't be read: {error}"))
        else:
            yield kept


def _label(connection: sqlite3.Connection, game: str) -> dict[str, Any]:
    (text,) = connection.execute("SELECT label FROM games WHERE game = ?", (game,)).fetchone()
    return msgspec.json.decode(text, type=dict[str, Any])


def _note(connection: sqlite3.Connection, game: str) -> ClockNote | None:
    """Return a game's clock note; raise ValueError if it has no numbers, which SQLite lets be."""
    row = connection.execute(
        "SELECT first, second, seq FROM clock_notes WHERE game = ?", (game,)
    ).fetchone()
    if row is None:
        return None
    *clocks, seq = row
    return msgspec.convert({"game": game, "clocks": clocks, "seq": seq}, ClockNote)


def _records(connection: sqlite3.Connection, game: str) -> tuple[Record, ...]:
    """Return the records of a game; raise ValueError unless they are complete."""
    rows = connection.execute(
        "SELECT number, content FROM records WHERE game = ? ORDER BY number", (game,)
    ).fetchall()
    records = tuple(msgspec.json.decode(content, type=Record) for _, content in rows)
    if [number for number, _ in rows] != list(range(len(rows))) or not records:
        raise ValueError("records are missing")
    if not isinstance(records[0], Opened) or records[0].game != game:
        raise ValueError("its first record is not its own 'opened'")
    return records


def _encode(record: Record) -> str:
    return msgspec.json.encode(record).decode()


def _settle(future: asyncio.Future[None], failure: JournalError | None) -> None:
    if future.done():
        return
    if failure is None:
        future.set_result(None)
    else:
        future.set_exception(failure)

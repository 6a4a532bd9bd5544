"""A journal in a PostgreSQL database, in a schema of its own called ``tilewire``.

A commit is made exactly once: its number is written in the same transaction, so after a connection
was lost in mid-commit the next one tells whether it had come that far. An advisory lock of the
session that writes keeps a second host out; it ends with the session.
"""

from __future__ import annotations

import logging
import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

import structlog

from .database import JournalError, Reader, Unreadable, Value, Work

if TYPE_CHECKING:
    import psycopg

log = structlog.get_logger(__name__)

SCHEMA_VERSION = 1

SCHEMA = """
CREATE SCHEMA IF NOT EXISTS tilewire;
SET search_path = tilewire;
CREATE TABLE IF NOT EXISTS games (
    game     TEXT COLLATE "C" PRIMARY KEY,
    created  DOUBLE PRECISION NOT NULL,  -- seconds since 1970
    label    TEXT NOT NULL,              -- JSON: what the host needs to seat the players again
    open     INTEGER NOT NULL            -- 1 while the game is on
);
CREATE TABLE IF NOT EXISTS records (
    game     TEXT COLLATE "C" NOT NULL,
    number   BIGINT NOT NULL,            -- from 0, without gaps
    at       DOUBLE PRECISION NOT NULL,
    content  TEXT NOT NULL,              -- JSON of harness.arbiter.records
    PRIMARY KEY (game, number)
);
CREATE TABLE IF NOT EXISTS clock_notes (
    game     TEXT COLLATE "C" PRIMARY KEY,
    first    BIGINT NOT NULL,            -- milliseconds left to seat 0
    second   BIGINT NOT NULL,
    seq      BIGINT NOT NULL             -- the event that the seat to move was choosing
);
CREATE TABLE IF NOT EXISTS names (
    name     TEXT COLLATE "C" PRIMARY KEY,
    hash     TEXT NOT NULL               -- SHA-256 of the token that claimed the name
);
CREATE TABLE IF NOT EXISTS styles (
    name     TEXT COLLATE "C" PRIMARY KEY,  -- whose
    odds     TEXT NOT NULL,              -- JSON: model of a player to the chance that it fits
    games    BIGINT NOT NULL,            -- games that it rests on
    at       DOUBLE PRECISION NOT NULL   -- when it was last changed, seconds since 1970
);
CREATE TABLE IF NOT EXISTS state (
    key      TEXT COLLATE "C" PRIMARY KEY,
    value    TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS bans (
    whom     TEXT COLLATE "C" PRIMARY KEY,  -- a name, an address or a network
    until    DOUBLE PRECISION,           -- seconds since 1970; null: for good
    why      TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS invitations (
    hash     TEXT COLLATE "C" PRIMARY KEY,  -- SHA-256 of a token
    name     TEXT COLLATE "C"            -- whose it has become; null: nobody's yet
);
CREATE INDEX IF NOT EXISTS open_games ON games (created) WHERE open = 1;
CREATE INDEX IF NOT EXISTS past_games ON games (created, game) WHERE open = 0;
"""

SCHEMES = ("postgresql://", "postgres://")
"""How the address of such a journal begins."""

CONNECT_S = 3
"""Time for a connection to be made."""
STUCK_S = 5.0
"""After this a connection that does not answer is given up."""
PATIENCE_S = 30.0
"""Time for which a commit waits for a database that is gone to come back."""
RETRY_S = 0.2
LOCK_S = 5.0
"""Time that the session of a host which was killed may take to end."""
SIZED_S = 60.0
"""Interval at which the database is asked for its size."""
CHUNK = 1_000
"""Rows that are sent at once."""

_LOCK = "hashtext('tilewire')"


class PostgresDatabase:
    """A journal in a PostgreSQL database, by its URL."""

    def __init__(self, url: str) -> None:
        self._url = url
        try:
            parts = urlsplit(url)
            host = parts.netloc.rpartition("@")[2]
            user = f"{parts.username}@" if parts.username else ""
            self.name = urlunsplit((parts.scheme, f"{user}{host}", parts.path, "", ""))
        except ValueError as error:
            raise JournalError(f"the address of the journal is no URL: {error}") from None

    @contextmanager
    def reading(self) -> Iterator[Reader]:
        """Read the journal as it is at this moment, while a host may write it."""
        psycopg = _driver()
        try:
            with _connect(self._url) as connection:
                connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
                if _version(connection, self.name) is None:
                    raise JournalError(f"{self.name} has no journal")
                yield _Connection(connection)
        except psycopg.Error as error:
            raise Unreadable(_sentence(error)) from None

    def open(self, reserve: int) -> PostgresStore:
        """Open the journal to write it; made if it isn't there.

        The database's own disk is not asked how much of it is free: ``reserve`` is not used.

        Raises:
            JournalError: it can't be used, is of another version, or in use by another host.
        """
        del reserve
        psycopg = _driver()
        try:
            return PostgresStore(self._url, self.name)
        except psycopg.Error as error:
            raise JournalError(
                f"{self.name} can't be used as a journal: {_sentence(error)}"
            ) from None


class _Connection:
    """Answers questions by a connection."""

    def __init__(self, connection: psycopg.Connection) -> None:
        self._connection = connection

    def rows(self, question: str, *values: Value) -> Iterator[tuple[Any, ...]]:
        """Yield the rows that answer a question."""
        import psycopg

        try:
            with self._connection.cursor() as cursor:
                yield from cursor.stream(_placed(question), values)
        except psycopg.Error as error:
            raise Unreadable(_sentence(error)) from None


class PostgresStore(_Connection):
    """A journal in a PostgreSQL database, open to be written."""

    def __init__(self, url: str, name: str) -> None:
        self._url, self._name = url, name
        self._lost_at: float | None = None
        """When the connection was lost, if it was."""
        self._stuck_at = float("inf")
        """When to give up the commit that is being made."""
        self._session: int | None = None
        """The server's process for the connection; a new one ends it."""
        self._bytes, self._sized_at = 0, float("-inf")
        self._closed = threading.Event()
        super().__init__(_connect(url))
        try:
            self._lock()
            with self._connection.transaction():
                if _version(self._connection, name) is None:
                    self._connection.execute(SCHEMA)
                    self._connection.execute(
                        "INSERT INTO state VALUES ('version', %s), ('commits', '0')",
                        (str(SCHEMA_VERSION),),
                    )
            self.commits = self._committed()
        except BaseException:
            self._connection.close()
            raise
        threading.Thread(target=self._watch, name="journal's watch", daemon=True).start()

    # --- writing --------------------------------------------------------------------------------

    def commit(self, work: Work) -> None:
        """Make work durable, or change nothing and raise.

        If the connection is lost, this waits for another.
        """
        import psycopg

        sent = False
        while True:
            try:
                if self._connection.closed:
                    self._reconnect()
                    committed, last = self._committed(), self.commits
                    self.commits = committed
                    if sent and committed == last + 1:
                        break
                sent = True
                self._send(work)
                self.commits += 1
                break
            except psycopg.Error as error:
                now = time.monotonic()
                if _ends_session(error):
                    self._connection.close()
                if not self._connection.closed:
                    raise JournalError(_sentence(error)) from None
                if self._lost_at is None:
                    self._lost_at = now
                    log.warning("connection to the journal lost", reason=_sentence(error))
                if now >= self._lost_at + PATIENCE_S or self._closed.is_set():
                    raise JournalError(_sentence(error)) from None
                self._closed.wait(RETRY_S)
            finally:
                self._stuck_at = float("inf")
        self._lost_at = None
        self._ask_size()

    def _send(self, work: Work) -> None:
        self._still_alive()
        with (
            self._connection.pipeline(),
            self._connection.transaction(),
            self._connection.cursor() as cursor,
        ):
            for statement, rows in work:
                left = iter(rows)
                while chunk := list(islice(left, CHUNK)):
                    cursor.executemany(_placed(statement), chunk)
                    self._still_alive()
            cursor.execute(
                "UPDATE state SET value = %s WHERE key = 'commits'", (str(self.commits + 1),)
            )

    def _ask_size(self) -> None:
        if (now := time.monotonic()) >= self._sized_at + SIZED_S:
            self._sized_at = now
            question = "SELECT pg_database_size(current_database())"
            with suppress(Unreadable):
                ((self._bytes,),) = self.rows(question)

    def _committed(self) -> int:
        question = "SELECT value FROM state WHERE key = 'commits'"
        row = self._connection.execute(question).fetchone()
        return int(row[0]) if row else 0

    # --- the connection -------------------------------------------------------------------------

    def _reconnect(self) -> None:
        connection = _connect(self._url)
        self._connection, former = connection, self._connection
        try:
            self._lock()
            _version(connection, self._name)
        except BaseException:
            connection.close()
            self._connection = former
            raise
        log.warning("connected to the journal again", journal=self._name)

    def _lock(self) -> None:
        """Keep other hosts out; end our own former session, which may not know that it is over."""
        if self._session is not None:
            self._connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' "
                f"AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) "
                f"AND objid = {_LOCK}::oid AND pid = %s",
                (self._session,),
            )
        until = time.monotonic() + LOCK_S
        question = f"SELECT pg_try_advisory_lock({_LOCK})"
        while self._connection.execute(question).fetchone() != (True,):
            if time.monotonic() >= until:
                raise JournalError(f"{self._name} is in use by another server or match")
            time.sleep(RETRY_S)
        self._session = self._connection.info.backend_pid

    def _still_alive(self) -> None:
        self._stuck_at = time.monotonic() + STUCK_S

    def _watch(self) -> None:
        """Give a connection up that does not answer: nothing else would end the wait for it."""
        while not self._closed.wait(1):
            if time.monotonic() >= self._stuck_at:
                self._stuck_at = float("inf")
                connection = self._connection
                with suppress(OSError), socket.socket(fileno=os.dup(connection.fileno())) as stuck:
                    stuck.shutdown(socket.SHUT_RDWR)

    def full(self) -> None:
        """Return None: the room of the database is not known here."""

    def size(self) -> int:
        """Return the bytes of the database, as of a minute ago."""
        return self._bytes

    def close(self) -> None:
        """Let other hosts have the journal."""
        self._closed.set()
        self._connection.close()


def _driver() -> Any:
    """Return psycopg, which is an extra; JournalError if it is not installed."""
    try:
        import psycopg
    except ImportError as error:
        raise JournalError(
            f"a journal in PostgreSQL takes psycopg: pip install 'tilewire[postgres]' ({error})"
        ) from None
    logging.getLogger("psycopg").addHandler(logging.NullHandler())  # errors are raised, too
    return psycopg


def _connect(url: str) -> psycopg.Connection:
    import psycopg

    connection = psycopg.connect(
        url,
        autocommit=True,
        connect_timeout=CONNECT_S,
        application_name="tilewire",
        tcp_user_timeout=int(STUCK_S * 1_000),
    )
    connection.execute("SET search_path = tilewire")
    connection.execute("SET synchronous_commit = on")
    connection.execute(f"SET idle_in_transaction_session_timeout = '{STUCK_S:.0f}s'")
    return connection


def _version(connection: psycopg.Connection, name: str) -> int | None:
    """Return the version of the journal, or None if there is none; JournalError if it is another.

    A statement that finds no table would end the transaction, so it is asked for first.
    """
    if connection.execute("SELECT to_regclass('tilewire.state')").fetchone() == (None,):
        return None
    row = connection.execute("SELECT value FROM state WHERE key = 'version'").fetchone()
    version = "none" if row is None else row[0]
    if version != str(SCHEMA_VERSION):
        raise JournalError(
            f"{name} has a journal of version {version}; "
            f"this program reads version {SCHEMA_VERSION}"
        )
    return SCHEMA_VERSION


def _ends_session(error: psycopg.Error) -> bool:
    """Return whether an error is not about a statement: the driver's own, or of these classes."""
    import psycopg

    state = error.sqlstate
    if state is None:
        return isinstance(error, psycopg.OperationalError)
    return state.startswith(("08", "25P03", "57P"))


def _placed(statement: str) -> Any:
    return statement.replace("%", "%%").replace("?", "%s")


def _sentence(error: Exception) -> str:
    """Return the reason of the driver or the server in one line."""
    import psycopg

    said = error.diag.message_primary if isinstance(error, psycopg.Error) else None
    return " ".join((said or str(error)).split()) or type(error).__name__

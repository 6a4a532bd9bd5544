"""A journal in a PostgreSQL database, in a schema of its own called ``tilewire``.

Who may write it is decided by ``lease``. Its rules for the database are the function ``hold``,
with which each transaction begins.
"""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager, suppress
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias, cast
from urllib.parse import urlsplit, urlunsplit

import structlog

from . import lease
from .database import (
    SCHEMA_VERSION,
    TABLES,
    UNFINISHED,
    DatabaseUnreadable,
    InUse,
    JournalError,
    JournalReader,
    NoAnswer,
    Value,
    Work,
    unfinished_copy,
)

if TYPE_CHECKING:
    import psycopg

log = structlog.get_logger(__name__)

Rows: TypeAlias = Generator[tuple[Any, ...], None, None]

_LEASE = """
CREATE TABLE IF NOT EXISTS lease (
    number   BIGINT NOT NULL,            -- the fencing token
    holder   TEXT NOT NULL,              -- for people
    until    TIMESTAMPTZ NOT NULL,       -- by the clock of the database
    commit   BIGINT NOT NULL             -- the last that was made
);
CREATE OR REPLACE FUNCTION hold(mine BIGINT, this BIGINT, seconds DOUBLE PRECISION) RETURNS VOID
LANGUAGE plpgsql AS $$
BEGIN
    UPDATE tilewire.lease SET until = clock_timestamp() + make_interval(secs => seconds),
        commit = this WHERE number = mine AND commit < this;
    IF NOT FOUND THEN
        IF EXISTS (SELECT FROM tilewire.lease WHERE number = mine) THEN
            RAISE EXCEPTION 'commit % was made already', this USING ERRCODE = 'TW002';
        END IF;
        RAISE EXCEPTION 'another host took the lease' USING ERRCODE = 'TW001';
    END IF;
END $$;
"""

_OURS = TABLES.format(
    text='TEXT COLLATE "C"', real="DOUBLE PRECISION", whole="BIGINT", value="TEXT", end=""
)
SCHEMA = "CREATE SCHEMA IF NOT EXISTS tilewire; SET search_path = tilewire;" + _OURS + _LEASE

_TAKE = """
UPDATE lease SET number = number + 1, holder = %s,
    until = clock_timestamp() + make_interval(secs => %s)
WHERE until <= clock_timestamp() RETURNING number, commit
"""

_SNAPSHOT = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"

PASSED, MADE = "TW001", "TW002"
"""Codes of the errors of ``hold``."""

NO_RIGHT = "42501"
"""PostgreSQL's code for a missing privilege."""

SCHEMES = ("postgresql://", "postgres://")
"""How the address of such a journal begins."""

CONNECT_S = 2
"""Time limit for connecting."""
ANSWER_S = 30.0
"""Time limit of a reader for an answer, and for each part of a long one."""
RETRY_S = 0.1
CLOCK_S = 30.0
"""Difference of this machine's clock from the database's at which a notice is due."""
SIZED_S = 60.0
"""Interval at which the database is asked for its size."""


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
    def reading(self) -> Iterator[JournalReader]:
        """Read the journal as it is at this moment, while a host may write it."""
        psycopg = _driver()
        try:
            with closing(_connect(self._url)) as connection:  # there is nothing to commit
                with _patience.lasts(connection, ANSWER_S):
                    connection.execute(_SNAPSHOT)
                    if _version(connection, self.name) is None:
                        raise JournalError(f"{self.name} has no journal")
                yield _Connection(connection, self.name)
        except psycopg.Error as error:
            raise DatabaseUnreadable(_sentence(error)) from None

    def open(self, reserve: int) -> PostgresStore:
        """Open the journal for writing; create it if missing.

        ``reserve`` is not used: the free space on the database's disk is not known here.

        Raises:
            JournalError: it can't be used, or is of another version.
            NoAnswer: the database does not answer in time.
            InUse: another host has it open.
        """
        del reserve
        psycopg = _driver()
        try:
            return PostgresStore(self._url, self.name)
        except psycopg.Error as error:
            late = isinstance(error, psycopg.errors.ConnectionTimeout)
            raise (NoAnswer if late else JournalError)(
                f"{self.name} can't be used as a journal: {_sentence(error)}"
            ) from None


class _Connection:
    """Reads a journal over a connection."""

    def __init__(self, connection: psycopg.Connection, name: str) -> None:
        self._connection, self._name = connection, name

    def rows(self, question: str, *values: Value) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a query.

        Raises:
            Unreadable: it has no answer; another query may have one.
            JournalError: the connection is lost, or the server can answer no query now.
        """
        import psycopg

        try:
            with self._connection.cursor() as cursor:
                rows = cast("Rows", cursor.stream(_placed(question), values))
                try:
                    while True:
                        with _patience.lasts(self._connection, ANSWER_S):
                            row = next(rows, None)
                        if row is None:
                            break
                        yield row
                finally:  # the server is asked to end what it was doing
                    with _patience.lasts(self._connection, ANSWER_S):
                        rows.close()
        except psycopg.Error as error:
            is_passing = (error.sqlstate or "").startswith(("57014", "53"))  # whatever the data
            if self._connection.closed or _ends_session(error) or is_passing:
                why = f"{self._name} can't be read as a journal: {_sentence(error)}"
                raise JournalError(why) from None
            # After an error the old transaction answers nothing more.
            with _patience.lasts(self._connection, ANSWER_S):
                self._connection.execute("ROLLBACK")
                self._connection.execute(_SNAPSHOT)
            raise DatabaseUnreadable(_sentence(error)) from None


class _Patience:
    """Limits the wait for a server that does not answer: a half-open connection never ends."""

    def __init__(self) -> None:
        self._until: dict[psycopg.Connection, float] = {}
        self._starting = threading.Lock()
        self._is_watching = False

    @contextmanager
    def lasts(self, connection: psycopg.Connection, seconds: float) -> Iterator[None]:
        """Close a connection if this block takes longer than ``seconds``.

        Raises:
            psycopg.errors.ConnectionTimeout: it took longer.
        """
        import psycopg

        until = self._until[connection] = time.monotonic() + seconds
        with self._starting:
            if not self._is_watching:
                self._is_watching = True
                threading.Thread(target=self._look, name="journal's watch", daemon=True).start()
        try:
            yield
        except psycopg.OperationalError:
            if time.monotonic() < until:
                raise
            why = f"no answer within {seconds:g} s"
            raise psycopg.errors.ConnectionTimeout(why) from None
        finally:
            self._until.pop(connection, None)

    def _look(self) -> None:
        while True:
            time.sleep(RETRY_S)
            now = time.monotonic()
            for connection, until in tuple(self._until.items()):
                if now >= until and self._until.pop(connection, None) is not None:
                    with (
                        suppress(Exception),  # it has ended meanwhile
                        socket.socket(fileno=os.dup(connection.fileno())) as stuck,
                    ):
                        stuck.shutdown(socket.SHUT_RDWR)


_patience = _Patience()


class PostgresStore:
    """A journal in a PostgreSQL database, open to be written."""

    idle_s = lease.BEAT_S

    def __init__(self, url: str, name: str) -> None:
        self._url, self._name = url, name
        self._over = ""
        """Why nothing more is written; empty: the lease is not lost."""
        self._bytes, self._sized_at = 0, float("-inf")
        self._connection = _connect(url)
        try:
            with _patience.lasts(self._connection, lease.LEASE_S):
                self._make()
            self._tenure = self._take()
            self.notice = ""
            ((there,),) = self._rows("SELECT extract(epoch FROM clock_timestamp())")
            ahead_s = time.time() - float(there)
            if abs(ahead_s) >= CLOCK_S:
                self.notice = (
                    f"the clock of this machine is {abs(ahead_s):,.0f} s "
                    f"{'ahead of' if ahead_s > 0 else 'behind'} that of {name}: games don't go by "
                    "it, but bans and the dates of games do; have both set by NTP"
                )
        except BaseException:
            self._connection.close()
            raise

    def _make(self) -> None:
        """Create the tables if missing; of several hosts that start at once, one does."""
        with self._connection.transaction():
            self._connection.execute("SELECT pg_advisory_xact_lock(hashtext('tilewire'))")
            if _version(self._connection, self._name) is None:
                self._connection.execute(SCHEMA)
                values = (str(SCHEMA_VERSION),)
                self._connection.execute("INSERT INTO state VALUES ('version', %s)", values)
                self._connection.execute("INSERT INTO lease VALUES (0, '', 'epoch', 0)")
            elif self._rows("SELECT to_regclass('tilewire.origins')") == [(None,)]:
                self._connection.execute(_OURS)  # an earlier version's journal lacks that table

    def _take(self) -> lease.Tenure:
        """Take the lease once it has ended; raise InUse if another host holds it.

        A lease that is prolonged once may be that of a dead host, whose last commit was on its way.
        If it is prolonged again, or taken meanwhile, its host is alive.
        """
        me = f"{socket.gethostname()}, process {os.getpid()}"
        ends, numbers = set(), set()
        while True:
            asked = time.monotonic()
            if taken := self._rows(_TAKE, me, lease.LEASE_S):
                ((number, commit),) = taken
                return lease.Tenure.taken(number, commit, asked)
            question = "SELECT number, holder, until FROM lease"
            ((number, holder, until),) = self._rows(question)
            ends.add(until)
            numbers.add(number)
            if len(ends) > 2 or len(numbers) > 1:
                in_use = f"{self._name} is in use by another server or match ({holder})"
                raise InUse(in_use, holder)
            time.sleep(RETRY_S)

    def _rows(
        self, statement: str, *values: Any, patience_s: float = lease.LEASE_S
    ) -> list[tuple[Any, ...]]:
        with _patience.lasts(self._connection, patience_s):
            return self._connection.execute(statement, values or None).fetchall()

    # --- writing --------------------------------------------------------------------------------

    @property
    def commits(self) -> int:
        """Number of commits in all, also before this start."""
        return self._tenure.commit

    @property
    def is_held(self) -> bool:
        """Whether no other host may have the journal by now."""
        return not (self._over or self._tenure.is_over(time.monotonic()))

    def commit(self, work: Work) -> None:
        """Make work durable, or change nothing and raise.

        If the connection is lost, this tries another while the lease lasts.
        """
        import psycopg

        if self._over:
            raise lease.LeaseLost(self._over)
        number, first = self._tenure.next_commit(), time.monotonic()
        while True:
            try:
                asked = self._send(work, number)
                break
            except psycopg.Error as error:
                if error.sqlstate == MADE:
                    asked = first  # or later: by which of the connections is not known
                    break
                if error.sqlstate == PASSED:
                    self._give_up(_sentence(error))
                if not (self._connection.closed or _ends_session(error)):
                    raise JournalError(_sentence(error)) from None
                self._connection.close()
                log.warning("connection to the journal lost", reason=_sentence(error))
                if self._tenure.is_over(time.monotonic()):
                    self._give_up(_sentence(error))
                time.sleep(RETRY_S)
        self._tenure.made(asked)
        if self._tenure.is_over(time.monotonic()):
            self._give_up("a commit took too long")
        if (now := time.monotonic()) >= self._sized_at + SIZED_S:
            self._sized_at = now
            question = "SELECT pg_database_size(current_database())"
            with suppress(Exception):  # the next commit finds out what is wrong, and is due soon
                ((self._bytes,),) = self._rows(question, patience_s=lease.BEAT_S)

    def _send(self, work: Work, number: int) -> float:
        """Send work as one message, which is one transaction; return the time of sending.

        So no lock ever waits for a host that has stopped in the middle. The lease is updated first:
        work that is sent again after a lost connection waits there until its first transaction has
        been committed or rolled back, before it writes anything itself.
        """
        import psycopg

        if self._connection.closed:
            self._connection = _connect(self._url)
            log.warning("connected to the journal again", journal=self._name)
        with psycopg.ClientCursor(self._connection) as cursor:
            mine = self._tenure.number, number, lease.LEASE_S
            statements = [cursor.mogrify("SELECT hold(%s, %s, %s)", mine)]
            statements += [
                cursor.mogrify(_placed(statement), row) for statement, rows in work for row in rows
            ]
            asked = time.monotonic()
            with _patience.lasts(self._connection, lease.LEASE_S):
                cursor.execute(";".join(statements))
        return asked

    def _give_up(self, why: str) -> NoReturn:
        self._over = f"the lease of {self._name} is lost: {why}"
        raise lease.LeaseLost(self._over)

    def full(self) -> None:
        """Return None: the room of the database is not known here."""

    def size(self) -> int:
        """Return the size of the database in bytes, up to about a minute old."""
        return self._bytes

    def close(self) -> None:
        """Let other hosts have the journal."""
        if not (self._over or self._connection.closed):
            free = "UPDATE lease SET until = clock_timestamp() WHERE number = %s RETURNING 1"
            with suppress(Exception):  # then it ends by itself
                self._rows(free, self._tenure.number)
        self._connection.close()


def _driver() -> Any:
    """Return psycopg, which is an extra; JournalError if it is not installed."""
    try:
        import psycopg
    except ImportError as error:
        raise JournalError(
            f"a journal in PostgreSQL takes psycopg: pip install 'tilewire[postgres]' ({error})"
        ) from None
    return psycopg


def _connect(url: str) -> psycopg.Connection:
    import psycopg

    connection = psycopg.connect(
        url,
        autocommit=True,
        connect_timeout=CONNECT_S,
        application_name="tilewire",
        client_encoding="utf8",  # or texts of a database without an encoding come as bytes
    )
    try:
        with _patience.lasts(connection, CONNECT_S):
            connection.execute("SET search_path = tilewire")
            connection.execute("SET synchronous_commit = on")
    except BaseException:
        connection.close()
        raise
    return connection


def _version(connection: psycopg.Connection, name: str) -> int | None:
    """Return the version of the journal, or None if there is none.

    JournalError if it is another version, or an unfinished copy.
    A query of a missing table would end the transaction, so the table is looked up first.
    """
    if connection.execute("SELECT to_regclass('tilewire.state')").fetchone() == (None,):
        return None
    row = connection.execute("SELECT value FROM state WHERE key = 'version'").fetchone()
    version = "none" if row is None else row[0]
    if version != str(SCHEMA_VERSION):
        raise JournalError(
            f"{name} has a journal of version {version}; "
            f"this program reads version {SCHEMA_VERSION}: run the program that wrote it, or name "
            "another database"
        )
    if connection.execute("SELECT FROM state WHERE key = %s", (UNFINISHED,)).rowcount:
        raise unfinished_copy(name)
    return SCHEMA_VERSION


def _ends_session(error: psycopg.Error) -> bool:
    """Return whether an error is about the connection or the server, not about a statement.

    A read-only database may have become a replica: its successor may have another host's lease.
    """
    import psycopg

    state = error.sqlstate
    if state is None:
        return isinstance(error, psycopg.OperationalError)
    return state.startswith(("08", "25006", "25P03", "57P"))


def _placed(statement: str) -> Any:
    return statement.replace("%", "%%").replace("?", "%s")


def _sentence(error: Exception) -> str:
    """Return the reason that the driver or server gives in one line, with its hint, if any."""
    import psycopg

    if not isinstance(error, psycopg.Error):
        return " ".join(str(error).split()) or type(error).__name__
    said = " ".join((error.diag.message_primary or str(error)).split()) or type(error).__name__
    if error.sqlstate == NO_RIGHT:
        return f"{said}; make the user in the URL the owner of the database and its contents"
    hint = error.diag.message_hint
    return f"{said}; {hint[0].lower()}{hint[1:].rstrip('.')}" if hint else said

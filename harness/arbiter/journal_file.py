"""A journal as an SQLite file: who has it open, and whether all that was acknowledged is in it.

In WAL mode and with ``synchronous=FULL`` a commit survives a crash of the process or the machine.

A lock file lies beside the journal. Its owner writes the number of the last acknowledged commit
into it, since SQLite can't tell a write-ahead log that was cut short or is gone from that of a
journal which never had more. The journal itself is locked as well, whatever name it is reached by.

Nothing but SQLite may open the journal while it is in use: in the process that closes any
descriptor of a file, SQLite loses its own locks on that file (fcntl(2), "record locks").
"""

from __future__ import annotations

import fcntl
import os
import shutil
import sqlite3
import struct
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

from .database import (
    SCHEMA_VERSION,
    TABLES,
    UNFINISHED,
    DatabaseUnreadable,
    InUse,
    JournalError,
    JournalReader,
    Value,
    Work,
    unfinished_copy,
)

SCHEMA = TABLES.format(text="TEXT", real="REAL", whole="INTEGER", value="", end=" WITHOUT ROWID")
SCHEMA += "INSERT OR IGNORE INTO state VALUES ('commits', 0);"

CHECKED_BYTES = 256 << 20
"""Up to this size a journal's structure is checked at each start, in half a second if cached."""

WAL_BYTES = 64 << 20
"""Size to which the write-ahead log is cut once no reader holds it up."""

LOCKED_BYTE = 1 << 62
"""The byte of a journal that its host locks. SQLite locks bytes at 1 GiB; no file is as long."""

READ_KB = 256
"""Page cache of a reader in KB: a page is read once or twice, and the system caches it, too."""

_NOT_WRITABLE = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR)
"""The codes of SQLite's errors where it can't make the files beside a journal."""

UNREADABLE = (sqlite3.Error, UnicodeDecodeError)
"""What SQLite raises for a damaged file; an error's message may contain bytes of the file."""


class SqliteFile:
    """A journal in a file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = str(path)

    @contextmanager
    def reading(self) -> Iterator[JournalReader]:
        """Read the journal as it is at this moment, while a host may write it."""
        try:
            with reading(self.path) as connection:
                connection.execute(f"PRAGMA cache_size = -{READ_KB}")
                connection.execute("BEGIN")
                check_journal(connection, self.path)
                yield _Connection(connection)
        except UNREADABLE as error:
            raise DatabaseUnreadable(str(error)) from None

    def open(self, reserve: int) -> SqliteStore:
        """Open the journal for writing; create it if missing.

        Raises:
            JournalError: it is no journal or of another version, it is damaged or lacks what was
                acknowledged, or another host has it open.
        """
        try:
            return SqliteStore(self.path, reserve)
        except (OSError, *UNREADABLE) as error:
            why = error.strerror if isinstance(error, OSError) else error
            raise JournalError(f"{self.path} can't be used as a journal: {why}") from None


class _Connection:
    """Reads a journal over a connection."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def rows(self, question: str, *values: Value) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a query; raise Unreadable if it has no answer."""
        try:
            yield from self._connection.execute(question, values)
        except UNREADABLE as error:
            raise DatabaseUnreadable(str(error)) from None


class SqliteStore:
    """A journal file, open for writing; no game begins with less than ``reserve`` bytes free."""

    idle_s = None
    is_held = True
    notice = ""

    def __init__(self, path: Path, reserve: int) -> None:
        path = Path(os.path.realpath(path))  # as SQLite does, so that its other files lie there
        self._path, self._reserve = path, reserve
        self._lock = JournalLock(path)
        connection: sqlite3.Connection | None = None
        try:
            check(path, self._lock.acknowledged)
            for file in files_of(path):  # which have the secrets of running games
                with suppress(FileNotFoundError, PermissionError):  # another user's, read-only
                    file.chmod(0o600)
            connection = sqlite3.connect(
                path, timeout=1, check_same_thread=False, isolation_level=None
            )
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute(f"PRAGMA journal_size_limit = {WAL_BYTES}")
            connection.executescript(
                f"BEGIN IMMEDIATE; {SCHEMA} PRAGMA user_version = {SCHEMA_VERSION}; COMMIT;"
            )
            self.commits = commits_of(connection)
        except BaseException:
            if connection is not None:
                connection.close()
            self._lock.leave()
            raise
        self._connection = connection

    def commit(self, work: Work) -> None:
        """Make work durable, or change nothing and raise."""
        with self._connection as connection:
            connection.execute("BEGIN IMMEDIATE")
            for statement, rows in work:
                connection.executemany(statement, rows)
            connection.execute("UPDATE state SET value = value + 1 WHERE key = 'commits'")
        self.commits += 1
        self._lock.mark(self.commits)

    def full(self) -> str | None:
        """Return why there is no room for another game; None if there is."""
        if not self._reserve:
            return None
        free = shutil.disk_usage(self._path.parent).free
        if free >= self._reserve:
            return None
        return (
            f"only {free >> 20} MB are free on the disk of {self._path}; "
            f"a new game needs {self._reserve >> 20} MB"
        )

    def size(self) -> int:
        """Return the bytes of the journal and its write-ahead log."""
        files = self._path, self._path.with_name(f"{self._path.name}-wal")
        return sum(file.stat().st_size for file in files if file.exists())

    def close(self) -> None:
        """Close the file, and let other hosts have it."""
        self._connection.close()
        self._lock.release()


class JournalLock:
    """Keeps other hosts out: two that resume the same games would contradict each other.

    The lock file stands for the journal's name, in case another file takes the journal's place. The
    path has no symbolic links.

    Raises:
        InUse: another host has the journal open.
        JournalError: the journal has several names.
        OSError: the lock can't be made.
    """

    def __init__(self, journal: Path) -> None:
        self.path = journal.with_name(f"{journal.name}-lock")
        self._journal = journal
        self._is_new = not journal.exists()
        if journal.is_file() and (links := journal.stat().st_nlink) > 1:
            raise JournalError(
                f"{journal} has {links} names (hard links), and another server could open it by "
                f"another of them; delete all but one ('find / -samefile {journal}' lists them), "
                "or use a copy"
            )
        self._file = self._taken()
        left = os.pread(self._file, 32, 0)
        self.acknowledged = int(left) if left.strip().isdigit() else 0
        """The last commit acknowledged by a host that did not close the journal; 0: none."""
        self._lock_descriptor: int | None = None
        try:
            self._lock_descriptor = _lock_journal(journal)
        except BaseException:
            self.leave()
            raise

    def _taken(self) -> int:
        while True:
            file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                with suppress(FileNotFoundError):
                    if os.path.samestat(os.fstat(file), self.path.stat()):
                        return file
            except BlockingIOError:
                os.close(file)
                raise _in_use(self._journal) from None
            os.close(file)  # its last owner has removed it meanwhile

    def mark(self, commits: int) -> None:
        """Note that a commit is about to be acknowledged."""
        with suppress(OSError):  # a full disk: then the mark is an older one
            os.pwrite(self._file, b"%020d\n" % commits, 0)

    def release(self) -> None:
        """Let other hosts in; the journal is closed."""
        assert self._lock_descriptor is not None
        os.close(self._lock_descriptor)
        self.path.unlink(missing_ok=True)
        os.close(self._file)

    def leave(self) -> None:
        """Let other hosts in, and leave the files as they were.

        The mark of a journal that was not closed stays for the next check.
        """
        if self._lock_descriptor is not None:
            if self._is_new and not os.fstat(self._lock_descriptor).st_size:
                self._journal.unlink(missing_ok=True)
            os.close(self._lock_descriptor)
        if not self.acknowledged:
            self.path.unlink(missing_ok=True)
        os.close(self._file)


def _lock_journal(journal: Path) -> int:
    """Lock a journal, created if missing; return the descriptor that holds the lock.

    The lock belongs to the descriptor. A lock of the process would end when SQLite closes any
    descriptor of the file, and ``flock`` locks the whole file against SQLite over NFS (flock(2)).
    On other systems than Linux nothing is locked here: there the lock file has to do.
    """
    descriptor = os.open(journal, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    if sys.platform != "linux":
        return descriptor
    # struct flock: type, whence, start, length, pid; 0q pads it.
    lock = struct.pack("hhqqi0q", fcntl.F_WRLCK, os.SEEK_SET, LOCKED_BYTE, 1, 0)
    try:
        fcntl.fcntl(descriptor, fcntl.F_OFD_SETLK, lock)
    except OSError as error:
        os.close(descriptor)
        if isinstance(error, BlockingIOError):
            raise _in_use(journal) from None
        raise
    return descriptor


def _in_use(journal: Path) -> InUse:
    return InUse(f"{journal} is in use by another server or match")


def files_of(path: Path) -> list[Path]:
    """List the files of a journal, which may not all be there."""
    return [path, *(path.with_name(f"{path.name}-{part}") for part in ("wal", "shm", "lock"))]


@contextmanager
def reading(path: Path, mode: str = "rw") -> Iterator[sqlite3.Connection]:
    """Open a journal to read it.

    Mode ``ro`` leaves its write-ahead log as it is, ``rw`` may read while a host writes, and also
    where one may only read, or the disk is full. Raise JournalError if the log can't be read there.
    """
    with closing(_connected(path, mode)) as connection:
        connection.execute("PRAGMA query_only = 1")
        yield connection


def _connected(path: Path, mode: str) -> sqlite3.Connection:
    address = f"{path.absolute().as_uri()}?mode="
    connect = partial(sqlite3.connect, uri=True, isolation_level=None)
    if mode != "rw":
        return connect(f"{address}{mode}")
    if os.access(path, os.W_OK):  # else the files that SQLite would make here may harm its owner
        connection = connect(f"{address}rw")
        try:
            connection.execute("SELECT 1 FROM sqlite_master")
            return connection
        except UNREADABLE as error:
            if getattr(error, "sqlite_errorcode", 0) & 0xFF not in _NOT_WRITABLE:
                return connection  # to whoever reads it the error is told again
            connection.close()
    _, wal, shared, _ = files_of(Path(os.path.realpath(path)))
    if not (wal.exists() and wal.stat().st_size):
        return connect(f"{address}ro&immutable=1")
    if not shared.exists() or not os.access(wal, os.R_OK) or not os.access(shared, os.R_OK):
        raise JournalError(
            f"{path} may only be read here, and {wal.name} has what was written last, which can't "
            "be read without writing; copy both files to a folder of your own, and read the copy"
        )
    return connect(f"{address}ro")


def check(path: Path, acknowledged: int) -> None:
    """Check that a journal has all that was acknowledged, and is whole; change nothing.

    Raises:
        JournalError: it lacks commits, is damaged, of another version, an unfinished copy, or no
            journal.
        sqlite3.Error, UnicodeDecodeError: it can't be read at all.
    """
    commits = 0
    if path.stat().st_size:  # of an empty journal SQLite would delete the write-ahead log
        with reading(path, "ro") as connection:
            check_journal(connection, path)
            commits = commits_of(connection)
            if path.stat().st_size <= CHECKED_BYTES:
                check_structure(connection, path)
    if commits < acknowledged:
        lock = f"{path.name}-lock"
        raise JournalError(
            f"{path} lacks the last {acknowledged - commits} acknowledged commits: "
            f"{path.name}-wal is missing or damaged, or this is an older copy. Restore the right "
            f"files, or delete {lock} to go on without those commits (running games then resume "
            "from an earlier move)"
        )


def check_journal(connection: sqlite3.Connection, path: Path) -> None:
    """Check that a database is empty or a journal of this version, and no unfinished copy."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version not in (0, SCHEMA_VERSION):
        raise JournalError(
            f"{path} is a journal of version {version}; this program reads version {SCHEMA_VERSION}"
        )
    if version == 0 and connection.execute("SELECT 1 FROM sqlite_master").fetchone():
        raise JournalError(f"{path} is another program's SQLite database, not a journal")
    with suppress(*UNREADABLE):  # an earlier version had no such table; damage is found later
        if connection.execute("SELECT 1 FROM state WHERE key = ?", (UNFINISHED,)).fetchone():
            raise unfinished_copy(str(path))


def check_structure(connection: sqlite3.Connection, path: Path) -> None:
    """Check the pages of a journal; raise JournalError with what is wrong, and what to do."""
    try:
        (problem,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
    except UNREADABLE as error:
        problem = str(error)
    if problem != "ok":
        what = problem.splitlines()[-1]
        raise JournalError(
            f"{path} is damaged ({what}); restore a backup, or save what can be read with "
            f"'tilewire backup {path} FILE' and use that"
        )


def commits_of(connection: sqlite3.Connection) -> int:
    """Return the number of a journal's last commit; 0 in one of an earlier version of tilewire."""
    if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'state'").fetchone():
        return 0
    row = connection.execute("SELECT value FROM state WHERE key = 'commits'").fetchone()
    return 0 if row is None else int(row[0])

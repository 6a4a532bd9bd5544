"""A real PostgreSQL for tests: a private cluster a session, and a database of its own a test.

It listens on a socket in its folder and on a free port of loopback, and syncs to the disk as in
earnest. PostgreSQL refuses root, so as root it runs as the user ``postgres``.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import psycopg

MISSING = "PostgreSQL is not installed; apt-get install postgresql"

_NUMBERS = count()


def programs() -> Path | None:
    """Return the folder of initdb and postgres, or None."""
    versions = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: path.parent.name)
    for folder in [Path(found).resolve().parent] if (found := shutil.which("initdb")) else versions:
        if (folder / "postgres").exists():
            return folder
    return None


@dataclass
class Cluster:
    """A running server."""

    folder: Path
    port: int
    bin: Path
    process: subprocess.Popen[bytes] | None = None

    def url(self, database: str = "postgres") -> str:
        return f"postgresql://tilewire@127.0.0.1:{self.port}/{database}"

    def start(self) -> None:
        """Start the server, again if it was stopped; return when it takes connections."""
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [
                    *(str(self.bin / "postgres"), "-D", str(self.folder / "data")),
                    *("-p", str(self.port), "-k", str(self.folder)),
                    *("-c", "listen_addresses=127.0.0.1", "-c", "max_connections=60"),
                    *("-c", "shared_buffers=16MB", "-c", "fsync=on", "-c", "autovacuum=off"),
                ],
                stdout=subprocess.DEVNULL,
                stderr=log,
                user=_user(),
                group=_user(),
                extra_groups=[] if _user() is not None else None,
            )
        for _ in range(600):
            try:
                psycopg.connect(self.url()).close()
                return
            except psycopg.OperationalError:
                time.sleep(0.1)
        raise AssertionError((self.folder / "log").read_text())

    def stop(self, how: int) -> None:
        """Stop the server by a signal: SIGINT at once but in good order, SIGQUIT as in a crash."""
        assert self.process is not None
        self.process.send_signal(how)
        self.process.wait()

    def database(self) -> str:
        """Make an empty database, and return its URL."""
        name = f"test{next(_NUMBERS)}"
        with psycopg.connect(self.url(), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return self.url(name)


def tamper(address: Path | str, statement: str, *values: str | float) -> None:
    """Change a journal behind its back, by a statement with ``?`` for values."""
    if isinstance(address, Path):
        with closing(sqlite3.connect(address)) as file, file:
            file.execute(statement, values)
    else:
        with psycopg.connect(address) as connection:
            connection.execute("SET search_path = tilewire")
            connection.execute(statement.replace("?", "%s"), values)


def _user() -> str | None:
    return "postgres" if os.geteuid() == 0 else None


@contextmanager
def cluster(*, in_memory: bool = True) -> Iterator[Cluster]:
    """Make a cluster in a temporary folder, in memory if that has room, and run it."""
    folder_of_programs = programs()
    assert folder_of_programs is not None, MISSING
    memory = "/dev/shm"  # where a slow disk ends no lease
    has_room = os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > 1 << 30
    where = memory if in_memory and has_room else None
    with tempfile.TemporaryDirectory("", "tilewire-pg-", where, True) as name:
        folder = Path(name)
        if (user := _user()) is not None:
            shutil.chown(folder, user)
        subprocess.run(
            [
                *(str(folder_of_programs / "initdb"), "-D", str(folder / "data"), "-U", "tilewire"),
                *("-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync"),
            ],
            check=True,
            capture_output=True,
            user=user,
            group=user,
            extra_groups=[] if user is not None else None,
            cwd=folder,
        )
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        running = Cluster(folder, port, folder_of_programs)
        running.start()
        try:
            yield running
        finally:
            running.stop(signal.SIGQUIT)

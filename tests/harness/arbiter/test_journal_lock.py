"""One journal, one host: whatever name a second host reaches the file by, it is refused."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest
from match_samples import opened

from harness.arbiter.database import JournalError
from harness.arbiter.journal import Journal
from harness.arbiter.journal_copy import copy_journal
from harness.arbiter.journal_file import SqliteStore
from harness.arbiter.journal_reading import read_games

HOST = """
import sys
from harness.arbiter.journal import Journal
Journal(sys.argv[1]).close()
"""

SQLITE = """
import sqlite3, sys
other = sqlite3.connect(sys.argv[1], timeout=0, isolation_level=None)
try:
    print(other.execute(sys.argv[2]).fetchall())
except sqlite3.OperationalError as error:
    print(error)
"""


def run(program: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Run a program in another process."""
    command = [sys.executable, "-c", program, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    folder = tmp_path / "folder"
    folder.mkdir()
    return folder / "games.db"


@pytest.fixture
def journal(path: Path) -> Iterator[Journal]:
    with closing(Journal(path)) as journal:
        yield journal


def symlink(path: Path) -> Path:
    link = path.parents[1] / "link.db"
    link.symlink_to(path)
    return link


def symlinked_folder(path: Path) -> Path:
    link = path.parents[1] / "link"
    link.symlink_to(path.parent)
    return link / path.name


def hard_link(path: Path) -> Path:
    link = path.with_name("link.db")
    link.hardlink_to(path)
    return link


def replaced(path: Path) -> Path:
    copy = path.with_name("copy.db")
    copy_journal(path, copy)
    return copy.replace(path)


def without_its_lock_file(path: Path) -> Path:
    path.with_name("games.db-lock").unlink()
    return path


@pytest.mark.parametrize(
    ("name", "why"),
    [
        (symlink, "in use"),
        (symlinked_folder, "in use"),
        (lambda path: Path(os.path.relpath(path)), "in use"),
        (hard_link, "hard links"),
        (lambda path: path.rename(path.with_name("renamed.db")), "in use"),
        (replaced, "in use"),
        (without_its_lock_file, "in use"),
    ],
    ids=["symlink", "folder", "relative", "hard-link", "renamed", "replaced", "no-lock-file"],
)
async def test_a_second_host_is_refused(
    path: Path, journal: Journal, name: Callable[[Path], Path], why: str
) -> None:
    await journal.create(opened(), {})
    second = run(HOST, name(path))
    assert second.returncode == 1
    assert why in second.stderr.splitlines()[-1]
    await journal.claim_name("ann", "0")


def test_a_host_is_refused_by_a_hard_link_though_no_other_has_the_journal(path: Path) -> None:
    Journal(path).close()
    link = hard_link(path)
    for name in (path, link):
        with pytest.raises(JournalError, match=rf"{name} has 2 names \(hard links\)"):
            Journal(name)
    link.unlink()
    Journal(path).close()
    assert list(path.parent.iterdir()) == [path]


def test_a_journal_that_is_not_there_yet_is_made_where_a_symlink_leads(path: Path) -> None:
    with closing(Journal(symlink(path))):
        endings = {file.name.removeprefix("games.db") for file in path.parent.iterdir()}
        assert endings == {"", "-wal", "-shm", "-lock"}
    assert list(path.parent.iterdir()) == [path]


async def test_sqlites_own_locks_are_not_lost(path: Path, journal: Journal) -> None:
    """SQLite loses them if anything of ours opens the journal and closes it."""
    await journal.create(opened(), {})
    assert len(list(read_games(path))) == 1
    copy_journal(path, path.with_name("copy.db"))
    assert journal.has_room
    assert journal.size() > 0
    for name in (path, symlink(path), hard_link(path)):
        with suppress(JournalError):
            Journal(name)
    assert run(SQLITE, path, "PRAGMA journal_mode = DELETE").stdout == "database is locked\n"
    store = journal._store
    assert isinstance(store, SqliteStore)
    store._connection.execute("BEGIN IMMEDIATE")
    assert run(SQLITE, path, "BEGIN EXCLUSIVE").stdout == "database is locked\n"
    store._connection.execute("ROLLBACK")
    await journal.claim_name("ann", "0")


def test_a_refused_start_leaves_no_file(path: Path) -> None:
    path.with_name("games.db-lock").write_text("7\n")
    with pytest.raises(JournalError, match="lacks the last 7"):
        Journal(path)
    assert [file.name for file in path.parent.iterdir()] == ["games.db-lock"]
    shutil.copy(path.with_name("games.db-lock"), path.with_name("games.db-wal"))
    with pytest.raises(JournalError, match="lacks the last 7"):
        Journal(path)
    assert path.with_name("games.db-wal").read_text() == "7\n"

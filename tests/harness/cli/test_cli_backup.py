"""``tilewire backup``: copies of a journal that is written, or damaged."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path

import pytest
from command_line import CommandLine
from match_samples import opened

from harness.arbiter.journal import Journal
from harness.arbiter.journal_reading import read_games
from harness.arbiter.records import Failed

GAMES = 40


async def write(journal: Journal, games: range) -> None:
    for number in games:
        game = f"{number:03}"
        await journal.create(opened(game), {})
        await journal.append(game, [Failed(seat=0, code="disconnect", message="x" * 300)] * 9)


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    path = tmp_path / "games.db"
    live = Journal(path)
    asyncio.run(write(live, range(GAMES)))
    live.close()
    return path


def test_a_journal_is_copied_while_a_host_writes_it(
    tilewire: CommandLine, journal: Path, tmp_path: Path
) -> None:
    live = Journal(journal)
    asyncio.run(write(live, range(GAMES, GAMES + 1)))
    copy = tmp_path / "copy.db"
    assert tilewire("backup", journal, copy) == 0
    assert tilewire.err == f"tilewire: {copy} has {GAMES + 1} games, and is whole\n"
    asyncio.run(write(live, range(GAMES + 1, GAMES + 2)))
    live.close()
    assert copy.stat().st_mode & 0o777 == 0o600
    assert sorted(file.name for file in tmp_path.iterdir()) == ["copy.db", "games.db"]
    restored = Journal(copy)
    assert len(restored.unfinished()) == GAMES + 1
    asyncio.run(write(restored, range(GAMES + 5, GAMES + 6)))
    restored.close()
    assert tilewire("backup", journal, copy) == 2
    assert "copy.db is there already" in tilewire.err
    assert tilewire("backup", tmp_path / "none.db", tmp_path / "other.db") == 2
    assert "there is no journal" in tilewire.err


def test_of_a_damaged_journal_there_is_what_can_be_read(
    tilewire: CommandLine, journal: Path, tmp_path: Path
) -> None:
    with sqlite3.connect(journal) as there:
        (root,) = there.execute(
            "SELECT rootpage FROM sqlite_master WHERE name = 'records'"
        ).fetchone()
    there.close()
    content = bytearray(journal.read_bytes())
    leaves = [page for page in range(root, len(content) >> 12) if content[page << 12] == 10]
    for page in (leaves[len(leaves) // 3], leaves[len(leaves) * 2 // 3]):
        content[page << 12 : (page << 12) + 100] = b"\xff" * 100
    journal.write_bytes(content)
    copy = tmp_path / "copy.db"
    assert tilewire("backup", journal, copy) == 1
    assert "games.db is damaged (" in tilewire.err
    assert tilewire.err.endswith(f"{copy} has {GAMES} games\n")
    lost: list[Exception] = []
    kept = list(read_games(copy, lost.append))
    assert len(kept) + len(lost) == GAMES
    assert 0 < len(lost) < 9, lost
    Journal(copy).close()


def test_what_is_no_journal_is_not_copied(tilewire: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "diary.db").write_text("Dear diary, " * 1_000)
    assert tilewire("backup", tmp_path / "diary.db", tmp_path / "copy.db") == 1
    assert "diary.db can't be copied: file is not a database" in tilewire.err
    assert not (tmp_path / "copy.db").exists()

"""``tilewire backup``: copies of a journal that is written, or damaged."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from command_line import CommandLine
from match_samples import opened
from postgres import Cluster, tamper

from harness.arbiter import journal_copy
from harness.arbiter.database import Address
from harness.arbiter.journal import Journal
from harness.arbiter.journal_file import SCHEMA
from harness.arbiter.journal_reading import KeptGame, read_games, rows_at
from harness.arbiter.records import ClockNote, Failed
from harness.server.claims import Claims

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
    assert f"{copy} has {GAMES + 1} games" in tilewire.err
    asyncio.run(write(live, range(GAMES + 1, GAMES + 2)))
    live.close()
    assert copy.stat().st_mode & 0o777 == 0o600
    assert sorted(file.name for file in tmp_path.iterdir()) == ["copy.db", "games.db"]
    restored = Journal(copy)
    assert len(restored.unfinished()) == GAMES + 1
    asyncio.run(write(restored, range(GAMES + 5, GAMES + 6)))
    restored.close()
    assert tilewire("backup", journal, copy) == 2
    assert "copy.db" in tilewire.err
    assert tilewire("backup", tmp_path / "none.db", tmp_path / "other.db") == 2
    assert "none.db" in tilewire.err


def damage(journal: Path) -> None:
    """Make two pages of records unreadable."""
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


def test_of_a_damaged_journal_there_is_what_can_be_read(
    tilewire: CommandLine, journal: Path, tmp_path: Path
) -> None:
    damage(journal)
    copy = tmp_path / "copy.db"
    assert tilewire("backup", journal, copy) == 1
    assert "games.db is damaged" in tilewire.err
    assert f"{copy} has {GAMES} games" in tilewire.err
    lost: list[Exception] = []
    kept = list(read_games(copy, lost.append))
    assert len(kept) + len(lost) == GAMES
    assert 0 < len(lost) < 9, lost
    Journal(copy).close()


def test_a_disk_that_is_full_is_not_taken_for_the_journals_damage(
    tilewire: CommandLine, journal: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    damage(journal)
    monkeypatch.setattr(journal_copy, "SCHEMA", f"PRAGMA max_page_count = 30; {SCHEMA}")
    assert tilewire("backup", journal, tmp_path / "copy.db") == 1
    assert "full" in tilewire.err
    assert not (tmp_path / "copy.db").exists()


# --- from one database to another -----------------------------------------------------------------


def games_of(address: Address) -> list[KeptGame]:
    return list(read_games(address))


async def furnish(journal: Journal) -> None:
    """Have something in each table."""
    await journal.append("003", [Failed(seat=1, code="disconnect", message="\x00 ünï")], last=True)
    journal.note(ClockNote(game="001", clocks=(5, -7), seq=1))
    journal.store_style("ann", {"soft": 1.0})
    await journal.claim_name("ann", "0")
    await Claims(journal).claim("dan", "1", "192.0.2.1")
    await journal.change(
        ("INSERT INTO bans VALUES ('eve', NULL, 'rude'), ('bob', 1.5e9, 'once')", ()),
        ("INSERT INTO invitations VALUES ('12', NULL), ('34', 'cem')", ()),
        ("INSERT INTO state VALUES ('paused', 'a storm')", ()),
    )


def test_a_journal_moves_to_postgresql_and_back(
    tilewire: CommandLine, journal: Path, tmp_path: Path, cluster: Cluster
) -> None:
    with closing(Journal(journal)) as live:
        asyncio.run(furnish(live))
        event = Claims(live).event
    before, url, back = games_of(journal), cluster.database(), tmp_path / "back.db"
    assert tilewire("backup", journal, url) == 0
    assert f"{url} has {GAMES} games" in tilewire.err
    assert games_of(url) == before
    with closing(Journal(url)) as there:
        assert there.style_of("ann") == {"soft": 1.0}
        asyncio.run(write(there, range(GAMES, GAMES + 1)))
        assert tilewire("backup", url, back) == 0
        assert tilewire("games", url, "--json") == 0
        assert len(tilewire.out.splitlines()) == GAMES + 1
    assert back.stat().st_mode & 0o777 == 0o600
    assert games_of(back)[:GAMES] == before
    rows = []
    for address in (journal, back):
        with closing(Journal(address)) as each:
            others = ("names", "styles", "bans", "invitations", "clock_notes", "origins")
            rows.append([sorted(each.rows(f"SELECT * FROM {table}"), key=str) for table in others])
            rows[-1].append(each.rows("SELECT value FROM state WHERE key = 'paused'"))
            assert Claims(each).unused("192.0.2.2") == 1
            assert Claims(each).event == event
    assert rows[0] == rows[1]
    assert tilewire("backup", journal, url) == 1
    assert url in tilewire.err


def test_a_journal_of_before_a_table_was_added_moves(journal: Path, cluster: Cluster) -> None:
    tamper(journal, "DROP TABLE origins")
    tamper(journal, "INSERT INTO names VALUES ('ann', '0')")
    url = cluster.database()
    assert journal_copy.carry_journal(journal, url).damage is None
    tamper(url, "DROP TABLE origins")
    assert journal_copy.carry_journal(url, journal.with_name("back.db")).games == GAMES
    assert rows_at(journal.with_name("back.db"), "SELECT name FROM names") == [("ann",)]


@pytest.mark.parametrize("pauses", [[], ["a storm"]])
def test_the_pause_of_the_journal_replaces_that_of_its_new_place(
    journal: Path, tmp_path: Path, pauses: list[str]
) -> None:
    for why in pauses:
        tamper(journal, f"INSERT INTO state VALUES ('paused', '{why}')")
    there = tmp_path / "there.db"
    Journal(there).close()
    tamper(there, "INSERT INTO state VALUES ('paused', 'a flood')")
    assert journal_copy.carry_journal(journal, there).games == GAMES
    assert rows_at(there, "SELECT value FROM state WHERE key = 'paused'") == [
        (why,) for why in pauses
    ]


def test_a_journal_that_can_not_be_moved_is_said(
    tilewire: CommandLine, journal: Path, cluster: Cluster
) -> None:
    url, copy = cluster.database(), journal.with_name("copy.db")
    assert tilewire("backup", url, copy) == 1
    assert url in tilewire.err
    tamper(journal, "INSERT INTO names VALUES ('eve', 'a' || char(0))")  # no text of PostgreSQL's
    for arguments in (("backup", journal, url), ("backup", url, copy), ("games", url)):
        assert tilewire(*arguments) != 0
        assert url in tilewire.err
    journal.write_text("Dear diary, " * 1_000)
    assert tilewire("backup", journal, url) == 1
    assert "not a database" in tilewire.err

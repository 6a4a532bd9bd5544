"""The journal on a real disk: what it has acknowledged it has kept, whatever happens."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from match_samples import ended, opened
from postgres import tamper

from harness.arbiter.database import Address, JournalError
from harness.arbiter.journal import Journal
from harness.arbiter.journal_file import SqliteStore
from harness.arbiter.journal_reading import (
    has_game,
    read_ended,
    read_ended_game,
    read_ends,
    read_game,
    read_games,
    read_older,
    read_past,
)
from harness.arbiter.records import Began, ClockNote, Commitments, Failed, Record, Thought
from protocol.parts import Belief, Candidate, LeaveChance, Search

REPOSITORY = Path(__file__).parents[3]

BELIEF = Belief(
    leaves_considered=372,
    leaves_surviving=2,
    top=(LeaveChance(leave="?O", prior=0.125, posterior=0.75),),
    tiles={"?": 0.5},
    bingo=0.25,
    style={"soft": 0.75, "greedy": 0.25},
)


NAME = r"/(games\.db|test\d+)"
"""How the name of a journal ends in either database."""


def failed(number: int) -> Failed:
    return Failed(seat=0, code="disconnect", message=str(number))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.db"


@pytest.fixture
def journal(address: Address) -> Iterator[Journal]:
    with closing(Journal(address)) as journal:
        yield journal


async def test_a_label_without_its_first_record_is_not_kept(path: Path) -> None:
    Journal(path).close()
    full = "BEGIN SELECT RAISE(ABORT, 'no room'); END"
    tamper(path, f"CREATE TRIGGER full BEFORE INSERT ON records {full}")
    with (
        closing(Journal(path)) as journal,
        pytest.raises(JournalError, match="can't be written: no room"),
    ):
        await journal.create(opened(), {})
    with closing(sqlite3.connect(path)) as other:
        assert other.execute("SELECT count(*) FROM games").fetchone() == (0,)


async def test_what_was_written_is_read_again(address: Address) -> None:
    records: list[Record] = [
        Commitments(digests=("cc", "dd"), nonces=("aa", None)),
        Began(nonces=("aa", "bb")),
        Thought(seq=1, seat=0, text="\x00 ünï", candidates=(Candidate(move="-", equity=-1.5),)),
        Thought(seq=1, seat=0, belief=BELIEF),
        Thought(seq=1, seat=0, search=Search(phase="endgame", nodes=300, proven=True)),
        failed(1),
    ]
    label = {"seats": ["static", "greedy"], "pair": 3}
    with closing(Journal(address)) as first:
        await first.create(opened(), label)
        await first.append("g", records[:1])
        await first.append("g", records[1:])
        first.note(ClockNote(game="g", clocks=(5, -7), seq=1))
        first.note(ClockNote(game="g", clocks=(4, -7), seq=2))
    if isinstance(address, Path):
        assert list(address.parent.iterdir()) == [address], "all of it is in one file"
    with closing(Journal(address)) as second:
        (kept,) = second.unfinished()
        assert (kept.game, kept.label, kept.records) == ("g", label, (opened(), *records))
        assert kept.note == ClockNote(game="g", clocks=(4, -7), seq=2)
        assert list(second.finished()) == []
        await second.append("g", [failed(2)], last=True)
        assert second.unfinished() == []
        (done,) = second.finished()
        assert (done.records, done.note) == ((opened(), *records, failed(2)), None)


def copied(path: Path, name: str) -> Path:
    """Copy a journal that is in use as it lies on the disk at this moment."""
    copy = path.with_name(name)
    for ending in ("", "-wal"):
        Path(f"{copy}{ending}").write_bytes(Path(f"{path}{ending}").read_bytes())
    return copy


async def test_an_append_is_durable_when_it_returns(path: Path) -> None:
    with closing(Journal(path)) as journal:
        await journal.create(opened(), {})
        for number in range(5):
            await journal.append("g", [failed(number)])
            with closing(Journal(copied(path, f"copy{number}.db"))) as there:
                (kept,) = there.unfinished()
            assert kept.records[1:] == tuple(map(failed, range(number + 1)))

        # A process that is killed can't show that a record outlives the machine too: its writes
        # are in the system's memory already.
        store = journal._store
        assert isinstance(store, SqliteStore)
        settings = (
            store._connection.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("journal_mode", "synchronous")
        )
        assert tuple(settings) == ("wal", 2), "FULL: each commit is flushed to the disk"


async def test_many_games_are_written_at_once_in_order(journal: Journal) -> None:
    games = [f"g{number}" for number in range(30)]
    await asyncio.gather(*(journal.create(opened(game), {}) for game in games))

    async def play(game: str) -> None:
        for number in range(10):
            await journal.append(game, [failed(number), failed(number + 100)])

    await asyncio.gather(*map(play, games))
    for kept in journal.unfinished():
        numbers = [int(record.message) for record in kept.records[1:] if isinstance(record, Failed)]
        assert numbers == [n for number in range(10) for n in (number, number + 100)]


async def test_what_is_waiting_is_written_when_the_journal_closes(address: Address) -> None:
    journal = Journal(address)
    await journal.create(opened(), {})
    waiting = [asyncio.ensure_future(journal.append("g", [failed(n)])) for n in range(50)]
    await asyncio.sleep(0)
    journal.close()
    await asyncio.gather(*waiting)
    with pytest.raises(JournalError, match=f"{NAME} is closed"):
        await journal.append("g", [failed(99)])
    assert numbers_kept(address) == list(range(50))


async def test_one_games_fault_is_not_anothers(journal: Journal) -> None:
    await journal.create(opened("a"), {})
    results = await asyncio.gather(
        journal.append("a", [failed(1)]),
        journal.create(opened("a"), {}),  # there is one of that name
        journal.create(opened("b"), {}),
        return_exceptions=True,
    )
    assert [type(result) for result in results] == [type(None), JournalError, type(None)]
    assert [kept.game for kept in journal.unfinished()] == ["a", "b"]


# --- games that are over --------------------------------------------------------------------------

ENDED = ended(0)


@pytest.fixture
async def past(journal: Journal) -> Journal:
    """Three games that are over, begun a second apart in 1970, and one that is on."""
    for number, label in enumerate(({"ladder": "slow"}, {"of": "ladder"}, {"ladder": "fast"})):
        game = f"g{number}"
        await journal.create(opened(game), label)
        await journal.append(game, [failed(1), failed(2), ENDED], last=True)
        tamper(journal.address, "UPDATE games SET created = ? WHERE game = ?", 100.0 + number, game)
    await journal.create(opened("on"), {"ladder": "slow"})
    return journal


async def test_games_that_are_over_are_found_by_label_name_and_age(past: Journal) -> None:
    at = past.address
    assert [each.game for each in read_ended(at, "ladder")] == ["g0", "g2"]
    assert {name: each.ended for name, each in read_ends(at, ["g1", "on"]).items()} == {"g1": ENDED}
    assert [bool(read_ended_game(at, game)) for game in ("g1", "on", "no")] == [True, False, False]
    assert [bool(read_game(at, game)) for game in ("g1", "on", "no")] == [True, True, False]
    assert [has_game(at, game) for game in ("g1", "on", "no")] == [True, True, False]
    latest, before = read_past(at, 2)
    assert [each.game for each in latest] == ["g2", "g1"]
    rest = read_past(at, 2, before)
    assert ([each.game for each in rest.games], rest.before) == (["g0"], None)
    assert [kept.game for kept in read_older(at, 102.0, 9)] == ["g0", "g1"]
    assert [kept.game for kept in read_older(at, 200.0, 1, after="g0")] == ["g1"]


async def test_of_games_whose_moves_are_dropped_the_ends_stay(past: Journal) -> None:
    await past.drop_moves(["g0", "g2"])
    assert [kept.game for kept in read_older(past.address, 200.0, 9)] == ["g1"]
    for game, is_short in (("g0", True), ("g1", False)):
        kept = read_ended_game(past.address, game)
        assert kept is not None
        assert (kept.is_short, kept.opened, kept.ended) == (is_short, opened(game), ENDED)


# --- how opponents play --------------------------------------------------------------------------


async def test_styles_outlive_the_journal_that_they_were_told_unless_damaged(
    address: Address, capsys: pytest.CaptureFixture[str]
) -> None:
    with closing(Journal(address)) as first:
        assert first.style_of("ann") is None
        first.store_style("ann", {"soft": 1.0})
        first.store_style("bob", {"greedy": 0.5, "soft": 0.5})
        first.store_style("ann", {"soft": 0.25, "greedy": 0.75})
        assert first.style_of("ann") == {"soft": 0.25, "greedy": 0.75}, "the last word counts"
    with closing(Journal(address)) as second:
        assert second.style_of("ann") == {"soft": 0.25, "greedy": 0.75}
        rows = second.rows("SELECT name, games FROM styles ORDER BY name")
        assert rows == [("ann", 2), ("bob", 1)]
    tamper(address, "UPDATE styles SET odds = '{\"soft\": 7}' WHERE name = 'ann'")
    with closing(Journal(address)) as third:
        assert third.style_of("ann") is None, "it is learned again"
        assert third.style_of("bob") == {"greedy": 0.5, "soft": 0.5}
    assert "style not read" in "".join(capsys.readouterr())


# --- processes that are killed --------------------------------------------------------------------

WRITER = """
import asyncio, sys
from harness.arbiter.journal import Journal
from harness.arbiter.database import Address, JournalError
sys.path.insert(0, "tests/harness/arbiter")
from test_journal import failed, opened

async def main():
    journal = Journal(sys.argv[1])
    if not journal.unfinished():
        await journal.create(opened(), {})
    print("open", flush=True)
    number = 0
    while True:
        try:
            await journal.append("g", [failed(number), failed(-1)])
        except JournalError as error:
            print("error", error, flush=True)
            return
        print(number, flush=True)
        number += 1

asyncio.run(main())
"""


def writer(path: Address, setup: str = "") -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", setup + WRITER, str(path)],
        cwd=REPOSITORY,
        env={**os.environ, "PYTHONPATH": f"{REPOSITORY}:{REPOSITORY / 'tests'}"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def numbers_kept(path: Address) -> list[int]:
    with closing(Journal(path)) as journal:
        (kept,) = journal.unfinished()
    failures = [record for record in kept.records if isinstance(record, Failed)]
    return [int(record.message) for record in failures if record.message != "-1"]


def test_a_process_that_is_killed_loses_nothing_that_it_acknowledged(
    address: Address,
) -> None:
    process = writer(address)
    assert process.stdout is not None
    assert process.stdout.readline() == "open\n"
    last = -1
    while last < 30:
        last = int(process.stdout.readline())
    with pytest.raises(JournalError, match=f"{NAME} is in use by another server"):
        Journal(address)
    process.send_signal(signal.SIGKILL)
    said = process.communicate()[0].split()
    last = int(said[-1]) if said else last
    kept = numbers_kept(address)
    assert kept == list(range(len(kept)))
    assert len(kept) > last


def test_a_disk_that_is_full_is_said_and_loses_nothing(path: Path) -> None:
    full = """
import resource, signal, structlog
structlog.configure(logger_factory=structlog.ReturnLoggerFactory())
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000))
"""
    out, err = writer(path, full).communicate()
    assert err == ""
    *numbers, error = out.splitlines()[1:]
    assert error.startswith(f"error {path} can't be written: ")
    assert len(numbers) > 5
    kept = numbers_kept(path)
    assert kept == list(range(len(numbers)))


# --- files that are none --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("Dear diary, " * 1_000, "file is not a database"),
        ("CREATE TABLE bookmarks (url TEXT)", "another program's SQLite database"),
        ("PRAGMA user_version = 9", "version 9; this program reads version 2"),
    ],
)
def test_a_file_that_is_no_journal_is_refused_and_left_as_it_is(
    path: Path, content: str, says: str
) -> None:
    if content.startswith("Dear"):
        path.write_text(content)
    else:
        with closing(sqlite3.connect(path)) as other:
            other.execute(content)
    before = path.read_bytes()
    for _ in range(2):  # the refusal has let go of the file
        with pytest.raises(JournalError, match=says):
            Journal(path)
    assert path.read_bytes() == before


def test_a_folder_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(JournalError, match=r"no/j\.db .*No such file"):
        Journal(tmp_path / "no" / "j.db")


async def test_a_record_that_can_not_be_read_is_said(address: Address) -> None:
    with closing(Journal(address)) as journal:
        await journal.create(opened(), {})
    tamper(address, """UPDATE records SET content = '{"record":"from the future"}'""")
    with (
        closing(Journal(address)) as again,
        pytest.raises(JournalError, match=rf"{NAME}: game g can't be read: "),
    ):
        again.unfinished()


def test_an_unfinished_copy_is_neither_opened_nor_read(address: Address) -> None:
    Journal(address).close()
    tamper(address, "INSERT INTO state VALUES ('unfinished', '')")
    for use in (Journal, lambda at: list(read_games(at))):
        with pytest.raises(JournalError, match=rf"{NAME} .*not finished"):
            use(address)


def test_only_its_owner_reads_a_journal(path: Path) -> None:
    Journal(path).close()
    path.chmod(0o644)  # as an earlier version made it
    with closing(Journal(path)):
        files = list(path.parent.iterdir())
        assert len(files) == 4
        assert {file.stat().st_mode & 0o777 for file in files} == {0o600}

"""A journal in PostgreSQL when its database or the way to it fails, and where it can't be used."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing
from typing import cast

import psycopg
import pytest
from match_samples import opened
from msgspec.structs import replace
from postgres import Cluster, tamper

from harness.arbiter import journal_postgres, lease
from harness.arbiter.database import DatabaseUnreadable, InUse, JournalError, NoAnswer
from harness.arbiter.journal import Journal
from harness.arbiter.journal_postgres import PostgresStore
from harness.arbiter.journal_reading import database_at, read_games, rows_at
from harness.arbiter.lease import LeaseLost
from harness.arbiter.records import Failed


def failed(number: int) -> Failed:
    return Failed(seat=0, code="disconnect", message=str(number))


@pytest.fixture
def url(cluster: Cluster) -> str:
    return cluster.database()


@pytest.fixture
def journal(url: str) -> Iterator[Journal]:
    with closing(Journal(url)) as journal:
        yield journal


def kept(url: str) -> list[int]:
    (game,) = read_games(url)
    return [int(record.message) for record in game.records if isinstance(record, Failed)]


def cut_connections(url: str) -> None:
    """End the sessions of a database that are ours."""
    with psycopg.connect(url, autocommit=True) as other:
        other.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND application_name = 'tilewire'"
        )


def wait_for_locks(url: str, count: int) -> None:
    """Return once so many sessions of a database wait for a lock."""
    asked = (
        "SELECT FROM pg_stat_activity WHERE datname = current_database() "
        "AND wait_event_type = 'Lock'"
    )
    with psycopg.connect(url, autocommit=True) as connection:
        while connection.execute(asked).rowcount < count:
            time.sleep(0.02)


async def test_what_is_acknowledged_is_kept_once_while_connections_are_cut(
    url: str, journal: Journal
) -> None:
    await journal.create(opened(), {})

    async def keep_cutting(times: int) -> None:
        for _ in range(times):
            await asyncio.to_thread(cut_connections, url)

    cutting = asyncio.create_task(keep_cutting(times=8))
    number = 0
    while not cutting.done():
        await journal.append("g", [failed(number)])
        number += 1
    assert kept(url) == list(range(number))


class Proxy:
    """Passes bytes on to a database, until told otherwise."""

    def __init__(self) -> None:
        self.swallow_answers = False
        self.silent = asyncio.Event()
        self._writers: list[asyncio.StreamWriter] = []

    async def serve(
        self, port: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        there, back = await asyncio.open_connection("127.0.0.1", port)
        self._writers += [writer, back]
        is_old = asyncio.Event()

        async def answers() -> None:
            while data := await there.read(65_536):
                if self.swallow_answers or is_old.is_set():
                    is_old.set()  # and says nothing more, ever
                    self.silent.set()
                    self.swallow_answers = False
                    continue
                writer.write(data)

        task = asyncio.create_task(answers())
        while data := await reader.read(65_536):
            back.write(data)
        task.cancel()

    def close(self) -> None:
        for writer in self._writers:
            writer.close()


@asynccontextmanager
async def proxied(url: str, port: int) -> AsyncIterator[tuple[Proxy, str]]:
    proxy = Proxy()
    server = await asyncio.start_server(
        lambda reader, writer: proxy.serve(port, reader, writer), "127.0.0.1", 0
    )
    try:
        there = server.sockets[0].getsockname()[1]
        yield proxy, url.replace(f":{port}/", f":{there}/")
    finally:
        server.close()
        proxy.close()


def give_up_line(journal: Journal) -> None:
    """Have the time be over for an answer to a commit."""
    store = cast("PostgresStore", journal._store)
    journal_postgres._patience._until[store._connection] = 0.0


async def test_a_commit_whose_answer_is_lost_is_made_once(
    cluster: Cluster, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lease, "LEASE_S", 60.0)
    async with proxied(url, cluster.port) as (proxy, detour):
        journal = await asyncio.to_thread(Journal, detour)
        await journal.create(opened(), {})
        for number in range(3):
            proxy.swallow_answers = True  # the database has it, and we are never told
            appended = asyncio.create_task(journal.append("g", [failed(number)]))
            await proxy.silent.wait()
            proxy.silent.clear()
            give_up_line(journal)
            await appended
        await asyncio.to_thread(journal.close)
        assert kept(url) == [0, 1, 2]


SILENT_AFTER_TWO = "SELECT CASE WHEN n > 2 THEN pg_sleep(60)::text END FROM generate_series(1, 9) n"


async def test_a_line_that_falls_silent_is_waited_for_a_while_only(
    cluster: Cluster, url: str, journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever waits for the lease, reads, or closes the journal."""
    await journal.create(opened(), {})

    def read_and_close(detour: str) -> None:
        with database_at(detour).reading() as reader:
            assert list(reader.rows("SELECT 1")) == [(1,)]
            monkeypatch.setattr(journal_postgres, "ANSWER_S", 0.5)
            proxy.swallow_answers = True

    async with proxied(url, cluster.port) as (proxy, detour), asyncio.timeout(60):
        waiting = asyncio.create_task(asyncio.to_thread(Journal, detour))
        await asyncio.sleep(0.2)
        proxy.swallow_answers = True
        with pytest.raises(NoAnswer, match=r"no answer within \d"):
            await waiting
        proxy.swallow_answers = False
        await asyncio.to_thread(read_and_close, detour)
        proxy.swallow_answers = False
        with pytest.raises(JournalError, match=r"no answer within \d"):
            await asyncio.to_thread(rows_at, detour, SILENT_AFTER_TWO)
        monkeypatch.undo()  # a busy machine may take long until it has read
        await asyncio.to_thread(journal.close)
        other = await asyncio.to_thread(Journal, detour)
        proxy.swallow_answers = True
        await asyncio.to_thread(other.close)


async def test_a_commit_that_is_under_way_when_the_line_is_cut_is_made_once(
    cluster: Cluster, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server has not noticed, and still makes the first when the same comes again."""
    monkeypatch.setattr(lease, "LEASE_S", 60.0)
    async with proxied(url, cluster.port) as (_, detour):
        journal = await asyncio.to_thread(Journal, detour)
        for game in "ab":
            await journal.create(replace(opened(), game=game), {})
        with psycopg.connect(url) as slow:  # as a disk may be, or a replica
            slow.execute("SELECT FROM tilewire.lease FOR UPDATE")
            appended = [asyncio.create_task(journal.append(game, [failed(0)])) for game in "ab"]
            async with asyncio.timeout(60):
                await asyncio.to_thread(wait_for_locks, url, 1)
                give_up_line(journal)
                await asyncio.to_thread(wait_for_locks, url, 2)
        await asyncio.gather(*appended)
        await asyncio.to_thread(journal.close)
    assert [len(game.records) for game in read_games(url)] == [2, 2]


async def test_a_database_that_is_read_only_by_now_ends_the_lease(
    url: str, journal: Journal
) -> None:
    await journal.create(opened(), {})
    database = url.rpartition("/")[2]
    tamper(url, f"ALTER DATABASE {database} SET default_transaction_read_only = on")
    cut_connections(url)
    with pytest.raises(LeaseLost, match="read-only transaction"):
        await journal.append("g", [failed(0)])


@pytest.mark.usefixtures("quick_beats")
async def test_a_lease_is_held_while_much_is_read(
    url: str, journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    await asyncio.to_thread(journal.close)
    monkeypatch.setattr(lease, "LEASE_S", 1.5)
    monkeypatch.setattr(Journal, "_read_styles", lambda _self: time.sleep(2 * lease.LEASE_S))
    opening = asyncio.create_task(asyncio.to_thread(Journal, url))
    await asyncio.sleep(1.2 * lease.LEASE_S)
    with pytest.raises(InUse):
        await asyncio.to_thread(Journal, url)
    await asyncio.to_thread((await opening).close)


async def test_no_game_is_taken_for_damaged_when_the_line_is_cut(
    url: str, journal: Journal
) -> None:
    """It would be set aside, and its players begin another, while it stays open in the journal."""
    for game in "ab":
        await journal.create(replace(opened(), game=game), {})
    damaged: list[JournalError] = []
    games = read_games(url, damaged.append)
    assert next(games).game == "a"
    cut_connections(url)
    with pytest.raises(JournalError, match="can't be read as a journal: terminating connection"):
        next(games)
    assert damaged == []


async def test_a_question_may_have_no_answer_and_another_one(url: str, journal: Journal) -> None:
    await journal.create(opened(), {})
    database = url.rpartition("/")[2]
    tamper(url, f"ALTER DATABASE {database} SET statement_timeout = 1000")
    with database_at(url).reading() as reader:
        with pytest.raises(DatabaseUnreadable, match="division by zero"):
            next(reader.rows("SELECT 1 / 0"))
        assert list(reader.rows("SELECT game FROM games")) == [("g",)]
        with pytest.raises(JournalError, match="timeout"):  # which damages no game
            next(reader.rows("SELECT pg_sleep(10)"))


async def test_a_database_that_restarts_is_waited_for(
    cluster: Cluster, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lease, "LEASE_S", 60.0)
    with closing(Journal(url)) as journal:
        await journal.create(opened(), {})
        await asyncio.to_thread(cluster.stop, signal.SIGQUIT)
        appended = asyncio.create_task(journal.append("g", [failed(0)]))
        await asyncio.to_thread(cluster.start)
        await appended
        assert kept(url) == [0]


# --- the lease ------------------------------------------------------------------------------------


async def test_with_a_database_that_is_gone_the_lease_ends(
    cluster: Cluster, url: str, journal: Journal
) -> None:
    await journal.create(opened(), {})
    lost = journal.lost()
    await asyncio.to_thread(cluster.stop, signal.SIGINT)
    try:
        with pytest.raises(LeaseLost, match=r"the lease of .*test\d+ is lost: "):
            await journal.append("g", [failed(0)])
        assert "is lost" in await lost
        assert "is lost" in (journal.trouble() or "")
        assert not journal.is_held
    finally:
        await asyncio.to_thread(cluster.start)
    with pytest.raises(LeaseLost):  # whatever becomes of the database
        await journal.append("g", [failed(1)])
    assert kept(url) == []


async def test_who_sleeps_past_the_lease_writes_nothing_more(
    url: str, journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    await journal.create(opened(), {})
    tamper(url, "UPDATE lease SET until = 'epoch'")  # the others' clock has gone on
    with closing(await asyncio.to_thread(Journal, url)) as successor:
        with pytest.raises(LeaseLost, match="another host took the lease"):
            await journal.append("g", [failed(0)])
        await successor.append("g", [failed(1)])
        assert (journal.is_held, successor.is_held) == (False, True)
    assert kept(url) == [1]


def test_who_commits_nothing_for_too_long_no_longer_holds_it(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lease, "LEASE_S", 0.5)
    store = database_at(url).open(0)  # without a journal, which would prolong the lease
    while store.is_held:
        time.sleep(0.01)
    store.commit([])
    assert store.is_held
    store.close()


@pytest.mark.usefixtures("quick_beats")
async def test_of_hosts_that_start_at_once_on_an_empty_database_one_has_the_journal(
    url: str,
) -> None:
    opening = [asyncio.to_thread(Journal, url) for _ in range(6)]
    came = await asyncio.gather(*opening, return_exceptions=True)
    journals = [each for each in came if isinstance(each, Journal)]
    assert [type(each) for each in came if not isinstance(each, Journal)] == [InUse] * 5
    for journal in journals:
        journal.close()
    assert rows_at(url, "SELECT count(*) FROM lease") == [(1,)]


def test_the_lease_is_free_at_once_when_its_host_closes_the_journal(url: str) -> None:
    Journal(url).close()
    rows = rows_at(url, "SELECT until <= clock_timestamp() FROM lease")
    assert rows == [(True,)]


@pytest.mark.usefixtures("quick_beats")
def test_the_lease_of_a_host_that_lives_is_not_taken_by_one_of_the_same_name(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("socket.gethostname", lambda: "tilewire")  # as in containers
    monkeypatch.setattr("os.getpid", lambda: 1)
    with closing(Journal(url)) as journal:
        began = rows_at(url, "SELECT number FROM lease")
        with pytest.raises(InUse, match="in use by another server") as caught:
            Journal(url)
        assert caught.value.holder == "tilewire, process 1"
        assert rows_at(url, "SELECT number FROM lease") == began
        assert journal.trouble() is None


def test_a_commit_is_made_once_and_under_its_lease_only(url: str, journal: Journal) -> None:
    ((number, commit),) = rows_at(url, "SELECT number, commit FROM lease")
    hold = "SELECT tilewire.hold(%s, %s, 3)"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(hold, (number, commit + 100))
        for mine, this, code in (
            (number, commit + 100, journal_postgres.MADE),
            (number, commit + 99, journal_postgres.MADE),
            (number - 1, commit + 101, journal_postgres.PASSED),
        ):
            with pytest.raises(psycopg.Error) as caught:
                connection.execute(hold, (mine, this))
            assert caught.value.sqlstate == code


# --- where it can't be used -----------------------------------------------------------------------


def test_a_journal_of_another_version_is_refused(url: str) -> None:
    with pytest.raises(JournalError, match="has no journal"):
        list(read_games(url))
    Journal(url).close()
    tamper(url, "UPDATE state SET value = '9' WHERE key = 'version'")
    for use in (Journal, lambda at: list(read_games(at))):
        with pytest.raises(JournalError, match="version 9; this program reads version 2"):
            use(url)


async def test_a_database_without_an_encoding_keeps_texts(cluster: Cluster) -> None:
    with psycopg.connect(cluster.url(), autocommit=True) as admin:
        admin.execute("CREATE DATABASE plain TEMPLATE template0 ENCODING 'SQL_ASCII' LOCALE 'C'")
    for _ in range(2):
        with closing(Journal(cluster.url("plain"))) as journal:
            await journal.claim_name("Łucja", "hash")
    assert rows_at(cluster.url("plain"), "SELECT name FROM names") == [("Łucja",)]


def test_who_may_not_write_is_told(url: str) -> None:
    tamper(url, "DROP ROLE IF EXISTS reader")
    tamper(url, "CREATE ROLE reader LOGIN")
    theirs = url.replace("tilewire@", "reader@")
    with pytest.raises(JournalError, match=r"permission denied for database .*; make the user"):
        Journal(theirs)
    Journal(url).close()
    with pytest.raises(JournalError, match="permission denied for schema tilewire; make the user"):
        Journal(theirs)
    Journal(url).close()  # whose lease is not harmed


async def test_a_full_database_is_told_and_written_again_once_it_has_room(
    url: str, journal: Journal
) -> None:
    await journal.create(opened(), {})
    tamper(
        url,
        """
        CREATE FUNCTION full_disk() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN
            RAISE EXCEPTION 'could not extend file: No space left on device'
                USING ERRCODE = 'disk_full', HINT = 'Check free disk space.';
        END $$;
        CREATE TRIGGER full_disk BEFORE INSERT ON records EXECUTE FUNCTION full_disk()
        """,
    )
    says = "can't be written: .*No space left on device; check free disk space$"
    with pytest.raises(JournalError, match=says):
        await journal.append("g", [failed(0)])
    tamper(url, "DROP TRIGGER full_disk ON records")
    await journal.append("g", [failed(1)])
    assert kept(url) == [1]


# --- several hosts --------------------------------------------------------------------------------


def test_a_journal_of_hosts_that_told_their_address_is_gone_on_with(url: str) -> None:
    Journal(url).close()
    tamper(url, "ALTER TABLE lease ADD COLUMN address TEXT NOT NULL DEFAULT ''")
    with closing(Journal(url)) as journal:
        assert journal.is_held


@pytest.mark.parametrize(
    ("ahead_s", "said"), [(600.0, "600 s ahead of"), (-7200.0, "7,200 s behind")]
)
async def test_a_clock_that_is_off_is_said_and_harms_no_game(
    url: str, monkeypatch: pytest.MonkeyPatch, ahead_s: float, said: str
) -> None:
    now = time.time
    monkeypatch.setattr("time.time", lambda: now() + ahead_s)
    with closing(await asyncio.to_thread(Journal, url)) as journal:
        assert said in journal.notice
        await journal.create(opened(), {})
        await journal.append("g", [failed(0)])
    assert kept(url) == [0]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (("/test", "/none"), "can't be used as a journal: .*database .* does not exist"),
        (("127.0.0.1", "nowhere.invalid"), "can't be used as a journal: .*nowhere.invalid"),
        (("127.0.0.1:", "127.0.0.1:x"), "can't be used as a journal: .*port"),
        (("tilewire@", "ann:secret@[::"), "is no URL: Invalid IPv6"),
    ],
)
def test_a_wrong_url_is_said_and_never_a_password(
    url: str, change: tuple[str, str], sentence: str
) -> None:
    with pytest.raises(JournalError, match=sentence) as caught:
        Journal(url.replace(*change))
    assert "secret" not in str(caught.value)
    with closing(Journal(url.replace("tilewire@", "tilewire:secret@") + "?password=x")) as journal:
        assert (journal.name, journal.notice) == (url, "")


def test_without_psycopg_a_sentence_says_what_to_install(url: str) -> None:
    program = (
        f"import sys; sys.modules['psycopg'] = None\n"
        f"from harness.arbiter.journal import Journal\nJournal({url!r})"
    )
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert "JournalError: a journal in PostgreSQL takes psycopg: pip install" in done.stderr

"""A server that stands by: whom it passes on to, and when it has the journal."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import closing
from typing import TypeAlias

import pytest
from postgres import Cluster, tamper

from harness.arbiter.database import JournalError
from harness.arbiter.journal import Journal
from harness.cli.access_files import AccessFiles
from harness.cli.serving import advertised
from harness.cli.standby import Standby
from harness.server.admission import Admission
from harness.server.passing_on import PassingOn

PATIENCE_S = 60.0
NO_FILES = AccessFiles(None, None, None)

Told: TypeAlias = "asyncio.Future[asyncio.Event]"


def standby_at(url: str, passing_on: PassingOn) -> Standby:
    return Standby(url, NO_FILES, passing_on, None)


@pytest.fixture
async def passing_on() -> AsyncIterator[PassingOn]:
    passing_on = PassingOn("127.0.0.1", 0, Admission(), None, None)
    await passing_on.start()
    yield passing_on
    await passing_on.close()


@pytest.fixture
async def told() -> Told:
    """What a signal would end."""
    return asyncio.get_running_loop().create_future()


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> asyncio.Queue[str]:
    """What it says, as it says it."""
    said: asyncio.Queue[str] = asyncio.Queue()
    monkeypatch.setattr("harness.cli.standby.tell", said.put_nowait)
    return said


@pytest.mark.usefixtures("quick_beats")
async def test_it_passes_on_until_it_has_the_journal(
    cluster: Cluster,
    passing_on: PassingOn,
    said: asyncio.Queue[str],
    told: Told,
) -> None:
    url = cluster.database()
    first = await asyncio.to_thread(Journal, url, 0, "192.0.2.1:8484")
    waiting = asyncio.create_task(standby_at(url, passing_on).wait(told, patient=False))
    async with asyncio.timeout(PATIENCE_S):
        sentence = await said.get()
        assert "is in use by another server or match (" in sentence
        assert sentence.endswith(", at 192.0.2.1:8484)")
        assert passing_on.serving == "192.0.2.1:8484"
        assert not waiting.done()
        await asyncio.to_thread(first.close)
        journal = await waiting
    assert journal is not None
    assert journal.rows("SELECT address FROM lease") == [(f"127.0.0.1:{passing_on.port}",)]
    await asyncio.to_thread(journal.close)


@pytest.mark.usefixtures("quick_beats")
async def test_two_hosts_with_one_address_are_told_so(
    cluster: Cluster,
    passing_on: PassingOn,
    said: asyncio.Queue[str],
    told: Told,
) -> None:
    url, ours = cluster.database(), "192.0.2.1:8484"
    with closing(await asyncio.to_thread(Journal, url, 0, ours)) as first:
        standby = Standby(url, NO_FILES, passing_on, ours)
        waiting = asyncio.create_task(standby.wait(told, patient=False))
        async with asyncio.timeout(PATIENCE_S):
            assert "which this host advertises as its own: give each an --adv" in await said.get()
        assert passing_on.serving == ""
        assert first.trouble() is None
        waiting.cancel()


async def test_a_database_that_cant_be_used_is_no_reason_to_wait(
    cluster: Cluster, passing_on: PassingOn, told: Told
) -> None:
    url = cluster.database()
    await asyncio.to_thread(lambda: Journal(url).close())
    tamper(url, "UPDATE state SET value = '9' WHERE key = 'version'")
    with pytest.raises(JournalError, match="has a journal of version 9"):
        await standby_at(url, passing_on).wait(told, patient=False)


async def test_a_database_that_is_slow_is_waited_for(
    passing_on: PassingOn, said: asyncio.Queue[str], told: Told
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as mute:  # which takes nobody in
        url = f"postgresql://127.0.0.1:{mute.getsockname()[1]}/x?sslmode=disable"
        waiting = asyncio.create_task(standby_at(url, passing_on).wait(told, patient=False))
        async with asyncio.timeout(PATIENCE_S):
            assert "as a journal: connection timeout expired" in await said.get()
        assert "connection timeout expired" in passing_on.unsure, "another may serve by now"
        assert not waiting.done()
        waiting.cancel()


async def test_who_is_told_to_stop_while_it_opens_the_journal_leaves_it_free(
    cluster: Cluster, passing_on: PassingOn, told: Told
) -> None:
    url = cluster.database()
    waiting = asyncio.create_task(standby_at(url, passing_on).wait(told, patient=True))
    await asyncio.sleep(0)
    told.set_result(asyncio.Event())
    async with asyncio.timeout(PATIENCE_S):
        assert await waiting is None
    await asyncio.to_thread(lambda: Journal(url).close())


@pytest.mark.parametrize(
    ("said", "host", "port", "address"),
    [
        (None, "192.0.2.1", 8484, "192.0.2.1:8484"),
        (None, "2001:db8::1", 8484, "[2001:db8::1]:8484"),
        (None, "one.example.org", 80, "one.example.org:80"),
        ("one:80", "0.0.0.0", 8484, "one:80"),
        (None, "0.0.0.0", 8484, ""),
        (None, "::", 8484, ""),
        (None, "", 8484, ""),
        (None, "192.0.2.1", 0, ""),
    ],
)
def test_where_a_host_is_reached(said: str | None, host: str, port: int, address: str) -> None:
    assert advertised(said, host, port) == address

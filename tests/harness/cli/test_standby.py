"""A server that stands by: what it tells those who dial it, and when it has the journal."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import closing
from typing import TypeAlias

import pytest
from postgres import Cluster, tamper

from harness.arbiter.database import JournalError
from harness.arbiter.journal import Journal
from harness.cli.access_files import AccessFiles
from harness.cli.standby import Standby
from harness.server.admission import Admission
from protocol.channel import ChannelClosed
from protocol.websocket import dial

PATIENCE_S = 60.0
NO_FILES = AccessFiles(None, None, None)
NOWHERE = "postgresql://127.0.0.1:1/x"

Told: TypeAlias = "asyncio.Future[asyncio.Event]"


def standby_for(url: str) -> Standby:
    return Standby(url, NO_FILES, Admission(), "127.0.0.1", 0)


@pytest.fixture
async def told() -> Told:
    """What a signal would end."""
    return asyncio.get_running_loop().create_future()


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> asyncio.Queue[str]:
    """What it says, as it says it."""
    said: asyncio.Queue[str] = asyncio.Queue()
    monkeypatch.setattr("harness.cli.standby.log_line", said.put_nowait)
    return said


@pytest.fixture
async def url(cluster: Cluster) -> AsyncIterator[str]:
    async with asyncio.timeout(PATIENCE_S):
        yield cluster.database()


async def ask(standby: Standby, path: str) -> tuple[str, str]:
    """Ask a host for something; return the head of the answer, and its body."""
    reader, writer = await asyncio.open_connection("127.0.0.1", standby.port)
    writer.write(f"GET {path} HTTP/1.0\r\n\r\n".encode())  # as HAProxy does
    head, _, body = (await reader.read()).decode().partition("\r\n\r\n")
    writer.close()
    return head, body


async def health(standby: Standby) -> tuple[str, dict[str, str | None]]:
    head, body = await ask(standby, "/healthz")
    return head.split()[1], json.loads(body)


async def test_all_but_its_health_is_elsewhere() -> None:
    async with standby_for(NOWHERE).listening() as standby:
        for path in ("/", "/serving", "/metrics", "/api/games"):
            head, _ = await ask(standby, path)
            assert head.startswith("HTTP/1.1 503 ")
            assert "\r\nRetry-After: 1" in head
        with pytest.raises(ChannelClosed, match="HTTP 503, 'this host stands by"):
            await dial(f"ws://127.0.0.1:{standby.port}")
        status, told = await health(standby)
        assert (status, told["serves"]) == ("503", None)
        assert told["why"], "nobody was asked yet"


async def test_who_sends_no_request_holds_up_no_other_server() -> None:
    async with standby_for(NOWHERE).listening() as standby:
        reader, writer = await asyncio.open_connection("127.0.0.1", standby.port)
        writer.write(b"GET / HT")
        await ask(standby, "/")
    async with asyncio.timeout(5.0):  # less than the peer has for its request
        assert await reader.read() == b""
    taken = Standby(NOWHERE, NO_FILES, Admission(), "127.0.0.1", standby.port)
    async with taken.listening() as again:
        assert again.port == standby.port
    writer.close()


@pytest.mark.usefixtures("quick_beats")
async def test_it_waits_until_it_has_the_journal(
    url: str, said: asyncio.Queue[str], told: Told
) -> None:
    first = await asyncio.to_thread(Journal, url)
    async with standby_for(url).listening() as standby:
        waiting = asyncio.create_task(standby.wait(told, patient=False))
        assert "is in use by another server or match (" in await said.get()
        status, told_so = await health(standby)
        assert (status, told_so["status"]) == ("200", "standby")
        assert "process" in (told_so["serves"] or "")
        assert not waiting.done()
        await asyncio.to_thread(first.close)
        journal = await waiting
    assert journal is not None
    assert journal.is_held
    await asyncio.to_thread(journal.close)


async def test_a_database_that_cant_be_used_is_no_reason_to_wait(url: str, told: Told) -> None:
    await asyncio.to_thread(lambda: Journal(url).close())
    tamper(url, "UPDATE state SET value = '9' WHERE key = 'version'")
    with pytest.raises(JournalError, match="has a journal of version 9"):
        await standby_for(url).wait(told, patient=False)


async def test_a_database_that_is_slow_is_waited_for(said: asyncio.Queue[str], told: Told) -> None:
    with socket.create_server(("127.0.0.1", 0)) as mute:  # which takes nobody in
        url = f"postgresql://127.0.0.1:{mute.getsockname()[1]}/x?sslmode=disable"
        async with asyncio.timeout(PATIENCE_S), standby_for(url).listening() as standby:
            waiting = asyncio.create_task(standby.wait(told, patient=False))
            assert "as a journal: connection timeout expired" in await said.get()
            status, told_so = await health(standby)
            assert status == "503", "another may serve by now"
            assert "connection timeout expired" in (told_so["why"] or "")
            assert not waiting.done()
            waiting.cancel()


async def test_who_is_told_to_stop_while_it_opens_the_journal_leaves_it_free(
    url: str, told: Told
) -> None:
    waiting = asyncio.create_task(standby_for(url).wait(told, patient=True))
    await asyncio.sleep(0)
    told.set_result(asyncio.Event())
    assert await waiting is None
    with closing(await asyncio.to_thread(Journal, url)) as journal:
        assert journal.is_held

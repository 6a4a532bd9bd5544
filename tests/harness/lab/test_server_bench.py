"""What ``bench server`` and other measurements share: pings, work beside a block, files."""

from __future__ import annotations

import asyncio
import resource
from typing import cast

import pytest

from harness.lab.bench import load
from harness.lab.bench.client import Client
from harness.lab.bench.load import alongside
from harness.server.admission import raise_files
from protocol.channel import ChannelClosed
from protocol.messages import Ping, Pong


def test_the_limit_of_files_is_never_lowered(monkeypatch: pytest.MonkeyPatch) -> None:
    limits = list[tuple[int, int]]()
    monkeypatch.setattr("resource.getrlimit", lambda _which: (5_000, 10_000))
    monkeypatch.setattr("resource.setrlimit", lambda _which, both: limits.append(both))
    raise_files(3_000)
    assert limits == []
    raise_files(6_000)
    assert limits == [(6_000, 10_000)]
    monkeypatch.setattr("resource.getrlimit", lambda _which: (resource.RLIM_INFINITY,) * 2)
    raise_files(20_000)
    assert limits == [(6_000, 10_000)]


class Stalling:
    """A client whose server does nothing for a while, and then answers all pings."""

    def __init__(self, seconds: float) -> None:
        self.channel = self
        self._seconds = seconds
        self._pings: asyncio.Queue[Ping] = asyncio.Queue()

    async def send(self, ping: Ping) -> None:
        self._pings.put_nowait(ping)

    async def expect(self, _kind: object) -> Pong:
        await asyncio.sleep(self._seconds)
        self._seconds = 0
        return Pong(id=(await self._pings.get()).id)


async def test_all_pings_that_are_due_in_a_stall_wait_for_its_end() -> None:
    client = cast("Client", Stalling(0.4))
    times = await load._ping(client, every_s=0.01, seconds=0.5, offset=0.0)
    assert len(times) == 50
    assert max(times) > 350
    assert sum(ms > 100 for ms in times) > 20


async def test_an_error_beside_a_block_ends_it() -> None:
    async def fails() -> None:
        await asyncio.sleep(0)
        raise LookupError("a bot failed")

    with pytest.raises(LookupError, match="a bot failed"):
        async with asyncio.timeout(60), alongside(fails()):
            await asyncio.Event().wait()
    ended = []

    async def goes_on() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(True)

    async def dies() -> None:
        async with alongside(goes_on()):
            await asyncio.sleep(0)
            raise ChannelClosed("the server died")

    with pytest.raises(ChannelClosed, match="the server died"):
        await dies()
    async with alongside(goes_on()):
        await asyncio.sleep(0)
    assert ended == [True, True]

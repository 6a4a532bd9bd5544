"""A server under load: many connections, a thousand small messages a second, two busy cores."""

from __future__ import annotations

import asyncio
import math
import tempfile
import time
from collections.abc import AsyncIterator, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from harness.server.admission import raise_files
from protocol.channel import now_ms
from protocol.messages import Ping, Pong

from .client import Client, serving

SETTINGS = """
max_games = {games}
[bots]
burner = "harness.lab.bench.bots:Burner?ms=5000"
[time]
initial_ms = 3600000
[admission]
connections = {most}
connections_per_address = {most}
spectators = {most}
handshakes_per_s = 1000
frames_per_s = 100000
"""
"""``most`` is how many connections there may be, all from one address; ``games`` is how many games,
one for each seat that searches."""


@dataclass(frozen=True)
class Load:
    """Round trips of small messages, in milliseconds."""

    connections: int
    messages: int
    messages_per_s: float
    p50_ms: float
    p99_ms: float
    worst_ms: float
    searching: int


async def measure_load(connections: int, rate: float, seconds: float, searching: int) -> Load:
    """Time ``ping`` to ``pong``, ``rate`` a second over all clients; ``searching`` seats search.

    Raises:
        ValueError: the system does not allow enough open files.
        ChannelClosed: the server does not come up, or has died.
    """
    raise_files(connections + searching + 200)
    settings = SETTINGS.format(most=connections + searching + 10, games=max(1, searching))
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        url, _ = await stack.enter_async_context(serving(folder, settings))
        games = (_keep_busy(url, n) for n in range(searching))
        await stack.enter_async_context(alongside(*games))
        if searching:
            await asyncio.sleep(3)  # the searching processes come up and compile
        clients = [await Client.login(url, f"c{n}", "spectator") for n in range(connections)]
        began = now_ms()
        times = await asyncio.gather(
            *(
                _ping(client, connections / rate, seconds, offset=n / rate)
                for n, client in enumerate(clients)
            )
        )
        took = (now_ms() - began) / 1_000
        for client in clients:
            await client.close()
    ms = np.concatenate(times)
    p50, p99, worst = np.quantile(ms, (0.5, 0.99, 1)).round(2).tolist()
    return Load(connections, len(ms), round(len(ms) / took, 1), p50, p99, worst, searching)


@asynccontextmanager
async def alongside(*work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Do endless work beside a block, until the end of either; an error of one ends both."""
    try:
        async with asyncio.TaskGroup() as tasks:
            running = [tasks.create_task(part) for part in work]
            yield
            for task in running:
                task.cancel()
    except ExceptionGroup as errors:
        error: Exception = errors
        while isinstance(error, ExceptionGroup):
            error = error.exceptions[0]
        raise error from None


async def _keep_busy(url: str, number: int) -> None:
    """Play the burner and pass at once, so that it is always the burner's turn."""
    while True:
        client = await Client.login(url, f"busy{number}")
        await client.seek("burner")
        await client.pass_to_the_end()
        await client.close()


async def _ping(client: Client, every_s: float, seconds: float, offset: float) -> list[float]:
    """Ping at a fixed rate, whether or not earlier pings are answered; return the round trips."""
    count = math.ceil(seconds / every_s)
    sent: list[float] = []  # by perf_counter: a loop's own clock may go by whole milliseconds

    async def send() -> None:
        began = time.perf_counter() + offset
        for number in range(count):
            await asyncio.sleep(began + number * every_s - time.perf_counter())
            sent.append(time.perf_counter())
            await client.channel.send(Ping(id=number))

    async def hear() -> list[float]:
        times = []
        for _ in range(count):
            pong = await client.expect(Pong)
            times.append((time.perf_counter() - sent[pong.id]) * 1_000)
        return times

    _, times = await asyncio.gather(send(), hear())
    return times

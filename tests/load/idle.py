"""The cost of thousands of idle connections, and of a message compared with a bare echo's."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TypeVar

from load.attack import cpu_s, port_of, process, read_line
from load.attackers import HANDSHAKE, frame, hello, said

from harness.lab.bench.client import serving
from harness.lab.bench.memory import own_memory
from harness.server.admission import raise_files
from protocol.messages import Ping

SETTINGS = """
[admission]
connections = {most}
connections_per_address = {most}
spectators = {most}
handshakes_per_s = {most}
frames_per_s = 100000
share_per_address = 1000
"""
"""``most`` is the limit of connections; all are from one address."""

KEEPALIVE_S = 25.0
"""Longer than the server keeps a connection that answers no WebSocket ping."""

SETTLE_S = 3.0
"""Time for the server to notice that the idle connections are gone."""

TALKING = 20
"""Connections that send messages."""

RATE = 2_000
"""Messages a second."""

AT_ONCE = 100
"""Connections that are opened at once."""

ROUNDS = 4
"""How often server and echo are measured, in turn."""

HEAD = (
    *("connections", "memory", "each", "still there after 25 s", "CPU of one core"),
    *("a ping and its answer", "bare echo", "ratio"),
)
"""Still there: after two rounds of WebSocket pings, which they answer; CPU: for these."""


class Peer(asyncio.Protocol):
    """A raw client: it says hello, answers WebSocket pings, and counts messages."""

    def __init__(self, first: bytes = HANDSHAKE + hello("spectator", "idle")) -> None:
        self.is_open = True
        self._first = first
        self._due = 0
        """Messages that are still expected."""
        self._heard: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport: asyncio.Transport = transport  # type: ignore[assignment]
        self.send(self._first)

    def expect(self, count: int) -> asyncio.Future[None]:
        """Return a future that is done after ``count`` more messages."""
        self._due = count
        self._heard = asyncio.get_running_loop().create_future()
        return self._heard

    def send(self, data: bytes) -> None:
        self._transport.write(data)

    def close(self) -> None:
        self._transport.abort()

    def data_received(self, data: bytes) -> None:
        """Answer WebSocket pings, and count messages."""
        self._buffer += data
        if self._buffer.startswith(b"HTTP"):
            head, found, rest = self._buffer.partition(b"\r\n\r\n")
            if not found:
                return
            if b" 101 " not in head:
                self.close()
            self._buffer = rest
        while len(self._buffer) >= 2:
            start, length = 2, self._buffer[1]
            if length > 125:
                start += 2 if length == 126 else 8
                length = int.from_bytes(self._buffer[2:start], "big")
            if len(self._buffer) < start + length:
                return
            opcode, payload = self._buffer[0] & 15, self._buffer[start : start + length]
            self._buffer = self._buffer[start + length :]
            if opcode == 9:
                self.send(frame(10, payload))
            elif opcode in (1, 2):
                self.message()

    def message(self) -> None:
        self._due -= 1
        if self._due == 0 and not self._heard.done():
            self._heard.set_result(None)

    def connection_lost(self, _error: Exception | None) -> None:
        self.is_open = False
        if self._due > 0 and not self._heard.done():
            self._heard.set_exception(ConnectionError("the connection was closed"))


P = TypeVar("P", bound=Peer)


async def idle(connections: int, seconds: float) -> list[str]:
    """Open idle connections to a server, then have some of them talk; return a row of the table.

    Raises:
        ValueError: the system does not allow enough open files.
    """
    raise_files(connections + 200)
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        settings = SETTINGS.format(most=connections + TALKING)
        served = await stack.enter_async_context(serving(folder, settings))
        port = port_of(served.url)
        warm = await open_peers(port, TALKING, Peer, 1)  # what the server needs for any connection
        before = own_memory(served.pid)
        peers = await open_peers(port, connections, Peer, 1)
        grown_kb = (own_memory(served.pid) - before) / 1_024
        busy_s = cpu_s(served.pid)
        await asyncio.sleep(KEEPALIVE_S)
        busy_s = cpu_s(served.pid) - busy_s
        still_there = sum(peer.is_open for peer in peers)
        for peer in peers:
            peer.close()
        await asyncio.sleep(SETTLE_S)
        echo = await stack.enter_async_context(process("load.bare_servers", "echo"))
        echo_peers = await open_peers(int(await read_line(echo)), TALKING, Peer, 1)
        count = TALKING * max(1, int(RATE * seconds / ROUNDS / TALKING))
        ours_s = echo_s = 0.0
        for _ in range(ROUNDS):
            ours_s += await _talk(warm, served.pid, count)
            echo_s += await _talk(echo_peers, echo.pid, count)
        for peer in (*warm, *echo_peers):
            peer.close()
    ours_us, echo_us = (1e6 * used_s / (count * ROUNDS) for used_s in (ours_s, echo_s))
    return [
        f"{connections:,}",
        f"{grown_kb / 1_024:.1f} MB",
        f"{grown_kb / connections:.1f} KB",
        f"{still_there:,}",
        f"{100 * busy_s / KEEPALIVE_S:.1f} %",
        f"{ours_us:.1f} µs",
        f"{echo_us:.1f} µs",
        f"{ours_us / echo_us:.2f}",
    ]


async def open_peers(port: int, count: int, make: Callable[[], P], messages: int) -> list[P]:
    """Open connections, a hundred at a time, and wait for ``messages`` messages to each."""
    loop = asyncio.get_running_loop()
    peers: list[P] = []
    while len(peers) < count:
        new = [make() for _ in range(min(AT_ONCE, count - len(peers)))]
        heard = [peer.expect(messages) for peer in new]
        for peer in new:
            await loop.create_connection(lambda peer=peer: peer, "127.0.0.1", port)  # type: ignore[misc]
        await asyncio.gather(*heard)
        peers += new
    return peers


async def _talk(peers: list[Peer], pid: int, count: int) -> float:
    """Send messages in turn at a rate; return the seconds of CPU of the process that answers."""
    loop = asyncio.get_running_loop()
    message = said(Ping(id=1))
    busy_s, due = cpu_s(pid), loop.time()
    waits = [peer.expect(count // len(peers)) for peer in peers]
    for number in range(count):
        peers[number % len(peers)].send(message)
        due += 1 / RATE
        if (pause := due - loop.time()) > 0:
            await asyncio.sleep(pause)
    async with asyncio.timeout(30):
        await asyncio.gather(*waits)
    return cpu_s(pid) - busy_s

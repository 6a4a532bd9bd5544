"""Attackers of a server: they write raw frames and understand no answers.

So they do the same to a server and to a bare echo beside it. Each attack is a process of its own,
from addresses of loopback that nobody else uses.
"""

from __future__ import annotations

import asyncio
import secrets
import socket
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass

from websockets.frames import Frame, Opcode

from bot.seat import runtime
from harness.page import Page
from protocol.channel import ChannelClosed
from protocol.codec import MSGPACK
from protocol.messages import GameList, Games, Hello, Message, Ping, Seek, Watch
from protocol.parts import Role
from protocol.websocket import WebSocketChannel, dial

BURST = 250_000
"""Bytes that are written at once."""

CLAIMED = "claimed"
"""A name that has a token."""

HANDSHAKE = (
    b"GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)


def frame(opcode: int, payload: bytes, *, fin: bool = True) -> bytes:
    """Return a client's frame."""
    return Frame(Opcode(opcode), payload, fin).serialize(mask=True)


def said(message: Message) -> bytes:
    """Return a message as a frame."""
    content = MSGPACK.encode(message)
    assert isinstance(content, bytes)
    return frame(2, content)


def hello(role: Role, name: str, token: str | None = None) -> bytes:
    """Return the frame of ``hello``, which opens a session."""
    return said(Hello(role=role, name=name, token=token))


WS_PING = frame(9, b"")


def _script() -> bytes:
    """Return a request for the largest script of the page, unpacked."""
    scripts = {at: found for at, found in Page.read().answers.items() if at.endswith(".js")}
    largest = max(scripts, key=lambda at: len(scripts[at].text))
    return f"GET {largest} HTTP/1.1\r\nHost: x\r\n\r\n".encode()


@dataclass(eq=False)
class Target:
    """The server to attack, and what is known of it."""

    host: str
    port: int
    addresses: int
    game: str = "none"
    """The id of a game under way there."""


class Wire:
    """A raw connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writer = writer
        self._reading = asyncio.create_task(self._read(reader))

    @classmethod
    async def open(cls, target: Target, number: int, first: bytes, *, reads: bool = True) -> Wire:
        """Connect from one of the attackers' addresses, and write the first bytes."""
        sock = socket.socket()
        sock.setblocking(False)
        if not reads:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        try:
            sock.bind((f"127.0.0.{2 + number % target.addresses}", 0))
            await asyncio.get_running_loop().sock_connect(sock, (target.host, target.port))
        except BaseException:
            sock.close()
            raise
        reader, writer = await asyncio.open_connection(sock=sock, limit=1 << 12)
        wire = cls(reader, writer)
        if not reads:
            wire._reading.cancel()
        await wire.send(first)
        return wire

    async def _read(self, reader: asyncio.StreamReader) -> None:
        with suppress(OSError):
            while await reader.read(1 << 16):
                pass
        self._writer.transport.abort()

    async def send(self, data: bytes) -> None:
        """Write; raise ConnectionError if the other side is gone."""
        if self._writer.transport.is_closing():
            raise ConnectionResetError
        self._writer.write(data)
        await self._writer.drain()

    async def repeat(self, data: bytes, per_s: float) -> None:
        """Write ``data`` ``per_s`` times a second, until the other side is gone."""
        loop = asyncio.get_running_loop()
        due, sent = loop.time(), 0.0
        while True:
            due += 0.05
            await asyncio.sleep(due - loop.time())
            count = int(sent + per_s * 0.05) - int(sent)
            sent += per_s * 0.05
            await self.send(data * count)

    async def flood(self, data: bytes) -> None:
        """Write as fast as the other side takes it."""
        while True:
            await self.send(data)

    async def hear_out(self) -> None:
        """Read until the other side is gone."""
        await self._reading

    def close(self) -> None:
        """Abort the connection."""
        self._reading.cancel()
        self._writer.transport.abort()


_Talk = Callable[[Wire, Target, int], Awaitable[None]]
"""What a connection, by number, sends; when this ends, the connection is opened again."""


@dataclass(frozen=True)
class Attack:
    """One row of the table."""

    what: str
    connections: int
    talk: _Talk
    reads: bool = True
    request: bytes = HANDSHAKE
    """What is written first."""


async def _idle(wire: Wire) -> None:
    while True:
        await wire.send(b"")
        await asyncio.sleep(1)


async def _ws_pings(wire: Wire, _target: Target, _number: int) -> None:
    await wire.repeat(WS_PING, 900)


async def _burst(wire: Wire, _target: Target, _number: int) -> None:
    await wire.send(WS_PING * (BURST // len(WS_PING)))


async def _pings(wire: Wire, _target: Target, number: int) -> None:
    await wire.send(hello("spectator", f"s{number}"))
    await wire.repeat(said(Ping(id=1)), 900)


async def _megabytes(wire: Wire, _target: Target, _number: int) -> None:
    await wire.flood(frame(2, bytes(1 << 20)))


async def _large(wire: Wire, _target: Target, number: int) -> None:
    await wire.send(hello("spectator", f"s{number}"))
    await wire.flood(frame(2, b"\xdc\xff\xff" + bytes(BURST)))


async def _nested(wire: Wire, _target: Target, number: int) -> None:
    await wire.send(hello("spectator", f"s{number}"))
    await wire.flood(frame(2, b"\x91" * 1_000))


async def _fragments(wire: Wire, _target: Target, number: int) -> None:
    await wire.send(hello("spectator", f"s{number}"))
    await wire.send(frame(2, b"\x81", fin=False))
    await wire.flood(frame(0, b"", fin=False) * 4_000)


async def _bad_frames(wire: Wire, _target: Target, number: int) -> None:
    await wire.send(hello("spectator", f"s{number}"))
    await wire.flood(frame(2, b"\xc1") * 100)


async def _nothing(wire: Wire, _target: Target, _number: int) -> None:
    await wire.send(b"")


async def _hear_out(wire: Wire, _target: Target, _number: int) -> None:
    await wire.hear_out()


async def _slowly(wire: Wire, _target: Target, _number: int) -> None:
    while True:
        await wire.send(b"x")
        await asyncio.sleep(1)


async def _watching_idly(wire: Wire, _target: Target, number: int) -> None:
    await wire.send(hello("spectator", f"s{number}"))
    await _idle(wire)


async def _watch(wire: Wire, target: Target, number: int) -> None:
    await wire.send(hello("spectator", f"s{number}"))
    while True:
        await wire.send(said(Watch(game=target.game)))
        await asyncio.sleep(0.5)


async def _watch_fast(wire: Wire, target: Target, number: int) -> None:
    await wire.send(hello("spectator", f"s{number}"))
    while True:
        await wire.send(said(Watch(game=target.game)) * 50)
        await asyncio.sleep(0.01)


async def _seek(wire: Wire, _target: Target, number: int) -> None:
    await wire.send(hello("player", f"seeker {number}"))
    while True:
        await wire.send(said(Seek(opponent=f"nobody {number}")))
        await asyncio.sleep(0.5)


async def _claim(wire: Wire, _target: Target, _number: int) -> None:
    await wire.send(hello("player", secrets.token_hex(8), secrets.token_urlsafe(32)))
    await asyncio.sleep(0.01)


async def _guess(wire: Wire, _target: Target, _number: int) -> None:
    await wire.send(hello("player", CLAIMED, secrets.token_urlsafe(32)))
    await asyncio.sleep(0.01)


ATTACKS = {
    "pings": Attack("900 WebSocket pings a second", 1, _ws_pings),
    "pings-20": Attack("the same on each of 20 connections", 20, _ws_pings),
    "burst": Attack("a burst of 41,000 pings, reconnect, again", 1, _burst),
    "burst-8": Attack("the same on each of 8 connections", 8, _burst),
    "messages-30": Attack("900 messages a second on each of 30", 30, _pings),
    "megabytes": Attack("frames of 1 MiB on 4 connections", 4, _megabytes),
    "large": Attack("frames of 250 KB on 4 connections", 4, _large),
    "nested": Attack("nested frames on 4 connections", 4, _nested),
    "fragments": Attack("endless fragments on 8 connections", 8, _fragments),
    "bad-frames": Attack("unreadable frames on 8 connections", 8, _bad_frames),
    "connects": Attack("connect, shake hands, go, on 8", 8, _nothing),
    "slow-loris": Attack("500 requests, a byte a second", 500, _slowly, request=b"GET / HTTP/1.1"),
    "page": Attack("the largest script of the page, on 8", 8, _hear_out, request=_script()),
    "idle": Attack("998 idle spectators", 998, _watching_idly),
    "watch-500": Attack("500 spectators who ask anew twice a second", 500, _watch),
    "watch": Attack("one who asks 5,000 times a second", 1, _watch_fast),
    "unread": Attack("100 spectators who ask and never read", 100, _watch_fast, reads=False),
    "seeks": Attack("600 seekers who seek anew twice a second", 600, _seek),
    "names": Attack("claims of names on 8 connections", 8, _claim),
    "tokens": Attack("wrong tokens on 8 connections", 8, _guess),
}


async def _keep_on(attack: Attack, target: Target, number: int) -> None:
    """Attack by one connection; open it again whenever it ends."""
    while True:
        wire = None
        try:
            wire = await Wire.open(target, number, attack.request, reads=attack.reads)
            await attack.talk(wire, target, number)
        except OSError:
            await asyncio.sleep(0.01)
        finally:
            if wire is not None:
                wire.close()


async def _look_for_games(target: Target, url: str) -> None:
    """Keep track of a game under way, as any spectator can."""
    while True:
        with suppress(ChannelClosed):
            channel = await dial(url)
            await channel.send(Hello(role="spectator", name="scout"))
            await _list_games(channel, target)
        await asyncio.sleep(1)


async def _list_games(channel: WebSocketChannel, target: Target) -> None:
    while True:
        await channel.send(Games())
        while not isinstance(content := (await channel.receive()).content, GameList):
            pass
        target.game = content.games[0].game if content.games else target.game
        await asyncio.sleep(1)


async def _attack(name: str, port: int, addresses: int, url: str) -> None:
    target = Target("127.0.0.1", port, addresses)
    attack = ATTACKS[name]
    scouts = asyncio.create_task(_look_for_games(target, url))
    await asyncio.gather(
        scouts, *(_keep_on(attack, target, number) for number in range(attack.connections))
    )


def main() -> None:
    """Attack until killed; arguments: NAME PORT ADDRESSES URL-OF-THE-SERVER."""
    name, port, addresses, url = sys.argv[1:]
    with suppress(KeyboardInterrupt), asyncio.Runner(loop_factory=runtime.loop_factory()) as runner:
        runner.run(_attack(name, int(port), int(addresses), url))


if __name__ == "__main__":
    main()

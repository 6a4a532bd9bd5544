"""Attackers of a server: they write raw frames and understand no answers.

So they do the same to a server and to a bare echo beside it. Each attack is a process of its own,
from addresses of loopback that nobody else uses.
"""

from __future__ import annotations

import asyncio
import secrets
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import uvloop
from websockets.frames import Frame, Opcode

from harness.lab.bench.client import Client
from harness.page import Page
from protocol.channel import ChannelClosed
from protocol.codec import MSGPACK
from protocol.messages import GameList, Games, Hello, Message, Ping, Seek, Watch
from protocol.parts import Role

ADDRESSES = 4
"""Addresses of loopback that an attack comes from."""

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


def _script() -> bytes:
    """Return a request for the largest script of the page, unpacked."""
    scripts = {at: found for at, found in Page.read().answers.items() if at.endswith(".js")}
    largest = max(scripts, key=lambda at: len(scripts[at].text))
    return f"GET {largest} HTTP/1.1\r\nHost: x\r\n\r\n".encode()


_Content: TypeAlias = Callable[[int, str], bytes]
"""What a connection writes, by its number and the id of a game under way."""


def _always(content: bytes) -> _Content:
    return lambda _number, _game: content


def _flood(payload: bytes, times: int = 1) -> _Content:
    return _always(frame(2, payload) * times)


def _spectator(number: int, _game: str) -> bytes:
    return hello("spectator", f"s{number}")


def _fragmenter(number: int, game: str) -> bytes:
    return _spectator(number, game) + frame(2, b"\x81", fin=False)


def _watch(times: int = 1) -> _Content:
    return lambda _number, game: said(Watch(game=game)) * times


def _claimant(name: Callable[[], str]) -> _Content:
    return lambda _number, _game: hello("player", name(), secrets.token_urlsafe(32))


_any_name = partial(secrets.token_hex, 8)
_WS_PING = frame(9, b"")
_PINGS = _always(_WS_PING * 45)
_BURST = _always(_WS_PING * (250_000 // len(_WS_PING)))
_NOTHING = _always(b"")


@dataclass(frozen=True)
class Attack:
    """One row of the table."""

    what: str
    connections: int
    opening: _Content = _NOTHING
    """What a connection writes first, behind the request."""
    again: _Content | None = None
    """What it writes again and again; None: it is opened anew instead."""
    every_s: float | None = 0.0
    """How often; 0: as fast as the other side takes it, None: when the other side is gone."""
    request: bytes = HANDSHAKE
    reads: bool = True
    takes_places: bool = False
    """Whether it is after the places of games."""


ATTACKS = {
    "pings": Attack("900 WebSocket pings a second", 1, again=_PINGS, every_s=0.05),
    "pings-20": Attack("the same on each of 20 connections", 20, again=_PINGS, every_s=0.05),
    "burst": Attack("a burst of 41,000 pings, reconnect, again", 1, _BURST),
    "burst-8": Attack("the same on each of 8 connections", 8, _BURST),
    "messages-30": Attack(
        "900 messages a second on each of 30",
        *(30, _spectator, _always(said(Ping(id=1)) * 45), 0.05),
    ),
    "megabytes": Attack("frames of 1 MiB on 4 connections", 4, again=_flood(bytes(1 << 20))),
    "large": Attack(
        "frames of 250 KB on 4 connections",
        *(4, _spectator, _flood(b"\xdc\xff\xff" + bytes(250_000))),
    ),
    "nested": Attack("nested frames on 4 connections", 4, _spectator, _flood(b"\x91" * 1_000)),
    "fragments": Attack(
        "endless fragments on 8 connections",
        *(8, _fragmenter, _always(frame(0, b"", fin=False) * 4_000)),
    ),
    "bad-frames": Attack("unreadable frames on 8 connections", 8, _spectator, _flood(b"\xc1", 100)),
    "connects": Attack("connect, shake hands, go, on 8", 8),
    "slow-loris": Attack(
        "500 requests, a byte a second",
        *(500, _NOTHING, _always(b"x"), 1.0, b"GET / HTTP/1.1"),
    ),
    "page": Attack("the largest script of the page, on 8", 8, every_s=None, request=_script()),
    "idle": Attack("998 idle spectators", 998, _spectator, _NOTHING, 1.0),
    "watch-500": Attack(
        "500 spectators who ask anew twice a second", 500, _spectator, _watch(), 0.5
    ),
    "watch": Attack("one who asks 5,000 times a second", 1, _spectator, _watch(50), 0.01),
    "unread": Attack(
        "100 spectators who ask and never read", 100, _spectator, _watch(50), 0.01, reads=False
    ),
    "seeks": Attack(
        "600 seekers who seek anew twice a second",
        600,
        lambda number, _game: hello("player", f"seeker {number}"),
        lambda number, _game: said(Seek(opponent=f"nobody {number}")),
        0.5,
    ),
    "lent": Attack(
        "bots lent to 8 arbiters who only ping",
        8,
        lambda number, _game: hello("arbiter", f"arbiter {number}"),
        _always(said(Ping(id=1))),
        0.05,
        request=HANDSHAKE.replace(b"GET /", b"GET /static"),
        takes_places=True,
    ),
    "names": Attack("claims of names on 8 connections", 8, _claimant(_any_name), every_s=0.01),
    "tokens": Attack("wrong tokens on 8 connections", 8, _claimant(lambda: CLAIMED), every_s=0.01),
}


class Attackers:
    """The connections of one attack, at a server or an echo on this port of loopback."""

    def __init__(self, attack: Attack, port: int) -> None:
        self._attack = attack
        self._port = port
        self._game = "none"

    async def attack(self, url: str) -> None:
        """Attack without end; games are those of the server at ``url``."""
        numbers = range(self._attack.connections)
        await asyncio.gather(self._look_for_games(url), *map(self._keep_on, numbers))

    async def _look_for_games(self, url: str) -> None:
        """Keep track of a game under way, as any spectator can."""
        while True:
            with suppress(ChannelClosed):
                scout = await Client.login(url, "scout", "spectator")
                while True:
                    await scout.channel.send(Games())
                    if games := (await scout.expect(GameList)).games:
                        self._game = games[0].game
                    await asyncio.sleep(1)
            await asyncio.sleep(1)

    async def _keep_on(self, number: int) -> None:
        """Attack by one connection; open it again whenever it ends."""
        while True:
            try:
                await self._attack_once(number)
            except OSError:
                await asyncio.sleep(0.01)

    async def _attack_once(self, number: int) -> None:
        attack = self._attack
        own = (f"127.0.0.{2 + number % ADDRESSES}", 0)
        reader, writer = await asyncio.open_connection(
            "127.0.0.1", self._port, local_addr=own, limit=1 << 12
        )
        reading = asyncio.create_task(_read(reader, writer))
        if not attack.reads:
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
            reading.cancel()
        try:
            await _send(writer, attack.request + attack.opening(number, self._game))
            if attack.again is None:
                await asyncio.wait([reading], timeout=attack.every_s)
                return
            loop = asyncio.get_running_loop()
            due = loop.time()
            while True:
                await _send(writer, attack.again(number, self._game))
                if attack.every_s:
                    due += attack.every_s
                    await asyncio.sleep(due - loop.time())
        finally:
            reading.cancel()
            writer.transport.abort()


async def _read(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Read, and end the connection when the other side does."""
    with suppress(OSError):
        while await reader.read(1 << 16):
            pass
    writer.transport.abort()


async def _send(writer: asyncio.StreamWriter, data: bytes) -> None:
    """Write; raise ConnectionError if the other side is gone."""
    if writer.transport.is_closing():
        raise ConnectionResetError
    writer.write(data)
    await writer.drain()


def main() -> None:
    """Attack until killed; arguments: NAME PORT URL-OF-THE-SERVER."""
    name, port, url = sys.argv[1:]
    with suppress(KeyboardInterrupt), asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(Attackers(ATTACKS[name], int(port)).attack(url))


if __name__ == "__main__":
    main()

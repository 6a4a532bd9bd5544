"""Broken input over real sockets: to a server, to whoever dials one, and to a bridge.

A server runs in this process, so that whatever it does not catch is seen. Each visitor opens a
connection, says what is right for a while and what is broken in between, and ends with bytes that
are no frame, or just leaves; others never get past the handshake.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from random import Random
from typing import Any, get_args

from fuzz.frames import Frames
from fuzz.mutation import broken_bytes, broken_text
from servers import served
from structlog.testing import capture_logs
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidMessage
from websockets.frames import CTRL_OPCODES, Frame, Opcode
from websockets.protocol import State
from websockets.typing import Origin, Subprotocol
from websockets.utils import accept_key

from harness.lab.bench.client import Client
from harness.server.admission import Admission
from harness.server.bridge import Bridge, BridgeConfig
from harness.server.server import MatchServer
from protocol.channel import ChannelClosed
from protocol.codec import CODECS, MSGPACK, Codec
from protocol.errors import PeerError
from protocol.messages import Hello, NewGame, Ping, Pong, Ready, Seek
from protocol.parts import Role, TimeControl
from protocol.websocket import dial

PATIENCE_S = 60.0
"""For an answer to an honest peer; nobody waits for it if all is well."""
MOST_FRAMES = 60
"""Of a visit; a server closes after twenty that it can't take."""

OPEN = Admission(
    connections=4_000,
    connections_per_address=3_000,
    handshakes_per_s=1e6,
    frames_per_s=1e6,
    bytes_per_s=1e9,
    names_per_hour=1e6,
    names=1_000_000,
    seeks_per_minute=1e6,
)
"""No limit stops the visitors, who come from one address."""

_NAMES = ("ann", "bob", "eve", "kim", "lee", "mia")
_ORIGIN = "https://example.org"
_HTTP = (
    b"GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
    b"Sec-WebSocket-Protocol: tilewire.v1.json\r\nAuthorization: Bearer abc\r\n\r\n",
    b"GET /healthz HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 10.0.0.1\r\n\r\n",
    b"POST /static?x=%00 HTTP/1.0\r\nContent-Length: 99999999999\r\n\r\nhello",
    b"GET /api/games?before=abc HTTP/1.1\r\nHost: x\r\n\r\n",
    b"GET /api/games/abc.gcg HTTP/1.1\r\nHost: x\r\n\r\n",
    b"GET /api/standings?x=%ff&x=%00 HTTP/1.1\r\nHost: x\r\n\r\n",
    b"HEAD /metrics HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer a\r\nAuthorization: b\r\n\r\n",
)
ODD_PATHS = (
    *(b"//[", b"/%", b"/%ff", b"/%00/", b"/\xff", b"/\xc3\xa9", b"/?", b"/#", b"//", b"/..;/"),
    b"/:",
    *(b"http://[x/", b"/api/games/%ff", b"/api/games?before=%ff%00", b"/api/games/" + b"a" * 4_000),
    b"/api/games?" + b"a=1&" * 1_000,
)
"""What stands in place of the first slash."""
_ANSWER = (
    b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Accept: %s\r\nSec-WebSocket-Protocol: tilewire.v1.msgpack\r\n\r\n"
)
_LINES = (
    *("bridge pair", "bridge hello token T", "bridge hello code ABCD-EFGH", "bridge engines"),
    *("bridge open tilewire", "bridge close", "siu", "go auto movetime 1", "bridge"),
)


class Uncaught(logging.Handler):
    """What was not caught: by a task, a callback or the handler of a connection."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.seen: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Take an error of ``websockets``; that a handshake fails is the visitor's own fault."""
        error = record.exc_info[1] if record.exc_info else None
        if not isinstance(error, InvalidHandshake | InvalidMessage | EOFError | ConnectionClosed):
            self.seen.append(f"{record.getMessage()}: {error!r}")

    def note(self, _loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Take what a loop reports."""
        self.seen.append(f"{context.get('message')}: {context.get('exception')!r}")

    @contextlib.contextmanager
    def watching(self) -> Any:
        """Watch in a block, in a running loop."""
        loop, logger = asyncio.get_running_loop(), logging.getLogger("websockets")
        before = loop.get_exception_handler()
        loop.set_exception_handler(self.note)
        logger.addHandler(self)
        logger.propagate = False
        try:
            with capture_logs() as said:
                yield
            self.seen += [str(entry) for entry in said if entry.get("exc_info")]
        finally:
            logger.removeHandler(self)
            logger.propagate = True
            loop.set_exception_handler(before)


class Visitors:
    """Those who come with broken input, and how much of it they brought."""

    def __init__(self, chance: Random) -> None:
        self.chance = chance
        self.sent: Counter[str] = Counter()
        self.uncaught = Uncaught()
        self._frames = {codec: Frames(codec, chance) for codec in CODECS.values()}

    async def come(self, visit: Callable[[], Awaitable[None]], count: int, at_once: int) -> None:
        """Visit until so many more frames are sent, so many visitors at once."""
        until = self.total + count

        async def keep_on() -> None:
            while self.total < until:
                await visit()

        await asyncio.gather(*(keep_on() for _ in range(at_once)))

    async def visit_server(self, port: int) -> None:
        """Come to a server, as one of its kinds of peers."""
        if self.chance.randrange(6) == 0:
            await self._say_http(port)
            return
        codec = self.chance.choice(tuple(CODECS.values()))
        url = f"ws://127.0.0.1:{port}/{self.chance.choice(('', 'greedy', '%00?x'))}"
        async with self._connected(url, codec.subprotocol) as connection:
            role: Role = self.chance.choice(get_args(Role))
            hello = Hello(role=role, name=self.chance.choice(_NAMES))
            await connection.send(codec.encode(hello))
            if role == "player":
                await connection.send(codec.encode(Seek(games=self.chance.randint(1, 3))))
            games: list[str] = []
            reading = asyncio.create_task(_play(connection, codec, games))
            try:
                await self._send_broken(connection, codec, games)
                if self.chance.randrange(2):  # or leave at once
                    await asyncio.wait([reading], timeout=self.chance.random())
            finally:
                reading.cancel()
                await asyncio.wait([reading])

    async def _send_broken(
        self, connection: ClientConnection, codec: Codec, games: list[str]
    ) -> None:
        opcode = Opcode.BINARY if codec is MSGPACK else Opcode.TEXT
        frames = self._frames[codec]
        for _ in range(self.chance.randrange(MOST_FRAMES)):
            if connection.state is not State.OPEN:
                return
            game = games[-1] if games and self.chance.randrange(3) else None
            self._write(connection, opcode, frames.broken(self.chance, game))
            for _ in range(self.chance.choice((0, 3, 3, 3))):
                await asyncio.sleep(0)

    def _write(self, connection: ClientConnection, opcode: Opcode, payload: bytes) -> None:
        """Write a message, now and then in fragments, or with a ping between, or no frame."""
        self.sent["frames"] += 1
        chance, cut = self.chance, self.chance.randrange(len(payload) + 1)
        match chance.randrange(100):
            case 0 | 1:
                parts = [
                    Frame(opcode, payload[:cut], fin=False),
                    Frame(Opcode.PING, payload[:100]),
                    Frame(Opcode.CONT, payload[cut:]),
                ]
            case 2:
                kind = chance.choice(tuple(Opcode))
                is_last = kind in CTRL_OPCODES or bool(cut % 2)
                parts = [Frame(kind, payload[:120], fin=is_last)]
            case 3:
                raw = Frame(opcode, payload).serialize(mask=True)
                head = broken_bytes(raw[:10], [raw], chance)  # sizes, masks and reserved bits
                _put(connection, head + raw[10:])
                return
            case _:
                parts = [Frame(opcode, payload)]
        for part in parts:
            _put(connection, part.serialize(mask=chance.randrange(200) > 0))

    async def _say_http(self, port: int) -> None:
        request = self.chance.choice(_HTTP)
        if self.chance.randrange(2):
            request = request.replace(b"/", self.chance.choice(ODD_PATHS), 1)
        if self.chance.randrange(3):
            request = broken_text(request, _HTTP, self.chance)
        await self.ask(port, request)

    async def ask(self, port: int, request: bytes) -> bytes:
        """Send a request; return the beginning of the answer."""
        self.sent["requests"] += 1
        answer = b""
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        with contextlib.suppress(ConnectionError):
            writer.write(request)
            if b"\r\n\r\n" not in request:
                writer.write_eof()  # or it is waited for the rest
            async with asyncio.timeout(PATIENCE_S):
                answer = await reader.read(1 << 16)
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()
        return answer

    async def visit_bridge(self, port: int) -> None:
        """Come to a bridge as a page of an origin that it knows."""
        url = f"ws://127.0.0.1:{port}/"
        async with self._connected(url, None, Origin(_ORIGIN)) as connection:
            for _ in range(self.chance.randrange(1, 20)):
                line = self.chance.choice(_LINES).encode()
                self._write(connection, Opcode.TEXT, broken_text(line, [line], self.chance))
                await asyncio.sleep(0)

    @asynccontextmanager
    async def _connected(
        self, url: str, protocol: str | None, origin: Origin | None = None
    ) -> AsyncIterator[ClientConnection]:
        """Connect, and leave in one way or another; that the server has enough of it is right."""
        protocols = None if protocol is None else [Subprotocol(protocol)]
        with contextlib.suppress(ConnectionClosed, InvalidHandshake, OSError):
            async with asyncio.timeout(PATIENCE_S):
                connection = await connect(
                    url, subprotocols=protocols, origin=origin, compression=None, close_timeout=1
                )
                try:
                    yield connection
                finally:
                    if self.chance.randrange(2):
                        connection.transport.abort()
                    await connection.close()

    async def be_visited(self) -> None:
        """Dial a server that answers a dialler with broken input, until it ends."""
        server = await asyncio.start_server(self._answer, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        with contextlib.suppress(ChannelClosed):
            channel = await dial(f"ws://127.0.0.1:{port}")
            try:
                while True:
                    await channel.receive()
            finally:
                await channel.close()
        server.close()
        await server.wait_closed()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        chance = self.chance
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            request = await reader.readuntil(b"\r\n\r\n")
            key = request.partition(b"Sec-WebSocket-Key: ")[2].partition(b"\r\n")[0].decode()
            answer = _ANSWER % accept_key(key).encode()
            writer.write(answer if chance.randrange(5) else broken_text(answer, [answer], chance))
            for _ in range(chance.randrange(MOST_FRAMES)):
                self.sent["frames to a dialler"] += 1
                payload = self._frames[MSGPACK].broken(chance)
                raw = Frame(Opcode.BINARY, payload).serialize(mask=False)
                if chance.randrange(40) == 0:
                    raw = broken_bytes(raw, [raw], chance)
                writer.write(raw)
            await writer.drain()
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()

    @property
    def total(self) -> int:
        """How many frames and requests were sent."""
        return self.sent.total()


def _put(connection: ClientConnection, data: bytes) -> None:
    if not connection.transport.is_closing():
        connection.transport.write(data)


async def _play(connection: ClientConnection, codec: Codec, games: list[str]) -> None:
    """Read what the server says, and be ready for games: broken moves then meet running ones."""
    with contextlib.suppress(ConnectionClosed, PeerError):
        async for frame in connection:
            message = codec.decode(frame)
            if isinstance(message, NewGame):
                games.append(message.game)
                await connection.send(codec.encode(Ready(game=message.game, nonce="00" * 16)))


def open_server(folder: Path) -> AbstractAsyncContextManager[MatchServer]:
    """Have a server whose games are short, and that lets everybody in."""
    return served(
        folder / "games.db",
        time=TimeControl(initial_ms=300, max_overtime_ms=0, ready_ms=300),
        max_games=8,
        admission=OPEN,
    )


async def fuzz_server(folder: Path, visitors: Visitors, count: int, at_once: int = 8) -> None:
    """Send so many frames to a server, and see that an honest peer is answered all the time."""
    with visitors.uncaught.watching():
        async with open_server(folder) as server:
            honest = await Client.login(f"ws://127.0.0.1:{server.port}", "honest", "spectator")
            asking = asyncio.create_task(_ask_on(honest))
            await visitors.come(lambda: visitors.visit_server(server.port), count, at_once)
            assert not asking.done(), "an honest spectator was not answered"
            asking.cancel()
            await asyncio.wait([asking])
            await honest.close()


async def _ask_on(honest: Client) -> None:
    """Ask a server, one question after another, and wait for each answer."""
    for number in itertools.count(1):
        await honest.channel.send(Ping(id=number))
        async with asyncio.timeout(PATIENCE_S):
            assert (await honest.expect(Pong)).id == number
        await asyncio.sleep(0.05)


async def fuzz_dialler(visitors: Visitors, count: int, at_once: int = 8) -> None:
    """Have so many frames sent to those who dial a server."""
    with visitors.uncaught.watching():
        await visitors.come(visitors.be_visited, count, at_once)


async def fuzz_bridge(folder: Path, visitors: Visitors, count: int, at_once: int = 4) -> None:
    """Send so many frames to a bridge, as pages that may or may not be paired."""
    tokens = folder / "bridge.tokens"
    config = BridgeConfig(origins=(_ORIGIN,), port=0, tokens=str(tokens), engine=())
    bridge = Bridge(config, lambda _sentence: None)
    with visitors.uncaught.watching():
        async with bridge.listening():
            await visitors.come(lambda: visitors.visit_bridge(bridge.port), count, at_once)

"""The attackers' frames, and what is summed up of an attack; nobody is attacked here."""

from __future__ import annotations

import asyncio
import resource
import subprocess
import sys
import time
from collections import Counter
from contextlib import AsyncExitStack, suppress
from typing import cast

import pytest
from websockets.asyncio.client import connect
from websockets.frames import Frame, Opcode
from websockets.http11 import Request
from websockets.server import ServerProtocol
from websockets.typing import Subprotocol

from harness.lab.bench import idle, load
from harness.lab.bench.attack import Honest, alongside, echoing, process, seen
from harness.lab.bench.attackers import HANDSHAKE, frame, hello, said
from harness.lab.bench.client import Client
from harness.lab.bench.idle import Peer, open_peers
from harness.lab.bench.memory import MB
from harness.lab.bench.watchers import JOINING
from harness.server.admission import raise_files
from protocol.channel import ChannelClosed
from protocol.codec import JSON, MSGPACK
from protocol.messages import Hello, Ping, Pong, Welcome, YourTurn


def opened() -> ServerProtocol:
    """A server's end that has taken the attackers' handshake."""
    protocol = ServerProtocol()
    protocol.receive_data(HANDSHAKE)
    (request,) = protocol.events_received()
    assert isinstance(request, Request)
    assert request.path == "/"
    protocol.send_response(protocol.accept(request))
    protocol.data_to_send()
    return protocol


def frames(protocol: ServerProtocol) -> list[Frame]:
    return [event for event in protocol.events_received() if isinstance(event, Frame)]


@pytest.mark.parametrize("size", [0, 1, 125, 126, 65_535, 65_536])
def test_frames_are_those_of_websockets(size: int) -> None:
    protocol = opened()
    protocol.receive_data(frame(2, b"x" * size, fin=False) + frame(0, b"y") + frame(9, b"z"))
    begun, ended, ping = frames(protocol)
    assert (begun.opcode, begun.fin, bytes(begun.data)) == (Opcode.BINARY, False, b"x" * size)
    assert (ended.opcode, ended.fin, bytes(ended.data)) == (Opcode.CONT, True, b"y")
    assert (ping.opcode, bytes(ping.data)) == (Opcode.PING, b"z")


def test_messages_are_those_of_the_protocol() -> None:
    protocol = opened()
    protocol.receive_data(hello("player", "ann", "secret") + said(Ping(id=3)))
    messages = [MSGPACK.decode(bytes(each.data)) for each in frames(protocol)]
    assert messages == [Hello(role="player", name="ann", token="secret"), Ping(id=3)]


async def test_an_idle_peer_answers_pings_and_counts_messages() -> None:
    protocol = ServerProtocol()

    class Transport(asyncio.Transport):
        def write(self, data: object) -> None:
            protocol.receive_data(data)  # type: ignore[arg-type]

    peer = Peer()
    heard = peer.expect(2)
    peer.connection_made(Transport())
    request, greeting = protocol.events_received()
    assert isinstance(request, Request)
    assert isinstance(greeting, Frame)
    assert isinstance(MSGPACK.decode(bytes(greeting.data)), Hello)
    protocol.send_response(protocol.accept(request))
    protocol.send_binary(MSGPACK.encode(Pong(id=1)))  # type: ignore[arg-type]
    protocol.send_ping(b"there?")
    protocol.send_binary(bytes(300))
    sent = b"".join(protocol.data_to_send())
    for at in range(0, len(sent), 7):
        assert not heard.done()
        peer.data_received(sent[at : at + 7])
    await heard
    (pong,) = frames(protocol)
    assert (pong.opcode, bytes(pong.data)) == (Opcode.PONG, b"there?")
    gone = peer.expect(1)
    peer.connection_lost(None)
    with pytest.raises(ConnectionError, match="closed"):
        await gone
    assert not peer.is_open


async def test_a_long_message_is_counted_once() -> None:
    peer = Peer()
    heard = peer.expect(2)
    for size in (70_000, 1):
        assert not heard.done()
        sent = Frame(Opcode.BINARY, bytes(size)).serialize(mask=False)
        peer.data_received(sent[:5])
        peer.data_received(sent[5:])
    assert heard.done()


async def test_a_message_after_the_end_of_a_connection_is_no_error() -> None:
    peer = Peer()
    heard = peer.expect(1)
    peer.connection_lost(None)
    peer.data_received(Frame(Opcode.BINARY, b"late").serialize(mask=False))
    with pytest.raises(ConnectionError, match="closed"):
        await heard


async def test_many_peers_have_several_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    addresses, gone = Counter[str](), asyncio.Queue[None]()

    async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        addresses[writer.get_extra_info("peername")[0]] += 1
        writer.write(Frame(Opcode.BINARY, b"hello").serialize(mask=False))
        with suppress(OSError):
            await reader.read()
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()
        gone.put_nowait(None)

    monkeypatch.setattr(idle, "PER_ADDRESS", 2)
    monkeypatch.setattr(idle, "AT_ONCE", 3)
    server = await asyncio.start_server(greet, "127.0.0.1", 0)
    peers = await open_peers(server.sockets[0].getsockname()[1], 5, Peer, 1)
    for peer in peers:
        peer.close()
        await gone.get()
    server.close()
    assert addresses == {"127.0.0.1": 2, "127.0.0.2": 2, "127.0.0.3": 1}


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


class Asked:
    """A client that is asked for a move, and then hears nothing more."""

    welcome = Welcome(name="ann")
    at_ms = 0

    def __init__(self) -> None:
        self.channel = self
        self._heard = [YourTurn("g", 1, "", "", 0, (0, 0), 1)]

    async def seek(self, _opponent: str, games: int) -> None:
        pass

    async def send(self, _message: object) -> None:
        pass

    async def receive(self) -> YourTurn:
        if not self._heard:
            await asyncio.Event().wait()
        return self._heard.pop()


async def test_a_bot_that_fails_at_a_move_ends_what_is_measured(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def login(*_given: object) -> Asked:
        return Asked()

    async def fails(*_given: object) -> None:
        raise LookupError("no move")

    monkeypatch.setattr(Client, "login", login)
    monkeypatch.setattr(Honest, "_move", fails)
    with pytest.raises(LookupError, match="no move"):
        async with asyncio.timeout(60), alongside(Honest("ws://nowhere", "ann", "bob").live()):
            await asyncio.Event().wait()


async def test_bare_servers_echo_and_push() -> None:
    async with AsyncExitStack() as stack:
        port, _ = await echoing(stack)
        echo = await stack.enter_async_context(connect(f"ws://127.0.0.1:{port}"))
        await echo.send("hello")
        assert await echo.recv() == "hello"
        bare = await stack.enter_async_context(
            process("-m", "harness.lab.bench.bare_servers", "push")
        )
        assert bare.stdin is not None
        assert bare.stdout is not None
        port = int(await bare.stdout.readline())
        protocols = [Subprotocol(JSON.subprotocol)]
        page = await stack.enter_async_context(
            connect(f"ws://127.0.0.1:{port}", subprotocols=protocols)
        )
        assert [await page.recv() for _ in range(JOINING)] == ["{}"] * JOINING
        bare.stdin.write(b"5\n")
        assert await page.recv() == "xxxxx"


GROW = """
import os
from harness.lab.bench.memory import MB, own_memory

before = own_memory(os.getpid())
block = b"x" * (64 * MB)
print(own_memory(os.getpid()) - before)
"""


def test_memory_is_what_a_process_has_for_itself() -> None:
    # In a process of its own: here what earlier tests left may be freed between the two looks.
    printed = subprocess.run(
        (sys.executable, "-c", GROW), check=True, capture_output=True, text=True
    ).stdout
    assert 63 * MB <= int(printed) <= 72 * MB


def test_a_ping_that_nobody_answers_takes_until_now() -> None:
    bot = Honest("ws://nowhere", "ann", "bob")
    now = time.perf_counter()
    bot.pings += [(now - 9, 700.0), (now - 5, 3.0), (now - 4, 1.0), (now - 3, None)]
    bot.overcharges += [(now - 9, 50), (now - 5, 4), (now - 4, -1)]
    span = seen((bot,), now - 6, now - 2)
    assert span.p50_ms == 3
    assert span.p99_ms > 2_900
    assert (span.overcharge_ms, span.moves) == (4, 2)

"""The attackers' frames, and what is summed up of an attack; nobody is attacked here."""

from __future__ import annotations

import asyncio
import os
import time

import pytest
from websockets.frames import Frame, Opcode
from websockets.http11 import Request
from websockets.server import ServerProtocol

from harness.lab.bench.attack import Honest, seen
from harness.lab.bench.attackers import HANDSHAKE, frame, hello, said
from harness.lab.bench.idle import Peer
from harness.lab.bench.memory import MB, own_memory
from protocol.codec import MSGPACK
from protocol.messages import Hello, Ping, Pong


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


def test_memory_is_what_a_process_has_for_itself() -> None:
    before = own_memory(os.getpid())
    block = b"x" * (64 * MB)
    grown = own_memory(os.getpid()) - before
    assert len(block) - MB <= grown <= len(block) + 8 * MB


def test_a_ping_that_nobody_answers_takes_until_now() -> None:
    bot = Honest("ws://nowhere", "ann", "bob")
    now = time.perf_counter()
    bot.pings += [(now - 9, 700.0), (now - 5, 3.0), (now - 4, 1.0), (now - 3, None)]
    bot.overcharges += [(now - 9, 50), (now - 5, 4), (now - 4, -1)]
    span = seen((bot,), now - 6, now - 2)
    assert span.p50_ms == 3
    assert span.p99_ms > 2_900
    assert (span.overcharge_ms, span.moves) == (4, 2)

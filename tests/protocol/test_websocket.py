"""Both ends over real sockets of loopback."""

from __future__ import annotations

import asyncio
import gc
import gzip
import socket
import ssl
import sys
import weakref
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request
from websockets.typing import Subprotocol

from protocol import accepting
from protocol.channel import Arrival, ChannelClosed, now_ms
from protocol.codec import CODECS, JSON, MAX_FRAME, MSGPACK, Codec
from protocol.errors import PeerError
from protocol.intake import SLICE, TURN_WORK, trusting_gate
from protocol.messages import Error, Ping, Pong
from protocol.metered import MOST_FRAGMENTS, ServerEnd
from protocol.websocket import HttpAnswer, WebSocketChannel, dial, listen

HANDSHAKE = (
    b"GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)
OnChannel = Callable[[WebSocketChannel, Request], Awaitable[None]]


async def echo(channel: WebSocketChannel, _request: Request) -> None:
    """Send back what comes; answer what can't be read."""
    try:
        while True:
            content = (await channel.receive()).content
            if isinstance(content, PeerError):
                await channel.send(content.reply)
                if content.close is not None:
                    await channel.close(content.close, content.code)
                continue
            await channel.send(content)
    except ChannelClosed:
        return


@asynccontextmanager
async def server(on_channel: OnChannel = echo, **options: Any) -> Any:
    """A server on a free port; gives its URL."""
    running: Server = await listen("127.0.0.1", 0, on_channel, **options)
    scheme = "wss" if options.get("tls") else "ws"
    port = next(iter(running.sockets)).getsockname()[1]
    try:
        yield f"{scheme}://127.0.0.1:{port}"
    finally:
        running.close()
        await running.wait_closed()


def port_of(url: str) -> int:
    return int(url.rpartition(":")[2])


def bare(url: str, codec: str | None = MSGPACK.subprotocol, **options: Any) -> connect:
    """A client of the library's own, that may send anything."""
    offered = None if codec is None else [Subprotocol(codec)]
    return connect(url, subprotocols=offered, compression=None, proxy=None, **options)


async def closed_with(client: ClientConnection) -> int:
    """Read to the end of a connection; give the code that it was closed with."""
    with suppress(ConnectionClosed):
        async for _ in client:
            pass
    await client.wait_closed()
    assert client.close_code is not None
    return client.close_code


@pytest.mark.parametrize("offered", [MSGPACK.subprotocol, JSON.subprotocol, None])
async def test_the_codec_is_what_the_opening_side_offers(offered: str | None) -> None:
    codec = CODECS[offered or MSGPACK.subprotocol]
    async with server() as url, bare(url, offered) as client:
        assert client.subprotocol == offered
        await client.send(codec.encode(Ping(id=3)))
        assert codec.decode(await client.recv()) == Ping(id=3)


async def test_arrivals_are_stamped_when_they_come_in_and_not_when_they_are_read() -> None:
    stamps: list[tuple[int, int]] = []
    may_read = asyncio.Event()

    async def late(channel: WebSocketChannel, _request: Request) -> None:
        await may_read.wait()
        began = now_ms()
        for _ in range(3):
            stamps.append(((await channel.receive()).at_ms, began))

    async with server(late) as url, bare(url) as client:
        for number in range(3):
            await client.send([MSGPACK.encode(Ping(id=number))])
        pong = await client.ping()
        await pong  # the frames before it are in
        sent_by = now_ms()
        may_read.set()
        await client.wait_closed()
    assert len(stamps) == 3
    assert all(at <= sent_by <= began for at, began in stamps)
    assert [at for at, _ in stamps] == sorted(at for at, _ in stamps)


@pytest.mark.parametrize(("codec", "opcode"), [(MSGPACK, 2), (JSON, 1)], ids=["msgpack", "json"])
async def test_messages_are_handed_over_in_order_unless_they_come_in_fragments(
    codec: Codec, opcode: int
) -> None:
    heard: list[tuple[int, str]] = []
    all_heard = asyncio.Event()

    def hear(how: str, arrival: Arrival) -> None:
        assert isinstance(arrival.content, Ping)
        heard.append((arrival.content.id, how))
        if len(heard) == 8:
            all_heard.set()

    async def listener(channel: WebSocketChannel, _request: Request) -> None:
        channel.hand_over(partial(hear, "taken"))
        with suppress(ChannelClosed):
            while True:
                hear("received", await channel.receive())

    def frame(number: int, fin: int = 0x80) -> bytes:
        content = codec.encode(Ping(id=number))
        payload = content if isinstance(content, bytes) else content.encode()
        return bytes([fin | opcode, 0x80 | len(payload), 0, 0, 0, 0]) + payload

    async with server(listener) as url, bare(url, codec.subprotocol) as client:
        client.transport.write(b"".join(map(frame, range(3))))
        client.transport.write(frame(3, fin=0) + b"\x80\x80\0\0\0\0")  # in two fragments
        client.transport.write(b"".join(map(frame, range(4, 8))))
        await all_heard.wait()
    assert [number for number, _ in heard] == list(range(8))
    assert [how for _, how in heard[:4]] == ["taken"] * 3 + ["received"]


async def test_what_can_not_be_read_is_answered_and_the_conversation_goes_on() -> None:
    async with server() as url, bare(url) as client:
        for frame in (b"\xc1", b"", b"\x81\xa4type\xa5dance", b"\x90"):
            await client.send(frame)
            answer = MSGPACK.decode(await client.recv())
            assert getattr(answer, "code", None) in ("bad_frame", "bad_message", "unknown_type")
        await client.send(MSGPACK.encode(Pong(id=1)))
        assert MSGPACK.decode(await client.recv()) == Pong(id=1)


@pytest.mark.parametrize(
    ("codec", "frame", "is_text", "code"),
    [(MSGPACK, bytes(MAX_FRAME + 1), None, 1009), (JSON, b'{"type":"\xff\xfe"}', True, 1007)],
    ids=["over the limit", "text that is not UTF-8"],
)
async def test_what_no_frame_may_be_closes_the_connection(
    codec: Codec, frame: bytes, is_text: bool | None, code: int
) -> None:
    heard: list[object] = []

    async def listener(channel: WebSocketChannel, _request: Request) -> None:
        try:
            while True:
                heard.append((await channel.receive()).content)
        except ChannelClosed as closed:
            heard.append(closed.code)

    async with server(listener) as url, bare(url, codec.subprotocol) as client:
        await client.send(frame, text=is_text)
        assert await closed_with(client) == code
    assert heard == [code]


async def test_a_message_in_endless_fragments_closes_the_connection() -> None:
    async def fragments(number: int) -> AsyncIterator[bytes | str]:
        for _ in range(number):
            yield b""
        yield MSGPACK.encode(Ping(id=3))

    async with server() as url, bare(url) as client:
        await client.send(fragments(MOST_FRAGMENTS - 1))
        assert MSGPACK.decode(await client.recv()) == Ping(id=3)
        with suppress(ConnectionClosed):
            await client.send(fragments(4 * MOST_FRAGMENTS))
        assert await closed_with(client) in (1006, 1008)


@pytest.mark.parametrize(("codec", "frame"), [(MSGPACK, "{}"), (JSON, b"\x80")])
async def test_a_frame_of_the_other_kind_closes_the_connection(
    codec: Any, frame: bytes | str
) -> None:
    async with server() as url, bare(url, codec.subprotocol) as client:
        await client.send(frame)
        answer = JSON.decode(await client.recv())  # in text, whoever speaks text unasked
        assert isinstance(answer, Error)
        assert answer.code == "bad_frame"
        assert ("offer the subprotocol tilewire.v1.json" in answer.message) == (codec is MSGPACK)
        assert await closed_with(client) == 1003


async def flood_with_frames(client: ClientConnection) -> None:
    while True:
        await client.send(bytes(64 * 1024))


async def flood_with_pings(client: ClientConnection) -> None:
    for number in range(10**9):
        await client.ping(number.to_bytes(125, "big"))


@pytest.mark.parametrize("flood", [flood_with_frames, flood_with_pings])
async def test_a_peer_that_floods_is_cut_off_and_another_goes_on(
    flood: Callable[[ClientConnection], Awaitable[None]],
) -> None:
    async with server() as url, bare(url) as honest, bare(url) as flooder:

        async def drain() -> None:
            async for _ in flooder:
                pass

        with pytest.raises(ConnectionClosed):
            await asyncio.gather(flood(flooder), drain())
        assert flooder.close_code in (1006, 1008)
        for number in range(20):
            await honest.send(MSGPACK.encode(Ping(id=number)))
            assert MSGPACK.decode(await honest.recv()) == Ping(id=number)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells how long TCP takes")
async def test_pongs_that_are_held_back_are_no_lag() -> None:
    lags: list[int] = []
    late = asyncio.Event()

    async def listener(channel: WebSocketChannel, _request: Request) -> None:
        channel._connection.latency = 0.9  # as if a pong had come so late
        lags.append(channel.round_trip_ms)
        await channel.ended()
        lags.append(channel.round_trip_ms)  # the socket is closed by now
        late.set()

    async with server(listener) as url:
        async with bare(url):
            pass
        await late.wait()
    assert lags[0] < lags[1] == 900


async def test_who_does_not_read_its_answers_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("protocol.metered.STALLED_S", 0.1)
    reasons: list[str] = []
    over = asyncio.Event()

    async def talk(channel: WebSocketChannel, _request: Request) -> None:
        try:
            while True:  # until the socket's buffers are full, and then some
                await channel.send(Error(code="x", message="y" * 2_000))
        except ChannelClosed as closed:
            reasons.append(str(closed))
        await channel.close()
        over.set()

    async with server(talk) as url:
        _, writer = await asyncio.open_connection("127.0.0.1", port_of(url))
        writer.write(HANDSHAKE)
        await over.wait()
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()
    assert reasons
    assert "connection was lost" in reasons[0]


async def test_pings_whose_answers_are_not_read_are_not_answered_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("protocol.metered.MOST_UNREAD", 1 << 12)
    over = asyncio.Event()

    async def listener(channel: WebSocketChannel, _request: Request) -> None:
        with suppress(ChannelClosed):
            await channel.receive()
        over.set()

    async with server(listener, gate=trusting_gate) as url:
        reader, writer = await asyncio.open_connection("127.0.0.1", port_of(url))
        writer.write(HANDSHAKE)
        await reader.readuntil(b"\r\n\r\n")
        writer.transport.get_extra_info("socket").setsockopt(
            socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096
        )
        reader._transport.pause_reading()  # type: ignore[attr-defined]
        ping = b"\x89\xfd\0\0\0\0" + bytes(125)
        with suppress(ConnectionError):
            for _ in range(60_000):
                writer.write(ping)
                await writer.drain()
        await over.wait()
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()


async def test_a_burst_is_read_in_many_turns_of_the_loop_and_others_come_between() -> None:
    """As 20,000 pings in 120 KB that come at once; half a second's work in one callback before."""
    turns: list[int] = []

    async def count_turns() -> None:
        turns.append(0)
        while True:
            turns[0] += 1
            await asyncio.sleep(0)

    async with server(gate=trusting_gate) as url, bare(url) as client:
        pong = await client.ping()
        await pong
        counting = asyncio.create_task(count_turns())
        await asyncio.sleep(0)
        before = turns[0]
        client.transport.write(b"\x89\x80\0\0\0\0" * 20_000)
        last = await client.ping()
        await last
        assert turns[0] - before >= 20_000 // (TURN_WORK + SLICE // 6)
        counting.cancel()


async def test_no_message_of_a_long_burst_is_lost() -> None:
    read = 0

    async def count(channel: WebSocketChannel, _request: Request) -> None:
        nonlocal read
        with suppress(ChannelClosed):
            while True:
                await channel.receive()
                read += 1

    frame = MSGPACK.encode(Ping(id=1))
    assert isinstance(frame, bytes)
    masked = bytes([0x82, 0x80 | len(frame), 0, 0, 0, 0]) + frame
    async with server(count, gate=trusting_gate) as url, bare(url) as client:
        client.transport.write(masked * 5_000)
        await client.close()
    assert read == 5_000


async def test_as_many_messages_wait_as_came_at_once() -> None:
    """A server's frames may have two bytes, so that a slice holds 256 of them."""
    at_first, room = 10, SLICE // 2

    async def burst(connection: ServerConnection) -> None:
        await connection.recv()
        empty, ping = b"\x82\0", b"\x89\0"
        connection.transport.write(empty * at_first + ping * (room - at_first) + empty * room)
        await connection.wait_closed()

    async with serve(burst, "127.0.0.1", 0, subprotocols=[Subprotocol(MSGPACK.subprotocol)]) as it:
        channel = await dial(f"ws://127.0.0.1:{next(iter(it.sockets)).getsockname()[1]}")
        await channel.send(Ping(id=1))
        async with asyncio.timeout(10):
            while len(channel._connection.stamps) < at_first + room:  # noqa: ASYNC110  # nothing tells
                await asyncio.sleep(0.001)
        arrivals = [(await channel.receive()).at_ms for _ in range(at_first + room)]
        await channel.close()
    assert arrivals == sorted(arrivals)


def say_and_end(url: str, known: ssl.SSLContext, said: bytes) -> None:
    """Say something over TLS, with the end of the stream in the same bytes."""
    come, go = ssl.MemoryBIO(), ssl.MemoryBIO()
    tls = known.wrap_bio(come, go, server_hostname="127.0.0.1")
    with socket.create_connection(("127.0.0.1", port_of(url))) as sock:

        def until(step: Callable[[], object]) -> None:
            while True:
                try:
                    step()
                except ssl.SSLWantReadError:
                    sock.sendall(go.read())
                    come.write(sock.recv(1 << 16))
                else:
                    return

        until(tls.do_handshake)
        tls.write(HANDSHAKE)
        until(lambda: tls.read(1 << 16))
        tls.write(said)
        with suppress(ssl.SSLWantReadError):
            tls.unwrap()
        sock.sendall(go.read())
        while sock.recv(1 << 16):
            pass


@pytest.mark.parametrize(
    ("said", "messages"),
    [
        (b"\x82\xfe\x02\xbc" + bytes(4 + 700), 1),
        (b"\x89\x80\0\0\0\0" * 2_000, 0),
    ],
    ids=["a message of two slices", "pings"],
)
async def test_over_tls_the_end_may_come_with_what_was_said_before(
    served: ssl.SSLContext, known: ssl.SSLContext, said: bytes, messages: int
) -> None:
    heard: list[Arrival] = []
    failed: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: failed.append(context))
    ended = asyncio.Event()

    async def listener(channel: WebSocketChannel, _request: Request) -> None:
        with suppress(ChannelClosed):
            while True:
                heard.append(await channel.receive())
        ended.set()

    async with server(listener, tls=served) as url:
        await asyncio.to_thread(say_and_end, url, known, said)
        await asyncio.wait_for(ended.wait(), 10)
        assert (len(heard), failed) == (messages, [])


async def test_a_token_goes_in_the_header_and_never_in_the_url() -> None:
    requests: list[Request] = []

    async def note(channel: WebSocketChannel, request: Request) -> None:
        requests.append(request)

    async with server(note) as url:
        channel = await dial(f"{url}/static", token="secret")
        with pytest.raises(ChannelClosed):
            await channel.receive()
    assert requests[0].headers["Authorization"] == "Bearer secret"
    assert requests[0].path == "/static"


async def test_who_is_closed_learns_the_code_and_the_reason() -> None:
    async def turn_away(channel: WebSocketChannel, _request: Request) -> None:
        await channel.close(1013, "no room, try later " + "ä" * 200)

    async with server(turn_away) as url:
        channel = await dial(url)
        with pytest.raises(ChannelClosed, match="1013 no room, try later") as caught:
            await channel.receive()
        assert caught.value.code == 1013
        with pytest.raises(ChannelClosed):
            await channel.send(Ping(id=1))
        await channel.close()


async def test_a_page_where_a_websocket_is_expected_is_said_to_come_of_a_proxy() -> None:
    async with server(on_http=lambda _request, _: HttpAnswer(200, "<!doctype html>")) as url:
        with pytest.raises(ChannelClosed, match=r"proxy .* Upgrade"):
            await dial(url)


@pytest.mark.parametrize(
    ("taken", "packed"),
    [
        ("", False),
        ("gzip, deflate, br", True),
        ("deflate, GZIP;q=0.5", True),
        ("gzip; q=0.0", False),
        ("gzipped, br", False),
    ],
)
async def test_a_plain_request_is_answered_and_who_takes_gzip_gets_what_is_packed(
    taken: str, packed: bool
) -> None:
    text = "as long as it is wide, " * 100

    def page(request: Request, _address: object) -> HttpAnswer:
        assert request.path == "/health"
        return HttpAnswer(200, text, "text/html", packed=gzip.compress(text.encode()))

    async with server(on_http=page) as url:
        reader, writer = await asyncio.open_connection("127.0.0.1", port_of(url))
        asked = f"GET /health HTTP/1.1\r\nHost: x\r\nAccept-Encoding: {taken}\r\n\r\n"
        writer.write(asked.encode())
        head, _, body = (await reader.read()).partition(b"\r\n\r\n")
        writer.close()
    first, *lines = head.decode().split("\r\n")
    assert first.startswith("HTTP/1.1 200")
    assert "Vary: Accept-Encoding" in lines, "caches are told in either case"
    assert [line for line in lines if "Length" in line] == [f"Content-Length: {len(body)}"]
    assert [line for line in lines if "Type" in line] == ["Content-Type: text/html"]
    assert ("Content-Encoding: gzip" in lines) == packed
    assert (gzip.decompress(body) if packed else body).decode() == text


async def test_a_long_answer_comes_whole_on_a_slow_line(
    monkeypatch: pytest.MonkeyPatch, served: ssl.SSLContext, known: ssl.SSLContext
) -> None:
    """Over TLS, where a server is done with writing long before its peer has read."""
    monkeypatch.setitem(accepting.TIMES, "close_timeout", 0.05)
    monkeypatch.setattr(accepting, "OPEN_S", 0.3)
    monkeypatch.setattr(accepting, "SLOWEST", 100_000)
    body = "x" * 5_000_000
    async with server(
        on_http=lambda _request, _: HttpAnswer(200, body, "text/plain"), tls=served
    ) as url:
        port = port_of(url)
        reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=known)
        writer.write(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        await asyncio.sleep(0.5)
        answer = await reader.read()
        writer.close()
    assert len(answer.partition(b"\r\n\r\n")[2]) == len(body)


async def test_nobody_there_is_said_with_the_address() -> None:
    async with server() as url:
        with pytest.raises(ChannelClosed, match=f"if it has no TLS, use {url}"):
            await dial(url.replace("ws:", "wss:"))
        gone = url
    with pytest.raises(ChannelClosed, match=rf"^can't reach {gone}: [^\[]*$"):
        await dial(gone)
    for wrong in ("http://127.0.0.1/", "not a url"):
        with pytest.raises(ChannelClosed, match=r"is ws://host:port or wss://host:port"):
            await dial(wrong)


async def test_over_tls_with_a_certificate_that_is_known(
    served: ssl.SSLContext, known: ssl.SSLContext
) -> None:
    async with server(tls=served) as url:
        channel = await dial(url, tls=known)
        await channel.send(Ping(id=8))
        assert (await channel.receive()).content == Ping(id=8)
        await channel.close()
        with pytest.raises(ChannelClosed, match=r"can't reach wss://.*is not trusted: self"):
            await dial(url)
        with pytest.raises(ChannelClosed, match=r"HTTP; if it has TLS, use wss://127.0"):
            await dial(url.replace("wss:", "ws:"))


async def test_who_can_not_listen_learns_why() -> None:
    async with server() as url:
        port = port_of(url)
        for host, sentence in (
            ("127.0.0.1", f"127.0.0.1, port {port}: another program listens there; choose"),
            ("203.0.113.7", "this machine has no such address"),
            ("no host", "no machine has that name"),
        ):
            with pytest.raises(OSError, match=f"^can't listen at .*{sentence}"):
                await listen(host, port, echo)


async def test_an_address_that_this_machine_lacks_is_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def both(*_: object, **__: object) -> list[tuple[object, ...]]:
        missing, there = ("203.0.113.7", 0), ("127.0.0.1", 0)
        return [(socket.AF_INET, 1, 6, "", address) for address in (missing, there)]

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", both)
    (bound,) = await accepting.bind("localhost", 0)
    with bound:
        assert bound.getsockname()[0] == "127.0.0.1"


async def left(client: ClientConnection) -> None:
    """Close a connection as it should be."""
    await client.send(MSGPACK.encode(Ping(id=1)))
    await client.recv()
    await client.close()


async def lost(client: ClientConnection) -> None:
    """Go without a word."""
    client.transport.abort()


async def cut_off(client: ClientConnection) -> None:
    """Send what no frame begins with."""
    client.transport.write(b"\xff" * 8)
    await client.wait_closed()


async def too_many_fragments(client: ClientConnection) -> None:
    """Send a message that never ends."""
    client.transport.write(
        (b"\x02" + b"\x80" + b"\0" * 4) + b"\x00\x80\0\0\0\0" * 2 * MOST_FRAGMENTS
    )
    await client.wait_closed()


@pytest.mark.parametrize("end", [left, lost, cut_off, too_many_fragments])
async def test_an_ended_connection_is_freed_without_the_collector(
    end: Callable[[ClientConnection], Awaitable[None]],
) -> None:
    freed = asyncio.Event()

    async def noted(channel: WebSocketChannel, request: Request) -> None:
        weakref.finalize(channel._connection, freed.set)
        await echo(channel, request)

    async with server(noted) as url:
        gc.disable()
        try:
            async with bare(url) as client:
                await end(client)
            async with asyncio.timeout(5):
                await freed.wait()
        finally:
            gc.enable()


async def test_a_connection_that_ended_before_its_handshake_is_freed_without_the_collector(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    freed = asyncio.Event()

    class Noted(ServerEnd):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            weakref.finalize(self.protocol, freed.set)

    monkeypatch.setattr(accepting, "ServerEnd", Noted)
    async with server() as url:
        gc.disable()
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port_of(url))
            writer.write(b"GET /")
            writer.close()
            async with asyncio.timeout(5):
                await freed.wait()
        finally:
            gc.enable()

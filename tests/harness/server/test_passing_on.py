"""A host that stands by passes conversations on: on real sockets, by peers of every kind."""

from __future__ import annotations

import asyncio
import json
import shutil
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path

import pytest

from harness.server import passing_on
from harness.server.admission import Admission
from harness.server.certificate import Certificate
from harness.server.passing_on import HEAD_BYTES, PassingOn
from harness.server.request_head import passed_on, path_of, split_address, was_passed_on
from protocol.messages import Hello, Welcome
from protocol.websocket import WebSocketChannel, dial, listen

TLS = Path(__file__).parents[2] / "fixtures" / "tls"
HEAD = b"GET /page HTTP/1.1\r\nHost: here\r\n\r\n"
SEEN = (
    b"GET /page HTTP/1.1\r\nHost: here\r\nX-Forwarded-For: 127.0.0.1\r\nVia: 1.1 tilewire\r\n\r\n"
)

PATIENCE_S = 20.0
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class Place:
    """A host that stands by, and one that serves, if there is one."""

    def __init__(self, stack: AsyncExitStack, certificate: Certificate | None = None) -> None:
        self._stack = stack
        self._certificate = certificate

    async def serve(self, serve: Serve) -> str:
        """Have a host that serves, in its own way; return its address."""
        tls = None if self._certificate is None else self._certificate.context

        async def attend(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            self._stack.push_async_callback(ended, writer)
            await serve(reader, writer)

        listener = socket.create_server(("127.0.0.1", 0))
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)  # soon full
        server = await asyncio.start_server(attend, sock=listener, ssl=tls)
        self._stack.callback(server.close)
        return f"127.0.0.1:{server.sockets[0].getsockname()[1]}"

    async def stand_by(self, serving: str = "", most: int = 50) -> PassingOn:
        """Have a host that stands by for one at an address."""
        given = self._certificate
        host = PassingOn(
            *("127.0.0.1", 0, Admission(connections_per_address=most)),
            *((None, None) if given is None else (given.context, given.dialling)),
        )
        await host.start()
        self._stack.push_async_callback(host.close)
        host.pass_to(serving)
        return host

    async def come(self, host: PassingOn) -> Streams:
        """Dial a host."""
        trusting = None
        if self._certificate is not None:
            trusting = ssl.create_default_context(cafile=TLS / "localhost.pem")
        reader, writer = await asyncio.open_connection("127.0.0.1", host.port, ssl=trusting)
        self._stack.push_async_callback(ended, writer)
        return reader, writer


async def ended(writer: asyncio.StreamWriter) -> None:
    """Close a connection, and wait until it is."""
    if not writer.is_closing():
        writer.transport.abort()
    with suppress(OSError):
        await writer.wait_closed()


@asynccontextmanager
async def place(certificate: Certificate | None = None) -> AsyncIterator[Place]:
    async with AsyncExitStack() as stack:
        yield Place(stack, certificate)


@pytest.fixture
def certificate(tmp_path: Path) -> Certificate:
    shutil.copy(TLS / "localhost.pem", tmp_path / "cert.pem")
    return Certificate(tmp_path / "cert.pem", TLS / "localhost.key")


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Send back whatever comes, and end after it."""
    while data := await reader.read(1 << 16):
        writer.write(data)
        await writer.drain()
    writer.close()


async def ask(here: Place, host: PassingOn, path: str) -> tuple[str, str]:
    """Ask for a page; return the head of the answer, and its body."""
    reader, writer = await here.come(host)
    writer.write(f"GET {path} HTTP/1.1\r\nHost: here\r\n\r\n".encode())
    head, _, body = (await reader.read()).decode().partition("\r\n\r\n")
    writer.close()
    return head, body


# --- requests -------------------------------------------------------------------------------------


def test_a_request_is_known_and_marked() -> None:
    assert passed_on(HEAD, "127.0.0.1") == SEEN
    assert was_passed_on(SEEN)
    assert was_passed_on(SEEN.lower())
    assert not was_passed_on(HEAD)
    assert path_of(HEAD) == "/page"
    assert path_of(b"nonsense\r\n\r\n") == ""


def test_who_comes_through_proxies_keeps_their_lines() -> None:
    head = b"GET / HTTP/1.1\r\nX-Forwarded-For: 192.0.2.1\r\n\r\n"
    assert passed_on(head, "192.0.2.2") == (
        b"GET / HTTP/1.1\r\nX-Forwarded-For: 192.0.2.1\r\nX-Forwarded-For: 192.0.2.2\r\n"
        b"Via: 1.1 tilewire\r\n\r\n"
    )


@pytest.mark.parametrize(
    ("address", "parts"),
    [
        ("192.0.2.1:80", ("192.0.2.1", 80)),
        ("one.example.org:8484", ("one.example.org", 8484)),
        ("[2001:db8::1]:80", ("2001:db8::1", 80)),
    ],
)
def test_addresses(address: str, parts: tuple[str, int]) -> None:
    assert split_address(address) == parts


@pytest.mark.parametrize("address", ["", "one", ":80", "one:", "one:x", "one:0", "one:65536"])
def test_what_is_no_address(address: str) -> None:
    with pytest.raises(ValueError, match="is no address; write HOST:PORT"):
        split_address(address)


# --- conversations --------------------------------------------------------------------------------


async def test_bytes_go_both_ways_and_each_way_has_its_own_end() -> None:
    async with place() as here:
        host = await here.stand_by(await here.serve(echo))
        reader, writer = await here.come(host)
        for byte in HEAD:  # a slow peer
            writer.write(bytes([byte]))
            await writer.drain()
        assert await reader.readexactly(len(SEEN)) == SEEN
        writer.write(b"question")
        assert await reader.readexactly(8) == b"question"
        writer.write(b"last")
        writer.write_eof()  # and the answer still comes
        assert await reader.read() == b"last"
        await emptied(host)


async def emptied(host: PassingOn) -> None:
    """Wait until no conversation is left."""
    async with asyncio.timeout(PATIENCE_S):
        while host.here:  # noqa: ASYNC110 - nobody tells of it
            await asyncio.sleep(0)


async def test_what_follows_the_head_at_once_is_passed_on() -> None:
    async with place() as here:
        host = await here.stand_by(await here.serve(echo))
        reader, writer = await here.come(host)
        writer.write(HEAD + b"x" * 100_000)
        writer.write_eof()
        assert await reader.read() == SEEN + b"x" * 100_000


@pytest.mark.parametrize("secure", [False, True])
async def test_a_slow_reader_gets_all_and_holds_up_the_sender(
    certificate: Certificate, *, secure: bool
) -> None:
    size, sent, written = 64 << 20, 0, asyncio.Event()

    async def pour(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        await reader.readuntil(b"\r\n\r\n")
        while sent < size:
            writer.write(bytes(1 << 18))
            sent += 1 << 18
            written.set()
            await writer.drain()
        writer.close()

    async with place(certificate if secure else None) as here:
        host = await here.stand_by(await here.serve(pour))
        reader, writer = await here.come(host)
        writer.write(HEAD)
        await written.wait()
        while host_is_reading(host):  # noqa: ASYNC110 - until the reader's buffers are full
            await asyncio.sleep(0)
        assert sent < size
        came = 0
        while data := await reader.read(1 << 20):
            came += len(data)
        assert came == size


def host_is_reading(host: PassingOn) -> bool:
    """Return whether a host still takes in what the one that serves sends."""
    (client,) = host.here
    return client.other is None or client.other.transport.is_reading()


async def test_a_host_that_serves_slowly_holds_up_who_sends_much_from_the_first() -> None:
    size, may_read = 64 << 20, asyncio.Event()
    came = 0

    async def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal came
        await may_read.wait()
        while data := await reader.read(1 << 20):
            came += len(data)
        writer.close()

    async with place() as here:
        host = await here.stand_by(await here.serve(take))
        reader, writer = await here.come(host)
        writer.write(HEAD + bytes(size))
        writer.write_eof()
        async with asyncio.timeout(PATIENCE_S):
            while not is_held_up(host):  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        assert writer.transport.get_write_buffer_size() > 0
        may_read.set()
        await reader.read()
        assert came == len(SEEN) + size


def is_held_up(host: PassingOn) -> bool:
    """Return whether a host passes a conversation on, and reads no more of it now."""
    return any(client.other and not client.transport.is_reading() for client in host.here)


async def test_when_the_host_that_serves_is_gone_so_are_its_conversations() -> None:
    async def leave(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"half a sen")
        await writer.drain()
        writer.transport.abort()

    async with place() as here:
        host = await here.stand_by(await here.serve(leave))
        reader, writer = await here.come(host)
        writer.write(HEAD)
        assert await reader.read() in (b"half a sen", b"")
        await emptied(host)


async def test_when_a_peer_is_gone_the_host_that_serves_learns_it() -> None:
    gone = asyncio.Event()

    async def wait(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"welcome")
        assert await reader.read() == b""
        gone.set()
        writer.close()

    async with place() as here:
        host = await here.stand_by(await here.serve(wait))
        reader, writer = await here.come(host)
        writer.write(HEAD)
        await reader.readexactly(7)
        writer.transport.abort()
        await gone.wait()
        await emptied(host)


async def test_conversations_end_when_another_host_serves() -> None:
    async with place() as here:
        host = await here.stand_by(await here.serve(echo))
        reader, writer = await here.come(host)
        writer.write(HEAD)
        await reader.readexactly(len(SEEN))
        host.pass_to(host.serving)  # nothing has changed
        writer.write(b"on")
        assert await reader.readexactly(2) == b"on"
        host.pass_to(await here.serve(echo))
        assert await reader.read() == b""
        reader, writer = await here.come(host)
        writer.write(HEAD)
        assert await reader.readexactly(len(SEEN)) == SEEN


async def test_a_websocket_is_passed_on(certificate: Certificate) -> None:
    seen = []

    async def greet(channel: WebSocketChannel, request: object) -> None:
        seen.append(request.headers["X-Forwarded-For"])  # type: ignore[attr-defined]
        hello, _ = await channel.receive()
        assert isinstance(hello, Hello)
        await channel.send(Welcome(name=hello.name, software="test"))

    server = await listen("127.0.0.1", 0, greet, tls=certificate.context)
    port = next(iter(server.sockets)).getsockname()[1]
    async with place(certificate) as here:
        host = await here.stand_by(f"127.0.0.1:{port}")
        trusting = ssl.create_default_context(cafile=TLS / "localhost.pem")
        channel = await dial(f"wss://127.0.0.1:{host.port}", tls=trusting)
        await channel.send(Hello(role="player", name="ann"))
        welcome, _ = await channel.receive()
        assert isinstance(welcome, Welcome)
        assert (welcome.name, seen) == ("ann", ["127.0.0.1"])
        await channel.close()
    server.close()


# --- what is not passed on ------------------------------------------------------------------------


async def test_without_a_host_that_serves_a_sentence_says_so() -> None:
    async with place() as here:
        host = await here.stand_by()
        head, body = await ask(here, host, "/")
        assert head.split("\r\n") == [
            "HTTP/1.1 503 Service Unavailable",
            "Connection: close",
            "Content-Type: text/plain; charset=utf-8",
            f"Content-Length: {len(body)}",
            "Retry-After: 1",
        ]
        assert body == "no host serves now; come again soon\n"
        await emptied(host)


@pytest.mark.parametrize(
    ("serving", "why"),
    [("127.0.0.1:1", "127.0.0.1:1, can't be reached: "), ("nonsense", "'nonsense' is no address")],
)
async def test_a_host_that_cant_be_reached_is_named(serving: str, why: str) -> None:
    async with place() as here:
        host = await here.stand_by(serving)
        for path in ("/", "/healthz"):
            head, body = await ask(here, host, path)
            assert head.startswith("HTTP/1.1 503 ")
            assert why in body


async def test_what_was_passed_on_is_not_passed_on_again() -> None:
    async with place() as here:
        host = await here.stand_by()
        host.pass_to(f"127.0.0.1:{host.port}")  # to itself
        head, body = await ask(here, host, "/")
        assert head.startswith("HTTP/1.1 503 ")
        assert body == "this host stands by; no host serves now; come again soon\n"


async def test_health_and_counts_are_a_hosts_own() -> None:
    async with place() as here:
        host = await here.stand_by(await here.serve(echo))
        head, body = await ask(here, host, "/healthz")
        assert head.startswith("HTTP/1.1 200 OK")
        assert json.loads(body) == {"status": "standby", "serves": host.serving}
        reader, writer = await here.come(host)
        writer.write(HEAD)
        await reader.readexactly(len(SEEN))
        _, body = await ask(here, host, "/metrics")
        assert "tilewire_passed_on 1\n" in body
        host.pass_to("")
        head, body = await ask(here, host, "/healthz")
        assert head.startswith("HTTP/1.1 503 ")
        assert json.loads(body)["serves"] is None


@pytest.mark.parametrize("size", [HEAD_BYTES, 1 << 20])
async def test_a_head_that_is_too_long_is_refused(size: int) -> None:
    async with place() as here:
        host = await here.stand_by(await here.serve(echo))
        reader, writer = await here.come(host)
        writer.write(b"GET / HTTP/1.1\r\nX: ".ljust(size, b"x") + b"\r\n\r\n")
        said = await reader.read()
        assert said.startswith(b"HTTP/1.1 431 ")
        assert b"has at most 16,384 bytes" in said


async def test_who_never_sends_a_head_is_told_and_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passing_on, "OPEN_S", 0.0)
    async with place() as here:
        host = await here.stand_by(await here.serve(echo))
        reader, _ = await here.come(host)
        assert (await reader.read()).startswith(b"HTTP/1.1 408 ")


async def test_who_ends_before_its_head_is_whole_is_forgotten() -> None:
    async with place() as here:
        host = await here.stand_by(await here.serve(echo))
        reader, writer = await here.come(host)
        writer.write(b"GET / HT")
        writer.write_eof()
        assert await reader.read() == b""
        await emptied(host)


async def test_a_refused_peer_that_goes_on_sending_is_let_go(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(passing_on, "HELD_S", 0.0)
    async with place() as here:
        host = await here.stand_by()
        reader, writer = await here.come(host)
        writer.write(HEAD + b"more")
        await reader.readuntil(b"come again soon\n")
        await emptied(host)


async def test_an_address_has_so_many_conversations_at_once() -> None:
    async with place() as here:
        serving = await here.serve(echo)
        host = await here.stand_by(serving, most=2)
        for _ in range(3):  # one more is kept for players with a game: the host that serves knows
            reader, writer = await here.come(host)
            writer.write(HEAD)
            await reader.readexactly(len(SEEN))
        reader, _ = await here.come(host)
        assert b"too many connections from 127.0.0.1: 2 are allowed" in await reader.read(1_000)


# --- certificates ---------------------------------------------------------------------------------


async def test_only_the_hosts_own_certificate_is_trusted(certificate: Certificate) -> None:
    other = Certificate(TLS / "expired.pem", TLS / "localhost.key")
    async with place(other) as there, place(certificate) as here:
        host = await here.stand_by(await there.serve(echo))
        head, body = await ask(here, host, "/")
        assert head.startswith("HTTP/1.1 503 ")
        assert "certificate verify failed" in body


async def test_a_certificate_that_was_renewed_is_trusted_beside_the_old_one(
    certificate: Certificate, tmp_path: Path
) -> None:
    old = Certificate(TLS / "localhost.pem", TLS / "localhost.key")
    async with place(old) as there, place(certificate) as here:
        host = await here.stand_by(await there.serve(echo))
        shutil.copy(TLS / "expired.pem", tmp_path / "cert.pem")
        certificate.renew()
        assert await host.trouble() is None

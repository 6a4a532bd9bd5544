"""Sockets that are let in, refused, held, or never say a word; over real ones of loopback."""

from __future__ import annotations

import asyncio
import errno
import socket
import ssl
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest
from websockets.asyncio.server import ServerConnection
from websockets.client import ClientProtocol
from websockets.exceptions import InvalidStatus
from websockets.http11 import Request, Response
from websockets.uri import parse_uri

from protocol import accepting
from protocol.accepting import ACCEPTS_A_TURN, Acceptor, bind, serve
from protocol.channel import ChannelClosed
from protocol.intake import Later, OpenVisit, Rates, trusting_gate
from protocol.metered import ClientEnd
from protocol.websocket import dial


class Door:
    """A gate with places; it notes who is here."""

    def __init__(self, places: int, *, has_queue: bool = False) -> None:
        self.places = places
        self.has_queue = has_queue
        self.here: set[object] = set()
        self.asked = self.refused = 0
        self.changed = asyncio.Event()

    def __call__(self, address: str) -> OpenVisit | Later | str:
        self.asked += 1
        self.changed.set()
        if len(self.here) >= self.places:
            later = Later("no place is free", address, self.note_refusal)
            return later if self.has_queue else later.why
        visit = Noted(address, self)
        self.here.add(visit)
        return visit

    def note_refusal(self) -> None:
        self.refused += 1

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait until something holds."""
        while not holds():
            self.changed.clear()
            await self.changed.wait()


class Noted(OpenVisit):
    def __init__(self, address: str, door: Door) -> None:
        super().__init__(address, Rates())
        self._door = door

    def leave(self) -> None:
        self._door.here.discard(self)
        self._door.changed.set()


@asynccontextmanager
async def listening(door: Door, tls: ssl.SSLContext | None = None) -> AsyncIterator[int]:
    """A server that says nothing; gives its port."""

    async def handle(connection: ServerConnection) -> None:
        await connection.wait_closed()

    async def process(_connection: ServerConnection, _request: Request) -> Response | None:
        return None

    server = await serve(handle, "127.0.0.1", 0, process, gate=door, max_size=100, tls=tls)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        await server.wait_closed()


async def knock(port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    return await asyncio.open_connection("127.0.0.1", port)


async def test_who_is_refused_is_told_why_and_another_is_let_in_when_a_place_is_free() -> None:
    door = Door(places=1)
    async with listening(door) as port:
        url = f"ws://127.0.0.1:{port}"
        first = await dial(url)
        with pytest.raises(ChannelClosed, match="HTTP 503, 'no place is free'"):
            await dial(url)
        reader, writer = await knock(port)
        answer = await reader.readuntil(b"no place is free\n")
        assert answer.startswith(b"HTTP/1.1 503 Service Unavailable\r\n")
        assert b"Content-Length: 17\r\n" in answer
        await first.close()
        await door.until(lambda: not door.here)
        again = await dial(url)
        await again.close()
        writer.close()


async def test_who_is_refused_before_it_asks_is_told_why() -> None:
    async with listening(Door(places=0)) as port:
        uri, visit = parse_uri(f"ws://127.0.0.1:{port}"), trusting_gate("here")
        _, end = await asyncio.get_running_loop().create_connection(
            lambda: ClientEnd(ClientProtocol(uri), visit=visit),
            "127.0.0.1",
            port,
        )
        while end.protocol.handshake_exc is None:  # noqa: ASYNC110  (nobody tells of it)
            await asyncio.sleep(0)
        with pytest.raises(InvalidStatus) as refused:
            await end.handshake()
        assert refused.value.response.body == b"no place is free\n"
        end.transport.abort()


async def test_refused_sockets_are_held_but_not_too_many_and_not_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(accepting, "MOST_HELD", 2)
    async with listening(Door(places=0)) as port:
        knocking = [await knock(port) for _ in range(3)]
        await knocking[0][0].read()  # the third took the place of the first, so this is closed
        assert [reader.at_eof() for reader, _ in knocking] == [True, False, False]
    monkeypatch.setattr(accepting, "MOST_TOLD", 1)
    monkeypatch.setattr(accepting, "HELD_S", 0.2)
    async with listening(Door(places=0)) as port:
        knocking += [await knock(port) for _ in range(2)]
        told = [await reader.read() for reader, _ in knocking]
        assert told[3].endswith(b"no place is free\n")
        assert told[4] == b"", "too many were told"
        for _, writer in knocking:
            writer.close()


async def test_who_waits_is_let_in_when_a_place_is_free_in_the_order_of_coming() -> None:
    door = Door(places=1, has_queue=True)
    async with listening(door) as port:
        url = f"ws://127.0.0.1:{port}"
        first = await dial(url)
        order: list[int] = []

        async def visit(number: int) -> None:
            channel = await dial(url)
            order.append(number)
            await channel.close()

        async with asyncio.TaskGroup() as visits:
            for number in range(3):
                visits.create_task(visit(number))
                await asyncio.sleep(0.02)
            assert not order
            await first.close()
        assert order == [0, 1, 2]


@pytest.mark.parametrize("limit", ["MOST_WAITING", "MOST_TOGETHER"])
async def test_if_too_many_wait_the_next_is_refused_at_once(
    monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    monkeypatch.setattr(accepting, "WAIT_S", 60)
    monkeypatch.setattr(accepting, limit, 1)
    door = Door(places=0, has_queue=True)
    async with listening(door) as port:
        waiting, writer = await knock(port)
        await door.until(lambda: door.asked > 0)
        with pytest.raises(ChannelClosed, match="HTTP 503, 'no place is free'"):
            await dial(f"ws://127.0.0.1:{port}")
        assert door.refused == 1
    assert await waiting.read() == b"", "who waits is closed with the server"
    writer.close()


async def test_who_waits_too_long_is_refused_and_told_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accepting, "WAIT_S", 0.1)
    door = Door(places=0, has_queue=True)
    async with listening(door) as port:
        waiting, writer = await knock(port)
        await waiting.readuntil(b"no place is free\n")
        assert door.asked > 1
        assert door.refused == 1
        writer.close()


async def test_of_many_who_wait_a_turn_of_the_loop_lets_in_few() -> None:
    door = Door(places=0, has_queue=True)
    (listener,) = await bind("127.0.0.1", 0)
    address = listener.getsockname()
    let_in: list[int] = []

    def make(_visit: object) -> asyncio.Protocol:
        let_in.append(turn)
        return asyncio.Protocol()

    turn = 0
    acceptor = Acceptor((listener,), door, make, None)
    clients = [socket.create_connection(address) for _ in range(3 * ACCEPTS_A_TURN)]
    await asyncio.sleep(0.1)
    assert not let_in
    door.places = len(clients)
    while len(let_in) < len(clients):
        turn += 1
        await asyncio.sleep(0)
    assert max(Counter(let_in).values()) <= ACCEPTS_A_TURN
    acceptor.close()
    await acceptor.wait_closed()
    for client in clients:
        client.close()


async def test_a_turn_of_the_loop_accepts_few(monkeypatch: pytest.MonkeyPatch) -> None:
    door = Door(places=0)
    sockets = await bind("127.0.0.1", 0)
    clients = []
    for _ in range(3 * ACCEPTS_A_TURN):
        clients.append(socket.create_connection(sockets[0].getsockname()))
    acceptor = Acceptor(sockets, door, lambda _visit: pytest.fail("nobody was let in"), None)
    asked: list[int] = []
    while door.asked < len(clients):
        await asyncio.sleep(0)
        asked.append(door.asked)
    acceptor.close()
    for client in clients:
        client.close()
    assert max(after - before for before, after in zip([0, *asked], asked, strict=False)) == (
        ACCEPTS_A_TURN
    )


async def test_two_colons_are_all_addresses_of_both_families() -> None:
    if not socket.has_ipv6:
        pytest.skip("there is no IPv6 here")
    bound, everywhere = await bind("::", 0), await bind("", 0)
    assert {it.family for it in bound} == {it.family for it in everywhere}
    assert socket.AF_INET in {it.family for it in bound}
    for listening in (*bound, *everywhere):
        listening.close()


async def test_sockets_in_a_tls_handshake_have_places_and_lose_them(
    monkeypatch: pytest.MonkeyPatch, served: ssl.SSLContext, known: ssl.SSLContext
) -> None:
    monkeypatch.setattr(accepting, "OPEN_S", 0.3)
    door = Door(places=3)
    async with listening(door, served) as port:
        silent = [await knock(port) for _ in range(3)]
        await door.until(lambda: len(door.here) == 3)
        silent[0][1].write(b"GET / HTTP/1.1\r\n\r\n")  # no TLS: lost at once
        silent[1][1].close()
        await door.until(lambda: not door.here)  # the third after its time
        channel = await dial(f"wss://127.0.0.1:{port}", tls=known)
        await channel.close()
        silent[0][1].close()
        silent[2][1].close()


async def test_a_server_that_closes_waits_for_no_handshake(
    monkeypatch: pytest.MonkeyPatch, served: ssl.SSLContext
) -> None:
    door = Door(places=1)
    async with listening(door, served) as port:
        _, first = await knock(port)
        await door.until(lambda: door.asked == 1)
        monkeypatch.setattr(accepting, "HELD_S", 0.01)
        with pytest.raises(
            ChannelClosed, match="with TLS, or is full; if it has no TLS, use ws://"
        ):
            await dial(f"wss://127.0.0.1:{port}")
        monkeypatch.setattr(accepting, "HELD_S", 60)
        reader, second = await knock(port)
        await door.until(lambda: door.asked == 3)
    assert not door.here
    assert await reader.read() == b"", "the refused one is closed, too"
    first.close()
    second.close()


async def test_with_no_descriptor_free_sockets_are_accepted_later(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(accepting, "RETRY_S", 0.01)
    monkeypatch.setattr(accepting.log, "propagate", True)
    failures = iter([OSError(errno.EMFILE, "Too many open files"), ConnectionAbortedError()])

    class Scarce(socket.socket):
        def accept(self) -> tuple[socket.socket, object]:
            for failure in failures:
                raise failure
            return super().accept()

    (sock,) = await bind("127.0.0.1", 0)
    scarce = Scarce(fileno=sock.detach())
    door = Door(places=0)
    acceptor = Acceptor((scarce,), door, lambda _visit: pytest.fail("nobody was let in"), None)
    assert acceptor.is_serving()
    reader, writer = await knock(scarce.getsockname()[1])
    await reader.readuntil(b"no place is free\n")
    writer.close()
    acceptor.close()
    await acceptor.wait_closed()
    assert not acceptor.is_serving()
    assert "no connection can be accepted: Too many open files" in caplog.text

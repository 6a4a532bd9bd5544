"""The client and server ends of the conversation over WebSockets.

Arrival times are noted in the socket's callback, before any task runs: a busy host that stamps
later would flag moves that were in time. Each peer has a budget of frames and bytes, and what it
sends is read in slices: WebSocket pings are answered below any limit of the application, so a flood
of them would starve other connections (``protocol.intake``).
"""

from __future__ import annotations

import asyncio
import errno
import re
import socket
import ssl
import struct
import sys
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from http import HTTPStatus
from types import MappingProxyType
from typing import Any, NamedTuple, cast

from websockets.asyncio.client import ClientConnection, connect
from websockets.asyncio.connection import Connection
from websockets.asyncio.server import Server, ServerConnection, broadcast, serve
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidMessage, InvalidURI
from websockets.frames import CloseCode, Frame, Opcode
from websockets.http11 import Request, Response
from websockets.typing import Subprotocol

from .channel import Arrival, ChannelClosed, now_ms
from .codec import CODECS, MAX_FRAME, MSGPACK
from .intake import (
    HANDSHAKE_WORK,
    MESSAGE_WORK,
    SLICE,
    Gate,
    Intake,
    Visit,
    open_gate,
    trusting_gate,
)
from .messages import Message

_SETTINGS: dict[str, Any] = {
    "subprotocols": [Subprotocol(name) for name in CODECS],
    "compression": None,
    "close_timeout": 2,
    "ping_interval": 10,
    "ping_timeout": 20,
    "max_size": MAX_FRAME,
}
"""Settings of both ends; times in seconds."""

_DATA = (Opcode.TEXT, Opcode.BINARY, Opcode.CONT)


_HAS_TCP_INFO = sys.platform == "linux"
_TCP_RTT = struct.Struct("=68xI")
"""Where Linux has the smoothed round-trip time, in microseconds, in its ``struct tcp_info``."""

STALLED_S = 20.0
"""How long a peer may leave unread what has been sent to it."""

MOST_UNREAD = 1 << 20
"""Bytes of answers to WebSocket pings that may wait for a peer."""

MOST_STAMPS = 256
"""Arrival times that are kept; fewer messages wait, since reading stops at 16 of them."""

CLOSE_S = 4.0
"""How long closing may take; then the socket is closed without the other side."""


class Metered(Connection):
    """A connection read in slices, for which its peer pays, frame by frame.

    It is cut off if it sends more than it may, or does not read what is sent to it.
    """

    def __init__(
        self, *args: Any, gate: Gate = open_gate, intake: Intake | None = None, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.visit: Visit | None = None
        """What the gate knows of it; None before it was let in."""
        self._gate = gate
        self._intake = intake or Intake()
        self._pending: deque[tuple[int, memoryview]] = deque()
        """Bytes to be handed on, and when they came; while there are any, no more are received."""
        self._is_full = False
        """Whether messages wait that nobody has taken yet."""
        self._is_queued = False
        self._frames = self._work = self._arrived_ms = 0
        self.stamps: deque[int] = deque(maxlen=MOST_STAMPS)
        """When messages arrived that nobody has taken yet, in milliseconds."""
        self._stalled: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin, if the gate lets the peer in."""
        self.visit = self._gate((transport.get_extra_info("peername") or ("?",))[0])
        if self.visit is None:
            cast("asyncio.Transport", transport).abort()
            return
        super().connection_made(transport)
        self.recv_messages.pause = self._fill
        self.recv_messages.resume = self._go_on

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        if self.visit is None:
            return
        self.visit.leave()
        self._pending.clear()
        if self._stalled is not None:
            self._stalled.cancel()
        super().connection_lost(exc)

    # --- reading --------------------------------------------------------------------------------

    def data_received(self, data: bytes) -> None:
        """Receive bytes, for which the peer pays; hand them on now, or in a later turn."""
        assert self.visit is not None, "only who was let in is read"
        at_ms = now_ms()
        if len(data) <= SLICE and not self._pending and self._intake.left > 0:
            self._intake.note(self._hand_on(data, at_ms, at_ms, len(data)))
        elif not self.visit.spend(0, len(data), at_ms / 1_000):
            self._cut_off()
        else:
            self._pending.append((at_ms, memoryview(data)))
            self.transport.pause_reading()
            self._queue()

    def read_slice(self) -> tuple[int, bool]:
        """Hand a slice on; return what it takes, and whether more can be handed on now."""
        work = 0
        if self._pending and not self._is_full:
            at_ms, data = self._pending.popleft()
            if len(data) > SLICE:
                self._pending.appendleft((at_ms, data[SLICE:]))
            work = self._hand_on(data[:SLICE], at_ms, now_ms())
        self._is_queued = bool(self._pending) and not self._is_full
        if not self._pending and not self._is_full:
            self.transport.resume_reading()
        return work, self._is_queued

    def owed(self) -> float:
        """Return what the peer owes."""
        assert self.visit is not None, "only who was let in is read"
        return self.visit.owed(now_ms() / 1_000)

    def _hand_on(self, data: bytes | memoryview, at_ms: int, now: int, unpaid: int = 0) -> int:
        """Hand bytes on that came at ``at_ms``; return what they take."""
        assert self.visit is not None, "only who was let in is read"
        self._arrived_ms = at_ms
        self._frames = self._work = 0
        super().data_received(cast("bytes", data))
        if not self.visit.spend(self._frames, unpaid, now / 1_000):
            self._cut_off()
        elif self.transport.get_write_buffer_size() > MOST_UNREAD:
            self.transport.abort()
        return self._work

    def process_event(self, event: Any) -> None:
        """Count a frame, and what it takes to deal with it; note when a message arrived."""
        if not isinstance(event, Frame):
            self._work += HANDSHAKE_WORK
        elif event.opcode in _DATA and event.fin:
            self._frames += 1
            self._work += MESSAGE_WORK
            self.stamps.append(self._arrived_ms)
        else:
            self._frames += 1
            self._work += 1
        super().process_event(event)

    def _fill(self) -> None:
        self._is_full = True
        self.transport.pause_reading()

    def _go_on(self) -> None:
        self._is_full = False
        if self._pending:
            self._queue()
        else:
            self.transport.resume_reading()

    def _queue(self) -> None:
        if not self._is_queued and not self._is_full:
            self._is_queued = True
            self._intake.add(self)

    def _cut_off(self) -> None:
        self._pending.clear()
        if not self.protocol.close_expected():
            self.protocol.fail(CloseCode.POLICY_VIOLATION, "too many frames or bytes a second")
            self.send_data()
        self.transport.abort()

    # --- writing --------------------------------------------------------------------------------

    def pause_writing(self) -> None:
        """Wait for the peer to read, but not for ever: nobody else would end this connection."""
        super().pause_writing()
        self._stalled = self.loop.call_later(STALLED_S, self.transport.abort)

    def resume_writing(self) -> None:
        """Go on."""
        if self._stalled is not None:
            self._stalled.cancel()
        super().resume_writing()


class _ServerEnd(Metered, ServerConnection):
    pass


class _ClientEnd(Metered, ClientConnection):
    pass


class WebSocketChannel:
    """A channel over one WebSocket; the subprotocol names the codec."""

    def __init__(self, connection: _ServerEnd | _ClientEnd, peer: str) -> None:
        assert connection.visit is not None, "it is connected"
        self.peer = peer
        self.visit = connection.visit
        self._connection = connection
        self._codec = CODECS.get(connection.subprotocol or "", MSGPACK)

    @property
    def lag_ms(self) -> int:
        """The round-trip time of the last WebSocket ping, or of TCP if that is shorter.

        Whoever holds pongs back would be let off that time; segments are acknowledged for it by
        its system.
        """
        latency_s = self._connection.latency
        if _HAS_TCP_INFO and latency_s:
            sock = self._connection.transport.get_extra_info("socket")
            info = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _TCP_RTT.size)
            latency_s = min(latency_s, _TCP_RTT.unpack(info)[0] / 1_000_000)
        return int(latency_s * 1_000)

    @property
    def has_more(self) -> bool:
        """Whether a frame is here that was not received yet."""
        return bool(self._connection.recv_messages.frames.queue)

    def send_now(self, message: Message) -> bool:
        """Send a message, unless the peer has not read what was sent before."""
        if self._connection.paused:
            return False
        broadcast((self._connection,), self._codec.encode(message))
        return True

    async def send(self, message: Message) -> None:
        """Send a message."""
        try:
            await self._connection.send(self._codec.encode(message))
        except ConnectionClosed as error:
            raise self._closed(error) from None

    async def receive(self) -> Arrival:
        """Wait for the next message; text that is not UTF-8 closes the connection with 1007."""
        try:
            frame = await self._connection.recv()
        except ConnectionClosed as error:
            raise self._closed(error) from None
        return Arrival.read(self._codec, frame, self._connection.stamps.popleft())

    async def close(self, code: int = 1000, reason: str = "") -> None:
        """Close the WebSocket with a code and a reason of at most 123 bytes."""
        try:
            async with asyncio.timeout(CLOSE_S):
                await self._connection.close(code, reason.encode()[:123].decode(errors="ignore"))
        except TimeoutError:  # what was sent before is not read
            self._connection.transport.abort()

    async def ended(self) -> None:
        """Wait until the connection has ended, from either side."""
        await self._connection.wait_closed()

    def _closed(self, error: ConnectionClosed) -> ChannelClosed:
        close = error.rcvd or error.sent
        if close is None:
            return ChannelClosed(f"{self.peer}: the connection was lost", 1006)
        return ChannelClosed(
            f"{self.peer}: closed, {close.code} {close.reason}".rstrip(), close.code
        )


async def dial(
    url: str,
    *,
    token: str | None = None,
    tls: ssl.SSLContext | None = None,
    open_timeout: float = 10.0,
) -> WebSocketChannel:
    """Open a connection to a server or a bot at ``ws://host:port/…`` or ``wss://…``.

    ``token`` goes into the ``Authorization`` header, never into the URL. ``tls`` is for ``wss``; by
    default the system's certificates are trusted. ``open_timeout`` is in seconds.

    Raises:
        ChannelClosed: no answer, or not in this protocol; the message tells which.
    """
    headers = {"Authorization": f"Bearer {token}"} if token else None
    trust: dict[str, Any] = {} if tls is None else {"ssl": tls}
    try:
        connection = await connect(
            url,
            additional_headers=headers,
            open_timeout=open_timeout,
            create_connection=cast("Any", partial(_ClientEnd, gate=trusting_gate)),
            proxy=None,
            **_SETTINGS,
            **trust,
        )
    except TimeoutError:
        raise ChannelClosed(f"can't reach {url}: no answer within {open_timeout:g} s") from None
    except (OSError, InvalidHandshake, InvalidURI, ValueError) as error:
        raise ChannelClosed(f"can't reach {url}: {_unreached(url, error)}") from None
    assert isinstance(connection, _ClientEnd)
    return WebSocketChannel(connection, url)


def _unreached(url: str, error: Exception) -> str:
    """Say why a server was not reached, and what to try where that is known."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not trusted: {error.verify_message}"
    if isinstance(error, ssl.SSLError | InvalidMessage | ConnectionResetError):
        if url.startswith("wss:"):
            return f"it does not answer with TLS; without, it is {url.replace('wss:', 'ws:', 1)}"
        return f"it does not answer with HTTP; with TLS, it is {url.replace('ws:', 'wss:', 1)}"
    if isinstance(error, InvalidURI):
        return "a server's address is ws://host:port or wss://host:port"
    if isinstance(error, OSError):
        return _without_number(error)
    return str(error) or type(error).__name__


def _without_number(error: OSError) -> str:
    return re.sub(r"\[Errno -?\d+\] ", "", str(error)) or type(error).__name__


def no_listening(host: str, port: int, error: OSError) -> OSError:
    """Return an error that says why nothing can listen at an address, and what to do."""
    if error.errno == errno.EADDRINUSE:
        why = "another program listens there; choose another port, or 0 for any that is free"
    elif error.errno == errno.EADDRNOTAVAIL:
        why = "this machine has no such address; 0.0.0.0 stands for all that it has"
    elif error.errno == errno.EACCES:
        why = "this user may not; choose a port from 1024 on"
    elif isinstance(error, socket.gaierror):
        why = "no machine has that name; give an address, such as 127.0.0.1"
    else:
        why = _without_number(error)
    return OSError(f"can't listen at {host}, port {port}: {why}")


async def check_address(host: str, port: int) -> None:
    """Raise OSError as ``listen`` does if nothing can listen at an address now."""
    try:
        server = await asyncio.get_running_loop().create_server(asyncio.Protocol, host, port)
    except OSError as error:
        raise no_listening(host, port, error) from None
    server.close()
    await server.wait_closed()


async def drop_ended(connection: ServerConnection) -> None:
    """Drop a connection that can't be answered: behind its request came its end, or no frame.

    To be awaited before a handshake's response is sent, or sending it fails.
    """
    if connection.protocol.eof_sent:
        connection.transport.abort()
        await connection.wait_closed()


class HttpAnswer(NamedTuple):
    """The answer to a plain HTTP request."""

    status: int
    text: str
    content_type: str = "text/plain; charset=utf-8"
    headers: tuple[tuple[str, str], ...] = ()
    """Further headers."""


async def listen(
    host: str,
    port: int,
    on_channel: Callable[[WebSocketChannel, Request], Awaitable[None]],
    *,
    on_http: Callable[[Request], HttpAnswer | Awaitable[HttpAnswer] | None] = lambda _: None,
    tls: ssl.SSLContext | None = None,
    gate: Gate = open_gate,
    others: Mapping[str, Callable[[ServerConnection, Request], Awaitable[None]]] = MappingProxyType(
        {}
    ),
) -> Server:
    """Listen at an address (``""`` for all) and a port (0 for any free one).

    ``on_channel`` is called for each connection, which closes when the call returns. ``on_http``
    answers a plain HTTP request, or returns None to let it become a WebSocket. ``tls`` is a
    certificate, to serve ``wss``; ``gate`` lets peers in and has their budgets. ``others`` are
    other conversations than ours by their subprotocol, each called as ``on_channel``.

    Raises:
        OSError: the address is not available; the message says why, and what to do.
    """

    async def handle(connection: ServerConnection) -> None:
        assert isinstance(connection, _ServerEnd)
        assert connection.request is not None
        assert connection.visit is not None
        other = others.get(connection.subprotocol or "")
        if other is not None:
            await other(connection, connection.request)
            return
        _, port, *_ = connection.remote_address or ("?", 0)
        channel = WebSocketChannel(connection, f"{connection.visit.address}:{port}")
        await on_channel(channel, connection.request)

    async def process_request(connection: ServerConnection, request: Request) -> Response | None:
        response = await respond(connection, request)
        await drop_ended(connection)
        return response

    async def respond(connection: ServerConnection, request: Request) -> Response | None:
        assert isinstance(connection, _ServerEnd)
        assert connection.visit is not None
        answer = on_http(request)
        if answer is None:
            refusal = connection.visit.ask(request)
            if refusal is None:
                return None
            answer = HttpAnswer(503, f"{refusal}\n")
        if not isinstance(answer, HttpAnswer):
            answer = await answer
        response = connection.respond(answer.status, answer.text)
        del response.headers["Content-Type"]
        response.headers["Content-Type"] = answer.content_type
        for name, value in answer.headers:
            response.headers[name] = value
        if request.method == "HEAD":
            response.body = b""
        if answer.status == HTTPStatus.UPGRADE_REQUIRED:
            response.headers["Upgrade"] = "websocket"
        return response

    def choose(_connection: ServerConnection, offered: Any) -> Subprotocol | None:
        return next((name for name in offered if name in CODECS or name in others), None)

    try:
        return await serve(
            handle,
            host,
            port,
            select_subprotocol=choose,
            process_request=process_request,
            open_timeout=10,
            **_SETTINGS,
            create_connection=cast("Any", partial(_ServerEnd, gate=gate, intake=Intake())),
            ssl=tls,
        )
    except OSError as error:
        raise no_listening(host, port, error) from None

"""The client and server ends of the conversation over WebSockets.

Arrival times are noted in the socket's callback, before any task runs: a busy host that stamps
later would flag moves that were in time. Each peer has a budget of bytes: WebSocket pings are
answered below any limit of the application, so a flood of them would starve other connections.
"""

from __future__ import annotations

import asyncio
import errno
import re
import socket
import ssl
import time
from collections import deque
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Any, NamedTuple

from websockets.asyncio.client import ClientConnection, connect
from websockets.asyncio.connection import Connection
from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidMessage, InvalidURI
from websockets.frames import CloseCode, Frame, Opcode
from websockets.http11 import Request, Response
from websockets.typing import Subprotocol

from .channel import Arrival, ChannelClosed, now_ms
from .codec import CODECS, MAX_FRAME, MSGPACK
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


class BytesBudget:
    """A leaky bucket: ``burst`` bytes at once, ``per_second`` in the long run.

    An honest bot sends a few hundred bytes a turn and perhaps twenty ``info`` messages a second.
    """

    def __init__(self, burst: int = 1 << 20, per_second: int = 64 << 10) -> None:
        self._burst = burst
        self._per_second = per_second
        self._left = float(burst)
        self._at = 0.0

    def spend(self, count: int, now: float) -> bool:
        """Take ``count`` bytes at time ``now`` in seconds; return whether the budget had them."""
        self._left = min(self._burst, self._left + (now - self._at) * self._per_second)
        self._at = now
        self._left -= count
        return self._left >= 0


class Budgeted(Connection):
    """A connection closed when it receives too many bytes, pings included."""

    budget: BytesBudget

    def data_received(self, data: bytes) -> None:
        """Receive bytes, if the budget has them; a read costs 64 more."""
        if self.budget.spend(len(data) + 64, time.monotonic()):
            super().data_received(data)
        elif not self.protocol.close_expected():
            self.protocol.fail(CloseCode.POLICY_VIOLATION, "too many bytes a second")
            self.send_data()
            self.transport.abort()


class _Guarded(Budgeted):
    """A connection that notes arrival times; a trusted peer has a larger budget."""

    _trusted = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.budget = BytesBudget(8 << 20, 1 << 20) if self._trusted else BytesBudget()
        self._stamps: deque[int] = deque()
        self._arrived_ms = 0

    def data_received(self, data: bytes) -> None:
        self._arrived_ms = now_ms()
        super().data_received(data)

    def process_event(self, event: Any) -> None:
        if isinstance(event, Frame) and event.opcode in _DATA and event.fin:
            self._stamps.append(self._arrived_ms)
        super().process_event(event)

    def next_stamp(self) -> int:
        """Return the arrival time of the last received message, in milliseconds."""
        return self._stamps.popleft()


class _ServerEnd(_Guarded, ServerConnection):
    pass


class _TrustedServerEnd(_ServerEnd):
    _trusted = True


class _ClientEnd(_Guarded, ClientConnection):
    _trusted = True


class WebSocketChannel:
    """A channel over one WebSocket; the subprotocol names the codec."""

    def __init__(self, connection: _ServerEnd | _ClientEnd, peer: str) -> None:
        self.peer = peer
        self._connection = connection
        self._codec = CODECS.get(connection.subprotocol or "", MSGPACK)

    @property
    def lag_ms(self) -> int:
        """The round-trip time of the last WebSocket ping."""
        return int(self._connection.latency * 1_000)

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
        return Arrival.read(self._codec, frame, self._connection.next_stamp())

    async def close(self, code: int = 1000, reason: str = "") -> None:
        """Close the WebSocket with a code and a reason of at most 123 bytes."""
        await self._connection.close(code, reason.encode()[:123].decode(errors="ignore"))

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
            create_connection=_ClientEnd,
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


class HttpAnswer(NamedTuple):
    """The answer to a plain HTTP request."""

    status: int
    text: str
    content_type: str = "text/plain; charset=utf-8"


async def listen(
    host: str,
    port: int,
    on_channel: Callable[[WebSocketChannel, Request], Awaitable[None]],
    *,
    on_http: Callable[[Request], HttpAnswer | None] = lambda _request: None,
    tls: ssl.SSLContext | None = None,
    trusted: bool = False,
) -> Server:
    """Listen at an address (``""`` for all) and a port (0 for any free one).

    ``on_channel`` is called for each connection, which closes when the call returns. ``on_http``
    answers a plain HTTP request, or returns None to let it become a WebSocket. ``tls`` is a
    certificate, to serve ``wss``; ``trusted`` is for local processes only, with the byte budget of
    a dialled server.

    Raises:
        OSError: the address is not available; the message says why, and what to do.
    """

    async def handle(connection: ServerConnection) -> None:
        assert isinstance(connection, _ServerEnd)
        assert connection.request is not None
        address = connection.remote_address or ("?", 0)
        channel = WebSocketChannel(connection, f"{address[0]}:{address[1]}")
        await on_channel(channel, connection.request)

    def process_request(connection: ServerConnection, request: Request) -> Response | None:
        answer = on_http(request)
        if answer is None:
            return None
        response = connection.respond(answer.status, answer.text)
        del response.headers["Content-Type"]
        response.headers["Content-Type"] = answer.content_type
        if answer.status == HTTPStatus.UPGRADE_REQUIRED:
            response.headers["Upgrade"] = "websocket"
        return response

    def choose(_connection: ServerConnection, offered: Any) -> Subprotocol | None:
        return next((name for name in offered if name in CODECS), None)

    try:
        return await serve(
            handle,
            host,
            port,
            select_subprotocol=choose,
            process_request=process_request,
            open_timeout=10,
            **_SETTINGS,
            create_connection=_TrustedServerEnd if trusted else _ServerEnd,
            ssl=tls,
        )
    except OSError as error:
        raise no_listening(host, port, error) from None

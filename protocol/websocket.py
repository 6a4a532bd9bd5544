"""The client and server ends of the conversation over WebSockets."""

from __future__ import annotations

import asyncio
import socket
import ssl
import struct
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from http import HTTPStatus
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias, cast

from websockets.asyncio.client import connect
from websockets.asyncio.server import Server, ServerConnection, broadcast
from websockets.exceptions import (
    ConnectionClosed,
    InvalidHandshake,
    InvalidMessage,
    InvalidStatus,
    InvalidURI,
)
from websockets.http11 import Request, Response
from websockets.typing import Subprotocol

from .accepting import OPEN_S, PLAIN_TEXT, TIMES, serve, without_number
from .channel import Arrival, ChannelClosed
from .codec import CODECS, JSON, MAX_FRAME, MSGPACK, Frame
from .intake import Gate, open_gate, trusting_gate
from .messages import Message
from .metered import ClientEnd, ServerEnd

_HAS_TCP_INFO = sys.platform == "linux"
_TCP_RTT = struct.Struct("=68xI")
"""The smoothed round-trip time, in microseconds, in Linux's ``struct tcp_info``."""

CLOSE_S = 4.0
"""How long closing may take; then the connection is aborted."""
_MOST_SHOWN = 200  # bytes of what a server says when it refuses


class WebSocketChannel:
    """A channel over one WebSocket; the subprotocol names the codec."""

    def __init__(self, connection: ServerEnd | ClientEnd, peer: str) -> None:
        self.peer = peer
        self.visit = connection.visit
        self._connection = connection
        self.codec = CODECS.get(connection.subprotocol or "", MSGPACK)

    @property
    def round_trip_ms(self) -> int:
        """The round-trip time of the last WebSocket ping, or of TCP if that is shorter.

        A peer that holds pongs back would not be charged for that time. TCP segments are
        acknowledged by its operating system.
        """
        latency_s = self._connection.latency
        transport = self._connection.transport
        if _HAS_TCP_INFO and latency_s and not transport.is_closing():
            sock = transport.get_extra_info("socket")
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
        broadcast((self._connection,), self.codec.encode(message))
        return True

    async def send(self, message: Message) -> None:
        """Send a message."""
        await self.send_frame(self.codec.encode(message))

    async def send_frame(self, frame: Frame) -> None:
        """Send a frame as it is; ChannelClosed as ``send``."""
        try:
            await self._connection.send(frame)
        except ConnectionClosed as error:
            raise self._closed(error) from None

    async def receive(self) -> Arrival:
        """Wait for the next message; text that is not UTF-8 closes the connection with 1007."""
        frame = await self.receive_frame()
        return self._read(frame, self._connection.stamps.popleft())

    async def receive_frame(self) -> Frame:
        """Wait for the next frame; ChannelClosed as ``receive``."""
        try:
            return await self._connection.recv()
        except ConnectionClosed as error:
            raise self._closed(error) from None

    def hand_over(self, take: Callable[[Arrival], None] | None) -> None:
        """Call ``take`` in the socket's callback, unless messages wait; None ends that."""

        def read(frame: bytes | str, at_ms: int) -> None:
            assert take is not None
            take(self._read(frame, at_ms))

        self._connection.take = None if take is None else read

    def _read(self, frame: bytes | str, at_ms: int) -> Arrival:
        arrival = Arrival.read(self.codec, frame, at_ms)
        if isinstance(frame, str):
            self.codec = JSON  # a peer that writes text can't read errors in MessagePack
        return arrival

    async def close(self, code: int = 1000, reason: str = "") -> None:
        """Close the WebSocket with a code and a reason of at most 123 bytes."""
        try:
            async with asyncio.timeout(CLOSE_S):
                await self._connection.close(code, reason.encode()[:123].decode(errors="ignore"))
        except TimeoutError:  # the peer does not read what was sent before
            self._connection.transport.abort()

    def cut(self) -> None:
        """Drop the connection without a close, as a network that fails does."""
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
    subprotocols: Sequence[str] = tuple(CODECS),
) -> WebSocketChannel:
    """Open a connection to a server or a bot at ``ws://host:port/…`` or ``wss://…``.

    ``token`` goes into the ``Authorization`` header, never into the URL. ``tls`` is for ``wss``; by
    default the system's certificates are trusted. ``subprotocols`` are offered in this order.

    Raises:
        ChannelClosed: no answer, or none in this protocol; the message says which.
    """
    headers = {"Authorization": f"Bearer {token}"} if token else None
    trust: dict[str, Any] = {} if tls is None else {"ssl": tls}
    try:
        connection = await connect(
            url,
            additional_headers=headers,
            open_timeout=OPEN_S,
            create_connection=cast("Any", partial(ClientEnd, visit=trusting_gate(url))),
            subprotocols=[Subprotocol(name) for name in subprotocols],
            compression=None,
            max_size=MAX_FRAME,
            proxy=None,
            **TIMES,
            **trust,
        )
    except TimeoutError:
        raise ChannelClosed(f"can't reach {url}: no answer within {OPEN_S:g} s") from None
    except (OSError, InvalidHandshake, InvalidURI, ValueError) as error:
        raise ChannelClosed(f"can't reach {url}: {_unreached(url, error)}") from None
    assert isinstance(connection, ClientEnd)
    return WebSocketChannel(connection, url)


def _unreached(url: str, error: Exception) -> str:
    """Say why a server was not reached, and what to try where that is known."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not trusted: {error.verify_message}"
    if isinstance(error, ssl.SSLError | InvalidMessage | ConnectionResetError):
        if url.startswith("wss:"):
            plain = url.replace("wss:", "ws:", 1)
            return f"it does not answer with TLS, or is full; if it has no TLS, use {plain}"
        secure = url.replace("ws:", "wss:", 1)
        return f"it does not answer with HTTP; if it has TLS, use {secure}"
    if isinstance(error, InvalidURI):
        return "a server's address is ws://host:port or wss://host:port"
    if isinstance(error, InvalidStatus) and error.response.status_code == HTTPStatus.OK:
        return "it answers with a page; a proxy on the way has to pass on Upgrade and Connection"
    if isinstance(error, InvalidStatus) and (told := error.response.body):
        sentence = told[:_MOST_SHOWN].decode(errors="replace").strip()
        return f"HTTP {error.response.status_code}, {sentence!r}"
    if isinstance(error, OSError):
        return without_number(error)
    return str(error) or type(error).__name__


async def drop_ended(connection: ServerConnection) -> None:
    """Drop a connection that ended, or broke the protocol, right after its request.

    Await this before sending the handshake's response, which would fail.
    """
    if connection.protocol.eof_sent:
        connection.transport.abort()
        await connection.wait_closed()


def address_text(address: str, port: int) -> str:
    """Return an address and a port as URLs, logs and messages have them."""
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"


class HttpAnswer(NamedTuple):
    """The answer to a plain HTTP request."""

    status: int
    text: str
    content_type: str = PLAIN_TEXT
    headers: tuple[tuple[str, str], ...] = ()
    """Further headers."""
    packed: bytes = b""
    """The text in gzip, for clients that accept it; empty: not worth it."""

    def response(self, connection: ServerConnection, request: Request) -> Response:
        """Return the response to a request: packed if its client accepts that, no body to HEAD."""
        response = connection.respond(self.status, self.text)
        del response.headers["Content-Type"]
        response.headers["Content-Type"] = self.content_type
        for name, value in self.headers:
            response.headers[name] = value
        if self.packed:
            response.headers["Vary"] = "Accept-Encoding"
            if _takes_gzip(request):
                response.body = self.packed
                response.headers["Content-Encoding"] = "gzip"
                del response.headers["Content-Length"]
                response.headers["Content-Length"] = str(len(self.packed))
        if request.method == "HEAD":
            response.body = b""
        if self.status == HTTPStatus.UPGRADE_REQUIRED:
            response.headers["Upgrade"] = "websocket"
        return response


def _takes_gzip(request: Request) -> bool:
    """Return whether the client accepts gzip."""
    for offered in ",".join(request.headers.get_all("Accept-Encoding")).split(","):
        coding, _, weight = offered.replace(" ", "").partition(";")
        if coding.lower() == "gzip":
            return weight.rstrip(".0") != "q="
    return False


_OnHttp: TypeAlias = Callable[[Request, str], HttpAnswer | Awaitable[HttpAnswer] | None]


async def listen(
    host: str,
    port: int,
    on_channel: Callable[[WebSocketChannel, Request], Awaitable[None]],
    *,
    on_http: _OnHttp = lambda _request, _address: None,
    tls: ssl.SSLContext | None = None,
    gate: Gate = open_gate,
    others: Mapping[str, Callable[[ServerConnection, Request], Awaitable[None]]] = MappingProxyType(
        {}
    ),
) -> Server:
    """Listen at an address (``""`` for all) and a port (0 for any free one).

    ``on_channel`` is called for each connection, which closes when the call returns. ``on_http``
    answers a plain HTTP request from an address, or returns None to let it become a WebSocket.
    ``tls`` has a certificate, to serve ``wss``. ``gate`` lets peers in and has their budgets.
    ``others`` are the handlers of other subprotocols, each called with the connection and its
    request.

    Raises:
        OSError: the address is not available; the message says why, and what to do.
    """

    async def handle(connection: ServerConnection) -> None:
        assert isinstance(connection, ServerEnd)
        assert connection.request is not None
        other = others.get(connection.subprotocol or "")
        if other is not None:
            await other(connection, connection.request)
            return
        _, port, *_ = connection.remote_address or ("?", 0)
        channel = WebSocketChannel(connection, address_text(connection.visit.address, port))
        await on_channel(channel, connection.request)

    async def process_request(connection: ServerConnection, request: Request) -> Response | None:
        assert isinstance(connection, ServerEnd)
        answer: HttpAnswer | Awaitable[HttpAnswer] | None
        if (refusal := connection.visit.ask(request)) is not None:
            answer = HttpAnswer(503, f"{refusal}\n")
        else:
            answer = on_http(request, connection.visit.address)
            if isinstance(answer, Awaitable):
                answer = await answer
        response = None if answer is None else answer.response(connection, request)
        await drop_ended(connection)
        return response

    def choose(offered: Sequence[Subprotocol]) -> Subprotocol | None:
        return next((name for name in offered if name in CODECS or name in others), None)

    return await serve(
        handle, host, port, process_request, gate=gate, max_size=MAX_FRAME, choose=choose, tls=tls
    )

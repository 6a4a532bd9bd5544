"""Listen, and let sockets in, a few in each turn of the event loop.

A gate sees each socket before anything is made for it, and before a TLS handshake. A socket for
which there is no room yet waits its turn: when a class opens the page together, each file of each
browser is a connection. Refusing a socket costs microseconds. It is then held open for a while,
which slows down peers that come again as soon as it is closed.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import re
import socket
import ssl
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple, TypeAlias, cast

from websockets.asyncio.server import Server, ServerConnection
from websockets.http11 import Request, Response
from websockets.protocol import State
from websockets.server import ServerProtocol
from websockets.typing import Subprotocol

from .intake import Gate, Intake, Later, Visit
from .metered import ServerEnd

TIMES: dict[str, Any] = {"close_timeout": 2, "ping_interval": 10, "ping_timeout": 20}
"""Timeouts of both ends of a WebSocket, in seconds."""

OPEN_S = 10.0
"""Time for a TLS handshake and an opening request, and for an answer to ours."""

SHUTDOWN_S = 60.0
"""Time for a peer to read what was written over TLS; each connection has a shorter limit too."""

SLOWEST = 32_768
"""Slowest connection, in bytes a second, that gets an HTTP answer whole."""

BACKLOG = 100
"""Most sockets that wait to be accepted."""

ACCEPTS_A_TURN = 4
"""Sockets accepted before other work of the loop comes first: about a millisecond."""

WAIT_S = 3.0
"""How long a socket waits for room before it is refused; its peer may wait ``OPEN_S`` in all."""

LOOK_AGAIN_S = 0.05
"""Pause before the next look for room."""

MOST_WAITING = 500
"""Most sockets that wait; further ones are refused at once."""

MOST_TOGETHER = 250
"""Most that wait for the same room, so that an address leaves others a place to wait."""

MOST_HELD = 500
"""Most refused sockets that are held; if there are more, the oldest is closed."""

MOST_TOLD = 100
"""While this many are held, others aren't told why: in a storm that takes a third of the work."""

HELD_S = 5.0
"""How long they are held; peers that read the answer close their end sooner."""

HELD_BYTES = 4096
"""Size of the receive buffer of a refused socket."""

RETRY_S = 1.0
"""Pause in accepting sockets after the system had no room for one."""

PLAIN_TEXT = "text/plain; charset=utf-8"

_NO_LISTENING = {
    errno.EADDRINUSE: (
        "another program listens there; choose another port, or 0 for any that is free"
    ),
    errno.EADDRNOTAVAIL: "this machine has no such address; 0.0.0.0 stands for all that it has",
    errno.EACCES: "this user may not use that port; choose one from 1024 on",
}
"""By the number of a system error, why nothing can listen at an address, and what to do."""

log = logging.getLogger("websockets.server")

ProcessRequest: TypeAlias = Callable[[ServerConnection, Request], Awaitable[Response | None]]


class Acceptor:
    """Accepts sockets until it is closed; ``make`` makes an end for each that ``gate`` lets in."""

    def __init__(
        self,
        sockets: tuple[socket.socket, ...],
        gate: Gate,
        make: Callable[[Visit], asyncio.BaseProtocol],
        tls: ssl.SSLContext | None,
    ) -> None:
        self.sockets = sockets
        self._gate = gate
        self._make = make
        self._tls: dict[str, Any] = {}
        if tls is not None:
            self._tls = {
                "ssl": tls,
                "ssl_handshake_timeout": OPEN_S,
                "ssl_shutdown_timeout": SHUTDOWN_S,
            }
        self._loop = asyncio.get_running_loop()
        self._opening: set[asyncio.Task[None]] = set()
        self._held: deque[tuple[float, socket.socket]] = deque()
        """Refused sockets, each after the time until which it is held."""
        self._releasing: asyncio.TimerHandle | None = None
        self._waiting: deque[_Waiting] = deque()
        self._looking: asyncio.TimerHandle | None = None
        for listening in sockets:
            self._listen(listening)

    # --- what ``Server`` needs of an ``asyncio.Server`` -----------------------------------------

    def get_loop(self) -> asyncio.AbstractEventLoop:
        """Return the event loop."""
        return self._loop

    def is_serving(self) -> bool:
        """Return whether it is not closed."""
        return bool(self.sockets)

    def close(self) -> None:
        """Accept no more."""
        listening, self.sockets = self.sockets, ()
        for each in listening:
            self._loop.remove_reader(each)
        held = (sock for _, sock in self._held)
        for each in (*listening, *held, *(waiting.sock for waiting in self._waiting)):
            each.close()
        for timer in (self._releasing, self._looking):
            if timer is not None:
                timer.cancel()
        for opening in self._opening:
            opening.cancel()

    async def wait_closed(self) -> None:
        """Wait for sockets that are being opened."""
        if self._opening:
            await asyncio.wait(self._opening)

    # --- accepting ------------------------------------------------------------------------------

    def _listen(self, listening: socket.socket) -> None:
        if self.is_serving():
            self._loop.add_reader(listening, self._accept, listening)

    def _accept(self, listening: socket.socket) -> None:
        """Accept as many sockets as a turn has room for; the others wait for the next turn."""
        for _ in range(ACCEPTS_A_TURN):
            try:
                sock, address = listening.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as error:  # no descriptor or memory is free; it would fail again at once
                log.error("no connection can be accepted: %s", without_number(error))
                self._loop.remove_reader(listening)
                self._loop.call_later(RETRY_S, self._listen, listening)
                return
            waiting = (each.later for each in self._waiting if each.address == address[0])
            # If others of its address wait, it waits behind them.
            visit = next(waiting, None) or self._gate(address[0])
            if isinstance(visit, Later):
                self._wait(sock, address[0], visit)
            else:
                self._decide(sock, visit)

    def _wait(self, sock: socket.socket, address: str, later: Later) -> None:
        together = sum(each.later.queue == later.queue for each in self._waiting)
        if together >= MOST_TOGETHER or len(self._waiting) >= MOST_WAITING:
            self._decide(sock, later)
            return
        self._waiting.append(_Waiting(sock, address, self._loop.time() + WAIT_S, later))
        if self._looking is None:
            self._looking = self._loop.call_later(LOOK_AGAIN_S, self._look_again)

    def _look_again(self) -> None:
        """Let in who waits, in the order in which they came, as many as a turn has room for."""
        waiting, self._waiting = self._waiting, deque()
        full: set[str] = set()
        left = ACCEPTS_A_TURN
        for each in waiting:
            is_late = each.until <= self._loop.time()
            visit: Visit | Later | str = each.later
            if left and not is_late and each.later.queue not in full:
                visit = self._gate(each.address)
            if left and (is_late or not isinstance(visit, Later)):
                left -= 1
                self._decide(each.sock, visit)
            else:
                full.add(each.later.queue)
                self._waiting.append(each)
        self._looking = None
        if self._waiting:
            wait_s = 0 if left == 0 else LOOK_AGAIN_S
            self._looking = self._loop.call_later(wait_s, self._look_again)

    def _decide(self, sock: socket.socket, visit: Visit | Later | str) -> None:
        """Let a socket in, or refuse it."""
        if isinstance(visit, Later):
            visit.note_refusal()
            self._refuse(sock, visit.why)
        elif isinstance(visit, str):
            self._refuse(sock, visit)
        else:
            sock.setblocking(False)
            opening = self._loop.create_task(self._open(sock, visit))
            self._opening.add(opening)
            opening.add_done_callback(self._opening.discard)

    async def _open(self, sock: socket.socket, visit: Visit) -> None:
        try:
            make = partial(self._make, visit)
            await self._loop.connect_accepted_socket(make, sock, **self._tls)
        except (OSError, asyncio.CancelledError):  # the TLS handshake failed, or this is closed
            visit.leave()

    def _refuse(self, sock: socket.socket, why: str) -> None:
        """Hold a socket, and say why it is refused, unless that takes TLS or many are held."""
        with suppress(OSError):
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, HELD_BYTES)
            if not self._tls and len(self._held) < MOST_TOLD:
                body = f"{why}\n".encode()
                head = (
                    "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\n"
                    f"Content-Type: {PLAIN_TEXT}\r\nContent-Length: {len(body)}\r\n\r\n"
                )
                sock.send(head.encode() + body, socket.MSG_DONTWAIT)
        self._held.append((self._loop.time() + HELD_S, sock))
        if len(self._held) > MOST_HELD:
            self._held.popleft()[1].close()
        if self._releasing is None:
            self._releasing = self._loop.call_later(HELD_S, self._release)

    def _release(self) -> None:
        """Close the sockets that were held long enough."""
        while self._held and self._held[0][0] <= self._loop.time():
            self._held.popleft()[1].close()
        self._releasing = None
        if self._held:
            self._releasing = self._loop.call_at(self._held[0][0], self._release)


class _Waiting(NamedTuple):
    """A socket that waits for room."""

    sock: socket.socket
    address: str
    until: float
    """When it is refused, in the loop's time."""
    later: Later


async def serve(
    handle: Callable[[ServerConnection], Awaitable[None]],
    host: str,
    port: int,
    process_request: ProcessRequest,
    *,
    gate: Gate,
    max_size: int,
    choose: Callable[[Sequence[Subprotocol]], Subprotocol | None] = lambda _offered: None,
    tls: ssl.SSLContext | None = None,
) -> Server:
    """Listen for WebSockets as websockets' ``serve`` does, but let sockets in by a gate.

    ``handle`` is called for each connection, which closes when the call returns.
    ``process_request`` may answer its request with a response. ``choose`` chooses a subprotocol.

    Raises:
        OSError: the address is not available; the message says why, and what to do.
    """
    intake = Intake()

    class Choosing(ServerProtocol):
        """Calls ``choose``. As an argument it would be bound, a cycle that is not freed at once."""

        def select_subprotocol(self, subprotocols: Sequence[Subprotocol]) -> Subprotocol | None:
            return choose(subprotocols)

    def make(visit: Visit) -> ServerEnd:
        protocol = Choosing(max_size=max_size)
        return ServerEnd(protocol, server, visit=visit, intake=intake, **TIMES)

    async def attend(connection: ServerConnection) -> None:
        try:
            if await _shakes_hands(connection, process_request):
                server.all_connections.add(connection)  # so that ``server`` may close it
                connection.start_keepalive()
                async with connection:
                    await handle(connection)
        except Exception:
            connection.logger.exception("a connection's handler failed")
        finally:
            server.all_connections.discard(connection)
            connection.transport.abort()
            server.handler_tasks.discard(cast("asyncio.Task[None]", asyncio.current_task()))

    async def accept() -> asyncio.Server:
        return cast("asyncio.Server", Acceptor(await bind(host, port), gate, make, tls))

    server = Server(accept, attend)
    return await server


async def _shakes_hands(connection: ServerConnection, process_request: ProcessRequest) -> bool:
    """Shake hands; return whether that opened the connection."""

    async def answer(connection: ServerConnection, request: Request) -> Response | None:
        response = await process_request(connection, request)
        if response is not None:
            within_s = TIMES["close_timeout"] + len(response.body) / SLOWEST
            connection.close_timeout = within_s
            limit.reschedule(connection.loop.time() + within_s)
        return response

    try:
        async with asyncio.timeout(OPEN_S) as limit:
            await connection.handshake(answer)
    except Exception:  # too late, no handshake, or the peer is gone; websockets logs our errors
        return False
    return connection.state is State.OPEN


# --- addresses ------------------------------------------------------------------------------------


async def bind(host: str, port: int) -> tuple[socket.socket, ...]:
    """Return sockets that listen at an address (``""``, ``::``: all) and a port (0: any free one).

    A host may have several addresses. Those that this machine lacks, such as IPv6 addresses if IPv6
    is off, are left out.

    Raises:
        OSError: no address is available; the message says why, and what to do.
    """
    loop = asyncio.get_running_loop()
    bound: list[socket.socket] = []
    lacking: OSError | None = None
    try:
        addresses = await loop.getaddrinfo(
            None if host == "::" else host or None,
            port,
            type=socket.SOCK_STREAM,
            flags=socket.AI_PASSIVE,
        )
        for family, address in dict.fromkeys(
            (family, address) for family, *_, address in addresses
        ):
            at, wanted, *scope = cast("tuple[str, int, int, int]", address)
            if bound:  # one port for all families
                wanted = bound[0].getsockname()[1]
            try:
                listening = socket.create_server(
                    cast("tuple[str, int]", (at, wanted, *scope)), family=family, backlog=BACKLOG
                )
            except OSError as error:
                if error.errno not in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT):
                    raise
                lacking = lacking or error
                continue
            listening.setblocking(False)
            bound.append(listening)
        if lacking is not None and not bound:
            raise lacking
    except OSError as error:
        for listening in bound:
            listening.close()
        if isinstance(error, socket.gaierror):
            why = "no machine has that name; give an address, such as 127.0.0.1"
        else:
            why = _NO_LISTENING.get(error.errno or 0) or without_number(error)
        raise OSError(f"can't listen at {host}, port {port}: {why}") from None
    return tuple(bound)


async def check_address(host: str, port: int) -> None:
    """Raise OSError as ``bind`` does if nothing can listen at an address now."""
    for listening in await bind(host, port):
        listening.close()


def without_number(error: OSError) -> str:
    """Return the text of a system error without its number."""
    return re.sub(r"\[Errno -?\d+\] ", "", str(error)) or type(error).__name__

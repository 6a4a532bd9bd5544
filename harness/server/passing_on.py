"""A host that stands by listens as well: it passes each conversation on to the host that serves.

So a peer may dial any host and sees all of them as one. The head of its opening request is read,
and gets a line that says where it comes from; from then on bytes are copied both ways, as fast as
their reader reads. The host that serves answers one request a connection, so no second head comes.
Silent peers are left to the two ends, which send each other pings.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from http import HTTPStatus

from protocol.accepting import (
    HELD_S,
    OPEN_S,
    PLAIN_TEXT,
    Acceptor,
    bind,
    http_answer,
    without_number,
)
from protocol.intake import Visit

from .admission import Admission, Admissions
from .answers import as_json
from .request_head import END_OF_HEAD, passed_on, path_of, split_address, was_passed_on
from .splice import End

HEAD_BYTES = 16 << 10
"""The longest head of a request that is passed on."""

DIAL_S = 2.0
"""Time for a connection to the host that serves."""

NOBODY = "no host serves now; come again soon"


class Client(End):
    """The end of a peer that dialled this host, from its first byte on."""

    def __init__(self, host: PassingOn, visit: Visit) -> None:
        super().__init__()
        self._host, self._visit = host, visit
        self._received = b""
        """Bytes that are not passed on yet."""
        self._is_refused = False
        self._task: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Wait for the head of a request."""
        super().connection_made(transport)
        self._host.here.add(self)
        late = f"no request came within {OPEN_S:.0f} s\n"
        self._waiting = asyncio.get_running_loop().call_later(OPEN_S, self.reply, 408, late)

    def data_received(self, data: bytes) -> None:
        """Take the head of the request; copy what follows."""
        if self._is_refused:
            return
        if self.other is not None:
            super().data_received(data)
            return
        self._received += data
        if self._task is not None:
            return
        end = self._received.find(END_OF_HEAD, 0, HEAD_BYTES)
        if end >= 0:
            self._waiting.cancel()
            self.transport.pause_reading()
            head = self._received[: end + len(END_OF_HEAD)]
            self._received = self._received[len(head) :]
            self._task = asyncio.get_running_loop().create_task(self._take(head))
        elif len(self._received) >= HEAD_BYTES:
            self.reply(431, f"the head of a request has at most {HEAD_BYTES:,} bytes\n")

    def eof_received(self) -> bool:
        """Pass the end of input on to the host that serves, which may have more to say.

        TLS can't end one direction alone: with it the conversation ends.
        """
        if self.other is None or not self.other.transport.can_write_eof():
            return super().eof_received()
        self.other.transport.write_eof()
        return True

    async def _take(self, head: bytes) -> None:
        """Answer a request, or pass it on."""
        path = path_of(head)
        if path == "/healthz":
            why = self._host.unsure or await self._host.trouble()
            said = {"status": "standby", "serves": self._host.serving or None}
            answer = as_json(said | ({"why": why} if why else {}))
            self.reply(503 if why else 200, answer.text, answer.content_type)
        elif path == "/metrics":
            self.reply(200, self._host.metrics())
        elif was_passed_on(head):
            self.reply(503, f"this host stands by; {NOBODY}\n")
        else:
            await self._pass_on(passed_on(head, self._visit.address))

    async def _pass_on(self, head: bytes) -> None:
        try:
            there = await self._host.dial(lambda: End(self))
        except OSError as error:
            self.reply(503, f"{error}\n")
            return
        if self.transport.is_closing():
            there.abort()
            return
        self.other = there
        self.transport.resume_reading()  # first: the write may fill the buffer, which pauses it
        there.transport.write(head + self._received)
        self._received = b""

    def reply(self, status: int, text: str, content_type: str = PLAIN_TEXT) -> None:
        """Answer in the place of the host that serves; what the peer sends is read, and dropped.

        Closing with input unread would reset the connection, and the answer might be lost.
        """
        if self.transport.is_closing():
            return
        self._waiting.cancel()
        self._is_refused = True
        again = ("Retry-After: 1",) if status == HTTPStatus.SERVICE_UNAVAILABLE else ()
        self.transport.write(http_answer(status, text, *again, content_type=content_type))
        if not self.transport.can_write_eof():
            self.finish()
            return
        self.transport.write_eof()
        self.transport.resume_reading()
        self._aborting = asyncio.get_running_loop().call_later(HELD_S, self.transport.abort)

    def connection_lost(self, exc: Exception | None) -> None:
        """End the conversation."""
        self._waiting.cancel()
        self._visit.leave()
        self._host.here.discard(self)
        if self._task is not None:
            self._task.cancel()
        super().connection_lost(exc)


class PassingOn:
    """A host that stands by, from ``start`` to ``close``.

    Args:
        admission: How many conversations there may be, in all and from an address.
        tls: A certificate to serve wss, or None.
        dialling: A client's context that trusts the certificate that the hosts share, with ``tls``.
    """

    def __init__(
        self,
        host: str,
        port: int,
        admission: Admission,
        tls: ssl.SSLContext | None,
        dialling: ssl.SSLContext | None,
    ) -> None:
        self.host, self.port = host, port
        self.serving = ""
        """The address of the host that serves; empty if it is not known."""
        self.unsure = ""
        """Why that is not known for certain: another may serve by now."""
        self.here: set[Client] = set()
        self._admissions = Admissions(admission)
        self._tls, self._dialling = tls, dialling
        self._acceptor: Acceptor | None = None

    async def start(self) -> None:
        """Listen; raise OSError if the address can't be had."""
        sockets = await bind(self.host, self.port)
        self.port = sockets[0].getsockname()[1]

        def make(visit: Visit) -> Client:
            return Client(self, visit)

        self._acceptor = Acceptor(sockets, self._admissions.enter, make, self._tls)

    def pass_to(self, serving: str) -> None:
        """Pass conversations on to an address from now on; end those with another address."""
        if serving != self.serving:
            self.serving = serving
            self._end_all()

    async def dial(self, make: Callable[[], End]) -> End:
        """Connect to the host that serves.

        Raises:
            OSError: it is not known or can't be reached; the message is for a peer.
        """
        if not self.serving:
            raise OSError(NOBODY)
        try:
            host, port = split_address(self.serving)
            async with asyncio.timeout(DIAL_S):
                loop = asyncio.get_running_loop()
                _, end = await loop.create_connection(make, host, port, ssl=self._dialling)
        except TimeoutError:
            why = f"no answer within {DIAL_S:g} s"
        except OSError as error:
            why = without_number(error)
        except ValueError as error:  # an address as another program may write it
            why = str(error)
        else:
            return end
        raise OSError(f"the host that serves, {self.serving}, can't be reached: {why}; {NOBODY}")

    async def trouble(self) -> str | None:
        """Return why nothing can be passed on now; None if it can."""
        try:
            end = await self.dial(End)
        except OSError as error:
            return str(error)
        end.transport.close()
        return None

    def metrics(self) -> str:
        """Return this host's metrics, in the format of Prometheus."""
        passed_on = sum(client.other is not None for client in self.here)
        return (
            "# HELP tilewire_passed_on Conversations that are passed on to the host that serves.\n"
            f"# TYPE tilewire_passed_on gauge\ntilewire_passed_on {passed_on}\n"
        )

    def _end_all(self) -> None:
        for client in tuple(self.here):
            if client.other is not None:
                client.other.abort()
            client.abort()

    async def close(self) -> None:
        """Listen no more, and end all conversations."""
        if self._acceptor is not None:
            self._acceptor.close()
            await self._acceptor.wait_closed()
        self._end_all()

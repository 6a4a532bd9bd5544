"""A WebSocket that is read in slices, for which its peer pays.

Arrival times are noted in the socket's callback, before any task runs, since a busy host that notes
them later would flag moves that were in time. Each peer has a budget of frames and bytes, and its
bytes are read in slices: the library answers WebSocket pings before the application sees anything,
so a flood of them would starve other connections (``protocol.intake``).
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any, cast

from websockets.asyncio.client import ClientConnection
from websockets.asyncio.connection import Connection
from websockets.asyncio.server import ServerConnection
from websockets.frames import CloseCode, Frame, Opcode

from .channel import now_ms
from .errors import forget_where
from .intake import HANDSHAKE_WORK, MESSAGE_WORK, SLICE, Intake, Visit

STALLED_S = 20.0
"""How long writing to a peer may be blocked because it does not read."""

MOST_UNREAD = 1 << 20
"""Bytes of answers to WebSocket pings that may wait for a peer."""

MOST_FRAGMENTS = 256
"""Most fragments of a message; even empty ones take memory until the last has come."""

MOST_WAITING = 512
"""More messages than can wait: reading stops at 16, and a slice holds 256 at most."""

_TOO_MUCH = "too many frames or bytes a second"
_DATA = (Opcode.TEXT, Opcode.BINARY, Opcode.CONT)


class Metered(Connection):
    """A connection read in slices, for which its peer pays, frame by frame.

    It is cut off if it sends more than it may, or does not read what is sent to it.
    """

    def __init__(
        self, *args: Any, visit: Visit, intake: Intake | None = None, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.visit = visit
        """The gate's record of it."""
        self._intake = intake or Intake()
        self._pending: deque[tuple[int, memoryview]] = deque()
        """When bytes came, and the bytes, to be handed on; meanwhile no more are received."""
        self._is_full = False
        """Whether too many messages wait that nobody has taken yet."""
        self._is_queued = False
        """Whether ``Intake`` has it to be read."""
        self._frames = self._work = self._arrived_ms = 0
        self._fragments = 0
        """Number of fragments of a message whose last fragment is still to come."""
        self.take: Callable[[bytes | str, int], None] | None = None
        """Called with each message and when it came, if no other waits; must not raise."""
        self.stamps: deque[int] = deque(maxlen=MOST_WAITING)
        """When messages arrived that nobody has taken yet, in milliseconds.

        Not all users of a connection take these, so the oldest are dropped."""
        self._stalled: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin, and notice when messages fill their queue and when that empties."""
        super().connection_made(transport)
        self.recv_messages.pause = self._fill
        self.recv_messages.resume = self._resume_reading

    def connection_lost(self, exc: Exception | None) -> None:
        """End, and break reference cycles, so that everything is freed at once.

        A busy server ends many connections a second, and rarely collects garbage, since that stops
        all clocks.
        """
        self.visit.leave()
        self._pending.clear()
        if self._stalled is not None:
            self._stalled.cancel()
            self._stalled = None
        super().connection_lost(exc)
        self.take = None
        self.recv_messages.pause = self.recv_messages.resume = lambda: None
        self.protocol.parser.close()
        for error in (self.connection_exc, self.protocol.parser_exc, self.protocol.handshake_exc):
            forget_where(error)

    # --- reading --------------------------------------------------------------------------------

    def data_received(self, data: bytes) -> None:
        """Receive bytes, for which the peer pays; hand them on now, or in a later turn."""
        at_ms = now_ms()
        if len(data) <= SLICE and not self._pending and self._intake.left > 0:
            self._intake.note(self._hand_on(data, at_ms, at_ms, len(data)))
        elif not self.visit.spend(0, len(data), at_ms / 1_000):
            self._cut_off(_TOO_MUCH)
        else:
            self._pending.append((at_ms, memoryview(data)))
            self.transport.pause_reading()
            self._queue()

    def eof_received(self) -> None:
        """End. Over TLS bytes may still wait; those that this turn has no room for are lost."""
        while self._pending and not self._is_full and self._intake.left > 0:
            self._intake.note(self.read_slice()[0])
        self._pending.clear()
        super().eof_received()

    def read_slice(self) -> tuple[int, bool]:
        """Hand a slice on; return its work, and whether more can be handed on now."""
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
        return self.visit.owed(now_ms() / 1_000)

    def _hand_on(self, data: bytes | memoryview, at_ms: int, now: int, unpaid: int = 0) -> int:
        """Hand on bytes that came at ``at_ms``; return their work.

        ``unpaid`` is the number of bytes that the peer has not paid for yet.
        """
        self._arrived_ms = at_ms
        self._frames = self._work = 0
        super().data_received(cast("bytes", data))
        if not self.visit.spend(self._frames, unpaid, now / 1_000):
            self._cut_off(_TOO_MUCH)
        elif self._fragments > MOST_FRAGMENTS:
            self._cut_off(f"a message in more than {MOST_FRAGMENTS} fragments")
        elif self.transport.get_write_buffer_size() > MOST_UNREAD:
            self.transport.abort()
        return self._work

    def process_event(self, event: Any) -> None:
        """Count a frame and its work; pass a message to ``take``, or note when it arrived."""
        if not isinstance(event, Frame):
            self._work += HANDSHAKE_WORK
        elif event.opcode in _DATA and event.fin:
            self._fragments = 0
            self._frames += 1
            self._work += MESSAGE_WORK
            if self.take is not None and (message := self._next(event)) is not None:
                self.take(message, self._arrived_ms)
                return
            self.stamps.append(self._arrived_ms)
        else:
            self._fragments += event.opcode in _DATA
            self._frames += 1
            self._work += 1
        super().process_event(event)

    def _next(self, frame: Frame) -> bytes | str | None:
        """Return the message that a frame completes, or None if it has to wait for ``recv``.

        It has to if others wait, if it came in fragments, or if its text is not UTF-8.
        """
        if frame.opcode is Opcode.CONT or self.recv_messages.frames.queue:
            return None
        data = bytes(frame.data)
        if frame.opcode is Opcode.BINARY:
            return data
        try:
            return data.decode()
        except UnicodeDecodeError:
            return None

    def _fill(self) -> None:
        self._is_full = True
        self.transport.pause_reading()

    def _resume_reading(self) -> None:
        self._is_full = False
        if self._pending:
            self._queue()
        else:
            self.transport.resume_reading()

    def _queue(self) -> None:
        if not self._is_queued and not self._is_full:
            self._is_queued = True
            self._intake.add(self)

    def _cut_off(self, why: str) -> None:
        self._pending.clear()
        if not self.protocol.close_expected():
            self.protocol.fail(CloseCode.POLICY_VIOLATION, why)
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


class ServerEnd(Metered, ServerConnection):
    """The listening end."""


class ClientEnd(Metered, ClientConnection):
    """The dialling end."""

    async def handshake(self, *args: Any, **kwargs: Any) -> None:
        """Shake hands; raise as websockets does, even if the server refused before the request."""
        if self.protocol.handshake_exc is not None:
            raise self.protocol.handshake_exc
        await super().handshake(*args, **kwargs)

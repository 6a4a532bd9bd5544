"""A channel carries messages to and from one peer.

Frames of a ``PipeChannel`` are MessagePack, after its length in four bytes, little-endian.
"""

from __future__ import annotations

import asyncio
import contextlib
import struct
import time
from collections.abc import Callable
from typing import NamedTuple, Protocol

from .codec import MAX_FRAME, MSGPACK, Codec
from .errors import PeerError, forget_where
from .messages import Message

_LENGTH = struct.Struct("<I")


def now_ms() -> int:
    """Read the monotonic clock in whole milliseconds; games use no other clock."""
    return time.monotonic_ns() // 1_000_000


class ChannelClosed(Exception):
    """The peer is gone, or the channel was closed; ``code`` is the WebSocket close code."""

    def __init__(self, reason: str, code: int | None = None) -> None:
        super().__init__(reason)
        self.code = code


class Arrival(NamedTuple):
    """A message, or the fault that made it unreadable, and when its last byte arrived."""

    content: Message | PeerError
    at_ms: int
    """On the clock of ``now_ms``."""

    @classmethod
    def read(cls, codec: Codec, frame: bytes | str, at_ms: int) -> Arrival:
        """Read a received frame."""
        try:
            return cls(codec.decode(frame), at_ms)
        except PeerError as error:
            forget_where(error)
            return cls(error, at_ms)


class Channel(Protocol):
    """One peer. One task may send while another receives."""

    peer: str
    """The peer's name in logs and messages."""

    @property
    def round_trip_ms(self) -> int:
        """The last measured round-trip time; 0 if never measured."""
        return 0

    @property
    def has_more(self) -> bool:
        """Whether another message is here, so that ``receive`` would not wait, if that is known."""
        return False

    def send_now(self, message: Message) -> bool:
        """Send a message if that needs no wait; return whether it was sent.

        A message to a peer that is gone counts as sent. By default nothing is sent: only ``send``
        notices that the peer is gone.
        """
        return False

    async def send(self, message: Message) -> None:
        """Send a message; raise ChannelClosed if the peer is gone."""
        ...

    async def receive(self) -> Arrival:
        """Wait for a message, or a ``PeerError`` if unreadable; ChannelClosed as ``send``."""
        ...

    def hand_over(self, take: Callable[[Arrival], None] | None) -> None:
        """Call ``take`` with each message as it arrives, unless others wait; None ends that.

        It saves waking a task for each message. Which peer comes first is then decided where bytes
        are read, by what each peer owes (``protocol.intake``). ``take`` must not raise.
        """
        ...

    async def close(self, code: int = 1000, reason: str = "") -> None:
        """Close the channel; may be repeated."""
        ...


class PipeChannel(Channel):
    """A channel over a pair of byte streams between two processes on this machine.

    The peer is a process of ours, which does not flood us.
    """

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, peer: str
    ) -> None:
        self.peer = peer
        self._reader = reader
        self._writer = writer
        self._length: int | None = None  # of the incoming frame

    async def send(self, message: Message) -> None:
        """Send a message."""
        frame = MSGPACK.encode(message)
        assert isinstance(frame, bytes)
        try:
            self._writer.write(_LENGTH.pack(len(frame)) + frame)
            await self._writer.drain()
        except (ConnectionError, RuntimeError) as error:
            raise ChannelClosed(f"{self.peer}: {error or 'the pipe is closed'}") from None

    async def receive(self) -> Arrival:
        """Wait for the next message; cancellation loses nothing."""
        try:
            if self._length is None:
                (self._length,) = _LENGTH.unpack(await self._reader.readexactly(_LENGTH.size))
            if self._length > MAX_FRAME:
                raise ChannelClosed(f"{self.peer}: a frame of {self._length} bytes", 1009)
            frame = await self._reader.readexactly(self._length)
        except (asyncio.IncompleteReadError, ConnectionError):
            raise ChannelClosed(f"{self.peer}: the pipe is closed") from None
        self._length = None
        return Arrival.read(MSGPACK, frame, now_ms())

    def hand_over(self, take: Callable[[Arrival], None] | None) -> None:
        """Do nothing: all messages wait for ``receive``."""

    async def close(self, code: int = 1000, reason: str = "") -> None:
        """Close the writing end."""
        self._writer.close()
        with contextlib.suppress(ConnectionError):
            await self._writer.wait_closed()

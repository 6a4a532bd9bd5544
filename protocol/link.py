"""One connection to a peer, for either end: a channel with a queue to send and a reader."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable
from typing import Any

import structlog

from .channel import Arrival, Channel, ChannelClosed, now_ms
from .errors import PeerError
from .messages import Goodbye, Message, Ping, Pong
from .parts import MAX_SENTENCE
from .session import InGame

log = structlog.get_logger(__name__)

OUTBOX_LIMIT = 256
"""Messages waiting for a peer; a slower reader is cut off."""

ERRORS_LIMIT = 20
"""Unacceptable messages after which a connection is closed."""

KEPT_MESSAGES = 8

_closing: set[asyncio.Task[None]] = set()
"""Tasks that nobody awaits, safe from the garbage collector."""


class Link:
    """A channel with a queue and a reader; it answers pings.

    What a bot says in a game that it has taken up over this link goes to the game (``bind``).
    ``on_message`` takes each other message, and its arrival in milliseconds. If it raises a
    ``PeerError``, that is answered, and the peer may go on unless it happens too often; other
    exceptions end ``run``. With ``remembers`` the last messages are in ``recent``.
    """

    def __init__(
        self,
        channel: Channel,
        on_message: Callable[[Message, int], None],
        *,
        remembers: bool = False,
    ) -> None:
        self.channel = channel
        self.recent: deque[str] = deque(maxlen=KEPT_MESSAGES if remembers else 0)
        self.heard_ms = now_ms()
        self.closing: str | None = None
        """Why this end closes the connection; None: it does not."""
        self._on_message = on_message
        self._games: dict[str, Callable[[InGame, int], None]] = {}
        """By game, what takes the messages of its bot."""
        self._outbox: asyncio.Queue[Message] = asyncio.Queue(OUTBOX_LIMIT)
        self._is_writing = False
        self._errors = 0
        self._running: asyncio.Task[Any] | None = None
        self._failure: Exception | None = None
        """An exception raised outside ``run``, which ``run`` raises."""

    def bind(self, game: str, take: Callable[[InGame, int], None]) -> None:
        """Hand a bot's messages in a game to ``take``, which does not raise, until ``unbind``."""
        self._games[game] = take

    def unbind(self, game: str) -> None:
        """Hand a game's messages to ``on_message`` again."""
        self._games.pop(game, None)

    def send(self, message: Message) -> None:
        """Send or queue a message; cut off a peer for which too many wait."""
        if self._outbox.empty() and not self._is_writing and self.channel.send_now(message):
            return
        try:
            self._outbox.put_nowait(message)
        except asyncio.QueueFull:
            if self.closing is not None:
                return
            log.warning("peer does not read", peer=self.channel.peer)
            self.close_soon(1008, "you do not read what is sent to you")

    async def run(self) -> str:
        """Carry messages until the channel closes; return the reason."""
        self._running = asyncio.current_task()
        writer = asyncio.create_task(self._write())
        writer.add_done_callback(self._written)
        self.channel.hand_over(self._receive_now)
        try:
            while True:
                self._receive(await self.channel.receive())
                if self.channel.has_more:
                    await asyncio.sleep(0)  # other peers get their turn before a talkative one
        except ChannelClosed as closed:
            self._running = None  # nothing else may end it now
            await self.channel.close()
            return str(closed)
        except asyncio.CancelledError:
            if self._failure is None or self._running is None or self._running.uncancel():
                raise
            failure, self._failure = self._failure, None
            try:
                raise failure from None
            finally:
                del failure  # it leads to this frame
        finally:
            self.channel.hand_over(None)
            # Break the cycles: its owner and seats refer to this link.
            self._on_message = lambda _message, _at_ms: None
            self._games.clear()
            self._running = None
            writer.cancel()
            await asyncio.wait([writer])  # not ``await writer``: a cancellation meanwhile counts

    def _receive_now(self, arrival: Arrival) -> None:
        """Take a message outside ``run``; if that raises, ``run`` raises it."""
        try:
            self._receive(arrival)
        except Exception as error:
            self._fail(error)

    def _written(self, writer: asyncio.Task[None]) -> None:
        """If the writer failed, end ``run`` with its exception."""
        error = None if writer.cancelled() else writer.exception()
        if isinstance(error, Exception):
            self._fail(error)

    def _fail(self, error: Exception) -> None:
        if self._failure is not None:
            return
        self.channel.hand_over(None)
        self._failure = error
        if self._running is not None:
            self._running.cancel()

    def _receive(self, arrival: Arrival) -> None:
        if self.closing is not None:
            return
        content, at_ms = arrival
        if isinstance(content, PeerError):
            self.refuse(content)
            return
        try:
            self.heard_ms = at_ms
            if self.recent.maxlen:
                self.recent.append(repr(content)[:300])
            if isinstance(content, InGame) and (take := self._games.get(content.game)) is not None:
                take(content, at_ms)
            elif isinstance(content, Ping):
                self.send(Pong(id=content.id))
            elif not isinstance(content, Pong):
                self._on_message(content, at_ms)
        except PeerError as error:
            self.refuse(error)

    async def flush(self) -> None:
        """Wait until the queue is empty, for a second at most."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(1):
                await self._outbox.join()

    def refuse(self, error: PeerError) -> None:
        """Answer an unacceptable message."""
        self._errors += 1
        log.info("refused", peer=self.channel.peer, code=error.code, reason=error.reply.message)
        self.send(error.reply)
        if error.close is not None:
            self.close_soon(error.close, error.code)
        elif self._errors >= ERRORS_LIMIT:
            self.close_soon(1008, f"too many invalid messages ({self._errors})")

    def dismiss(self, close: int, code: str, message: str) -> None:
        """Say goodbye and close the connection."""
        self.send(Goodbye(code=code, message=message[:MAX_SENTENCE]))
        self.close_soon(close, code)

    def close_soon(self, code: int, reason: str) -> None:
        """Close the connection once the queue is empty; take no more messages."""
        self.closing = reason

        async def close() -> None:
            await self.flush()
            await self.channel.close(code, reason)

        task = asyncio.create_task(close())
        _closing.add(task)
        task.add_done_callback(_closing.discard)

    async def _write(self) -> None:
        with contextlib.suppress(ChannelClosed):
            while True:
                message = await self._outbox.get()
                self._is_writing = True
                await self.channel.send(message)
                self._is_writing = False
                self._outbox.task_done()

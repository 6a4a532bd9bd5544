"""The loopback listener for this host's worker processes over WebSockets."""

from __future__ import annotations

import asyncio
import secrets

from websockets.asyncio.server import Server
from websockets.http11 import Request

from protocol.channel import ChannelClosed
from protocol.messages import Hello
from protocol.websocket import WebSocketChannel, listen

__all__ = ["Reception"]


class Reception:
    """Admits expected processes, each by its token, and no other connection."""

    def __init__(self) -> None:
        self.url = ""
        self._expected: dict[str, asyncio.Future[WebSocketChannel]] = {}
        self._server: Server | None = None

    async def open(self) -> None:
        """Listen on a free port of loopback."""
        self._server = await listen("127.0.0.1", 0, self._receive, trusted=True)
        self.url = f"ws://127.0.0.1:{next(iter(self._server.sockets)).getsockname()[1]}"

    async def close(self) -> None:
        """Stop listening."""
        if self._server is not None:
            self._server.close()
            await self._server.wait_closed()

    def expect(self) -> tuple[str, asyncio.Future[WebSocketChannel]]:
        """Return a process's token, and a future channel, set after its hello."""
        token = secrets.token_urlsafe(32)
        future: asyncio.Future[WebSocketChannel] = asyncio.get_running_loop().create_future()
        self._expected[token] = future
        return token, future

    async def _receive(self, channel: WebSocketChannel, request: Request) -> None:
        token = request.headers.get("Authorization", "").removeprefix("Bearer ")
        future = self._expected.pop(token, None)
        if future is None or future.done():
            await channel.close(1008, "forbidden")
            return
        try:
            hello = (await channel.receive()).content
        except ChannelClosed as closed:
            future.set_exception(closed)
            return
        if not isinstance(hello, Hello):
            future.set_exception(ChannelClosed("a worker did not say hello"))
            return
        future.set_result(channel)
        await channel.ended()

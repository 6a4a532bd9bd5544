"""A server on a thread of its own, for commands that run in the test's."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress

from protocol.channel import Channel, ChannelClosed
from protocol.websocket import listen


class Scripted:
    """A server on a thread of its own, from ``with`` to the end of the block."""

    def __init__(self, script: Callable[[Channel, object], Awaitable[None]]) -> None:
        self._script = script
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._stop = asyncio.Event()
        self._thread = threading.Thread(target=self._serve)
        self.url = ""

    def _serve(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._until_stopped())

    async def _until_stopped(self) -> None:
        server = await listen("127.0.0.1", 0, self._until_gone)
        self.url = f"ws://127.0.0.1:{next(iter(server.sockets)).getsockname()[1]}"
        self._ready.set()
        await self._stop.wait()
        server.close()
        await server.wait_closed()

    async def _until_gone(self, channel: Channel, request: object) -> None:
        with suppress(ChannelClosed):
            await self._script(channel, request)

    def __enter__(self) -> str:
        self._thread.start()
        self._ready.wait()
        return self.url

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()

"""An engine driven by a page: its process and its output."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import Awaitable, Callable
from typing import TypeAlias

import structlog
from websockets.exceptions import ConnectionClosed

from harness.figures import plain
from harness.seats.engines.process import EngineFailed, EngineProcess

from .config import Launch

__all__ = ["BURST", "Driven", "Say", "is_ours"]

log = structlog.get_logger(__name__)

BURST = 32
"""Lines relayed before other tasks get their turn."""

MAX_UNREAD = 1 << 17
"""Bytes that an engine may leave unread before it counts as hung."""

Say: TypeAlias = Callable[[str], Awaitable[None]]
"""Sends a line to the page; waits until there is room for it."""


def is_ours(line: str) -> bool:
    """Return whether a line belongs to the bridge's own protocol, whoever sends it."""
    return line.lstrip().startswith("bridge")


class Driven:
    """A running engine; ``open`` starts it, ``begin`` relays its output.

    ``say`` sends a line to the page; ``over`` is called once, when nothing of the engine is left.
    """

    def __init__(self, id: str, process: EngineProcess, say: Say, over: Callable[[], None]) -> None:
        self.id = id
        self.is_over = False
        self._process = process
        self._say = say
        self._over = over
        self._relaying: asyncio.Task[None] | None = None

    @classmethod
    async def open(cls, launch: Launch, say: Say, over: Callable[[], None]) -> Driven:
        """Start an engine.

        Raises:
            EngineFailed: there is no such program.
            OSError: no process can be had.
        """
        process = await EngineProcess.start(
            launch.command,
            name=launch.id,
            folder=launch.folder,
            environment=launch.environment,
            limits=launch.limits,
        )
        return cls(launch.id, process, say, over)

    def begin(self) -> None:
        """Relay the engine's output from now on."""
        self._relaying = asyncio.create_task(self._relay())

    async def tell(self, line: str) -> None:
        """Send the engine a line."""
        self._process.send(line)
        if self._process.unread > MAX_UNREAD and not self.is_over:
            await self.close()
            await self._say(f"bridge closed {self.id} it does not read what it is told")

    async def close(self) -> None:
        """End its process and all its children. Safe to repeat."""
        if self._relaying is not None:
            self._relaying.cancel()
            await asyncio.gather(self._relaying, return_exceptions=True)
        await self._end()

    async def _relay(self) -> None:
        with contextlib.suppress(ConnectionClosed):  # the page's own loop then ends it
            try:
                for count in itertools.count(1):
                    line = await self._process.line()
                    if not is_ours(line):
                        await self._say(line)
                    if count % BURST == 0:
                        await asyncio.sleep(0)
            except EngineFailed as failed:
                reason = plain(str(failed))
            await self._end()
            log.info("engine ended", engine=self.id, reason=reason)
            await self._say(f"bridge closed {self.id} {reason}")

    async def _end(self) -> None:
        await self._process.quit("quit")
        if not self.is_over:
            self.is_over = True
            self._over()

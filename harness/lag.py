"""How late the host itself runs: its event loop is asked every few milliseconds.

A host that is busy sees moves later than they came. What it finds is written beside each move, so
that a reader of the result can tell a slow player from a slow host.
"""

from __future__ import annotations

import asyncio
import contextlib
from types import TracebackType

__all__ = ["LagMeter"]

EVERY_S = 0.02


class LagMeter:
    """Measures by how much the loop of this process is late, while it is entered."""

    def __init__(self) -> None:
        self._worst_s = 0.0
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> LagMeter:
        self._task = asyncio.create_task(self._measure())
        return self

    async def __aexit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    def worst_since_ms(self) -> int:
        """Say the worst lateness since the last ``reset``, in milliseconds."""
        return int(self._worst_s * 1_000)

    def reset(self) -> None:
        """Begin a new period; with several games at once, of any of them."""
        self._worst_s = 0.0

    async def _measure(self) -> None:
        loop = asyncio.get_running_loop()
        due = loop.time() + EVERY_S
        while True:
            await asyncio.sleep(due - loop.time())
            late = loop.time() - due
            self._worst_s = max(self._worst_s, late)
            due = loop.time() + EVERY_S

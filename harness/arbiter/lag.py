"""How late the host itself runs, measured by its event loop every few milliseconds.

A message that arrives while the loop is blocked is stamped late, when the block ends. The meter
knows when that was: the player is not charged, and the lag is recorded beside the move.
"""

from __future__ import annotations

import asyncio
import math
from collections import deque
from collections.abc import Callable
from typing import NamedTuple

from protocol.channel import now_ms

EVERY_MS = 20
NOTABLE_MS = 3
JUST_AFTER_MS = 5
"""Messages that waited for the end of a block are stamped within this time after it."""


class _Block(NamedTuple):
    began_ms: int
    ended_ms: int


class LagMeter:
    """Measures the delays of this process's loop, while entered; ``observe`` takes each, in ms."""

    def __init__(self, observe: Callable[[int], None] = lambda _ms: None) -> None:
        self._observe = observe
        self._blocks: deque[_Block] = deque(maxlen=64)
        self._due_ms = math.inf
        """When the loop should wake up next."""
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> LagMeter:
        self._task = asyncio.create_task(self._measure())
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])  # a cancellation of this passes through
        self._due_ms = math.inf

    def late_at(self, at_ms: int) -> int:
        """Return the greatest possible delay of the stamp ``at_ms``, in milliseconds."""
        if at_ms >= self._due_ms + NOTABLE_MS:  # a delayed task may run before the block is noted
            return int(at_ms - self._due_ms)
        for block in reversed(self._blocks):
            if block.ended_ms + JUST_AFTER_MS < at_ms:
                break
            if block.began_ms <= at_ms:
                return min(at_ms, block.ended_ms) - block.began_ms
        return 0

    async def _measure(self) -> None:
        while True:
            due = now_ms() + EVERY_MS
            self._due_ms = due
            await asyncio.sleep(max(0, due - now_ms()) / 1_000)
            self.note(due, now_ms())

    def note(self, due_ms: int, woke_ms: int) -> None:
        """Note a wake-up, in most cases later than due."""
        self._observe(woke_ms - due_ms)
        if woke_ms - due_ms >= NOTABLE_MS:
            self._blocks.append(_Block(due_ms, woke_ms))

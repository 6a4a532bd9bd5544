"""When a search is over: its time has run out, or it was told to end."""

from __future__ import annotations

import threading
from collections.abc import Callable

from bot.player import Budget
from protocol.channel import now_ms

__all__ = ["Watch"]

FOR_EVER_MS = 10**15


class Watch(Budget):
    """A budget that a search can wait for the end of. Safe to use from any thread.

    Args:
        ends_ms: when it is over; None: when it is told to end.
        clock: gives the time in milliseconds.
    """

    def __init__(self, ends_ms: int | None = None, clock: Callable[[], int] = now_ms) -> None:
        super().__init__(FOR_EVER_MS if ends_ms is None else ends_ms, clock=clock)
        self._told = threading.Event()
        self._is_timed = ends_ms is not None

    def cancel(self) -> None:
        """End it now."""
        super().cancel()
        self._told.set()

    def wait(self) -> None:
        """Wait until it is over."""
        self._told.wait(self.remaining_ms() / 1_000 if self._is_timed else None)

"""Ctrl-C in a command that knows something at any time."""

from __future__ import annotations

import signal
from collections.abc import Callable
from contextlib import AbstractContextManager

__all__ = ["Interrupt"]


class Interrupt(AbstractContextManager["Interrupt"]):
    """Turns the first Ctrl-C into a request for what is known; the second ends the command.

    Args:
        heard: called at the first.
    """

    def __init__(self, heard: Callable[[], None] = lambda: None) -> None:
        self._tell, self._heard = heard, False

    def __enter__(self) -> Interrupt:
        self._before = signal.signal(signal.SIGINT, self._hear)
        return self

    def __exit__(self, *_: object) -> None:
        signal.signal(signal.SIGINT, self._before)

    def __call__(self) -> bool:
        """Return whether Ctrl-C was pressed."""
        return self._heard

    def _hear(self, *_: object) -> None:
        self._heard = True
        signal.signal(signal.SIGINT, self._before)
        self._tell()

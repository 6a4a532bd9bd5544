"""The step in which kernels are compiled, shown on standard error."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from bot.seat.compilation import CompilationFailed, Progress, compile_kernels
from harness.figures import counted

from .failing import CommandFailed

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import TaskID

EVERY_S = 10.0
"""Seconds between lines of progress without a terminal."""


def compile_first(modules: Iterable[str], say: Callable[[str], None]) -> None:
    """Compile the missing kernels of modules and of what they import, and show how far it is."""
    shown = _Shown(say)
    try:
        compile_kernels(modules, shown.update, say)
    except CompilationFailed as failure:
        raise CommandFailed(str(failure), status=1) from None
    finally:
        shown.close()


class _Shown:
    """Kernels ready of how many, time so far and time left: a bar on a terminal, else lines."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._began = self._said = time.monotonic()
        self._bar: tuple[Bar, TaskID] | None = None
        self._first: Progress | None = None
        self._last = Progress(0, 0, 0.0)
        self._is_waiting = False

    def update(self, progress: Progress) -> None:
        """Show a step."""
        self._last = progress
        if self._first is None:
            self._first = progress
            self._open(progress)
        if progress.waits_for and not self._is_waiting:
            self._is_waiting = True
            self._print(f"another command compiles {progress.waits_for}; waiting for it")
        if self._bar is not None:
            self._bar[0].update(self._bar[1], completed=progress.share, **self._fields())
        elif time.monotonic() >= self._said + EVERY_S:
            self._said = time.monotonic()
            self._say(self._so_far())

    def close(self) -> None:
        """End with a line that says how many are ready."""
        if self._first is None:
            return
        if self._bar is not None:
            self._bar[0].stop()
        spent = time.monotonic() - self._began
        which = "all" if self._last.ready == self._last.total else f"{self._last.ready} of"
        others = self._last.ready - self._first.ready - self._last.compiled
        by_others = f", {others} of them by another command" if others else ""
        kernels = counted(self._last.total, "kernel")
        self._say(f"{which} {kernels} ready after {spent:.0f} s{by_others}")

    def _open(self, progress: Progress) -> None:
        left = counted(progress.total - progress.ready, "search kernel")
        self._say(f"compiling {left} for this processor, once for this version")
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            TextColumn,
            TimeElapsedColumn,
        )
        from rich.progress import Progress as Bar

        console = Console(stderr=True)
        if not console.is_terminal or console.is_dumb_terminal:
            return
        with suppress(OSError):
            bar = Bar(
                TextColumn("kernels"),
                BarColumn(),
                TextColumn(f"{{task.fields[ready]}}/{progress.total}"),
                TimeElapsedColumn(),
                TextColumn("{task.fields[left]}"),
                console=console,
                transient=True,
            )
            self._bar = bar, bar.add_task("", total=1.0, **self._fields())
            bar.start()

    def _so_far(self) -> str:
        spent = time.monotonic() - self._began
        so_far = f"{self._last.ready} of {self._last.total} kernels ready, {spent:.0f} s so far"
        return ", ".join(filter(None, (so_far, self._left())))

    def _left(self) -> str:
        """Return roughly how long the rest takes; empty before the first kernel is ready."""
        if not self._last.share:
            return ""
        spent = time.monotonic() - self._began
        return f"about {spent / self._last.share - spent:.0f} s left"

    def _fields(self) -> dict[str, Any]:
        return {"ready": self._last.ready, "left": self._left()}

    def _print(self, sentence: str) -> None:
        if self._bar is None:
            self._say(sentence)
        else:
            self._bar[0].console.print(f"tilewire: {sentence}", highlight=False, markup=False)

"""The step in which kernels are compiled, shown on standard error."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from bot.seat.compilation import CompilationFailed, Progress, compile_kernels
from harness.figures import counted

from .failing import CommandFailed

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

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
        self._bar: Bar | None = None
        self._first: Progress | None = None
        self._last = Progress(0, 0, 0.0)
        self._is_waiting = False

    def update(self, progress: Progress) -> None:
        """Show a step."""
        self._last = progress
        if self._first is None:
            self._first = progress
            left = counted(progress.total - progress.ready, "search kernel")
            self._say(f"compiling {left} for this processor, once for this version")
            self._bar = _bar(progress.total)
        spent, left = time.monotonic() - self._began, ""
        if progress.share:
            left = f"about {spent / progress.share - spent:.0f} s left"
        if progress.waits_for and not self._is_waiting:
            self._is_waiting = True
            self._say(f"another command compiles {progress.waits_for}; waiting for it")
        if self._bar is not None:
            self._bar.update(
                self._bar.task_ids[0], completed=progress.share, ready=progress.ready, left=left
            )
        elif time.monotonic() >= self._said + EVERY_S:
            self._said = time.monotonic()
            ready = f"{progress.ready} of {progress.total} kernels ready, {spent:.0f} s so far"
            self._say(f"{ready}, {left}" if left else ready)

    def close(self) -> None:
        """End with a line that says how many are ready."""
        if self._first is None:
            return
        if self._bar is not None:
            self._bar.stop()
        spent = time.monotonic() - self._began
        which = "all" if self._last.ready == self._last.total else f"{self._last.ready} of"
        others = self._last.ready - self._first.ready - self._last.compiled
        by_others = f", {others} of them by another command" if others else ""
        kernels = counted(self._last.total, "kernel")
        self._say(f"{which} {kernels} ready after {spent:.0f} s{by_others}")


def _bar(total: int) -> Bar | None:
    """Begin a bar of kernels on standard error; None if that is no terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    console = Console(stderr=True)
    if not console.is_terminal or console.is_dumb_terminal:
        return None
    bar = Bar(
        TextColumn("kernels"),
        BarColumn(),
        TextColumn(f"{{task.fields[ready]}}/{total}"),
        TimeElapsedColumn(),
        TextColumn("{task.fields[left]}"),
        console=console,
        transient=True,
    )
    bar.add_task("", total=1.0, ready=0, left="")
    bar.start()
    return bar

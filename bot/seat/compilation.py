"""Compiling kernels before a seat is offered a game, as a step of its own, on all cores.

The kernels of a seat are those that its modules import. Each missing one is compiled by one of as
many processes as there are cores (``python -m bot.seat.compilation``, kernels by line on its
standard input), and kept as soon as it is compiled, so that a step that was stopped goes on where
it was. A kernel that another command compiles is left for the end, and waited for: if its process
dies, it is compiled here.
"""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections import deque
from collections.abc import Callable, Iterable
from typing import NamedTuple

from bot.cores import usable_cores
from lexicons import kernel_cache
from lexicons.kernel_cache import KernelName, kernels_of

from .worker_handle import worker_command

EVERY_SEAT = "bot.seat.player_thread"
"""The module of a seat's process, whose kernels every local seat uses."""


class StepProgress(NamedTuple):
    """How far the step is."""

    ready: int
    total: int
    """Kernels that the seats use."""
    share: float
    """Share of the work that is done, of what was missing, by the size of the sources."""
    compiled: int = 0
    """Those that this step has compiled; another command may have compiled others meanwhile."""
    waits_for: str = ""
    """The kernel that another process compiles, if that is all that is left for one of ours."""


class CompilationFailed(Exception):
    """A kernel could not be compiled; the message has the last words of the compiler."""


def compile_kernels(
    modules: Iterable[str],
    report: Callable[[StepProgress], None],
    notice: Callable[[str], None],
) -> None:
    """Compile the missing kernels of modules and of all that they import, on all cores.

    ``report`` is called at each step, first with what is ready already; never if nothing is
    missing. ``notice`` gets a sentence if kernels can't be kept; they are then kept in a temporary
    folder, for this process and those that it starts.

    Raises:
        CompilationFailed: a compiler died twice over the same kernel.
    """
    if problem := kernel_cache.cache_problem():
        notice(f"{problem}; until then they are compiled for this command alone")
        folder = tempfile.mkdtemp(prefix="tilewire-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        os.environ["TILEWIRE_CACHE"] = folder
        kernel_cache.forget_folders()
    kernels = kernels_of(modules)
    missing = [kernel for kernel in kernels if not kernel.is_kept]
    if missing:
        _Step(kernels, missing, report).run()


class _Step:
    """One step: the kernels that are left, and the processes that compile them."""

    def __init__(
        self,
        kernels: list[KernelName],
        missing: list[KernelName],
        report: Callable[[StepProgress], None],
    ) -> None:
        # The largest first, so that no core is left with one of them at the end.
        largest_first = sorted(missing, key=lambda kernel: kernel.effort, reverse=True)
        self._queue = deque((kernel, False) for kernel in largest_first)
        """Each with whether to wait for it: a kernel that another command was compiling when its
        turn came is put back at the end, with True."""
        self._total = len(kernels)
        self._ready = len(kernels) - len(missing)
        self._compiled_here = 0
        """Of those that are ready, how many this command compiled itself."""
        self._effort_total = sum(kernel.effort for kernel in missing)
        self._effort_left = self._effort_total
        self._report = report
        self._lock = threading.Lock()
        self._failure = ""
        self._has_ended = False
        self._compilers: list[subprocess.Popen[str]] = []

    def run(self) -> None:
        self._report(self._progress())
        threads = [
            threading.Thread(target=self._work, daemon=True)
            for _ in range(min(usable_cores(), len(self._queue)))
        ]
        for thread in threads:
            thread.start()
        try:
            for thread in threads:
                thread.join()
        finally:
            with self._lock:
                self._has_ended = True  # an interrupted step starts no more
            for compiler in self._compilers:
                with compiler:  # closes the pipes, and waits
                    compiler.kill()
        if self._failure:
            raise CompilationFailed(self._failure)

    def _progress(self, waits_for: str = "") -> StepProgress:
        share = 1 - self._effort_left / self._effort_total
        return StepProgress(self._ready, self._total, share, self._compiled_here, waits_for)

    def _work(self) -> None:
        compiler = None
        while True:
            with self._lock:
                if not self._queue:
                    return
                kernel, wait = self._queue.popleft()
                if wait:
                    self._report(self._progress(kernel.name))
            for _ in range(2):
                if (compiler := compiler or self._start()) is None:
                    return
                answer = _ask(compiler, kernel, wait=wait)
                if answer:
                    break
                compiler = None  # it was killed, perhaps for its memory; another one goes on
            with self._lock:
                if answer == "busy":
                    self._queue.append((kernel, True))
                elif answer:
                    self._ready += 1
                    self._compiled_here += answer == "compiled"
                    self._effort_left -= kernel.effort
                    self._report(self._progress())
                else:
                    self._failure = f"{kernel.module}.{kernel.name} can't be compiled; see above"
                    self._queue.clear()

    def _start(self) -> subprocess.Popen[str] | None:
        """Start a compiler; None if the step has ended meanwhile."""
        with self._lock:
            if self._has_ended:
                return None
            compiler = subprocess.Popen(
                worker_command(module=__name__),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            self._compilers.append(compiler)
            return compiler


def _ask(compiler: subprocess.Popen[str], kernel: KernelName, *, wait: bool) -> str:
    """Return the answer, as that of ``compile_alone``; empty if the compiler has died."""
    assert compiler.stdin is not None, "it has pipes"
    assert compiler.stdout is not None, "it has pipes"
    try:
        compiler.stdin.write(f"{kernel.module} {kernel.name} {int(wait)}\n")
        compiler.stdin.flush()
    except BrokenPipeError:
        return ""
    return compiler.stdout.readline().strip()


def main() -> None:
    """Compile the kernels that are named on standard input."""
    from . import syscalls

    syscalls.die_with_parent()
    from lexicons.jit import compile_alone

    for line in sys.stdin:
        module, name, wait = line.split()
        print(compile_alone(module, name, wait=wait == "1"), flush=True)


if __name__ == "__main__":
    main()

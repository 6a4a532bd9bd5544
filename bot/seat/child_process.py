"""A process of somebody's code, supervised: its limits, its last words, and its end.

It runs under a guard (``guard.py``) that kills it with all that it started when it ends, when we
let go of it, or when we die. It leads a session of its own, so a Ctrl-C at the host's terminal is
the host's to handle. ``bot.seat.worker_handle`` runs workers of ours in one, and
``harness.seats.engines.process`` the engines of others.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import signal
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import structlog

__all__ = ["ChildProcess", "Limits", "Spawned", "spawn"]

log = structlog.get_logger(__name__)

MAX_LINE = 1 << 16
"""Bytes of a line that are read before its end has to come."""

TAIL_BYTES = 4_096
KILL_S = 2.0
SETTLE_S = 0.25
"""What an exit status gets to come in behind the end of the output; some never end."""

_GUARD = Path(__file__).with_name("guard.py")


@dataclass(frozen=True)
class Limits:
    """What a process may have.

    Raises:
        ValueError: less than 16 MiB, or no core.
    """

    memory_mb: int = 0
    """Its address space in MiB; 0: as much as there is."""
    cores: int = 0
    """How many cores it may run on; 0: all."""

    def __post_init__(self) -> None:
        """Check what would keep any program from starting."""
        if self.memory_mb and self.memory_mb < 16:
            raise ValueError(
                f"a memory of {self.memory_mb} MiB; no program starts with less than 16"
            )
        if self.cores < 0:
            raise ValueError(f"{self.cores} cores; it is 1 or more, or 0 for all")


@dataclass(frozen=True)
class Spawned:
    """A process that has just been started under its guard."""

    process: asyncio.subprocess.Process
    lifeline: int
    """The end of a pipe; the guard kills everything when it is closed."""
    cores: Sequence[int]
    """The cores that were chosen for it and are noted as in use."""


async def spawn(
    command: Sequence[str],
    *,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
    limits: Limits | None = None,
    pipes: bool = True,
    one_stream: bool = False,
) -> Spawned:
    """Start a process under a guard.

    Args:
        command: the path of the program, and its arguments.
        folder: its working directory; None: ours.
        environment: all of it; None: ours.
        limits: what it may have; None: as much as there is.
        pipes: whether we speak to it over its standard input and output.
        one_stream: whether its standard error goes to its standard output.

    Raises:
        OSError: no process can be started, which is the host's fault.
    """
    reading, lifeline = os.pipe()
    limits = limits or Limits()
    cores = _some_cores(limits.cores)
    _in_use.update(cores)
    guard = [sys.executable, "-I", "-S", str(_GUARD)]
    guard += [str(reading), str(limits.memory_mb), ",".join(map(str, cores)) or "-"]
    stream = asyncio.subprocess.PIPE if pipes else asyncio.subprocess.DEVNULL
    try:
        process = await asyncio.create_subprocess_exec(
            *guard,
            *command,
            stdin=stream,
            stdout=stream,
            stderr=asyncio.subprocess.STDOUT if one_stream else asyncio.subprocess.PIPE,
            cwd=folder,
            env=environment,
            pass_fds=(reading,),
            start_new_session=True,
            limit=MAX_LINE,
        )
    except BaseException:  # cancelled, for one
        _in_use.subtract(cores)
        os.close(lifeline)
        raise
    finally:
        os.close(reading)
    return Spawned(process, lifeline, cores)


class ChildProcess:
    """A running process of somebody's code.

    Args:
        spawned: the process.
        name: what it is called in logs and sentences.
    """

    def __init__(self, spawned: Spawned, name: str) -> None:
        self.name = name
        self._process = spawned.process
        self._lifeline = spawned.lifeline
        self._cores = spawned.cores
        self._tail = bytearray()
        self._drain = asyncio.create_task(self._read_stderr())

    @property
    def returncode(self) -> int | None:
        """Its exit status, once it has ended; below zero the signal that ended it."""
        status = self._process.returncode  # the guard says 128 and the number of a signal
        return 128 - status if status is not None and status > 128 else status

    @property
    def stderr_tail(self) -> str:
        """The last 4 KB that it wrote to its standard error."""
        return self._tail.decode(errors="replace")

    async def wait(self) -> int:
        """Wait for the end of the process and its last words; return its exit status."""
        await self._process.wait()
        await self.settle()
        assert self.returncode is not None
        return self.returncode

    async def settle(self) -> None:
        """Let the exit status and the last words come in."""
        ending = asyncio.ensure_future(self._process.wait())
        await asyncio.wait({ending, self._drain}, timeout=SETTLE_S)
        ending.cancel()

    async def kill(self) -> None:
        """Kill it and all that it started; nothing is left when this returns. Again is allowed."""
        if self._lifeline >= 0:
            os.close(self._lifeline)
            self._lifeline = -1
            _in_use.subtract(self._cores)
        with contextlib.suppress(ProcessLookupError):
            self._process.send_signal(signal.SIGCONT)  # the guard, if the process has stopped it
        reading = asyncio.create_task(self._read_out())  # an end with unread output is none
        try:
            async with asyncio.timeout(KILL_S):
                await self._process.wait()
        except TimeoutError:  # the guard itself was stopped
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
            await self._process.wait()
        await self.settle()
        for task in (reading, self._drain):
            task.cancel()
        await asyncio.gather(reading, self._drain, return_exceptions=True)
        if self._process.stdin is not None:
            self._process.stdin.close()

    def heard_on_stderr(self, text: str) -> None:
        """Take a part of what it writes to its standard error; by default it is logged."""
        log.debug("stderr", process=self.name, text=text.rstrip())

    async def _read_out(self) -> None:
        """Read what nobody wants any more."""
        stream = self._process.stdout
        with contextlib.suppress(RuntimeError):  # somebody is reading it
            while stream is not None and await stream.read(MAX_LINE):
                pass

    async def _read_stderr(self) -> None:
        stream = self._process.stderr
        while stream is not None and (chunk := await stream.read(TAIL_BYTES)):
            self._tail += chunk
            del self._tail[:-TAIL_BYTES]
            self.heard_on_stderr(chunk.decode(errors="replace"))


_next_core = itertools.count()

_in_use: Counter[int] = Counter()
"""How many processes run on a core that was chosen for them."""


def _some_cores(count: int) -> list[int]:
    """Choose the cores with the fewest processes, in turn where it is the same.

    In turn alone would not do: of two games whose engines start two processes a turn, a short one
    and a long one, both long ones may always get the same core.
    """
    if not count or not hasattr(os, "sched_getaffinity"):
        return []
    here = sorted(os.sched_getaffinity(0))
    first = next(_next_core) % len(here)
    return sorted(sorted(here[first:] + here[:first], key=lambda core: _in_use[core])[:count])

"""Supervision of a child process: its limits, its last words, and its end.

It runs under a guard (``guard.py``). When the process ends, when we close the lifeline, or when we
die, the guard kills it and its descendants. The guard also confines other people's programs. The
process leads its own session, so that Ctrl-C at the terminal reaches the host only.
"""

from __future__ import annotations

import asyncio
import codecs
import contextlib
import itertools
import os
import secrets
import signal
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import structlog

from . import containment, guard
from .confinement import Confinement

log = structlog.get_logger(__name__)

MAX_LINE = 1 << 16
"""Longest line, in bytes."""

TAIL_BYTES = 4_096
KILL_S = 2.0
SETTLE_S = 1.0
"""Longest wait for the exit status and the end of the output; some processes never end.

Its guard ends what it has started before it tells the status, which takes long if cores are busy.
"""

_MARK = "TILEWIRE_GUARDED"
"""Environment variable that marks a guard's descendants; its value is unique to the guard."""


@dataclass(frozen=True)
class Limits:
    """Limits of a process; ValueError if memory is below 16 MiB or cores below 0."""

    memory_mb: int = 0
    """Address space in MiB; 0: unlimited."""
    cores: int = 0
    """Number of cores; 0: all."""

    def __post_init__(self) -> None:
        if self.memory_mb and self.memory_mb < 16:
            raise ValueError(f"{self.memory_mb} MiB of memory; no program starts with less than 16")
        if self.cores < 0:
            raise ValueError(f"{self.cores} cores; it is 1 or more, or 0 for all")


class Process(Protocol):
    """The part of ``asyncio.subprocess.Process`` that is used here."""

    stdin: asyncio.StreamWriter | None
    stdout: asyncio.StreamReader | None
    stderr: asyncio.StreamReader | None

    @property
    def pid(self) -> int:
        """Its process id, which is also the id of its session."""

    @property
    def returncode(self) -> int | None:
        """Its exit status, once it has ended."""

    async def wait(self) -> int:
        """Wait for its end; return its exit status."""


@dataclass(frozen=True)
class Spawned:
    """A process just started under its guard."""

    process: Process
    lifeline: int
    """One end of a pipe; the guard kills everything when it closes."""
    cores: Sequence[int] = ()
    """The cores chosen for it, counted as in use."""
    mark: str = ""
    """The value of ``_MARK`` in its environment and its descendants'; empty: no mark."""


async def spawn(
    command: Sequence[str],
    *,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
    limits: Limits | None = None,
    confinement: Confinement | None = None,
    pipes: bool = True,
    one_stream: bool = False,
    handed: Sequence[int] = (),
) -> Spawned:
    """Start a process under a guard.

    Args:
        command: path of the program, and its arguments.
        folder: working directory; None: ours.
        environment: the whole environment; None: as much of ours as bots inherit.
        limits: of memory and cores; None: no limits.
        confinement: for a program that is not ours; None: it is not confined.
        pipes: whether to open pipes to its standard input and output.
        one_stream: whether its standard error goes to its standard output.
        handed: descriptors that it inherits, under the same numbers.

    Raises:
        OSError: no process can be started, which is the host's fault.
    """
    containment.shield()
    guard_end, lifeline = os.pipe()
    limits = limits or Limits()
    cores = _choose_cores(limits.cores)
    _core_uses.update(cores)
    confinement = (confinement or Confinement())._replace(cores=cores)
    if limits.memory_mb:
        confinement = confinement._replace(memory_mb=limits.memory_mb)
    mark = secrets.token_hex(8)
    stream = asyncio.subprocess.PIPE if pipes else asyncio.subprocess.DEVNULL
    try:
        process = await asyncio.create_subprocess_exec(
            *containment.guard_command(guard_end, confinement, list(command)),
            stdin=stream,
            stdout=stream,
            stderr=asyncio.subprocess.STDOUT if one_stream else asyncio.subprocess.PIPE,
            cwd=folder,
            env={
                **(containment.environment() if environment is None else environment),
                _MARK: mark,
            },
            pass_fds=(guard_end, *handed),
            start_new_session=True,
            limit=MAX_LINE,
        )
    except BaseException:  # such as a cancellation
        _core_uses.subtract(cores)
        os.close(lifeline)
        raise
    finally:
        os.close(guard_end)
    return Spawned(process, lifeline, cores, mark)


class ChildProcess:
    """A running process, ours or foreign; its name is for logs and messages."""

    def __init__(self, spawned: Spawned, name: str) -> None:
        self.name = name
        self._process = spawned.process
        self._lifeline = spawned.lifeline
        self._cores = spawned.cores
        self._mark = spawned.mark
        self._stderr_tail = bytearray()
        self._reading_stderr = asyncio.create_task(self._read_stderr())

    @property
    def returncode(self) -> int | None:
        """Exit status, once it has ended; if negative, minus the signal that ended it."""
        status = self._process.returncode  # the guard reports a signal as 128 plus its number
        return 128 - status if status is not None and status > 128 else status

    @property
    def stderr_tail(self) -> str:
        """The last 4 KB of its standard error."""
        return self._stderr_tail.decode(errors="replace")

    async def wait(self) -> int:
        """Wait for the end of the process and its last output; return its exit status."""
        await self._process.wait()
        await self.settle()
        assert self.returncode is not None
        return self.returncode

    async def settle(self) -> None:
        """Wait briefly for the exit status and the last output."""
        ending = asyncio.ensure_future(self._process.wait())
        await asyncio.wait({ending, self._reading_stderr}, timeout=SETTLE_S)
        ending.cancel()

    async def kill(self) -> None:
        """Kill it and its descendants; none is left when this returns. May be repeated."""
        if self._lifeline >= 0:
            os.close(self._lifeline)
            self._lifeline = -1
            _core_uses.subtract(self._cores)
        # Popen.send_signal might reap the guard, and asyncio would not learn its exit status.
        if self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._process.pid, signal.SIGCONT)  # wake a guard that the process stopped
        reading = asyncio.create_task(self._read_out())  # unread output would hide the end
        try:
            async with asyncio.timeout(KILL_S):
                await self._process.wait()
        except TimeoutError:  # it was stopped, or a process that it left holds its pipes
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
            while self._process.returncode is None:  # noqa: ASYNC110  # nothing tells
                await asyncio.sleep(0.01)
        if (self._process.returncode or 0) < 0:  # a signal ended the guard before it was done
            await asyncio.to_thread(_end_orphans, self._process.pid, self._mark)
        await self._process.wait()
        await self.settle()
        for task in (reading, self._reading_stderr):
            task.cancel()
        await asyncio.gather(reading, self._reading_stderr, return_exceptions=True)
        if self._process.stdin is not None:
            self._process.stdin.close()

    def on_stderr(self, text: str) -> None:
        """Take a part of its standard error; by default it is logged."""
        log.debug("stderr", process=self.name, text=text.rstrip())

    async def _read_out(self) -> None:
        stream = self._process.stdout
        with contextlib.suppress(RuntimeError):  # another task is reading
            while stream is not None and await stream.read(MAX_LINE):
                pass

    async def _read_stderr(self) -> None:
        stream = self._process.stderr
        decoder = codecs.getincrementaldecoder("utf-8")("replace")  # a part may end in a character
        while stream is not None and (chunk := await stream.read(TAIL_BYTES)):
            self._stderr_tail += chunk
            del self._stderr_tail[:-TAIL_BYTES]
            self.on_stderr(decoder.decode(chunk))


_next_core = itertools.count()

_core_uses: Counter[int] = Counter()
"""Number of processes for which each core was chosen."""


def _choose_cores(count: int) -> list[int]:
    """Choose the cores with the fewest processes, round-robin among equals.

    Plain round-robin fails if the engines of two games start two processes a turn, a short one and
    a long one: both long ones could always share a core.
    """
    if not count or not hasattr(os, "sched_getaffinity"):
        return []
    here = sorted(os.sched_getaffinity(0))
    first = next(_next_core) % len(here)
    return sorted(sorted(here[first:] + here[:first], key=lambda core: _core_uses[core])[:count])


def _end_orphans(session: int, mark: str) -> None:
    """Kill the processes of the guard's session or with its mark; we adopted them when it died."""
    while orphans := [pid for pid in guard.children() if _is_left_by(session, mark, pid)]:
        guard.end(orphans)


def _is_left_by(session: int, mark: str, pid: int) -> bool:
    with contextlib.suppress(OSError):
        if os.getsid(pid) == session:
            return True
        environ = Path(f"/proc/{pid}/environ").read_bytes()
        return bool(mark) and f"{_MARK}={mark}".encode() in environ
    return False

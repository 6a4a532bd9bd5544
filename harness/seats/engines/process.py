"""An engine's process: lines to it and from it, and its end, whatever it does.

It runs under a guard (``guard.py``) that kills it with all that it started when it ends, when we
let go of it, or when we die. What it says is read when it is wanted and not before, so that one
that never stops printing fills a pipe and not our memory; what was said last, both ways, and the
end of its standard error are kept as evidence.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import shutil
import signal
import sys
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar

import structlog

__all__ = ["EngineFailed", "EngineProcess", "Limits"]

log = structlog.get_logger(__name__)

T = TypeVar("T")

MAX_LINE = 1 << 16
"""Bytes of a line; one that is longer is no answer of any engine that we know."""

BURST = 32
"""Lines that are taken before others get their turn."""

PLENTY = 10_000
"""Lines in answer to one question after which it is read slowly."""

SLOWLY_S = 0.001
"""A pause after each burst then: the host has better to do than to read without end."""

KEPT_LINES = 60
KEPT_CHARACTERS = 400  # of a line
TAIL_BYTES = 4_096
KILL_S = 2.0
DRAIN_S = 0.5
SETTLE_S = 0.08
"""What an exit status gets to come in behind the end of the output; some never end."""

_GUARD = Path(__file__).with_name("guard.py")


class EngineFailed(Exception):
    """An engine can't go on: ``code`` is ``crash`` (its process ended) or ``stall`` (it hangs)."""

    def __init__(self, code: Literal["crash", "stall"], message: str) -> None:
        super().__init__(message)
        self.code = code


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


class EngineProcess:
    """A running engine; ``start`` makes one."""

    def __init__(
        self,
        process: asyncio.subprocess.Process,
        lifeline: int,
        name: str,
        program: str,
        cores: Sequence[int] = (),
    ) -> None:
        self.name = name
        self._process = process
        self._lifeline = lifeline
        self._program = program
        self._cores = cores  # which are noted as in use
        self.cut_off = False
        """Whether its last line has no end: it has ended in the middle of it."""
        self._recent: deque[str] = deque(maxlen=KEPT_LINES)
        self._tail = bytearray()
        self._drain = asyncio.create_task(self._read_stderr())

    @classmethod
    async def start(
        cls,
        command: Sequence[str],
        *,
        name: str,
        folder: Path | None = None,
        environment: Mapping[str, str] | None = None,
        limits: Limits = Limits(),
        one_stream: bool = False,
    ) -> EngineProcess:
        """Start an engine.

        Args:
            command: the program and its arguments.
            name: what it is called in logs and sentences.
            folder: its working directory; ours if none is given.
            environment: added to ours.
            limits: what it may have.
            one_stream: whether lines of its standard error are among those that it says.

        Raises:
            EngineFailed: there is no such program, or it may not be run.
            OSError: no process can be had, which is the host's fault.
        """
        program = await asyncio.to_thread(_find, command[0], name)
        reading, lifeline = os.pipe()
        cores = _some_cores(limits.cores)
        _in_use.update(cores)
        guard = [sys.executable, "-I", "-S", str(_GUARD)]
        guard += [str(reading), str(limits.memory_mb), ",".join(map(str, cores)) or "-"]
        pipe = asyncio.subprocess.PIPE
        try:
            process = await asyncio.create_subprocess_exec(
                *guard,
                program,
                *command[1:],
                stdin=pipe,
                stdout=pipe,
                stderr=asyncio.subprocess.STDOUT if one_stream else pipe,
                cwd=folder,
                env={**os.environ, **(environment or {})},
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
        return cls(process, lifeline, name, command[0], cores)

    # --- what is left of it -----------------------------------------------------------------------

    @property
    def returncode(self) -> int | None:
        """Its exit status once it has ended; 128 and more: the number of a signal added."""
        return self._process.returncode

    @property
    def unread(self) -> int:
        """How many bytes of what it was told it has left with us so far."""
        stream = self._process.stdin
        return 0 if stream is None else stream.transport.get_write_buffer_size()

    def evidence(self) -> str:
        """Give what helps to find out what went wrong: status, standard error, the last lines."""
        words = self._tail.decode(errors="replace").strip()
        status = "still running" if self.returncode is None else _status_text(self.returncode)
        return "\n".join(
            (
                f"{self._program}: {status}",
                f"stderr:\n{words or '(nothing)'}",
                "last lines:",
                *self._recent,
            )
        )

    async def last_words(self) -> EngineFailed:
        """Say how it ended, once the last that it wrote has come in."""
        await self._settled()
        words = self._tail.decode(errors="replace").strip().splitlines()
        last = f": {words[-1][:200]}" if words else ""
        status = (
            "has closed its output" if self.returncode is None else _status_text(self.returncode)
        )
        return EngineFailed("crash", f"{self.name} {status}{last}")

    # --- lines ------------------------------------------------------------------------------------

    def send(self, line: str) -> None:
        """Say a line; it is not waited for, and what a dead process is told is lost."""
        self._recent.append(f"> {line[:KEPT_CHARACTERS]}")
        stream = self._process.stdin
        if stream is not None and not stream.is_closing():
            stream.write(line.encode() + b"\n")

    async def line(self) -> str:
        """Wait for a line that it says, without its end.

        Raises:
            EngineFailed: it has ended, or says a line without end.
        """
        assert self._process.stdout is not None
        try:
            said = await self._process.stdout.readuntil(b"\n")
        except asyncio.IncompleteReadError as error:
            said, self.cut_off = error.partial, True
            if not said:
                raise await self.last_words() from None
        except asyncio.LimitOverrunError:
            raise EngineFailed(
                "stall", f"{self.name} says a line of more than {MAX_LINE // 1024} KB"
            ) from None
        text = said.decode(errors="replace").rstrip("\r\n")
        self._recent.append(f"< {text[:KEPT_CHARACTERS]}")
        return text

    async def lines(self) -> AsyncIterator[str]:
        """Give the lines that it says, one by one, as the answer to one question.

        Raises:
            EngineFailed: it has ended.
        """
        for count in itertools.count(1):
            if count % BURST == 0:
                await asyncio.sleep(SLOWLY_S if count > PLENTY else 0)
            yield await self.line()

    async def wait_for(self, wanted: Callable[[str], T | None], limit_s: float, what: str) -> T:
        """Read lines until one is what is wanted.

        Args:
            wanted: gives what a line says, or None if it is another.
            limit_s: how long to wait.
            what: is waited for, in the sentence that says that it did not come.

        Raises:
            EngineFailed: it has ended, or the time has.
        """
        try:
            async with asyncio.timeout(limit_s):
                async for line in self.lines():
                    if (found := wanted(line)) is not None:
                        return found
        except TimeoutError:
            raise EngineFailed(
                "stall", f"{self.name} has not said {what} within {limit_s:g} s"
            ) from None
        raise AssertionError("lines end with an error")

    def close_input(self) -> None:
        """Say that nothing more will be said."""
        if self._process.stdin is not None:
            self._process.stdin.close()

    # --- its end ----------------------------------------------------------------------------------

    async def wait(self) -> int:
        """Wait until it has ended by itself; give its exit status."""
        return await self._process.wait()

    async def quit(self, line: str, limit_s: float = 0.5) -> None:
        """Ask it to end, and kill it if it does not."""
        self.send(line)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(limit_s):
                await self._process.wait()
        await self.kill()

    async def kill(self) -> None:
        """Kill it and all that it started; nothing is left when this returns. Again is allowed."""
        if self._lifeline >= 0:
            os.close(self._lifeline)
            self._lifeline = -1
            _in_use.subtract(self._cores)
        with contextlib.suppress(ProcessLookupError):
            self._process.send_signal(signal.SIGCONT)  # the guard, if the engine has stopped it
        reading = asyncio.create_task(self._read_out())  # an end with unread output is none
        try:
            async with asyncio.timeout(KILL_S):
                await self._process.wait()
        except TimeoutError:  # the guard itself was stopped
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
            await self._process.wait()
        await self._settled()
        for task in (reading, self._drain):
            task.cancel()
        await asyncio.gather(reading, self._drain, return_exceptions=True)
        self.close_input()

    async def _settled(self) -> None:
        """Let the exit status and the last words come in."""
        ending = asyncio.ensure_future(self._process.wait())
        await asyncio.wait({ending, self._drain}, timeout=SETTLE_S)
        ending.cancel()

    async def _read_out(self) -> None:
        """Read what nobody wants any more."""
        assert self._process.stdout is not None
        while await self._process.stdout.read(MAX_LINE):
            pass

    async def _read_stderr(self) -> None:
        stream = self._process.stderr
        while stream is not None and (chunk := await stream.read(TAIL_BYTES)):
            self._tail += chunk
            del self._tail[:-TAIL_BYTES]
            log.debug("stderr", engine=self.name, text=chunk.decode(errors="replace").rstrip())


def _find(program: str, name: str) -> str:
    """Find a program as a shell would; give its absolute path, for it may start elsewhere."""
    found = shutil.which(program)
    if found is None:
        why = "may not be run" if Path(program).is_file() else "is not there"
        raise EngineFailed("crash", f"{name} can't be started: {program} {why}")
    return str(Path(found).absolute())


_next_core = itertools.count()


_in_use: Counter[int] = Counter()
"""How many engines run on a core that was chosen for them."""


def _some_cores(count: int) -> list[int]:
    """Choose the cores that the fewest engines beside this one have, in turn where it is the same.

    In turn alone would not do: of two games whose engines start two processes a turn, a short one
    and a long one, both long ones may always get the same core.
    """
    if not count or not hasattr(os, "sched_getaffinity"):
        return []
    here = sorted(os.sched_getaffinity(0))
    first = next(_next_core) % len(here)
    return sorted(sorted(here[first:] + here[:first], key=lambda core: _in_use[core])[:count])


def _status_text(status: int) -> str:
    by_signal = -status if status < 0 else status - 128  # less than 0: the guard itself was killed
    with contextlib.suppress(ValueError):
        return f"was ended by {signal.Signals(by_signal).name}"
    return f"ended with exit status {status}"

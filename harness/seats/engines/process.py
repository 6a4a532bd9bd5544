"""An engine's process: lines to it and from it.

Its output is read only on demand, so endless output fills a pipe and not our memory.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import shutil
import signal
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Literal, TypeVar

from bot.seat import containment
from bot.seat.child_process import MAX_LINE, ChildProcess, Limits, Spawned, spawn

T = TypeVar("T")

BURST = 32
"""Lines read before other tasks get their turn."""

PLENTY = 10_000
"""Lines in answer to one question after which reading slows down."""

SLOWLY_S = 0.001
"""Pause after each burst from then on: the host has other work than endless output."""

KEPT_LINES = 60
KEPT_CHARACTERS = 400  # per line


class EngineFailed(Exception):
    """An engine can't go on: ``code`` is ``crash`` (its process ended) or ``stall`` (it hangs)."""

    def __init__(self, code: Literal["crash", "stall"], message: str) -> None:
        super().__init__(message)
        self.code = code


class EngineProcess(ChildProcess):
    """A running engine; reading raises ``EngineFailed`` if it has ended or a line is too long."""

    def __init__(self, spawned: Spawned, name: str, program: str) -> None:
        super().__init__(spawned, name)
        self._program = program
        self.cut_off = False
        """Whether it ended in the middle of its last line."""
        self.log: Callable[[str], None] | None = None
        """Takes each line in both directions, as it is sent or read, and of its standard error."""
        self.is_known: Callable[[str], bool] = bool
        """Checks whether a line means something; the log marks the others."""
        self._recent: deque[str] = deque(maxlen=KEPT_LINES)

    @classmethod
    async def start(
        cls,
        command: Sequence[str],
        *,
        name: str,
        folder: Path | None = None,
        environment: Mapping[str, str] | None = None,
        limits: Limits | None = None,
        one_stream: bool = False,
        hidden: Sequence[Path] = (),
    ) -> EngineProcess:
        """Start an engine; ``environment`` is added to what it inherits, else as for ``spawn``.

        It does not see the files and folders that are ``hidden``.

        Raises:
            EngineFailed: the program does not exist or may not be run.
            OSError: no process can be started: the host's fault.
        """
        program = await asyncio.to_thread(_find, command[0], name)
        spawned = await spawn(
            [program, *command[1:]],
            folder=folder,
            environment={**containment.environment(), **(environment or {})},
            limits=limits,
            confinement=await asyncio.to_thread(containment.of_engine, hidden),
            one_stream=one_stream,
        )
        return cls(spawned, name, command[0])

    @property
    def unread(self) -> int:
        """Number of bytes sent to it but not read yet."""
        stream = self._process.stdin
        return 0 if stream is None else stream.transport.get_write_buffer_size()

    def evidence(self) -> str:
        """Return evidence of a failure: status, standard error, the last lines."""
        status = f"{self._program}: {self._status('still running')}"
        stderr = f"stderr:\n{self.stderr_tail.strip() or '(nothing)'}"
        return "\n".join((status, stderr, "last lines:", *self._recent))

    async def last_words(self) -> EngineFailed:
        """Describe its end, once its last output has come in."""
        await self.settle()
        words = self.stderr_tail.strip().splitlines()
        last = f": {words[-1][:200]}" if words else ""
        return EngineFailed("crash", f"{self.name} {self._status('has closed its output')}{last}")

    def _status(self, running: str) -> str:
        if self.returncode is None:
            return running
        with contextlib.suppress(ValueError):
            return f"was ended by {signal.Signals(-self.returncode).name}"
        return f"ended with exit status {self.returncode}"

    def send(self, line: str) -> None:
        """Send a line without waiting; a dead process loses it."""
        self._log(">", line)
        stream = self._process.stdin
        if stream is not None and not stream.is_closing():
            stream.write(line.encode() + b"\n")

    def on_stderr(self, text: str) -> None:
        """Log a part of its standard error."""
        super().on_stderr(text)
        for line in filter(None, text.splitlines()):
            self._log("stderr:", line)

    def _log(self, direction: str, line: str) -> None:
        if direction != "stderr:":  # of which the tail is kept
            self._recent.append(f"{direction} {line[:KEPT_CHARACTERS]}")
        if self.log is not None:
            unknown = "" if direction != "<" or self.is_known(line) else "not understood: "
            self.log(f"{datetime.now():%H:%M:%S.%f} {direction} {unknown}{line}\n")

    async def line(self) -> str:
        """Wait for a line of output, without its line end."""
        assert self._process.stdout is not None
        try:
            received = await self._process.stdout.readuntil(b"\n")
        except asyncio.IncompleteReadError as error:
            received, self.cut_off = error.partial, True
            if not received:
                raise await self.last_words() from None
        except asyncio.LimitOverrunError:
            raise EngineFailed(
                "stall", f"{self.name} says over {MAX_LINE >> 10} KB a line"
            ) from None
        text = received.decode(errors="replace").rstrip("\r\n")
        self._log("<", text)
        return text

    async def lines(self) -> AsyncIterator[str]:
        """Yield lines of output, slowly after ``PLENTY``."""
        for count in itertools.count(1):
            if count % BURST == 0:
                await asyncio.sleep(SLOWLY_S if count > PLENTY else 0)
            yield await self.line()

    async def wait_for(self, wanted: Callable[[str], T | None], limit_s: float, what: str) -> T:
        """Read lines as ``until`` does; raise EngineFailed if time ends first.

        ``what`` says what it should have done, as in "said hello".
        """
        answer = await self.until(wanted, limit_s)
        if answer is None:
            raise EngineFailed("stall", f"{self.name} has not {what} in {round(limit_s, 1):g} s")
        return answer

    async def until(self, wanted: Callable[[str], T | None], limit_s: float) -> T | None:
        """Read lines until ``wanted`` returns a value; return that, or None if time ends first."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(limit_s):
                async for line in self.lines():
                    if (answer := wanted(line)) is not None:
                        return answer
        return None

    async def quit(self, line: str, limit_s: float = 0.5) -> None:
        """Ask it to end, and kill it if it does not."""
        self.send(line)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(limit_s):
                await self._process.wait()
        await self.kill()


def _find(program: str, name: str) -> str:
    path = shutil.which(program)
    if path is None:
        why = "may not be run" if Path(program).is_file() else "is not there"
        raise EngineFailed("crash", f"{name} can't be started: {program} {why}")
    return str(Path(path).absolute())

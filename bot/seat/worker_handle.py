"""Starting and ending the processes that seats live in, from the host's side.

A process leads a session and group of its own, so that it can be killed with all that it started,
and a Ctrl-C at the host's terminal is the host's to handle. It dies with its host (see
``bot.seat.worker_main``). The folders of this program are put before anything else for it, so that
a ``bot.py`` in the folder where the host was started is not taken for ours.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import structlog

from bot.equipment import Equipment
from bot.registry import SeatSpec
from protocol.channel import Channel, PipeChannel

from .worker_main import NOTICE, TOKEN

__all__ = ["SeatProcess", "worker_command"]

log = structlog.get_logger(__name__)

TAIL_BYTES = 4_096
DRAIN_S = 0.5
"""How long the last words of a dead process are waited for; what it started may hold the pipe."""

# ``python -m bot.seat.worker_main``, except that the packages are found in the folder given and not
# in the current one or in PYTHONPATH, which may have a bot.py; -P keeps the current folder out.
_START = """
import importlib.machinery, importlib.util, runpy, sys
root = sys.argv.pop(1)
for name in ("bot", "engine", "lexicons", "protocol"):
    spec = importlib.machinery.PathFinder.find_spec(name, [root])
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
runpy.run_module("bot.seat.worker_main", run_name="__main__", alter_sys=True)
"""
_ROOT = Path(__file__).resolve().parents[2]


def worker_command(*arguments: str) -> list[str]:
    """Give the command line of a worker, whatever lies in the current folder."""
    return [sys.executable, "-P", "-c", _START, str(_ROOT), *arguments]


class SeatProcess:
    """A worker of ours, at the other end of a pipe or dialling a server by itself."""

    def __init__(
        self,
        process: asyncio.subprocess.Process,
        name: str,
        notice: Callable[[str], None] | None = None,
    ) -> None:
        self.name = name
        self._notice = notice
        self._process = process
        self._channel: Channel | None = None
        if process.stdin is not None and process.stdout is not None:
            self._channel = PipeChannel(process.stdout, process.stdin, name)
        self._tail = bytearray()
        self._drain = asyncio.create_task(self._read_stderr())
        self._killed = False

    @classmethod
    async def start(
        cls,
        spec: SeatSpec,
        equipment: Equipment,
        *,
        seed: int | None = None,
        name: str | None = None,
        connect: str | None = None,
        token: str | None = None,
        notice: Callable[[str], None] | None = None,
    ) -> SeatProcess:
        """Start a worker for a local seat; it says hello as soon as it can.

        Args:
            spec: the seat.
            equipment: what it is to play with.
            seed: for the player's own chance; none: a fresh one.
            name: what it is to call itself; by default as the seat is called.
            connect: the server to dial (``ws://…``), where it is a player; none: over a pipe.
            token: its secret there.
            notice: told in a sentence what takes it long.

        Raises:
            OSError: no process can be started.
        """
        arguments = ["--bot", spec.text or spec.target, *equipment.arguments()]
        arguments += ["--pipe"] if connect is None else ["--connect", connect, "--die-with-parent"]
        if seed is not None:
            arguments += ["--seed", str(seed)]
        if name is not None:
            arguments += ["--name", name]
        environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
        environment.pop(TOKEN, None)
        if token is not None:
            environment[TOKEN] = token
        pipe = asyncio.subprocess.DEVNULL if connect else asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(
            *worker_command(*arguments),
            stdin=pipe,
            stdout=pipe,
            stderr=asyncio.subprocess.PIPE,
            env=environment,
            start_new_session=True,
        )
        return cls(process, name or spec.name, notice)

    @property
    def channel(self) -> Channel:
        """The pipe to it."""
        assert self._channel is not None, "this worker dials a server; it has no pipe"
        return self._channel

    @property
    def pid(self) -> int:
        """The number of the process, which is that of its group too."""
        return self._process.pid

    @property
    def returncode(self) -> int | None:
        """Its exit status, once it has ended; below zero the signal that ended it."""
        return self._process.returncode

    @property
    def stderr_tail(self) -> str:
        """The last 4 KB that it wrote to its standard error."""
        return self._tail.decode(errors="replace")

    async def wait(self) -> int:
        """Wait for the end of the process and its last words; give its exit status."""
        status = await self._process.wait()
        await asyncio.wait({self._drain}, timeout=DRAIN_S)
        return status

    async def kill(self) -> None:
        """Kill the process and all of its group, and close the pipe; again is allowed."""
        if not self._killed:
            self._killed = True
            # Its group outlives it as long as anything that it started is left.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
        await self.wait()
        self._drain.cancel()
        await asyncio.gather(self._drain, return_exceptions=True)
        if self._channel is not None:
            await self._channel.close()

    async def _read_stderr(self) -> None:
        stream = self._process.stderr
        assert stream is not None
        while chunk := await stream.read(TAIL_BYTES):
            self._tail += chunk
            del self._tail[:-TAIL_BYTES]
            text = chunk.decode(errors="replace")
            log.debug("stderr", bot=self.name, text=text.rstrip())
            for line in text.splitlines() if self._notice is not None else ():
                if line.startswith(NOTICE) and self._notice is not None:
                    self._notice(line.removeprefix(NOTICE))

"""The host's side of the worker processes in which local players run."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import signal
import socket
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

import structlog

from bot.equipment import Equipment
from bot.registry import SeatSpec
from protocol.channel import Channel, PipeChannel

from . import containment
from .child_process import MAX_LINE, ChildProcess, Spawned, spawn
from .confinement import Confinement
from .containment import of_bot
from .fork_server import FORKED, WARM
from .runtime import NOTICE, PACKAGES, ROOT, read_pipe, write_pipe
from .worker_main import TOKEN, USES

log = structlog.get_logger(__name__)

# As ``python -m MODULE``, but our packages come from the given folder: the current folder or
# PYTHONPATH may have a bot.py. -P keeps the current folder out.
_START = f"""
import importlib.machinery, importlib.util, runpy, sys
root, program = sys.argv.pop(1), sys.argv.pop(1)
for name in {PACKAGES}:
    spec = importlib.machinery.PathFinder.find_spec(name, [root])
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
runpy.run_module(program, run_name="__main__", alter_sys=True)
"""


def worker_command(*arguments: str, module: str = "bot.seat.worker_main") -> list[str]:
    """Return the command line of a worker, which works whatever the current folder contains."""
    return [sys.executable, "-P", "-c", _START, str(ROOT), module, *arguments]


class SeatProcess(ChildProcess):
    """A worker, on a pipe or dialling a server."""

    def __init__(
        self,
        spawned: Spawned,
        name: str,
        notice: Callable[[str], None] | None = None,
        printed: Callable[[str], None] | None = None,
    ) -> None:
        super().__init__(spawned, name)
        self._notice = notice
        self._printed = printed
        self._rest = ""  # the beginning of a line
        self._channel: Channel | None = None
        if self._process.stdin is not None and self._process.stdout is not None:
            self._channel = PipeChannel(self._process.stdout, self._process.stdin, name)

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
        printed: Callable[[str], None] | None = None,
        parent: ForkServer | None = None,
        hidden: Sequence[Path] = (),
    ) -> SeatProcess:
        """Start a worker for a local seat; it says hello when it can.

        Args:
            spec: the seat.
            equipment: the player's equipment.
            seed: for the player's random choices; None: new.
            name: the player's name; by default the seat's.
            connect: server to dial (``ws://…``) as a player; None: talk over a pipe.
            token: its secret for the server.
            notice: takes a sentence when something takes long, or the player's code failed.
            printed: takes what it prints, on standard error too.
            parent: the warm parent that forks it; None: start a new process.
            hidden: files and folders of ours that a user's bot must not see.

        Raises:
            OSError: no process can be started.
        """
        arguments = _arguments(spec, equipment)
        arguments += ["--pipe"] if connect is None else ["--connect", connect]
        if seed is not None:
            arguments += ["--seed", str(seed)]
        arguments.append(f"--name={name or spec.name}")
        secret = {} if token is None else {TOKEN: token}
        confinement = await _confinement(spec, equipment, hidden)
        if parent is not None:
            spawned = await parent.fork(arguments, secret, confinement, pipes=connect is None)
        else:
            spawned = await spawn(
                worker_command(*arguments),
                environment=_environment() | secret,
                confinement=confinement,
                pipes=connect is None,
            )
        return cls(spawned, name or spec.name, notice, printed)

    @property
    def channel(self) -> Channel:
        """The pipe to it."""
        assert self._channel is not None, "this worker dials a server; it has no pipe"
        return self._channel

    async def kill(self) -> None:
        """Kill the process and its descendants, and close the pipe; may be repeated."""
        await super().kill()
        if isinstance(self._process, Forked):
            self._process.close()
        if self._rest:
            self.on_stderr("\n")
        if self._channel is not None:
            await self._channel.close()

    def on_stderr(self, text: str) -> None:
        """Pass lines for the host's user to ``notice``, and all others to ``printed``."""
        *lines, self._rest = f"{self._rest}{text}".split("\n")
        if len(self._rest) > MAX_LINE:  # the line may never end
            lines, self._rest = [*lines, self._rest], ""
        printed = []
        for line in lines:
            if not line.startswith(NOTICE):
                printed.append(line)
            elif self._notice is not None:
                self._notice(line.removeprefix(NOTICE))
        if printed:
            log.info("printed", seat=self.name, text="\n".join(printed))
            if self._printed is not None:
                self._printed("\n".join((*printed, "")))


QUIET_S, START_S = 3.0, 60.0
"""How long a bot may take to be loaded and made until we say where it is, and until it fails."""


async def try_out(
    spec: SeatSpec,
    equipment: Equipment,
    hidden: Sequence[Path] = (),
    notice: Callable[[str], None] | None = None,
) -> tuple[str, list[str]]:
    """Load a bot and make a player in a separate process, which does not see what is ``hidden``.

    ``notice`` is told where it is if that takes long. Return what is wrong with it, or an empty
    string, and the modules whose kernels it imports.
    """
    limits = "--try-out", str(QUIET_S), str(START_S)
    command = worker_command(*_arguments(spec, equipment), *limits)
    confinement = await _confinement(spec, equipment, hidden)
    # Without pipes, so that it can neither wait for input nor for a reader of what it prints.
    spawned = await spawn(command, environment=_environment(), confinement=confinement, pipes=False)
    process = SeatProcess(spawned, spec.name, notice)
    try:
        status = await process.wait()
        stderr = re.sub(rf"^{NOTICE}.*\n?", "", process.stderr_tail, flags=re.M).strip()
        if status:
            names = {number.value: number.name for number in signal.Signals}
            how = names.get(-status, f"status {status if status > 0 else 128 - status}")
            return stderr or f"its process ended without a word ({how})", []
        last = stderr.rpartition("\n")[2]
    finally:
        await process.kill()
    return "", _MODULES.findall(last) if last.startswith(USES) else []


_MODULES = re.compile(r"(?<= )(?:engine|lexicons)(?:\.[a-z_]+)+(?!\S)")


async def _confinement(spec: SeatSpec, equipment: Equipment, hidden: Sequence[Path]) -> Confinement:
    if spec.built_in:
        return Confinement()
    return await asyncio.to_thread(of_bot, spec, equipment, hidden)


def _arguments(spec: SeatSpec, equipment: Equipment) -> list[str]:
    return ["--bot", spec.anywhere, "--equipment", json.dumps(asdict(equipment))]


def _environment() -> dict[str, str]:
    return {**containment.environment(), "PYTHONUNBUFFERED": "1"}


class ForkServer(SeatProcess):
    """The warm parent of a seat's workers, which it forks (``fork_server.py``)."""

    _control: socket.socket

    @classmethod
    async def warm(
        cls, spec: SeatSpec, equipment: Equipment, notice: Callable[[str], None] | None = None
    ) -> ForkServer:
        """Start a parent and wait until it is warm; OSError if it ends before."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        arguments = [str(theirs.fileno()), *_arguments(spec, equipment), "--pipe"]
        with theirs:
            spawned = await spawn(
                worker_command(*arguments, module="bot.seat.fork_server"),
                # A library's threads could not be forked; players have threads by --threads.
                environment=_environment() | {"OPENBLAS_NUM_THREADS": "1"},
                pipes=False,
                handed=(theirs.fileno(),),
            )
        parent = cls(spawned, f"parent of {spec.name}", notice)
        parent._control = ours
        ours.setblocking(False)
        try:
            if not await asyncio.get_running_loop().sock_recv(ours, len(WARM)):
                await parent.settle()
                raise OSError(f"the warm parent ended: {parent.stderr_tail.strip()}")
        except BaseException:
            await parent.kill()
            raise
        return parent

    async def fork(
        self,
        arguments: Sequence[str],
        environment: Mapping[str, str],
        confinement: Confinement,
        *,
        pipes: bool,
    ) -> Spawned:
        """Fork a worker under a guard; OSError if that fails."""
        fork_request = {"arguments": arguments, "environment": environment}
        request = json.dumps({**fork_request, "confinement": confinement._asdict()}).encode()
        process, ours = Forked(), dict[str, int]()
        try:
            with contextlib.ExitStack() as closing:
                theirs = []
                for name in FORKED:
                    if name in ("stdin", "stdout") and not pipes:
                        end = os.open(os.devnull, os.O_RDWR)
                    elif name in ("lifeline", "stdin"):
                        end, ours[name] = os.pipe()
                    else:
                        ours[name], end = os.pipe()
                    closing.callback(os.close, end)
                    theirs.append(end)
                socket.send_fds(self._control, [request], theirs)
            await process.meet(ours)
            if not process.pid:
                raise OSError("the warm parent of the players' processes ended")
        except BaseException:  # if cancelled, too: a forked process ends with its lifeline
            for end in ours.values():
                os.close(end)
            process.close()
            raise
        return Spawned(process, ours.pop("lifeline"))

    async def kill(self) -> None:
        """Kill it and all workers that it forked."""
        self._control.close()
        await super().kill()


class Forked:
    """A forked worker under its guard, as a ``Process``."""

    def __init__(self) -> None:
        self.pid = 0
        self.returncode: int | None = None
        self.stdin: asyncio.StreamWriter | None = None
        self.stdout: asyncio.StreamReader | None = None
        self.stderr: asyncio.StreamReader | None = None
        self._transports: list[asyncio.BaseTransport] = []
        self._ended: asyncio.Task[int] | None = None

    async def meet(self, ends: dict[str, int]) -> None:
        """Take our ends of its pipes out of ``ends``, except the lifeline.

        Its guard has sent ``pid`` by then; 0: it has ended instead.
        """
        status = await self._reader(ends.pop("status"))
        self.pid = int(await status.readline() or 0)
        self.stderr = await self._reader(ends.pop("stderr"))
        if "stdout" in ends:
            self.stdout = await self._reader(ends.pop("stdout"))
            self.stdin = await write_pipe(ends.pop("stdin"))
            self._transports.append(self.stdin.transport)
        self._ended = asyncio.create_task(self._end(status))

    async def wait(self) -> int:
        """Wait for its end; return its exit status."""
        assert self._ended is not None, "it was met"
        return await asyncio.shield(self._ended)

    def close(self) -> None:
        """Close the pipes."""
        if self._ended is not None:
            self._ended.cancel()
        for transport in self._transports:
            transport.close()

    async def _end(self, status: asyncio.StreamReader) -> int:
        self.returncode = int(await status.readline() or 128 + signal.SIGKILL)
        return self.returncode

    async def _reader(self, descriptor: int) -> asyncio.StreamReader:
        reader, transport = await read_pipe(descriptor)
        self._transports.append(transport)
        return reader

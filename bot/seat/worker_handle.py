"""The host's side of the worker processes that our players live in."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

from bot.equipment import Equipment
from bot.registry import SeatSpec
from protocol.channel import Channel, PipeChannel

from .child_process import ChildProcess, Spawned, spawn
from .worker_main import NOTICE, TOKEN

# ``python -m bot.seat.worker_main``, but packages come from the given folder, not from the current
# folder or PYTHONPATH, which may have a bot.py; -P keeps the current folder out.
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
    """Return the command line of a worker, whatever the current folder contains."""
    return [sys.executable, "-P", "-c", _START, str(_ROOT), *arguments]


class SeatProcess(ChildProcess):
    """A worker of ours, on a pipe or dialling a server."""

    def __init__(
        self, spawned: Spawned, name: str, notice: Callable[[str], None] | None = None
    ) -> None:
        super().__init__(spawned, name)
        self._notice = notice
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
    ) -> SeatProcess:
        """Start a worker for a local seat; it says hello when it can.

        Args:
            spec: the seat.
            equipment: the player's equipment.
            seed: for the player's random choices; None: new.
            name: its name; by default the seat's.
            connect: server to dial (``ws://…``) as a player; None: talk over a pipe.
            token: its secret for the server.
            notice: takes a sentence when something takes long.

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
        command = worker_command(*arguments)
        spawned = await spawn(command, environment=environment, pipes=connect is None)
        return cls(spawned, name or spec.name, notice)

    @property
    def channel(self) -> Channel:
        """The pipe to it."""
        assert self._channel is not None, "this worker dials a server; it has no pipe"
        return self._channel

    async def kill(self) -> None:
        """Kill the process and its descendants, and close the pipe; may be repeated."""
        await super().kill()
        if self._channel is not None:
            await self._channel.close()

    def heard_on_stderr(self, text: str) -> None:
        """Pass on lines meant for the host's user."""
        super().heard_on_stderr(text)
        for line in text.splitlines() if self._notice is not None else ():
            if line.startswith(NOTICE) and self._notice is not None:
                self._notice(line.removeprefix(NOTICE))

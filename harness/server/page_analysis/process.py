"""An analysis process, as the server sees it: contained, and behind everything else."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from bot.seat.child_process import ChildProcess, spawn
from bot.seat.containment import of_reader
from bot.seat.worker_handle import worker_command
from harness.analysis.task import LENGTH, AnalysisTask
from harness.game_kinds import GameKind


class EngineGone(Exception):
    """The process ended, or does not answer; the message gives the reason."""


class AnalysisProcess(ChildProcess):
    """A process that does a task at a time (``harness.analysis.worker_main``)."""

    @classmethod
    async def start(
        cls, kinds: Mapping[str, GameKind], *, idle: bool = True, hidden: Sequence[Path] = ()
    ) -> AnalysisProcess:
        """Start a process for the kinds of game that are played, by table.

        With ``idle`` it runs only where a core has nothing else to do. It does not see the files
        and folders that are ``hidden``.

        Raises:
            EngineGone: no process can be started.
        """
        told = msgspec.json.encode(kinds).decode()
        command = worker_command("--kinds", told, module="harness.analysis.worker_main")
        try:
            readers = [kind.equipment for kind in kinds.values()]
            confinement = await asyncio.to_thread(of_reader, *readers, hidden=hidden)
            spawned = await spawn(command + ["--idle"] * idle, confinement=confinement)
        except OSError as error:
            raise EngineGone(str(error)) from None
        return cls(spawned, "analysis")

    async def do(
        self, task: AnalysisTask, told: Callable[[dict[str, Any]], None]
    ) -> dict[str, Any]:
        """Do a task and return its answer; ``told`` takes what is known so far.

        Raises:
            EngineGone: the process ended.
        """
        try:
            self._send(msgspec.json.encode(task))
            while "so_far" in (answer := await self._answer()):
                told(answer["so_far"])
            return answer
        except (OSError, asyncio.IncompleteReadError):
            await self.settle()
            last = self.stderr_tail.strip().rpartition("\n")[2]
            raise EngineGone(last or f"exit status {self.returncode}") from None

    def stop(self) -> None:
        """End the current task early, with what is known by then."""
        self._send(b'{"stop":true}')

    def _send(self, message: bytes) -> None:
        stdin = self._process.stdin
        assert stdin is not None
        if not stdin.is_closing():  # a process that is gone is found by reading
            stdin.write(LENGTH.pack(len(message)) + message)

    async def _answer(self) -> dict[str, Any]:
        reader = self._process.stdout
        assert reader is not None
        (length,) = LENGTH.unpack(await reader.readexactly(LENGTH.size))
        answer: dict[str, Any] = msgspec.json.decode(await reader.readexactly(length))
        return answer

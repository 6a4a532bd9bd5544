"""MAGPIE's console on pipes: what it is told, and where the answer to it ends.

Lines are heard in one of two modes. In ``sync`` it deals with one after another. An error comes
*behind* ``finished``, and the position of before stays, so the end of an answer is marked by a word
that it does not know: it says so when it has dealt with all that came before.

In ``async`` it can be told to stop. But then a line that comes just after a command has finished is
taken for something said to that command, and refused, or dropped without a word. So it is put into
``async`` for a search alone, and what it has not taken of what follows is said again.

Source: what it did when it was tried.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from pathlib import Path

from protocol.channel import now_ms

from .process import EngineFailed, EngineProcess, Limits

__all__ = ["MagpieConsole", "error_in"]

MARK = "ready"
"""The word that it does not know, with a number."""

SILENT_S = 0.5
"""When a mark is said again, lest it was dropped."""

REPEAT_S = 0.005
"""Before what it refused because of an earlier command is said again."""

SETTLE_S = 5.0
"""What it gets to change between its modes."""

STOP_MS = 1_000
"""What a search gets to stop. A simulation took 30 ms at most and an endgame 400, with more work on
the machine than it had cores; a pre-endgame took seconds, or did not stop."""


class MagpieConsole:
    """A running MAGPIE; ``start`` makes one."""

    def __init__(self, process: EngineProcess) -> None:
        self.process = process
        self.searching = False
        """Whether a search has begun and not ended: then nothing else can be asked."""
        self._marks = 0

    @classmethod
    async def start(
        cls, command: Sequence[str], name: str, folder: Path, limits: Limits
    ) -> MagpieConsole:
        """Start one; it has yet to load what it plays with.

        Raises:
            EngineFailed: there is no such program, or it may not be run.
        """
        # Its errors go to standard error; only in one stream are they in their place.
        process = await EngineProcess.start(
            command, name=name, folder=folder, limits=limits, one_stream=True
        )
        return cls(process)

    async def loaded(self, limit_s: float) -> str:
        """Wait until it has dealt with its command line; return the error, if there is one.

        Raises:
            EngineFailed: it has ended without one, or the time has.
        """
        what = "that it has loaded what it plays with"
        return error_in([await self.process.wait_for(_settled, limit_s, what)])

    async def ask(self, command: str, limit_s: float) -> list[str]:
        """Send a command and return the lines of the answer; for ``sync``.

        Raises:
            EngineFailed: it has ended, or not answered in time.
        """
        said: list[str] = []
        self._marks += 1
        mark = f"{MARK}{self._marks}"
        self.process.send(command)
        self.process.send(mark)
        try:
            async with asyncio.timeout(limit_s):
                while not await self._heard(mark, said):
                    await asyncio.sleep(REPEAT_S)
                    self.process.send(mark)
        except TimeoutError:
            raise EngineFailed(
                "stall",
                f"{self.process.name} has not answered {command[:60]!r} in {limit_s:.1f} s",
            ) from None
        return said

    async def settle(self) -> None:
        """Return to ``sync`` after a search.

        Raises:
            EngineFailed: it has ended, or won't.
        """
        until_ms = now_ms() + SETTLE_S * 1_000
        while "finished setoptions" not in await self.ask("set -mode sync", SETTLE_S):
            if now_ms() > until_ms:
                raise EngineFailed("stall", f"{self.process.name} does not take 'set -mode sync'")
            await asyncio.sleep(REPEAT_S)

    async def search(self, command: str, until_ms: int, latest_ms: int) -> list[str] | None:
        """Search; return the lines of the answer, or None if it does not stop.

        Args:
            command: with its limit of time; it must be in ``sync``.
            until_ms: when it is told to stop.
            latest_ms: when it is not waited for any longer.

        Raises:
            EngineFailed: it has ended.
        """
        await self.ask("set -mode async", SETTLE_S)
        self.searching = True
        self.process.send(command)
        said: list[str] = []
        if not await self._finished(said, min(until_ms, latest_ms)):
            self.process.send("stop")
            if not await self._finished(said, min(now_ms() + STOP_MS, latest_ms)):
                return None
        self.searching = False
        return said

    async def _heard(self, mark: str, said: list[str]) -> bool:
        """Read up to a mark; False: it has to be said again."""

        def taken(line: str) -> bool | None:
            if f"'{mark}'" in line:
                return "async command" not in line
            said.append(line)
            return None

        return await self.process.until(taken, SILENT_S) or False

    async def _finished(self, said: list[str], until_ms: int) -> bool:
        """Read what a search says, until its end or, with False, that of the time."""

        def settled(line: str) -> str | None:
            said.append(line)
            return _settled(line)

        return bool(await self.process.until(settled, max(0, until_ms - now_ms()) / 1_000))


def error_in(said: Iterable[str]) -> str:
    """Return the first error in an answer but those about marks; empty: none."""
    errors = (line for line in said if line.startswith("(error") and f"'{MARK}" not in line)
    return next(errors, "")


def _settled(line: str) -> str | None:
    """Return a line if it ends the answer to a command."""
    return line if line.startswith("finished") or error_in([line]) else None

"""MAGPIE's console on pipes: sending lines, and finding the end of an answer.

In ``sync`` it handles one line after another. An error comes *behind* ``finished``, and the earlier
position stays, so the end of an answer is marked by an unknown word: its complaint comes when all
earlier lines are done. In ``async`` it can be told to stop. But then a line just after the end of a
command is taken as addressed to that command, and refused or silently dropped. So only searches run
in ``async``, and lines that it drops afterwards are repeated.

Source: its observed behaviour.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from protocol.channel import now_ms

from .process import EngineFailed, EngineProcess

MARK = "ready"
"""The unknown word, followed by a number."""

SILENT_S = 0.5
"""Wait before a mark is repeated, in case it was dropped."""

REPEAT_S = 0.005
"""Wait before a line is repeated that an earlier command refused."""

SETTLE_S = 5.0
"""Limit for changing the mode."""

MOST_LINES = 40_000
"""Lines of an answer; the longest lists 20,000 moves."""

MOST_CHARACTERS = 1_000
"""Characters kept of a line; no line that counts has as many."""

STOP_MS = 1_000
"""Limit for stopping a search. A simulation took 30 ms at most and an endgame 400, on a busy
machine; a pre-endgame took seconds, or did not stop."""


class MagpieConsole:
    """A running MAGPIE, whose standard error joins its output, so that errors keep their place.

    Every method raises ``EngineFailed`` if it has ended or does not answer in time.
    """

    def __init__(self, process: EngineProcess) -> None:
        self.process = process
        self.searching = False
        """Whether a search is running: then nothing else can be asked."""
        self._marks = 0

    async def loaded(self, limit_s: float) -> str:
        """Wait until its command line is done; return the error, if any."""
        output = await self.process.wait_for(_settled, limit_s, "finished loading its data")
        return error_in([output])

    async def ask(self, command: str, limit_s: float) -> list[str]:
        """Send a command and return the lines of the answer; for ``sync``."""
        output: list[str] = []
        self._marks += 1
        mark = f"{MARK}{self._marks}"
        self.process.send(command)
        self.process.send(mark)
        try:
            async with asyncio.timeout(limit_s):
                while not await self._read_until(mark, output):
                    await asyncio.sleep(REPEAT_S)
                    self.process.send(mark)
        except TimeoutError:
            raise EngineFailed(
                "stall", f"{self.process.name} has not answered {command[:60]!r} in {limit_s:.1f} s"
            ) from None
        return output

    async def settle(self) -> None:
        """Return to ``sync`` after a search."""
        until_ms = now_ms() + SETTLE_S * 1_000
        while "finished setoptions" not in await self.ask("set -mode sync", SETTLE_S):
            if now_ms() > until_ms:
                raise EngineFailed("stall", f"{self.process.name} does not take 'set -mode sync'")
            await asyncio.sleep(REPEAT_S)

    async def search(self, command: str, until_ms: int, latest_ms: int) -> list[str] | None:
        """Search; return the lines of the answer, or None if it does not stop.

        The mode must be ``sync``. It is told to stop at ``until_ms``, and then awaited for
        ``STOP_MS``, at most to ``latest_ms``.
        """
        await self.ask("set -mode async", SETTLE_S)
        self.searching = True
        self.process.send(command)
        output: list[str] = []
        if not await self._finished(output, min(until_ms, latest_ms)):
            self.process.send("stop")
            if not await self._finished(output, min(now_ms() + STOP_MS, latest_ms)):
                return None
        self.searching = False
        return output

    async def _read_until(self, mark: str, said: list[str]) -> bool:
        """Read up to a mark; False: it has to be repeated."""

        def answered(line: str) -> bool | None:
            if f"'{mark}'" in line:
                return "async command" not in line
            self._add_line(line, said)
            return None

        return await self.process.until(answered, SILENT_S) or False

    async def _finished(self, said: list[str], until_ms: int) -> bool:
        """Read a search's lines until its end, or return False at the end of the time."""

        def settled(line: str) -> str | None:
            self._add_line(line, said)
            return _settled(line)

        return bool(await self.process.until(settled, max(0, until_ms - now_ms()) / 1_000))

    def _add_line(self, line: str, said: list[str]) -> None:
        """Add a line to an answer, or raise EngineFailed if that has no end."""
        if len(said) == MOST_LINES:
            raise EngineFailed("stall", f"{self.process.name} says more than {MOST_LINES:,} lines")
        said.append(line[:MOST_CHARACTERS])


def error_in(said: Iterable[str]) -> str:
    """Return the first error in an answer, except about marks; empty: none."""
    errors = (line for line in said if line.startswith("(error") and f"'{MARK}" not in line)
    return next(errors, "")


def _settled(line: str) -> str | None:
    return line if line.startswith("finished") or error_in([line]) else None

"""An adapter's interface: a foreign engine in one game, told and asked in our terms.

A dialect derives from ``Engine`` and translates ``View`` values for its engine, and the engine's
words into a ``Choice``. ``EngineSeat`` handles clocks, rules, restarts and verdicts.
"""

from __future__ import annotations

import asyncio
import shlex
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from bot.player import Choice, Result, View
from bot.registry import SeatError, SeatSpec
from bot.seat.child_process import Limits
from bot.seat.game_session import SeatPlayer
from bot.seat.offers import Declined
from engine.rules.position import Rack
from lexicons.store import Lexicon

from .process import EngineFailed, EngineProcess

__all__ = [
    "Context",
    "Declined",
    "Engine",
    "EngineChoice",
    "EngineFailed",
    "ProcessEngine",
    "data_folder",
    "limits_of",
]

STALL_S = 5.0
"""How long an engine may stay silent after a request to stop or the end of its time."""


@dataclass(frozen=True, slots=True)
class EngineChoice(Choice):
    """An engine's move; its score is checked against the arbiter's rules."""

    rack: Rack | None = None
    """The rack that it claims to play from, sorted; the arbiter knows the real rack."""


@dataclass(frozen=True)
class Context:
    """An adapter's knowledge beyond the game."""

    name: str
    """The seat's name in the match."""
    lexicon_name: str
    """The match's embedded lexicon name or file path."""
    lexicon: Lexicon
    threads: int = 1
    """Number of threads that the engine may search with."""


class Engine(SeatPlayer):
    """A foreign engine in one game. Calls come one at a time.

    ``start`` and ``choose`` raise ``EngineFailed`` if it does not start, has ended, or hangs.
    ``choose`` may take any time; it is cancelled when the game is over.
    """

    async def ended(self) -> EngineFailed:
        """Wait until the engine ends by itself, a failure; by default for ever."""
        await asyncio.Event().wait()
        raise AssertionError("nobody sets it")

    async def close(self) -> None:
        """Release everything; no process is left when this returns."""
        raise NotImplementedError

    def evidence(self) -> str:
        """Return evidence of a failure: the last lines, both ways."""
        raise NotImplementedError


class ProcessEngine(Engine):
    """An engine in a process of its own, which may be restarted in a game.

    ``quit_line`` asks it to end after a completed game.

    Args:
        spec: its command and options.
        context: what the game is played with.

    Raises:
        SeatError: an option is invalid.
    """

    quit_line = ""

    def __init__(self, spec: SeatSpec, context: Context) -> None:
        self._name = context.name
        self._command = shlex.split(spec.target)
        self._limits = limits_of(spec)
        self._process: EngineProcess | None = None
        self._running = asyncio.Event()
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._ended_well = False

    @property
    def process(self) -> EngineProcess | None:
        """The process, while it should run."""
        return self._process

    @process.setter
    def process(self, process: EngineProcess | None) -> None:
        self._process = process
        if process is None:
            self._running.clear()
        else:
            self._running.set()

    async def ended(self) -> EngineFailed:
        """Wait until a process has ended that was not killed here."""
        while True:
            await self._running.wait()
            process = self._process
            assert process is not None
            await process.wait()
            if process is self._process:
                return await process.last_words()

    @property
    def folder(self) -> Path:
        """A folder for this game, made on first use."""
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="tilewire-engine-")
        return Path(self._folder.name)

    def game_over(self, view: View, result: Result) -> None:
        """Note the end of the game; a failed engine is not told."""
        self._ended_well = True

    async def close(self) -> None:
        """End the process, and remove the folder."""
        process, self.process = self.process, None
        if process is not None and self._ended_well and self.quit_line:
            await process.quit(self.quit_line)
        elif process is not None:
            await process.kill()
        folder, self._folder = self._folder, None
        if folder is not None:
            folder.cleanup()

    def evidence(self) -> str:
        """Return the exit status, the end of standard error and the last lines."""
        return "" if self.process is None else self.process.evidence()


def limits_of(spec: SeatSpec) -> Limits:
    """Read the options ``memory`` (MiB) and ``cores``, which all engines' seats take.

    Raises:
        SeatError: they are not numbers, or too small.
    """
    options = dict(spec.options)
    try:
        return Limits(int(options.get("memory", "0")), int(options.get("cores", "0")))
    except ValueError as error:
        raise SeatError(f"{spec.text!r}: memory (MiB) and cores are numbers: {error}") from None


def data_folder(spec: SeatSpec) -> Path:
    """Return an engine's data folder: the option ``data``, or the nearest beside or above its
    program.

    Raises:
        SeatError: no such folder has lexicons (``lexica``).
    """
    given, program = dict(spec.options).get("data"), shlex.split(spec.target)[0]
    if given is not None:
        folder = Path(given).expanduser().resolve()
        if not (folder / "lexica").is_dir():
            raise SeatError(
                f"{spec.text!r}: data={given} is no data folder; it has no lexica in it"
            )
        return folder
    for above in Path(shutil.which(program) or program).resolve().parents:
        if (above / "data" / "lexica").is_dir():
            return above / "data"
    raise SeatError(f"{spec.text!r}: no data folder with lexica is near {program}; add data=DIR")

"""What an adapter is: an engine of somebody else's in one game, told and asked in our terms.

A dialect derives from ``Engine`` and turns ``View`` values into what its engine understands, and
the engine's words into a ``Choice``. Clocks, rules, restarts and verdicts are not its concern:
``EngineSeat`` sits between it and the arbiter.
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
from bot.seat.offers import Declined
from bot.seat.seat_player import SeatPlayer
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
"""How long an engine that was told to stop, or is out of time, may go on saying nothing."""


@dataclass(frozen=True, slots=True)
class EngineChoice(Choice):
    """What an engine wants to play; its score is held against the arbiter's rules."""

    rack: Rack | None = None
    """The tiles that it says it plays from, sorted; the arbiter knows what it holds."""


@dataclass(frozen=True)
class Context:
    """What an adapter may know beyond the game."""

    name: str
    """The seat's name in the match."""
    lexicon_name: str
    """An embedded lexicon's name or the path of a file, as the match was given it."""
    lexicon: Lexicon
    threads: int = 1
    """How many the engine may search with."""


class Engine(SeatPlayer):
    """A foreign engine in one game. Everything is called one at a time.

    ``start`` and ``choose`` raise ``EngineFailed`` if it does not come up, has ended, or hangs. It
    may choose as long as it likes, the clock runs; it is cancelled when the game is over.
    """

    async def ended(self) -> EngineFailed:
        """Wait until the engine has ended by itself, which it should not; by default for ever."""
        await asyncio.Event().wait()
        raise AssertionError("nobody sets it")

    async def close(self) -> None:
        """Release everything; no process is left when this returns."""
        raise NotImplementedError

    def evidence(self) -> str:
        """Return what helps to find out what went wrong: the last that was said, both ways."""
        raise NotImplementedError


class ProcessEngine(Engine):
    """An engine that is a process of its own, which may be started again in a game.

    ``quit_line`` asks it to end, after a game that it saw the end of.

    Args:
        spec: its command and options.
        context: what is played with.

    Raises:
        SeatError: an option makes no sense.
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
        """A folder of this game alone, made when it is first wanted."""
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="tilewire-engine-")
        return Path(self._folder.name)

    def game_over(self, view: View, result: Result) -> None:
        """The game has ended; an engine that hung or broke would not have come to know."""
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
    """Read the options ``memory`` (MiB) and ``cores``, which every engine's seat takes.

    Raises:
        SeatError: they are no numbers, or too small.
    """
    options = dict(spec.options)
    try:
        return Limits(int(options.get("memory", "0")), int(options.get("cores", "0")))
    except ValueError as error:
        raise SeatError(f"{spec.text!r}: memory (MiB) and cores are numbers: {error}") from None


def data_folder(spec: SeatSpec) -> Path:
    """Return an engine's data: the option ``data``, or a folder beside its program or further up.

    Raises:
        SeatError: there is none that has lexicons (``lexica``) in it.
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

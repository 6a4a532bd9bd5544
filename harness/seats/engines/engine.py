"""What an adapter is: an engine of somebody else's in one game, told and asked in our terms.

A dialect derives from ``Engine`` and turns ``View`` values into what its engine understands, and
the engine's words into an ``Answer``. Clocks, rules, restarts and verdicts are not its concern:
``EngineSeat`` sits between it and the arbiter.
"""

from __future__ import annotations

import asyncio
import shlex
import shutil
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path

from bot.player import Budget, Considered, Result, View
from bot.registry import SeatError, SeatSpec
from engine.rules.moves import Move
from engine.rules.position import Rack
from lexicons.store import Lexicon

from .process import EngineFailed, EngineProcess, Limits

__all__ = [
    "Answer",
    "Context",
    "Engine",
    "EngineFailed",
    "ProcessEngine",
    "Unsuitable",
    "data_folder",
    "limits_of",
]

STALL_S = 5.0
"""How long an engine that was told to stop, or is out of time, may go on saying nothing."""


@dataclass(frozen=True)
class Answer:
    """What an engine wants to play."""

    move: Move | str
    """A text where it could not be read: the arbiter then says what is wrong with it."""
    score: int | None = None
    """What the engine says that it scores; the arbiter's rules are held against it."""
    text: str | None = None
    """For a person to read; it goes into the record."""
    candidates: tuple[Considered, ...] = ()
    """The moves that it has looked at, the best first."""
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


class Unsuitable(Exception):
    """The engine can't play this game, as it said itself before it began; the sentence says why."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class Engine(ABC):
    """A foreign engine in one game. Everything is called one at a time."""

    @abstractmethod
    async def start(self, view: View) -> None:
        """Get ready for a game, which may be on already; no clock runs yet.

        Raises:
            EngineFailed: it did not come up.
            Unsuitable: it says that it can't play this game: other words, other rules.
        """

    @abstractmethod
    async def choose(self, view: View, budget: Budget) -> Answer:
        """Ask for a move. The budget says how long it should take, and how long it may.

        It may go on as long as it likes, the clock runs; it is cancelled when the game is over.

        Raises:
            EngineFailed: the engine has ended, or hangs.
        """

    async def told(self, view: View) -> None:  # noqa: B027 - most need not know
        """A turn was taken, one's own included; ``view`` is after it."""

    async def over(self, view: View, result: Result) -> None:  # noqa: B027
        """The game has ended."""

    @abstractmethod
    async def ended(self) -> EngineFailed:
        """Wait until the engine has ended by itself, which it should not."""

    @abstractmethod
    async def close(self) -> None:
        """Let go of everything; no process is left when this returns."""

    @abstractmethod
    def evidence(self) -> str:
        """Give what helps to find out what went wrong: the last that was said, both ways."""


class ProcessEngine(Engine):
    """An engine that is a process of its own as long as the game lasts."""

    process: EngineProcess | None = None

    async def ended(self) -> EngineFailed:
        """Wait until the process has ended by itself."""
        if self.process is None:
            await asyncio.Event().wait()
        assert self.process is not None
        await self.process.wait()
        return await self.process.last_words()

    async def close(self) -> None:
        """Kill the process."""
        process, self.process = self.process, None
        if process is not None:
            await process.kill()

    def evidence(self) -> str:
        """Give the exit status, the end of standard error and the last lines."""
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
    """Find an engine's data: the option ``data``, or the folder beside its program or further up.

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

"""An adapter's interface: a foreign engine in one game, told and asked in our terms.

A dialect derives from ``Engine`` and translates ``View`` values for its engine, and the engine's
words into a ``Choice``. ``EngineSeat`` handles clocks, rules, restarts and verdicts.
"""

from __future__ import annotations

import asyncio
import shlex
import shutil
import tempfile
from collections.abc import Callable, Collection, Iterable, Set
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from bot.player import Budget, Choice, Result, View
from bot.registry import SCRIPT, SeatError, SeatSpec
from bot.seat.child_process import Limits
from bot.seat.game_session import SeatPlayer
from bot.seat.offers import Declined
from engine.rules.position import Position, Rack
from engine.rules.rule_sets import load_rules
from engine.rules.rules import NUMBERS, WORDS, Rules
from lexicons.store import Lexicon

from .process import EngineFailed, EngineProcess

STALL_S = 5.0
"""How long an engine may stay silent after a request to stop or the end of its time."""


@dataclass(frozen=True, slots=True)
class EngineChoice(Choice):
    """An engine's move; its score is checked against the arbiter's rules."""

    rack: Rack | None = None
    """The rack that it claims to play from, sorted; the arbiter knows the real rack."""


@dataclass(frozen=True)
class Context:
    """What an adapter knows beyond the game."""

    name: str
    lexicon_name: str
    """The match's embedded lexicon name or file path."""
    lexicon: Lexicon
    threads: int = 1
    rules: Rules = field(default_factory=load_rules)
    """Those of the games to come."""
    hidden: tuple[Path, ...] = ()
    """Files and folders of ours that engines must not see."""
    log: Callable[[str], None] | None = None
    """Takes its conversation if the seat has ``log=yes``, else the end of its standard error; None:
    nothing is kept."""


class Engine(SeatPlayer):
    """A foreign engine in one game. Calls come one at a time.

    ``start`` and ``choose`` raise ``EngineFailed`` if it does not start, has ended, or hangs.
    ``choose`` may take any time; it is cancelled when the game is over.
    """

    form = ""
    """How the engine writes moves, if it may be told so."""

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

    All have the options ``memory`` (MiB), ``cores`` and ``log``; an invalid option, or a program
    that isn't there, raises ``SeatError``.
    """

    quit_line = ""
    """The line that asks it to end after a completed game; empty: it is killed."""

    def __init__(self, spec: SeatSpec, context: Context) -> None:
        self._name = context.name
        self._hidden = context.hidden
        self._command = shlex.split(spec.target)
        options = dict(spec.options)
        try:
            self._limits = Limits(int(options.get("memory", "0")), int(options.get("cores", "0")))
        except ValueError as error:
            raise SeatError(f"{spec.text!r}: memory (MiB) and cores are numbers: {error}") from None
        if options.get("log", "yes") != "yes":
            raise SeatError(f"{spec.text!r}: log is yes, or left out")
        self._kept = context.log
        self._log = context.log if "log" in options else None
        if shutil.which(self._command[0]) is None:
            raise SeatError(f"{spec.text!r}: {self._command[0]} is no program that may be run")
        script = next(filter(SCRIPT.fullmatch, self._command[1:]), None)
        if script and not (path := Path(options.get("folder", ""), script)).is_file():
            raise SeatError(f"{spec.text!r}: there is no file {path}")
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

    async def start_process(
        self, *arguments: str, folder: Path, one_stream: bool = False
    ) -> EngineProcess:
        """Start the program, with further arguments; raise as ``EngineProcess.start`` does."""
        process = await EngineProcess.start(
            [*self._command, *arguments],
            name=self._name,
            folder=folder,
            limits=self._limits,
            one_stream=one_stream,
            hidden=self._hidden,
        )
        process.log = self._log
        return process

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
        if process is not None and process.stderr_tail and self._kept and not self._log:
            self._kept(f"{process.stderr_tail.rstrip()}\n")
        folder, self._folder = self._folder, None
        if folder is not None:
            folder.cleanup()

    def evidence(self) -> str:
        """Return its exit status, the end of its standard error, and the last lines."""
        return "" if self.process is None else self.process.evidence()


def data_folder(spec: SeatSpec) -> Path:
    """Return an engine's data folder: the option ``data``, or the nearest to its program.

    Raise SeatError if none, beside or above it, has lexicons (``lexica``).
    """
    data_option, program = dict(spec.options).get("data"), shlex.split(spec.target)[0]
    if data_option is not None:
        with suppress(OSError, ValueError, RuntimeError):  # a user or a path that can't be
            folder = Path(data_option).expanduser().resolve()
            if (folder / "lexica").is_dir():
                return folder
        raise SeatError(
            f"{spec.text!r}: data={data_option} is no data folder; it has no lexica in it"
        )
    for above in Path(shutil.which(program) or program).resolve().parents:
        if (above / "data" / "lexica").is_dir():
            return above / "data"
    raise SeatError(f"{spec.text!r}: no data folder with lexica is near {program}; add data=DIR")


def check_beginning(name: str, view: View) -> None:
    """Raise Declined if the first view of a game is not an empty board."""
    if view.position.without_racks() != Position.empty(view.rules.layout):
        raise Declined("unsupported_opening", f"{name} can only begin on an empty board")


def nonstandard_rule(rules: Rules, names: Iterable[str]) -> str | None:
    """Return the first of these rules that differs from English tournaments; None: none does."""
    standard = load_rules()
    return next((name for name in names if getattr(rules, name) != getattr(standard, name)), None)


def only_standard(name: str, rules: Rules, varied: Collection[str]) -> str:
    """Return why an engine can't play by rules if only these may differ from English tournaments.

    Empty if it can. A rule that is new here is none that an engine knows.
    """
    fixed = (rule for rule in ("layout", *NUMBERS, *WORDS) if rule not in varied)
    rule = nonstandard_rule(rules, fixed)
    return f"{name} supports only the standard {rule.replace('_', ' ')}" if rule else ""


def latest_ms(budget: Budget, lead_ms: int) -> int:
    """Return the most time for a search, leaving ``lead_ms`` or, if less, a quarter of the rest."""
    last = budget.until_last_ms()
    return last - min(lead_ms, last // 4)


def difference(ours: Set[str], theirs: Set[str]) -> str:
    """Count the words that an engine lacks and adds, and name a few of each."""
    counts = []
    for words in (sorted(ours - theirs), sorted(theirs - ours)):
        few = f"{', '.join(words[:5])}{', …' if len(words) > 5 else ''}"
        counts.append(f"{len(words):,} ({few})" if words else "none")
    return f"lacks {counts[0]} and adds {counts[1]}"


@lru_cache(maxsize=4)
def words_of(lexicon: Lexicon, racks: tuple[Rack, ...]) -> list[frozenset[str]]:
    """Return, for each rack of different letters, the words that are made of its letters alone."""
    made: list[set[Rack]] = [set() for _ in racks]
    sets = list(map(frozenset, racks))
    longest = max(map(len, racks))
    for word in lexicon.graph.words():
        letters = frozenset(word)
        if len(letters) == len(word) <= longest:
            for rack, words in zip(sets, made, strict=True):
                if letters <= rack:
                    words.add(word)
    text = lexicon.distribution.alphabet.text
    return [frozenset(map(text, words)) for words in made]

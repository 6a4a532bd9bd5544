"""Options that several commands share: each is declared here once, with its help.

A command takes an alias (``threads: ThreadsOption = 1``) or a group whose fields become options
(``tables: TableOptions = TableOptions()``). Help that differs in one command is written there:
``Annotated[SeedOption, Parameter(help="…")]``.
"""

from __future__ import annotations

import asyncio
import re
import signal
import ssl
import sys
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import cyclopts
from cyclopts import Parameter, Token
from msgspec import Meta

from bot.cores import usable_cores
from bot.seat import runtime
from harness.figures import once

from .failing import UNREADABLE, CommandFailed, sentences

if TYPE_CHECKING:
    from bot.equipment import Equipment, Tables
    from engine.rules.rules import Rules
    from lexicons.alphabet import TileDistribution
    from lexicons.store import Lexicon

_UNITS_MS = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000}


# --- values ---------------------------------------------------------------------------------------


def parse_duration(text: str) -> int:
    """Read a duration such as ``25m``, ``1m30s``, ``0.5s`` or ``250ms``, in milliseconds.

    Raises:
        ValueError: it is none; a number needs its unit.
    """
    parts = re.findall(r"(\d+(?:\.\d+)?)(ms|s|m|h)", text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        raise ValueError(f"{text!r} is no duration; write 25m, 1m30s, 0.5s or 250ms")
    return round(sum(float(number) * _UNITS_MS[unit] for number, unit in parts))


def write_duration(ms: int) -> str:
    """Write milliseconds as ``parse_duration`` reads them."""
    parts = []
    for unit, length in sorted(_UNITS_MS.items(), key=lambda item: -item[1]):
        count, ms = divmod(ms, length)
        parts += [f"{count}{unit}"] if count else []
    return "".join(parts) or "0s"


def check_counts(**counts: int | None) -> None:
    """Check that counts, by the names of options, are at least 1 where they are given."""
    for name, count in counts.items():
        if count is not None and count < 1:
            raise CommandFailed(f"--{name} must be at least 1 (got {count})")


def check_durations(**durations: int | None) -> None:
    """Check that durations, by the names of options, are at least 1 ms where they are given."""
    for name, ms in durations.items():
        if ms is not None and ms < 1:
            raise CommandFailed(f"--{name} must be at least 1ms (got {write_duration(ms)})")


def _count(_type: Any, tokens: Sequence[Token]) -> int:
    number: int = cyclopts.convert(int, tokens)
    check_counts(**{(tokens[0].keyword or "").removeprefix("--"): number})
    return number


def _duration(_type: Any, tokens: Sequence[Token]) -> int:
    return parse_duration(tokens[0].value)


def _positive_duration(_type: Any, tokens: Sequence[Token]) -> int:
    ms = parse_duration(tokens[0].value)
    check_durations(**{(tokens[0].keyword or "").removeprefix("--"): ms})
    return ms


def _default(ms: int | None) -> str | None:
    return None if ms is None else write_duration(ms)


Count: TypeAlias = Annotated[int, Parameter(converter=_count, metavar="INT"), Meta(ge=1)]
"""A number that must be at least 1, in a TOML file too."""

Duration: TypeAlias = Annotated[
    int, Parameter(converter=_duration, metavar="DURATION", show_default=_default)
]
"""Milliseconds, given as ``25m``, ``1m30s`` or ``250ms``."""

PositiveDuration: TypeAlias = Annotated[Duration, Parameter(converter=_positive_duration)]
"""At least 1 ms."""


# --- options --------------------------------------------------------------------------------------

LexiconOption: TypeAlias = Annotated[
    str, Parameter(help="An embedded lexicon, or a word list or KWG file.")
]
LeavesOption: TypeAlias = Annotated[
    str | None,
    Parameter(help="trained, formula, or a leave table (KLV2). [default: the players' own]"),
]
WinprobOption: TypeAlias = Annotated[
    str | None,
    Parameter(help="trained, or a table of win probabilities (CSV). [default: the players' own]"),
]
DistributionOption: TypeAlias = Annotated[
    str, Parameter(help="The tiles: an embedded distribution or a CSV file.")
]
ThreadsOption: TypeAlias = Annotated[Count, Parameter(help="Threads for each search.")]
PonderOption: TypeAlias = Annotated[
    bool,
    Parameter(
        negative="",
        help="Let players on this machine search while their opponent thinks; each of their "
        "threads needs a core of its own.",
    ),
]
SeedOption: TypeAlias = Annotated[
    int, Parameter(help="Seed of everything that is drawn at random.")
]
TimeOption: TypeAlias = Annotated[Duration, Parameter(help="Each side's clock: 25m, 90s, 500ms.")]
IncrementOption: TypeAlias = Annotated[
    Duration, Parameter(help="Added after each move; then there is no overtime.")
]
FirstMoveOption: TypeAlias = Annotated[
    Duration,
    Parameter(help="Cap on a seat's first turn; a seat that takes longer counts as absent."),
]
BotOption: TypeAlias = Annotated[
    str,
    Parameter(help="The seat that plays: a bot's name, module:factory, file.py:factory or ws://…."),
]
BotSeedOption: TypeAlias = Annotated[int, Parameter(help="Seed of the bot's own choices.")]
GamesOption: TypeAlias = Annotated[Count, Parameter(help="How many games.")]
JsonOption: TypeAlias = Annotated[bool, Parameter(negative="")]
"""Its help is the command's own: what the object holds."""
VerboseOption: TypeAlias = Annotated[
    bool, Parameter(name=["--verbose", "-v"], negative="", help="Log what happens to stderr.")
]


@Parameter(name="*")
@dataclass(frozen=True)
class TableOptions:
    """The words, and the tables that players judge positions by."""

    lexicon: LexiconOption = "scowl"
    leaves: LeavesOption = None
    winprob: WinprobOption = None

    def equipment(self, threads: int = 1, *, ponder: bool = False) -> Equipment:
        """Return what local seats are given; paths in it are absolute."""
        return equip(self.lexicon, self.leaves, self.winprob, threads, ponder=ponder)


@Parameter(name="*")
@dataclass(frozen=True)
class BoardOptions:
    """The tiles and the board."""

    distribution: DistributionOption = "english"
    layout: str = "standard"
    """The board: an embedded layout or a text file."""

    def rules(self) -> Rules:
        """Return the rules of a game with these tiles on this board, or fail with a sentence."""
        from engine.rules.rules import standard_rules

        with sentences(kinds=UNREADABLE):
            return standard_rules(self.distribution, self.layout)


@Parameter(name="*")
@dataclass(frozen=True)
class SearchOptions:
    """The players on this machine: what they know, and with how many threads they search."""

    tables: TableOptions = TableOptions()
    threads: ThreadsOption = 1
    ponder: PonderOption = False

    def equipment(self) -> Equipment:
        """Return what local seats are given; paths in it are absolute."""
        return self.tables.equipment(self.threads, ponder=self.ponder)


# --- what options name ----------------------------------------------------------------------------


def load_words(name_or_path: str, distribution: TileDistribution | None = None) -> Lexicon:
    """Load a lexicon, or fail with its sentence."""
    from lexicons.store import load_lexicon

    with sentences(kinds=UNREADABLE):
        return load_lexicon(name_or_path, distribution, progress=say)


def equip(
    lexicon: str,
    leaves: str | None = None,
    winprob: str | None = None,
    threads: int = 1,
    *,
    ponder: bool = False,
) -> Equipment:
    """Return what local seats are given, with absolute paths; ``load_equipped`` reads the files."""
    from bot.equipment import Equipment
    from lexicons.tables import LEAVE_TABLES, WIN_PROBABILITY_TABLES, table_location

    path = Path(lexicon)
    return Equipment(
        lexicon=str(path.resolve()) if path.is_file() else lexicon,
        leaves=table_location(leaves, LEAVE_TABLES),
        win_probabilities=table_location(winprob, WIN_PROBABILITY_TABLES),
        threads=threads,
        ponder=ponder,
    )


def load_given(equipment: Equipment, lexicon: Lexicon) -> Tables:
    """Load the named tables, for these tiles, or fail; print a notice if trained on other words."""
    from bot.equipment import load_tables
    from lexicons.tables import leave_table_warnings, win_probability_warnings

    with sentences(kinds=UNREADABLE):
        tables = load_tables(equipment, lexicon.distribution)
        for sentence in (
            *leave_table_warnings(equipment.leaves, lexicon),
            *win_probability_warnings(equipment.win_probabilities, lexicon),
        ):
            say(sentence)
        return tables


def load_equipped(equipment: Equipment) -> Lexicon:
    """Load the words, and check that the tables can be read and are for their tiles."""
    lexicon = load_words(equipment.lexicon)
    load_given(equipment, lexicon)
    return lexicon


def check_pondering(seats: int, threads: int, remedy: str) -> None:
    """Check that every thread of every seat that ponders has a core of its own.

    Otherwise it would search on the time of whoever is on turn, its own side or not. ``remedy``
    names the options that could be smaller.
    """
    cores = usable_cores()
    if seats * threads > cores:
        raise CommandFailed(
            f"--ponder needs a core for every thread of every seat, {seats} × {threads} of them, "
            f"and there are {cores} here; leave it out, or lower {remedy}"
        )


def client_tls(url: str, ca: Path | None) -> ssl.SSLContext | None:
    """Return a context that trusts these certificates for a ``wss`` URL; None: the system's."""
    if ca is None or not url.startswith("wss:"):
        return None
    try:
        return ssl.create_default_context(cafile=ca)
    except (OSError, ssl.SSLError) as error:
        raise CommandFailed(f"{ca} holds no certificates that can be read: {error}") from None


def writable_folder(path: Path) -> Path:
    """Make a folder if it isn't there, or fail with a sentence."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CommandFailed(f"{path} can't be used as a folder: {error.strerror}") from None
    return path


# --- a command that runs --------------------------------------------------------------------------


def say(sentence: str) -> None:
    """Print a notice to stderr."""
    print(f"tilewire: {sentence}", file=sys.stderr, flush=True)


def say_once() -> Callable[[str], None]:
    """Return a function that prints each notice once, however many processes send it."""
    return once(say)


def log_to_stderr(verbose: bool) -> None:
    """Send the log to stderr: warnings, or with ``verbose`` everything from info on."""
    runtime.log_to_stderr("info" if verbose else "warning")


def run(main: Coroutine[Any, Any, None]) -> None:
    """Run a command's coroutine; SIGTERM ends it as Ctrl-C does.

    Raises:
        KeyboardInterrupt: it was told to end.
    """
    with asyncio.Runner(loop_factory=runtime.loop_factory()) as runner:
        runner.run(_until_told_to_end(main))


async def _until_told_to_end(main: Coroutine[Any, Any, None]) -> None:
    task, told = asyncio.ensure_future(main), False

    def end() -> None:
        nonlocal told
        told = True
        task.cancel()

    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, end)
    try:
        await task
    except asyncio.CancelledError:
        if told:
            raise KeyboardInterrupt from None
        raise


async def until_told_to_stop() -> asyncio.Event:
    """Wait for SIGTERM or Ctrl-C; return the event that a second one sets."""
    stop, at_once = asyncio.Event(), asyncio.Event()

    def told() -> None:
        (at_once if stop.is_set() else stop).set()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, told)
    await stop.wait()
    return at_once

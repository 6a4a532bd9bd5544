"""Options that several commands share, and what they are read into."""

from __future__ import annotations

import asyncio
import re
import signal
import ssl
import sys
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from cyclopts import Parameter, Token

from bot.cores import usable_cores
from bot.seat import runtime as program
from harness.figures import plain

from .failing import CommandFailed

if TYPE_CHECKING:
    from bot.equipment import Equipment, Tables
    from lexicons.alphabet import TileDistribution
    from lexicons.store import Lexicon

__all__ = [
    "Duration",
    "JsonOption",
    "LeavesOption",
    "LexiconOption",
    "PonderOption",
    "SeedOption",
    "ThreadsOption",
    "VerboseOption",
    "WinprobOption",
    "check_counts",
    "check_durations",
    "check_pondering",
    "client_tls",
    "equip",
    "load_equipped",
    "load_given",
    "load_words",
    "log_to_stderr",
    "parse_duration",
    "run",
    "say",
    "say_once",
    "writable_folder",
    "write_duration",
]

MAX_NOTICE = 200
MAX_NOTICES = 20
_UNITS_MS = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000}


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
    for unit, length in sorted(_UNITS_MS.items(), key=lambda one: -one[1]):
        count, ms = divmod(ms, length)
        parts += [f"{count}{unit}"] if count else []
    return "".join(parts) or "0s"


def check_counts(**counts: int | None) -> None:
    """See that counts, by the names of options, are 1 or more where they are given, or fail."""
    for name, count in counts.items():
        if count is not None and count < 1:
            raise CommandFailed(f"--{name} {count}: it is 1 or more")


def check_durations(**durations: int | None) -> None:
    """See that there is some time where any is given, by the names of options, or fail."""
    for name, ms in durations.items():
        if ms is not None and ms < 1:
            raise CommandFailed(f"--{name} {write_duration(ms)}: it is 1ms or more")


def _default(ms: int | None) -> str | None:
    return None if ms is None else write_duration(ms)


def _duration(_type: Any, tokens: Sequence[Token]) -> int:
    return parse_duration(tokens[0].value)


Duration: TypeAlias = Annotated[
    int, Parameter(converter=_duration, metavar="DURATION", show_default=_default)
]
"""Milliseconds, given as ``25m``, ``1m30s`` or ``250ms``."""

LexiconOption: TypeAlias = Annotated[str, Parameter(name="--lexicon")]
"""An embedded lexicon's name, or a word list (UTF-8, one word a line) or KWG file."""

LeavesOption: TypeAlias = Annotated[str | None, Parameter(name="--leaves")]
"""``trained``, ``formula`` or a leave table (KLV2) for players that use one."""

WinprobOption: TypeAlias = Annotated[str | None, Parameter(name="--winprob")]
"""``trained`` or a table of win probabilities (CSV) for players that use one."""

ThreadsOption: TypeAlias = Annotated[int, Parameter(name="--threads")]
PonderOption: TypeAlias = Annotated[bool, Parameter(name="--ponder", negative="")]
"""Whether players may search while their opponent thinks; each needs cores of its own."""

JsonOption: TypeAlias = Annotated[bool, Parameter(name="--json", negative="")]
SeedOption: TypeAlias = Annotated[int | None, Parameter(name="--seed")]
VerboseOption: TypeAlias = Annotated[bool, Parameter(name=["--verbose", "-v"], negative="")]


def say(sentence: str) -> None:
    """Tell the user on stderr what takes time."""
    print(f"tilewire: {sentence}", file=sys.stderr, flush=True)


def say_once() -> Callable[[str], None]:
    """Give a function that tells the user each sentence once, however many processes say it.

    Anybody's player may be behind it, so what it says is made safe to print, and is little.
    """
    said: set[str] = set()

    def tell(sentence: str) -> None:
        safe = plain(sentence)[:MAX_NOTICE]
        if safe not in said and len(said) < MAX_NOTICES:
            said.add(safe)
            say(safe)

    return tell


def load_words(name_or_path: str, distribution: TileDistribution | None = None) -> Lexicon:
    """Load a lexicon, or fail with its sentence."""
    from lexicons.store import load_lexicon

    try:
        return load_lexicon(name_or_path, distribution, progress=say)
    except (ValueError, OSError) as error:
        raise CommandFailed(str(error)) from None


def equip(
    lexicon: str,
    leaves: str | None = None,
    winprob: str | None = None,
    threads: int = 1,
    *,
    ponder: bool = False,
) -> Equipment:
    """Put together what local seats are given; it means the same in every folder.

    The files are looked at by ``load_equipped``.
    """
    from bot.equipment import Equipment
    from lexicons.tables import LEAVE_TABLES, WIN_PROBABILITY_TABLES, table_location

    path = Path(lexicon)
    try:
        return Equipment(
            lexicon=str(path.resolve()) if path.is_file() else lexicon,
            leaves=table_location(leaves, LEAVE_TABLES),
            win_probabilities=table_location(winprob, WIN_PROBABILITY_TABLES),
            threads=threads,
            ponder=ponder,
        )
    except ValueError as error:
        raise CommandFailed(f"--threads {threads}: {error}") from None


def check_pondering(seats: int, threads: int, remedy: str) -> None:
    """See that every seat that ponders has cores of its own, or fail.

    Else it would search on the time of whoever is to move, its own side's or not.

    Args:
        seats: how many there are at once on this machine.
        threads: how many each searches with.
        remedy: the options that would have to be smaller.
    """
    cores = usable_cores()
    if seats * threads > cores:
        raise CommandFailed(
            f"--ponder needs a core for every thread of every seat, {seats} × {threads} of them, "
            f"and there are {cores} here; leave it out, or lower {remedy}"
        )


def load_given(equipment: Equipment, lexicon: Lexicon) -> Tables:
    """Load the tables that were named, which have to be for the tiles of these words, or fail.

    The user is told of tables that were trained on other words.
    """
    from bot.equipment import doubts_about_tables, load_tables

    try:
        tables = load_tables(equipment, lexicon.distribution)
        for sentence in doubts_about_tables(equipment, lexicon):
            say(sentence)
    except (ValueError, OSError) as error:
        raise CommandFailed(str(error)) from None
    return tables


def load_equipped(equipment: Equipment) -> Lexicon:
    """Load the words, and see that the tables can be read and are for their tiles."""
    lexicon = load_words(equipment.lexicon)
    load_given(equipment, lexicon)
    return lexicon


def log_to_stderr(verbose: bool) -> None:
    """Send the log to stderr: warnings, or with ``verbose`` everything from info on."""
    program.log_to_stderr("info" if verbose else "warning")


def run(main: Coroutine[Any, Any, None]) -> None:
    """Run a command's coroutine, on uvloop where it is to be had.

    Told to end (SIGTERM), it lets go of what it holds, as after Ctrl-C.

    Raises:
        KeyboardInterrupt: it was told to end.
    """
    with asyncio.Runner(loop_factory=program.loop_factory()) as runner:
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


def client_tls(url: str, ca: Path | None) -> ssl.SSLContext | None:
    """Say whom to trust at the other end of a ``wss`` URL, if not those that the system does."""
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

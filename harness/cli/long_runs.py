"""What commands have in common that run for hours: how they go on, fail, stop and tell of it."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from bot.cores import usable_cores
from harness import figures

from .failing import CommandFailed
from .options import say

if TYPE_CHECKING:
    from harness.lab.studies.record_file import Lines
    from harness.lab.workers import Crew

__all__ = [
    "check_cores",
    "fill",
    "going_on",
    "sentences",
    "show_rows",
    "stranger_checksum",
    "telling",
    "with_error",
    "work_through",
]

_Common = TypeVar("_Common")
_Row = TypeVar("_Row")
_TELL_EVERY_S = 20

# --- what is given --------------------------------------------------------------------------------


def check_cores(workers: int, threads: int = 1) -> None:
    """See that searches against the clock don't wait for each other, or fail."""
    cores = usable_cores()
    if workers * threads > cores:
        each = f" with --threads {threads}" if threads > 1 else ""
        raise CommandFailed(
            f"--workers {workers}{each}: searches against the clock need a core each, and there "
            f"are {cores} here"
        )


def stranger_checksum() -> str:
    """Tell what strangers are taken for from what other versions take them for."""
    from engine.inference.likelihood import stranger

    return hashlib.sha256(repr(stranger()).encode()).hexdigest()[:16]


# --- a run ----------------------------------------------------------------------------------------


@contextmanager
def sentences(option: str, path: Path | None) -> Iterator[None]:
    """Turn what goes wrong with the file of an option, or with workers, into a sentence."""
    from harness.lab.workers import CrewError

    try:
        yield
    except CrewError as error:
        raise CommandFailed(str(error), status=1) from None
    except OSError as error:
        where = error.filename if path is None else f"{option} {path}"
        raise CommandFailed(
            f"{where}: {error.strerror or error}" if where else str(error)
        ) from None
    except MemoryError:
        raise CommandFailed(
            "there is not enough memory; ask for less, or for fewer workers"
        ) from None
    except ValueError as error:
        raise CommandFailed(str(error)) from None


@contextmanager
def going_on(out: Path | None) -> Iterator[None]:
    """Turn what goes wrong into a sentence, and tell one who stops the run how it goes on."""
    with sentences("--out", out):
        try:
            yield
        except KeyboardInterrupt:
            say(f"stopped; the same command goes on with {out}" if out else "stopped")
            raise


def work_through(
    out: Path | None,
    settings: Mapping[str, object],
    count: int,
    function: Callable[[_Common, int], dict[str, Any]],
    common: _Common,
    show: Callable[[Sequence[dict[str, Any]]], None],
    *,
    workers: int,
    what: str,
) -> None:
    """Work out what is missing in a file and show all that there is, also when it is stopped.

    One worker is this process itself. SIGTERM is taken for Ctrl-C.

    Args:
        out: the file; none: nothing is kept.
        settings: what the experiment is (``open_lines``).
        count: how many records there are to be.
        function: gives the record of a number; at the top of a module.
        common: what it needs besides.
        show: shows records.
        workers: how many processes.
        what: there is a record of each, in the plural.
    """
    from harness.lab.studies.record_file import open_lines
    from harness.lab.workers import open_crew

    with _told_to_end(), going_on(out), open_lines(out, settings) as lines:
        try:
            if lines.missing(count):
                with open_crew(workers, alone=True) as crew:
                    fill(lines, count, crew, function, common, telling(count, what))
        except KeyboardInterrupt:
            show(lines.records)
            raise
        show(lines.records[:count])


@contextmanager
def _told_to_end() -> Iterator[None]:
    """Take SIGTERM for Ctrl-C."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def fill(
    lines: Lines,
    count: int,
    crew: Crew,
    function: Callable[[_Common, int], dict[str, Any]],
    common: _Common,
    tell: Callable[[int], object],
) -> None:
    """Do as ``fill_in``; ``tell`` is told how many there are by now, the earlier ones too."""
    from harness.lab.studies.record_file import fill_in

    def count_all(done: int, missing: int) -> None:
        tell(count - missing + done)

    fill_in(lines, count, crew, function, common, count_all)


# --- what is told ---------------------------------------------------------------------------------


def telling(
    wanted: int, what: str, of: str = "", *, clock: Callable[[], float] = time.monotonic
) -> Callable[[int], None]:
    """Give a function that tells now and then how far it is, and how long the rest takes.

    That goes by what came after its first call, since workers take their time to begin.

    Args:
        wanted: how many there are to be.
        what: of what, in the plural.
        of: of whom, where there are several.
        clock: in seconds.
    """
    told = clock()
    began: tuple[float, int] | None = None

    def tell(there: int) -> None:
        nonlocal told, began
        now = clock()
        began = began or (now, there)
        if there < wanted and now - told <= _TELL_EVERY_S:
            return
        told = now
        since, before = began
        left = ""
        if before < there < wanted:
            seconds = (now - since) / (there - before) * (wanted - there)
            left = f", {figures.minutes(seconds)} left"
        say(f"{of}: {there:,} of {wanted:,} {what}{left}".removeprefix(": "))

    return tell


def show_rows(
    rows: Sequence[_Row],
    heads: Sequence[str],
    cells: Callable[[_Row], Sequence[str]],
    as_json: bool,
) -> None:
    """Print rows, which are dataclasses, as a table or as JSON."""
    if as_json:
        found = [dataclasses.asdict(row) for row in rows]  # type: ignore[call-overload]
        print(json.dumps(found, ensure_ascii=False))
    else:
        print(figures.table(heads, list(map(cells, rows))))


def with_error(
    value: float | None,
    error: float | None,
    decimals: int = 1,
    *,
    times: int = 1,
    sign: bool = False,
    unit: str = "",
) -> str:
    """Write a value and half the width of its interval, both so many times what is given."""
    if value is None or error is None:
        return figures.number(value and times * value, decimals, sign, unit)
    middle = figures.number(times * value, decimals, sign)
    return f"{middle} ± {figures.number(times * error, decimals)}{unit}"

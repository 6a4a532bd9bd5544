"""Before a seat is offered a game, bots are tried out and kernels compiled; ``tilewire warm``."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from bot.registry import SeatError, known_bots
from bot.seat.compilation import EVERY_SEAT, CompilationFailed, Progress, compile_kernels
from bot.seat_text import parse_seat
from harness.figures import counted
from lexicons.kernel_cache import cache_problem

from . import options
from .failing import CommandFailed, sentences

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

    from bot.equipment import Equipment
    from bot.registry import SeatSpec

EVERY_S = 10.0
"""Seconds between lines of progress without a terminal."""


def prepare(
    seats: Iterable[tuple[str, str, SeatSpec]],
    equipment: Equipment,
    *modules: str,
    hidden: tuple[Path, ...] = (),
) -> None:
    """Try users' bots out, and compile the kernels of all seats, or fail.

    ``seats`` are what failures begin with, name and seat; ``modules`` use kernels, too. Bots don't
    see what is ``hidden``.
    """
    compile_first({*modules, *try_out(seats, equipment, hidden)})


def try_out(
    seats: Iterable[tuple[str, str, SeatSpec]],
    equipment: Equipment,
    hidden: tuple[Path, ...] = (),
) -> set[str]:
    """Load users' bots, each in its own process, or fail; return the modules that seats use."""
    from harness.seats.seat_factory import SeatMaker

    used = set[str]()
    for where, name, spec in seats:
        with sentences(where):
            maker = SeatMaker(spec, name, equipment, notice=options.say, hidden=hidden)
            used |= options.run(maker.try_out())
    return used


def seat_modules(*seats: str) -> set[str]:
    """Return the modules whose kernels built-in players use; none of a seat that is no such."""
    modules = {EVERY_SEAT}
    for seat in seats:
        with suppress(SeatError):
            spec = parse_seat(seat)
            modules |= {spec.module} if spec.built_in else set()
    return modules


def warm(
    *seats: str,
    rules: options.RulesOption = "english",
    tables: options.TableOptions = options.TableOptions(),
) -> None:
    """Compile all that seats need, so that their first game begins at once.

    Every command does so for its own seats, before they are offered a game. This is for images,
    class rooms and servers. The kernels of this version are compiled for this processor, and word
    graphs are built.

    The exit status is 1 if nothing can be kept.

    Args:
        seats: Bots, as in ``match``. [default: all built-in bots, and the analysis of the page]
    """
    from engine.movegen.generator import Generator

    from .serving import ANALYST

    if problem := cache_problem():
        raise CommandFailed(problem, status=1)
    rule_set = options.load_rule_set(rules)
    equipment = tables.for_rules(rule_set).equipment(rules=rules)
    words = options.load_words(equipment.lexicon, rule_set.distribution)
    with sentences():
        specs = {seat: parse_seat(seat) for seat in seats or known_bots()}
    prepare(
        [("", name, spec) for name, spec in specs.items()],
        equipment,
        *(() if seats else (ANALYST,)),
    )
    with sentences():
        Generator(words, rule_set)  # lays the words out, and keeps them for all processes
    options.say("all is compiled")


def compile_first(modules: Iterable[str]) -> None:
    """Compile the missing kernels of modules and of what they import, and show how far it is."""
    shown = _Shown(options.say)
    try:
        compile_kernels(modules, shown.update, options.say)
    except CompilationFailed as failure:
        raise CommandFailed(str(failure), status=1) from None
    finally:
        shown.close()


class _Shown:
    """Kernels ready of how many, time so far and time left: a bar on a terminal, else lines."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._began = self._said = time.monotonic()
        self._bar: Bar | None = None
        self._first: Progress | None = None
        self._last = Progress(0, 0, 0.0)
        self._is_waiting = False

    def update(self, progress: Progress) -> None:
        """Show a step."""
        self._last = progress
        if self._first is None:
            self._first = progress
            left = counted(progress.total - progress.ready, "search kernel")
            self._say(f"compiling {left} for this processor, once for this version")
            self._bar = _bar(progress.total)
        spent, left = time.monotonic() - self._began, ""
        if progress.share:
            left = f"about {spent / progress.share - spent:.0f} s left"
        if progress.waits_for and not self._is_waiting:
            self._is_waiting = True
            self._say(f"another command compiles {progress.waits_for}; waiting for it")
        if self._bar is not None:
            self._bar.update(
                self._bar.task_ids[0], completed=progress.share, ready=progress.ready, left=left
            )
        elif time.monotonic() >= self._said + EVERY_S:
            self._said = time.monotonic()
            ready = f"{progress.ready} of {progress.total} kernels ready, {spent:.0f} s so far"
            self._say(f"{ready}, {left}" if left else ready)

    def close(self) -> None:
        """End with a line that says how many are ready."""
        if self._first is None:
            return
        if self._bar is not None:
            self._bar.stop()
        spent = time.monotonic() - self._began
        which = "all" if self._last.ready == self._last.total else f"{self._last.ready} of"
        others = self._last.ready - self._first.ready - self._last.compiled
        by_others = f", {others} of them by another command" if others else ""
        kernels = counted(self._last.total, "kernel")
        self._say(f"{which} {kernels} ready after {spent:.0f} s{by_others}")


def _bar(total: int) -> Bar | None:
    """Begin a bar of kernels on standard error; None if that is no terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    console = Console(stderr=True)
    if not console.is_terminal or console.is_dumb_terminal:
        return None
    bar = Bar(
        TextColumn("kernels"),
        BarColumn(),
        TextColumn(f"{{task.fields[ready]}}/{total}"),
        TimeElapsedColumn(),
        TextColumn("{task.fields[left]}"),
        console=console,
        transient=True,
    )
    bar.add_task("", total=1.0, ready=0, left="")
    bar.start()
    return bar

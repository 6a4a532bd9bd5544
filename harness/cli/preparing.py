"""Before a seat is offered a game, bots are tried out and kernels compiled; ``tilewire warm``."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from bot.registry import SeatError, known_bots
from bot.seat.compilation import EVERY_SEAT
from bot.seat_text import parse_seat
from lexicons.kernel_cache import cache_problem

from . import options
from .failing import CommandFailed, sentences

if TYPE_CHECKING:
    from bot.equipment import Equipment
    from bot.registry import SeatSpec

ANALYST = "harness.analysis.worker"
"""The module of processes that analyse for visitors."""


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
    options.compile_first({*modules, *try_out(seats, equipment, hidden)})


def try_out(
    seats: Iterable[tuple[str, str, SeatSpec]], equipment: Equipment, hidden: tuple[Path, ...] = ()
) -> set[str]:
    """Load users' bots, each in its own process, or fail; return the modules that seats use."""
    from harness.seats.seat_factory import SeatMaker

    used = set[str]()
    for where, name, spec in seats:
        with sentences(where):
            maker = SeatMaker(spec, name, equipment, notice=options.print_notice, hidden=hidden)
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
    rules: options.RulesOption = None,
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

    if problem := cache_problem():
        raise CommandFailed(problem, status=1)
    equipment = tables.for_game(rules)
    rule_set = options.load_rule_set(equipment.rules)
    words = options.load_words(equipment.lexicon, rule_set.distribution)
    with sentences():
        specs = {seat: parse_seat(seat) for seat in seats or known_bots()}
    named = [("", name, spec) for name, spec in specs.items()]
    prepare(named, equipment, *(() if seats else (ANALYST,)))
    with sentences():
        Generator(words, rule_set)  # lays the words out, and keeps them for all processes
    options.print_notice("all is compiled")

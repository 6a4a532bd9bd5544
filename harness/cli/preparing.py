"""What has to be done before a seat is offered a game: bots tried out, kernels compiled."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING

from bot.registry import SeatError
from bot.seat.compilation import EVERY_SEAT
from bot.seat_text import parse_seat
from harness.seats.seat_factory import SeatMaker

from . import options
from .failing import sentences

if TYPE_CHECKING:
    from bot.equipment import Equipment
    from bot.registry import SeatSpec


def prepare(
    seats: Iterable[tuple[str, str, SeatSpec]], equipment: Equipment, *modules: str
) -> None:
    """Try users' bots out, and compile the kernels of all seats, or fail.

    ``seats`` are what failures begin with, name and seat; ``modules`` use kernels, too.
    """
    options.compile_first({*modules, *try_out(seats, equipment)})


def try_out(seats: Iterable[tuple[str, str, SeatSpec]], equipment: Equipment) -> set[str]:
    """Load users' bots, each in its own process, or fail; return the modules that seats use."""
    used = set[str]()
    for where, name, spec in seats:
        with sentences(where):
            maker = SeatMaker(spec, name, equipment, notice=options.say)
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

"""Foreign engines as seats: an adapter per dialect, over a shared process base."""

from __future__ import annotations

from collections.abc import Callable

from bot.registry import SeatSpec

from .engine import Context, Engine
from .files import FilesEngine
from .magpie import MagpieEngine
from .quackle import QuackleEngine
from .siu import SiuEngine

__all__ = ["Context", "Engine", "engine_for"]

_ADAPTERS: dict[str, Callable[[SeatSpec, Context], Engine]] = {
    "files": FilesEngine,
    "magpie": MagpieEngine,
    "quackle": QuackleEngine,
    "siu": SiuEngine,
}


def engine_for(spec: SeatSpec, context: Context) -> Engine:
    """Return the engine of a seat for one game; raise SeatError if an option is invalid."""
    return _ADAPTERS[spec.dialect](spec, context)

"""Foreign engines as seats: an adapter per dialect, over a shared process base.

``engine.Engine`` is an adapter's interface, ``engine_seat.EngineSeat`` the arbiter's view of it,
``process.EngineProcess`` a program killed with all its descendants.
"""

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
    """Return the engine of a seat for one game, not started yet.

    Raises:
        SeatError: its options are invalid.
    """
    return _ADAPTERS[spec.dialect](spec, context)

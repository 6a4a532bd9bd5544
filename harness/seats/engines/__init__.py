"""Foreign engines as seats: an adapter per dialect, over a shared process base.

``engine.Engine`` is an adapter's interface, ``engine_seat.EngineSeat`` the arbiter's view of it,
``process.EngineProcess`` a program killed with all its descendants.
"""

from __future__ import annotations

from bot.registry import SeatSpec

from .engine import Context, Engine

__all__ = ["Context", "Engine", "engine_for"]


def engine_for(spec: SeatSpec, context: Context) -> Engine:
    """Return the engine of a seat for one game, not started yet.

    Raises:
        SeatError: its options are invalid.
    """
    match spec.dialect:
        case "files":
            from .files import FilesEngine

            return FilesEngine(spec, context)
        case "magpie":
            from .magpie import MagpieEngine

            return MagpieEngine(spec, context)
        case "quackle":
            from .quackle import QuackleEngine

            return QuackleEngine(spec, context)
        case "siu":
            from .siu import SiuEngine

            return SiuEngine(spec, context)
    raise AssertionError(f"no adapter for {spec.dialect!r}")

"""Engines of others, as seats: an adapter for each dialect, over one base for their processes.

``engine.Engine`` is what an adapter implements, ``engine_seat.EngineSeat`` what the arbiter sees of
it, ``process.EngineProcess`` a program that can be killed with all that it started.
"""

from __future__ import annotations

from bot.registry import SeatSpec

from .engine import Context, Engine

__all__ = ["Context", "Engine", "engine_for"]


def engine_for(spec: SeatSpec, context: Context) -> Engine:
    """Return the engine of a seat for one game; nothing is started yet.

    Raises:
        SeatError: its options make no sense.
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

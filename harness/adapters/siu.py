"""An engine that speaks SIU, as a seat: ``siu:PROGRAM ARGUMENTS?Option=value``.

Our clocks are kept for it: it is told to search for the time that the turn should take, and to stop
when that is over and no answer has come.
"""

from __future__ import annotations

from bot.player import Budget, View
from bot.registry import SeatSpec

from .engine import Answer, Context, ProcessEngine, limits_of

__all__ = ["SiuEngine"]


class SiuEngine(ProcessEngine):
    """An SIU engine in one game.

    Args:
        spec: its command and options; ``memory``, ``cores`` and ``mode`` are for us, the others
            are set in the engine.
        context: what is played with.
    """

    def __init__(self, spec: SeatSpec, context: Context) -> None:
        self._spec = spec
        self._context = context
        self._limits = limits_of(spec)

    async def start(self, view: View) -> None:
        """Start it, shake hands, set its options."""
        raise NotImplementedError

    async def choose(self, view: View, budget: Budget) -> Answer:
        """Have it search for as long as the turn should take."""
        raise NotImplementedError

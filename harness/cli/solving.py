"""What ``tilewire endgame`` and ``tilewire preendgame`` share: a solver, and its work."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from cyclopts import Parameter, Token

from bot.player import Budget
from bot.search.anytime import NODES, Anytime, Work
from engine.rules.rules import Rules
from protocol.channel import now_ms

from .failing import CommandFailed
from .interrupt import Interrupt
from .options import say

if TYPE_CHECKING:
    from engine.endgame import EndgameSolver
    from lexicons.store import Lexicon

__all__ = [
    "USUAL_MEMORY",
    "Memory",
    "pace",
    "solver_for",
    "work",
]

USUAL_MEMORY = 256 << 20

_UNITS = {"K": 10, "M": 20, "G": 30}  # powers of two


def _parse_memory(text: str) -> int:
    """Read ``256M`` or ``1G``, in bytes.

    Raises:
        ValueError: it is no such thing; a number needs its unit.
    """
    match = re.fullmatch(r"([0-9]{1,6})([KMG])(?:i?B)?", text)
    if match is None:
        raise ValueError(f"{text!r} is no amount of memory; write 256M or 1G")
    return int(match[1]) << _UNITS[match[2]]


def _memory(_type: Any, tokens: Sequence[Token]) -> int:
    return _parse_memory(tokens[0].value)


def _written(memory: int) -> str:
    unit = max((one for one in _UNITS if not memory % (1 << _UNITS[one])), key=_UNITS.__getitem__)
    return f"{memory >> _UNITS[unit]}{unit}"


Memory: TypeAlias = Annotated[
    int,
    Parameter(name="--memory", converter=_memory, metavar="MEMORY", show_default=_written),
]
"""Bytes, given as ``256M`` or ``1G``."""


def solver_for(words: Lexicon, rules: Rules, memory: int, threads: int) -> EndgameSolver:
    """Make a solver, or fail with a sentence; whatever has to be compiled is compiled then."""
    from engine.endgame import EndgameSolver
    from lexicons.jit import announce_compilation, warm_up

    announce_compilation(say)
    try:
        solver = EndgameSolver(words, rules, memory=memory, threads=threads)
    except ValueError as error:
        raise CommandFailed(str(error)) from None
    except MemoryError:
        raise CommandFailed(f"there are no {memory:,} bytes of memory; name less") from None
    warm_up()
    return solver


def work(solving: Work, time_ms: int, is_enough: Callable[[], bool] = lambda: False) -> float:
    """Work for so long, or until it is over or enough; give the seconds that it took.

    The first Ctrl-C is a wish to hear what is known by then; the second ends the command.
    """
    began = time.perf_counter()
    budget = Budget(now_ms() + time_ms)
    with Interrupt(budget.cancel):
        Anytime(solving, NODES).run(budget.remaining_ms, is_enough)
    return time.perf_counter() - began


def pace(nodes: int, seconds: float) -> str:
    """Say how much was looked at, and how fast."""
    rate = nodes / max(seconds, 0.001)
    return f"{nodes:,} nodes in {seconds:.2f} s ({rate:,.0f} a second)"

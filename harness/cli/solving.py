"""What ``tilewire endgame`` and ``tilewire preendgame`` share: a solver, and its time."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from cyclopts import Parameter, Token

from bot.player import Budget
from protocol.channel import now_ms

from .failing import CommandFailed
from .interrupt import Interrupt
from .options import say
from .positions import sentences

if TYPE_CHECKING:
    from engine.endgame.solver import EndgameSolver
    from engine.rules.rules import Rules
    from lexicons.store import Lexicon

__all__ = ["USUAL_MEMORY", "Memory", "solver_for", "time_to_think"]

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
    unit = max(
        (name for name in _UNITS if not memory % (1 << _UNITS[name])), key=_UNITS.__getitem__
    )
    return f"{memory >> _UNITS[unit]}{unit}"


Memory: TypeAlias = Annotated[
    int,
    Parameter(
        name="--memory",
        converter=_memory,
        metavar="MEMORY",
        show_default=_written,
        help="Memory for what was learnt of positions, at most, as 256M or 1G.",
    ),
]
"""Bytes, given as ``256M`` or ``1G``."""


def solver_for(words: Lexicon, rules: Rules, memory: int, threads: int) -> EndgameSolver:
    """Make a solver, or fail with a sentence; compile whatever has to be compiled."""
    from engine.endgame.solver import EndgameSolver
    from lexicons.jit import announce_compilation, warm_up

    announce_compilation(say)
    try:
        with sentences():
            solver = EndgameSolver(words, rules, memory=memory, threads=threads)
    except MemoryError:
        raise CommandFailed(f"there are no {memory:,} bytes of memory; name less") from None
    warm_up()
    return solver


@contextmanager
def time_to_think(ms: int) -> Iterator[Budget]:
    """Return a budget of time that the first Ctrl-C ends; the second ends the command."""
    budget = Budget(now_ms() + ms)
    with Interrupt(budget.cancel):
        yield budget

"""The modes of ``go``, and the task of a search.

A new mode is a line in ``HONOURED`` and a method of the same name in ``searches``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING

from protocol.siu.commands import Go, Mode

if TYPE_CHECKING:
    from engine.rules.moves import Move

    from .position import Situation
    from .settings import Settings

__all__ = ["HONOURED", "NOTHING", "WHOLE_RACK", "Task", "honoured", "ignored", "why_not"]

HONOURED: dict[Mode, frozenset[str]] = {
    "gen": frozenset({"searchmoves", "alsosearchmoves", "infinite"}),
    "sim": frozenset(
        {
            *("searchmoves", "alsosearchmoves", "depth", "iterations", "movetime"),
            *("stopcondition", "useinference", "threads", "infinite"),
        }
    ),
    "infer": frozenset({"movetime", "infinite"}),
    "endgame": frozenset({"searchmoves", "depth", "movetime", "firstwin", "threads", "infinite"}),
    "peg": frozenset(
        {
            *("searchmoves", "alsosearchmoves", "movetime", "firstwin", "useinference"),
            *("threads", "infinite"),
        }
    ),
    # It always infers.
    "auto": frozenset({"movetime", "threads", "infinite", "useinference"}),
}
"""Parameters of ``go`` that each mode uses; all others are reported as ignored."""

WHOLE_RACK: frozenset[Mode] = frozenset({"sim", "peg", "auto"})
"""Modes that need the whole rack on turn while there is a bag."""

FULLEST_PEG = 7
"""Most tiles in the bag of a pre-endgame."""

NOTHING = "none"
"""The best move of an inference, or if there is no move to choose."""

_FIELDS = {
    parameter.name.removesuffix("_ms"): parameter.name
    for parameter in fields(Go)
    if parameter.name not in ("mode", "ignored")
}
_FEWEST = {"depth": 1, "iterations": 2, "stopcondition": 51, "threads": 1}
_CERTAIN = 99  # the largest stopcondition


@dataclass(frozen=True)
class Task:
    """A search to make."""

    number: int
    """The number of this ``go``."""
    game: int
    """The number of the game; knowledge of other games is dropped."""
    mode: Mode
    go: Go
    """The ``go`` without ignored parameters."""
    situation: Situation
    settings: Settings
    only: tuple[Move, ...] = ()
    """If any, compare only these."""
    also: tuple[Move, ...] = ()
    """Also compare these."""
    named: Mapping[Move, str] = field(default_factory=dict)
    """The front end's names of moves."""
    threads: int = 1
    ends_ms: int | None = None
    """Latest end; None: by itself or when stopped."""

    @property
    def waits(self) -> bool:
        """Whether ``bestmove`` waits for ``stop`` or the end of the time.

        If there is another limit too, the first limit reached ends the search.
        """
        limited = self.go.iterations is not None or self.go.stopcondition is not None
        timed = self.go.movetime_ms is not None and not limited
        return self.go.infinite or (timed and not self.settings.stop_early)


def why_not(mode: Mode, bag: int) -> str:
    """Return why a mode does not suit the number of tiles in the bag; empty if it does."""
    if mode == "endgame" and bag:
        return f"endgame is for an empty bag, and this has {bag}"
    if mode == "peg" and not 1 <= bag <= FULLEST_PEG:
        return f"peg is for 1 to {FULLEST_PEG} tiles in the bag, and this has {bag}"
    return ""


def ignored(go: Go, most_threads: int) -> tuple[str, ...]:
    """Return the parameters of a ``go`` that its mode ignores or that are invalid."""
    wanted = HONOURED[go.mode]
    most = {"stopcondition": _CERTAIN, "threads": most_threads}
    names = list(go.ignored)
    for name, of in _FIELDS.items():
        value = getattr(go, of)
        if value is None or value is False or value == ():
            continue
        fits = name not in _FEWEST or _FEWEST[name] <= value <= most.get(name, value)
        if name not in wanted or not fits:
            names.append(name)
    return tuple(names)


def honoured(go: Go, left_out: Collection[str]) -> Go:
    """Return a ``go`` without its ignored parameters."""
    nothing = Go()
    dropped = {
        field: getattr(nothing, field) for name, field in _FIELDS.items() if name in left_out
    }
    return replace(go, ignored=(), **dropped)

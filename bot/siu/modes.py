"""The modes of ``go``: a line each in ``HONOURED``, and a method in ``searches``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING

from protocol.siu.commands import Go, Mode

if TYPE_CHECKING:
    from engine.rules.moves import Move

    from .position import SiuSituation
    from .settings import SiuSettings

HONOURED: dict[Mode, str] = {
    "gen": "searchmoves alsosearchmoves infinite",
    "sim": "searchmoves alsosearchmoves depth iterations movetime stopcondition useinference "
    "threads infinite",
    "infer": "movetime infinite",
    "endgame": "searchmoves depth movetime firstwin threads infinite",
    "peg": "searchmoves alsosearchmoves movetime firstwin useinference threads infinite",
    "auto": "movetime threads infinite useinference",  # it always infers
}
"""Parameters of ``go`` that each mode uses; others are reported as ignored."""

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
class SearchTask:
    """A search to make."""

    number: int
    game: int
    """The number of the game; what is known from other games is dropped."""
    mode: Mode
    go: Go
    """The ``go`` without ignored parameters."""
    situation: SiuSituation
    settings: SiuSettings
    only: tuple[Move, ...] = ()
    also: tuple[Move, ...] = ()
    named: Mapping[Move, str] = field(default_factory=dict)
    """The front end's names of moves."""
    threads: int = 1
    ends_ms: int | None = None
    """Latest end, by ``now_ms``; None: it ends by itself or when stopped."""

    @property
    def waits(self) -> bool:
        """Whether ``bestmove`` waits for ``stop`` or the end of the time, even if all is done."""
        limited = self.go.iterations is not None or self.go.stopcondition is not None
        timed = self.go.movetime_ms is not None and not limited
        return self.go.infinite or (timed and not self.settings.stop_early)


def honoured(go: Go, most_threads: int) -> tuple[Go, tuple[str, ...]]:
    """Return a ``go`` without the parameters that its mode ignores or that are invalid.

    Returns:
        The ``go``, and the names of what was left out: first words that are not parameters, then
        parameters.
    """
    plain, most = Go(), {"stopcondition": _CERTAIN, "threads": most_threads}
    names, dropped = list(go.ignored), {}
    for name, attribute in _FIELDS.items():
        value, default = getattr(go, attribute), getattr(plain, attribute)
        if value == default:
            continue
        fits = name not in _FEWEST or _FEWEST[name] <= value <= most.get(name, value)
        if name not in HONOURED[go.mode].split() or not fits:
            names.append(name)
            dropped[attribute] = default
    return replace(go, ignored=(), **dropped), tuple(names)

"""How soon endgames are proven on this machine, and how good the value is before.

The endgames are those of games between static players, from the first turn with an empty bag. Each
is solved by a solver that knows nothing yet, in the slices that players use. Making the solver,
compiling and laying out the words is not on the clock; taking the position up is.
"""

from __future__ import annotations

import gc
import resource
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from bot.player import Budget
from bot.search.anytime import NODES, Anytime
from engine.endgame import EndgameSolver
from engine.notation.move_text import format_move
from engine.rules.position import Position
from harness.lab.late_positions import EMPTY_BAG, late_position
from harness.lab.study_context import Field, ready
from protocol.channel import now_ms

__all__ = ["TIMES_MS", "EndgameBench", "Proving", "endgame_summary", "proven_in"]

TIMES_MS = (1_000, 5_000, 30_000)
EARLY_MS = 1_000
"""When values are held against proven ones."""
NEAR = 2
"""Points."""

_STATM = Path("/proc/self/statm")
_MIB = 1 << 20


class Proving(NamedTuple):
    """What is asked of each endgame."""

    field: Field
    seed: int
    time_ms: int
    memory: int
    """Bytes."""
    threads: int


@dataclass(frozen=True)
class EndgameBench:
    """What came of endgames."""

    positions: int
    proven: dict[str, float]
    """The share by each time."""
    median_ms: float | None
    """To the proof; None if fewer than half of all were proven."""
    median_of_proven_ms: float | None
    nodes_per_s: int
    depth: float
    """Plies that were looked ahead where nothing was proven, the median."""
    memory_mb: float
    """By which the process grew, at most, in units of 2²⁰ bytes."""
    memory_told_mb: float
    same_early: float | None
    """Of those proven in the end, the share whose value was the proven one after a second; None
    if there was no more time than that."""
    near_early: float | None
    """… or was off by two points at most."""
    held_early: float | None
    """As ``same_early``, of those alone that were not proven by then."""


# --- an endgame -----------------------------------------------------------------------------------


def proven_in(proving: Proving, number: int) -> dict[str, Any]:
    """Solve one endgame for so long, and give what came of it as JSON can say it.

    ``trace`` has an entry whenever depth, value or proof changed: milliseconds since it began,
    plies, points, and whether it is proven.
    """
    ready()
    field = proving.field
    late = late_position(field.lexicon, field.rules, field.leaves, proving.seed, number, EMPTY_BAG)
    gc.collect()  # solvers before this one are gone
    before = _resident()
    solver = EndgameSolver(
        field.lexicon, field.rules, memory=proving.memory, threads=proving.threads
    )
    trace, took_ms, most = _followed(solver, late.position, proving.time_ms)
    found = solver.solution
    return {
        "number": number,
        "cgp": late.cgp(field.rules),
        "tiles": [len(rack) for rack in late.position.racks],
        "move": format_move(found.move, field.rules.distribution.alphabet),
        "value": found.value,
        "proven": found.proven,
        "depth": found.depth,
        "nodes": found.nodes,
        "ms": round(took_ms, 1),
        "memory_mb": round(max(0, most - before) / _MIB, 1),
        "trace": trace,
    }


def _followed(
    solver: EndgameSolver, position: Position, time_ms: int
) -> tuple[list[list[Any]], float, int]:
    """Solve, and look after each slice: give the trace, milliseconds, and bytes in use at most."""
    trace: list[list[Any]] = []
    began = time.perf_counter()
    budget = Budget(now_ms() + time_ms)
    solver.begin(position)

    def look() -> float:
        ms = (time.perf_counter() - began) * 1_000
        found = solver.solution
        seen = [found.depth, found.value, found.proven]
        if not trace or trace[-1][1:] != seen:
            trace.append([round(ms, 1), *seen])
        return ms

    took_ms, most = look(), _resident()
    for _ in Anytime(solver, NODES).slices(budget.remaining_ms):
        took_ms = look()
        most = max(most, _resident())
    return trace, took_ms, most


def _resident() -> int:
    """Give how many bytes of memory the process has; where that is not told, had at most."""
    try:
        return int(_STATM.read_text().split()[1]) * resource.getpagesize()
    except OSError:
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most if sys.platform == "darwin" else most << 10


# --- sums -----------------------------------------------------------------------------------------


def endgame_summary(
    records: Sequence[dict[str, Any]], time_ms: int, memory: int
) -> EndgameBench | None:
    """Add endgames up, of which each had so much time and memory; None if there are none."""
    if not records:
        return None
    proven = [one for one in records if one["proven"]]
    proofs = sorted(_proof_ms(one) for one in proven)
    half = (len(records) + 1) // 2
    compared = proven if time_ms > EARLY_MS else []  # else what was known then is all that is
    errors = [abs(_value_at(one, EARLY_MS) - one["value"]) for one in compared]
    later = [
        error for one, error in zip(compared, errors, strict=True) if _proof_ms(one) > EARLY_MS
    ]
    unproven = [one["depth"] for one in records if not one["proven"]]
    return EndgameBench(
        positions=len(records),
        proven={
            f"{at / 1_000:g} s": sum(ms <= at for ms in proofs) / len(records)
            for at in sorted({*(at for at in TIMES_MS if at < time_ms), time_ms})
        },
        median_ms=proofs[half - 1] if len(proofs) >= half else None,
        median_of_proven_ms=median(proofs) if proofs else None,
        nodes_per_s=round(
            1_000
            * sum(one["nodes"] for one in records)
            / max(sum(one["ms"] for one in records), 0.001)
        ),
        depth=median(unproven) if unproven else 0.0,
        memory_mb=max(one["memory_mb"] for one in records),
        memory_told_mb=memory / _MIB,
        same_early=_share(errors, 0),
        near_early=_share(errors, NEAR),
        held_early=_share(later, 0),
    )


def _proof_ms(record: dict[str, Any]) -> float:
    return float(next(ms for ms, _, _, proven in record["trace"] if proven))


def _value_at(record: dict[str, Any], at_ms: int) -> int:
    """Give the value that was known at a time; the first one is known at once."""
    known = [value for ms, _, value, _ in record["trace"] if ms <= at_ms]
    return int(known[-1]) if known else int(record["trace"][0][2])


def _share(errors: Sequence[int], most: int) -> float | None:
    return sum(error <= most for error in errors) / len(errors) if errors else None

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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Annotated, Any, ClassVar

from bot.player import Budget
from bot.search.anytime import NODES, Anytime
from engine.endgame import EndgameSolver
from engine.notation.move_text import format_move
from engine.rules.position import Position
from harness.lab.late_positions import EMPTY_BAG, late_position
from harness.lab.rows import Tables, column, percent
from harness.lab.study import Record, Study
from harness.lab.study_context import Field, ready
from protocol.channel import now_ms

__all__ = ["TIMES_MS", "EndgameBench", "EndgameStudy", "endgame_summary"]

TIMES_MS = (1_000, 5_000, 30_000)
EARLY_MS = 1_000
"""When values are held against proven ones."""
NEAR = 2
"""Points."""

_STATM = Path("/proc/self/statm")
_MIB = 1 << 20


@dataclass(frozen=True)
class EndgameBench:
    """What came of endgames."""

    positions: Annotated[int, column("positions")]
    proven: Annotated[Mapping[str, float], percent("proven in")]
    """The share by each time."""
    median_ms: Annotated[float | None, column("median time to the proof", unit=" ms")]
    """None if fewer than half of all were proven."""
    median_of_proven_ms: Annotated[float | None, column("… of those proven", unit=" ms")]
    nodes_per_s: Annotated[int, column("nodes a second")]
    depth: Annotated[float, column("plies where nothing was proven, median")]
    memory_mb: Annotated[float, column("memory, most", unit=" MB")]
    """By which the process grew, in units of 2²⁰ bytes."""
    memory_told_mb: Annotated[float, column("memory it was told", decimals=0, unit=" MB")]
    same_early: Annotated[float | None, percent("of those proven: the same value after 1 s")]
    """None if there was no more time than that."""
    near_early: Annotated[float | None, percent("… within 2 points")]
    held_early: Annotated[float | None, percent("… the same, of those proven later")]


# --- an endgame -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class EndgameStudy(Study):
    """Endgames solved against the clock."""

    one_row: ClassVar[bool] = True

    field: Field
    seed: int
    time_ms: int
    memory: int
    """Bytes."""
    threads: int

    def settings(self) -> dict[str, object]:
        """Return what decides the results."""
        return {
            "experiment": "bench endgame",
            "seed": self.seed,
            "lexicon": self.field.lexicon.checksum,
            "leaves": self.field.leaves.checksum,
            "time_ms": self.time_ms,
            "memory": self.memory,
            "threads": self.threads,
        }

    def record(self, number: int) -> Record:
        """Solve one endgame.

        ``trace`` has an entry whenever depth, value or proof changed: milliseconds since it began,
        plies, points, and whether it is proven.
        """
        ready()
        field = self.field
        late = late_position(field.lexicon, field.rules, field.leaves, self.seed, number, EMPTY_BAG)
        gc.collect()  # solvers before this one are gone
        before = _resident()
        solver = EndgameSolver(field.lexicon, field.rules, memory=self.memory, threads=self.threads)
        trace, took_ms, most = _followed(solver, late.position, self.time_ms)
        solution = solver.solution
        return {
            "number": number,
            "cgp": late.cgp(field.rules),
            "tiles": [len(rack) for rack in late.position.racks],
            "move": format_move(solution.move, field.rules.distribution.alphabet),
            "value": solution.value,
            "proven": solution.proven,
            "depth": solution.depth,
            "nodes": solution.nodes,
            "ms": round(took_ms, 1),
            "memory_mb": round(max(0, most - before) / _MIB, 1),
            "trace": trace,
        }

    def summary(self, records: Sequence[Record]) -> Tables:
        """Add endgames up."""
        found = endgame_summary(records, self.time_ms, self.memory)
        return {"endgames": [] if found is None else [found]}


def _followed(
    solver: EndgameSolver, position: Position, time_ms: int
) -> tuple[list[list[Any]], float, int]:
    """Solve; return the trace, milliseconds, and the most bytes in use after a slice."""
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
    """Return the bytes of memory that the process has; where unknown, had at most."""
    try:
        return int(_STATM.read_text().split()[1]) * resource.getpagesize()
    except OSError:
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most if sys.platform == "darwin" else most << 10


# --- sums -----------------------------------------------------------------------------------------


def endgame_summary(records: Sequence[Record], time_ms: int, memory: int) -> EndgameBench | None:
    """Add endgames up, each of which had this time and memory; None if there are none."""
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


def _proof_ms(record: Record) -> float:
    return float(next(ms for ms, _, _, proven in record["trace"] if proven))


def _value_at(record: Record, at_ms: int) -> int:
    """Return the value that was known at a time; the first is known at once."""
    known = [value for ms, _, value, _ in record["trace"] if ms <= at_ms]
    return int(known[-1]) if known else int(record["trace"][0][2])


def _share(errors: Sequence[int], most: int) -> float | None:
    return sum(error <= most for error in errors) / len(errors) if errors else None

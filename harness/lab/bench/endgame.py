"""How soon endgames are proven on this machine, and how good the value is before.

The endgames begin at the first turn with an empty bag in games of static players. A fresh solver
solves each, in the slices that players use. Creating the solver, compiling and laying out the words
is not timed; setting up the position is.
"""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Annotated, Any, ClassVar

from bot.player import Budget
from bot.search.analysis.solving import Solvers
from bot.search.anytime import NODES, Anytime
from engine.endgame.solver import EndgameSolver
from engine.notation.cgp import write_cgp
from engine.notation.move_text import format_move
from engine.rules.position import Position
from harness.lab.positions import endgame_position
from harness.lab.rows import Column, Tables, percent
from harness.lab.study import Record, Study
from harness.lab.study_context import Field, ready
from protocol.channel import now_ms

from .memory import MB, own_memory, peak_memory

TIMES_MS = (1_000, 5_000, 30_000)
EARLY_MS = 1_000
"""Time at which values are compared with proven values."""
NEAR = 2
"""Points."""


@dataclass(frozen=True)
class EndgameBench:
    """Results of endgames."""

    positions: Annotated[int, Column("positions")]
    proven: Annotated[Mapping[str, float], percent("proven in")]
    median_ms: Annotated[float | None, Column("median time to the proof", unit=" ms")]
    """None if fewer than half of all were proven."""
    median_of_proven_ms: Annotated[float | None, Column("… of those proven", unit=" ms")]
    nodes_per_s: Annotated[int, Column("nodes a second")]
    depth: Annotated[float, Column("median plies of unproven")]
    memory_mb: Annotated[float, Column("memory, most", unit=" MB")]
    """Growth of the process, in units of 2²⁰ bytes."""
    memory_told_mb: Annotated[float, Column("memory limit", decimals=0, unit=" MB")]
    same_early: Annotated[float | None, percent("of those proven: the same value after 1 s")]
    """None if the time limit was no longer than that."""
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
        """Return the settings that decide the results."""
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
        """Solve an endgame.

        ``trace`` has an entry for each change of depth, value or proof: milliseconds since the
        start, plies, points, and whether it is proven.
        """
        ready()
        field = self.field
        position = endgame_position(field, self.seed, number)
        gc.collect()  # frees earlier solvers
        before = _memory()
        solver = Solvers().solver(
            field.lexicon, field.rules, threads=self.threads, memory=self.memory
        )
        trace, took_ms, most = _followed(solver, position, self.time_ms)
        solution = solver.solution
        return {
            "number": number,
            "cgp": write_cgp(position, field.rules),
            "tiles": [len(rack) for rack in position.racks],
            "move": format_move(solution.move, field.rules.distribution.alphabet),
            "value": solution.value,
            "proven": solution.proven,
            "depth": solution.depth,
            "nodes": solution.nodes,
            "ms": round(took_ms, 1),
            "memory_mb": round(max(0, most - before) / MB, 1),
            "trace": trace,
        }

    def summary(self, records: Sequence[Record]) -> Tables:
        """Summarize endgames."""
        bench = endgame_summary(records, self.time_ms, self.memory)
        return {"endgames": [] if bench is None else [bench]}


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
        solution = solver.solution
        seen = [solution.depth, solution.value, solution.proven]
        if not trace or trace[-1][1:] != seen:
            trace.append([round(ms, 1), *seen])
        return ms

    took_ms, most = look(), _memory()
    for _ in Anytime(solver, NODES).slices(budget.remaining_ms):
        took_ms = look()
        most = max(most, _memory())
    return trace, took_ms, most


def _memory() -> int:
    """Return this process's own bytes in memory; where unknown, its peak."""
    try:
        return own_memory(os.getpid())
    except OSError:
        return peak_memory()


# --- sums -----------------------------------------------------------------------------------------


def endgame_summary(records: Sequence[Record], time_ms: int, memory: int) -> EndgameBench | None:
    """Summarize endgames with this time and memory; None if there are none."""
    if not records:
        return None
    proven = [record for record in records if record["proven"]]
    proofs = sorted(_proof_ms(record) for record in proven)
    half = (len(records) + 1) // 2
    compared = proven if time_ms > EARLY_MS else []  # otherwise the early value is the last
    errors = [abs(_value_at(record, EARLY_MS) - record["value"]) for record in compared]
    later = [
        error
        for record, error in zip(compared, errors, strict=True)
        if _proof_ms(record) > EARLY_MS
    ]
    unproven = [record["depth"] for record in records if not record["proven"]]
    return EndgameBench(
        positions=len(records),
        proven={
            f"{at_ms / 1_000:g} s": sum(ms <= at_ms for ms in proofs) / len(records)
            for at_ms in sorted({*(at_ms for at_ms in TIMES_MS if at_ms < time_ms), time_ms})
        },
        median_ms=proofs[half - 1] if len(proofs) >= half else None,
        median_of_proven_ms=median(proofs) if proofs else None,
        nodes_per_s=round(
            1_000
            * sum(record["nodes"] for record in records)
            / max(sum(record["ms"] for record in records), 0.001)
        ),
        depth=median(unproven) if unproven else 0.0,
        memory_mb=max(record["memory_mb"] for record in records),
        memory_told_mb=memory / MB,
        same_early=_share(errors, 0),
        near_early=_share(errors, NEAR),
        held_early=_share(later, 0),
    )


def _proof_ms(record: Record) -> float:
    return float(next(ms for ms, _, _, proven in record["trace"] if proven))


def _value_at(record: Record, at_ms: int) -> int:
    """Return the value known at a time, or else the first."""
    values = [value for ms, _, value, _ in record["trace"] if ms <= at_ms]
    return int(values[-1]) if values else int(record["trace"][0][2])


def _share(errors: Sequence[int], most: int) -> float | None:
    return sum(error <= most for error in errors) / len(errors) if errors else None

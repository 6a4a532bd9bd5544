"""``bench endgame``: how soon endgames are proven."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

from harness import figures
from harness.cli.long_runs import check_cores
from harness.cli.options import Duration, ThreadsOption, check_counts, check_durations
from harness.cli.position_runs import PositionRun, Records, check_memory
from harness.cli.solving import USUAL_MEMORY, Memory

__all__ = ["endgame"]


def endgame(
    *,
    positions: int = 300,
    time: Duration = 30_000,
    memory: Memory = USUAL_MEMORY,
    threads: ThreadsOption = 1,
    solving: PositionRun | None = None,
) -> None:
    """Solve endgames of static games; print how soon they are proven, and how good values are then.

    Args:
        positions: How many, each the first with an empty bag of a game of its own.
        time: For each, at most.
        memory: That the solver may take.
        threads: That it searches with.
        solving: With what.
    """
    solving = solving or PositionRun()
    check_counts(positions=positions, threads=threads)
    check_durations(time=time)
    check_cores(solving.workers, threads)
    from harness.lab.bench.endgame import Proving, endgame_summary, proven_in

    field = solving.field()
    check_memory(memory, threads)

    def show(records: Records) -> None:
        found = endgame_summary(records, time, memory)
        if solving.json_:
            print(json.dumps(found and dataclasses.asdict(found), ensure_ascii=False))
        elif found is not None:
            print(figures.table(("figure", "value"), _figures(dataclasses.asdict(found))))

    solving.work(
        "bench endgame",
        {"time_ms": time, "memory": memory, "threads": threads},
        positions,
        proven_in,
        Proving(field, solving.seed, time, memory, threads),
        field,
        show,
    )


# --- what is told ---------------------------------------------------------------------------------


def _figures(found: dict[str, Any]) -> list[tuple[str, str]]:
    proven = found["proven"]
    return [
        ("positions", f"{found['positions']:,}"),
        *((f"proven in {at}", figures.share(one)) for at, one in proven.items()),
        ("median time to the proof", figures.duration(found["median_ms"])),
        ("… of those proven", figures.duration(found["median_of_proven_ms"])),
        ("nodes a second", f"{found['nodes_per_s']:,}"),
        ("plies where nothing was proven, median", figures.number(found["depth"])),
        ("memory, most", f"{found['memory_mb']:,.1f} MB"),
        ("memory it was told", f"{found['memory_told_mb']:,.0f} MB"),
        ("of those proven: the same value after 1 s", figures.share(found["same_early"])),
        ("… within 2 points", figures.share(found["near_early"])),
        ("… the same, of those proven later", figures.share(found["held_early"])),
    ]

"""``bench endgame``: how soon endgames are proven."""

from __future__ import annotations

from harness.cli.failing import CommandFailed
from harness.cli.options import Duration, ThreadsOption, check_counts, check_durations
from harness.cli.solving import USUAL_MEMORY, Memory
from harness.cli.study_run import StudyRun

__all__ = ["endgame"]


def endgame(
    *,
    positions: int = 300,
    time: Duration = 30_000,
    memory: Memory = USUAL_MEMORY,
    threads: ThreadsOption = 1,
    run: StudyRun | None = None,
) -> None:
    """Solve endgames of static games; print how soon they are proven, and how good values are then.

    Args:
        positions: How many, each the first with an empty bag of a game of its own.
        time: For each, at most.
        run: With what.
    """
    run = run or StudyRun()
    check_counts(positions=positions, threads=threads)
    check_durations(time=time)
    run.check_cores(threads)
    from engine.endgame.solver import least_memory
    from harness.lab.bench.endgame import EndgameStudy

    if memory < (least := least_memory(threads)):
        raise CommandFailed(
            f"--memory: with so many threads ({threads}) it is {least >> 20}M or more"
        )
    run.work([EndgameStudy(run.field(), run.seed, time, memory, threads)], positions)

"""``experiment oracle``: whose choices win more often, judged by a long simulation."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from harness.cli.failing import CommandFailed
from harness.cli.field import load_chances
from harness.cli.options import WinprobOption, check_counts
from harness.cli.study_run import StudyRun

__all__ = ["oracle"]


def oracle(
    player: str,
    opponent: str,
    /,
    *,
    positions: int = 400,
    judge_plies: int = 8,
    judge_rollouts: int = 5_000,
    winprob: Annotated[
        WinprobOption,
        Parameter(help="trained, or a table of win probabilities (CSV) for the judge."),
    ] = None,
    run: StudyRun | None = None,
) -> None:
    """See how much win probability one player chooses better than another.

    Both choose in positions of static games with tiles in the bag; where they differ, a simulation
    of both moves says whose wins more often. Errors are standard errors.

    Args:
        player: A local seat, such as "sim?time=1s&plies=4".
        opponent: The same.
        positions: How many, each of a game of its own.
        judge_plies: Turns that the judge plays after each of the moves; 64 reach every game's end.
        judge_rollouts: Of each of the moves.
        run: With what.
    """
    run = run or StudyRun()
    check_counts(positions=positions)
    counts = {"judge-plies": judge_plies, "judge-rollouts": judge_rollouts}
    check_counts(**counts)
    if run.cluster is None:
        run.check_cores()
    from harness.lab.studies.oracle import Oracle

    field = run.field(winprob)
    chances = load_chances(field, winprob)
    if chances is None:
        raise CommandFailed(f"{field.rules.distribution.name} tiles need --winprob")
    own_leaves = run.leaves is None
    seats = player, opponent
    study = Oracle(seats, field, run.seed, chances, judge_plies, judge_rollouts, own_leaves)
    run.work([study], positions)

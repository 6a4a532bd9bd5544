"""How many rollouts this machine makes in a second.

An *iteration* is a rollout of one candidate. Candidates have equal samples, so all count alike. The
usual position is before the eleventh turn of a game between static players, with the median speed
among the first eight games of seed 0 that last long enough. A position has tiles in the bag:
otherwise a rollout has no luck, and each candidate gets one.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final

from bot.equipment import Resources
from bot.player import View
from bot.search.simulating import simulation_of
from engine.movegen.candidates import best_candidates
from engine.notation.cgp import read_cgp
from engine.rules.position import bag_count
from harness.lab.study_context import Field
from lexicons.win_probability import WinProbabilities

from .selfplay import Bench, about

MID_GAME: Final = (
    "15/5Q9/2V1AI9/2EMU3B6/2GIT3L6/3LOP2O6/3T1A2C6/3ZINCOS6/5D9/4KY9/3TE10/3WE10/3IF10/3N11/PREY11"
    " LNORRTW/ 191/151 0"
)
"""The usual position; its player on turn holds LNORRTW and leads by 40."""

_RUNS = 5


@dataclass(frozen=True)
class SimBench(Bench):
    """One position; medians of several runs."""

    iterations_per_s: float
    """All threads together, for the first number of plies."""
    plies: int
    position: str
    candidates: int
    rollouts: int
    """Per run."""
    runs: int
    by_plies: dict[str, float]
    """Iterations a second by number of plies."""
    times_one_thread: dict[str, float]
    """Speed-up over one thread, measured in alternation; empty for one thread."""


def measure_sim(
    field: Field,
    win_probabilities: WinProbabilities,
    cgp: str,
    *,
    candidates: int,
    plies: Sequence[int],
    rollouts: int,
    threads: int,
    seed: int,
) -> SimBench:
    """Simulate one position, for each number of ``plies``; ``rollouts`` are those of a run.

    Raises:
        ValueError: the position is invalid or has an empty bag, or tile sets don't match.
    """
    position = read_cgp(cgp, field.rules)
    if not bag_count(position, field.rules):
        raise ValueError(
            "the bag is empty in this position, so that one rollout of a candidate says it all; "
            "name one with tiles in the bag"
        )
    began = time.perf_counter()
    generators = [field.generator() for _ in range(threads)]
    moves = best_candidates(generators[0], position, candidates)
    view = View.of(position, field.rules, Resources(field.lexicon, field.leaves, win_probabilities))

    def run(threads: int, depth: int, rollouts: int) -> float:
        """Return rollouts a second."""
        simulation = simulation_of(
            view,
            moves,
            generators[:threads],
            plies=depth,
            seed=seed,
            rule="equal",
            limit=rollouts,
        )
        start = time.perf_counter()
        made = simulation.advance(rollouts)
        return made / (time.perf_counter() - start)

    run(threads, 1, 2 * threads)  # loads the kernels
    loaded = time.perf_counter()
    rates, ratios = dict[str, float](), dict[str, float]()
    for depth in plies:
        in_parallel, alone = list[float](), list[float]()
        for _ in range(_RUNS):
            in_parallel.append(run(threads, depth, rollouts))
            if threads > 1:
                alone.append(run(1, depth, rollouts))
        rates[f"{depth}"] = round(median(in_parallel), 1)
        if alone:
            ratios[f"{depth}"] = round(median(in_parallel) / median(alone), 2)
    seconds = time.perf_counter() - loaded
    return SimBench(
        **about(field, 1, threads, seed, seconds, loaded - began),
        iterations_per_s=rates[f"{plies[0]}"],
        plies=plies[0],
        position=cgp,
        candidates=len(moves),
        rollouts=rollouts,
        runs=_RUNS,
        by_plies=rates,
        times_one_thread=ratios,
    )

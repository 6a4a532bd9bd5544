"""How many rollouts this machine makes in a second.

An *iteration* is a rollout of one candidate. Candidates have equal samples, so all count alike. The
usual position is before the eleventh turn of a game between static players, with the median speed
among the first eight games of seed 0 that last long enough. A position has tiles in the bag:
otherwise a rollout has no luck, and each candidate gets one.
"""

from __future__ import annotations

import time
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
class SimSettings:
    """The settings of a simulation."""

    win_probabilities: WinProbabilities
    candidates: int
    plies: tuple[int, ...]
    """Turns after a candidate; each number is measured in turn."""
    rollouts: int
    """Per run."""
    threads: int


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


def measure_sim(field: Field, settings: SimSettings, cgp: str, seed: int) -> SimBench:
    """Simulate one position.

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
    generators = [field.generator() for _ in range(settings.threads)]
    candidates = best_candidates(generators[0], position, settings.candidates)
    resources = Resources(field.lexicon, field.leaves, settings.win_probabilities)
    view = View.of(position, field.rules, resources)

    def run(threads: int, plies: int, rollouts: int) -> float:
        """Return rollouts a second."""
        simulation = simulation_of(
            view,
            candidates,
            generators[:threads],
            plies=plies,
            seed=seed,
            rule="equal",
            limit=rollouts,
        )
        start = time.perf_counter()
        made = simulation.advance(rollouts)
        return made / (time.perf_counter() - start)

    run(settings.threads, 1, 2 * settings.threads)  # loads the kernels
    loaded = time.perf_counter()
    rates, ratios = dict[str, float](), dict[str, float]()
    for plies in settings.plies:
        every, alone = list[float](), list[float]()
        for _ in range(_RUNS):
            every.append(run(settings.threads, plies, settings.rollouts))
            if settings.threads > 1:
                alone.append(run(1, plies, settings.rollouts))
        rates[f"{plies}"] = round(median(every), 1)
        if alone:
            ratios[f"{plies}"] = round(median(every) / median(alone), 2)
    seconds = time.perf_counter() - loaded
    return SimBench(
        **about(field, 1, settings.threads, seed, seconds, loaded - began),
        iterations_per_s=rates[f"{settings.plies[0]}"],
        plies=settings.plies[0],
        position=cgp,
        candidates=len(candidates),
        rollouts=settings.rollouts,
        runs=_RUNS,
        by_plies=rates,
        times_one_thread=ratios,
    )

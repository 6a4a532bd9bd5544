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

from engine.movegen.candidates import best_candidates
from engine.movegen.generator import Generator
from engine.notation.cgp import read_cgp
from engine.rules.position import Position, bag_count
from engine.simulation.simulation import Simulation
from harness.lab.study_context import Field
from lexicons.win_probability import WinProbabilities

from .selfplay import Bench, about, timed

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
    compile_seconds, bench = timed(lambda: _Bench(field, settings, position, seed))
    began = time.perf_counter()
    measured = {plies: bench.rates(plies) for plies in settings.plies}
    seconds = time.perf_counter() - began
    rates = {f"{plies}": round(all_threads, 1) for plies, (all_threads, _) in measured.items()}
    ratios = {
        f"{plies}": round(many / single, 2) for plies, (many, single) in measured.items() if single
    }
    return SimBench(
        **about(field, 1, settings.threads, seed, seconds, compile_seconds),
        iterations_per_s=rates[f"{settings.plies[0]}"],
        plies=settings.plies[0],
        position=cgp,
        candidates=len(bench.candidates),
        rollouts=settings.rollouts,
        runs=_RUNS,
        by_plies=rates,
        times_one_thread=ratios,
    )


class _Bench:
    """A position with its candidates, and a warm generator for each thread."""

    def __init__(self, field: Field, settings: SimSettings, position: Position, seed: int) -> None:
        self._settings, self._position, self._seed = settings, position, seed
        self._generators = [field.generator() for _ in range(settings.threads)]
        self.candidates = best_candidates(self._generators[0], position, settings.candidates)
        self._run(self._generators, 1, 2 * settings.threads)

    def rates(self, plies: int) -> tuple[float, float]:
        """Return iterations a second of all threads, and of one thread: 0 if there is only one.

        Each is the median of several runs, in alternation.
        """
        several, rollouts = len(self._generators) > 1, self._settings.rollouts
        every, alone = list[float](), list[float]()
        for _ in range(_RUNS):
            every.append(self._run(self._generators, plies, rollouts))
            alone.append(self._run(self._generators[:1], plies, rollouts) if several else 0.0)
        return median(every), median(alone)

    def _run(self, generators: Sequence[Generator], plies: int, rollouts: int) -> float:
        simulation = Simulation(
            generators,
            self._position,
            self.candidates,
            self._settings.win_probabilities,
            plies=plies,
            seed=self._seed,
            rule="equal",
            limit=rollouts,
        )
        began = time.perf_counter()
        made = simulation.advance(rollouts)
        return made / (time.perf_counter() - began)

"""How many rollouts this machine makes in a second.

An *iteration* is a rollout of one candidate. Candidates have equal samples, so all count alike. The
usual position is before the eleventh turn of a game between static players, with the median speed
among the first eight games of seed 0 that last long enough. Stages of the game are measured in
eight positions each.

All positions have tiles in the bag: otherwise a rollout has no luck, and each candidate gets one.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from statistics import median
from typing import Any, Final

import numpy as np

from engine.movegen.candidates import best_candidates
from engine.movegen.generator import Generator, RankedMove
from engine.notation.cgp import read_cgp
from engine.rules.position import Position, bag_count
from engine.simulation.simulation import Simulation
from harness.lab.positions import recorded_games, situation
from harness.lab.study_context import Field
from lexicons.win_probability import WinProbabilities

from .selfplay import Bench, about, timed

MID_GAME: Final = (
    "15/5Q9/2V1AI9/2EMU3B6/2GIT3L6/3LOP2O6/3T1A2C6/3ZINCOS6/5D9/4KY9/3TE10/3WE10/3IF10/3N11/PREY11"
    " LNORRTW/ 191/151 0"
)
"""The usual position; its player on turn holds LNORRTW and leads by 40."""

_RUNS = 5
_TURNS: Final = {"opening": 0, "mid_game": 10, "late": 18}
_POSITIONS = 8  # per stage, each from its own game
_GAMES = 16 * _POSITIONS  # to choose from


@dataclass(frozen=True)
class SimSettings:
    """The settings of a simulation.

    Raises:
        ValueError: a number is below 1.
    """

    win_probabilities: WinProbabilities
    candidates: int
    plies: tuple[int, ...]
    """Turns after a candidate; each number is measured in turn."""
    rollouts: int
    """Per run."""
    threads: int

    def __post_init__(self) -> None:
        if min(self.rollouts, self.candidates, *self.plies, self.threads) < 1:
            raise ValueError(
                f"{self.rollouts} rollouts of {self.candidates} candidates for "
                f"{', '.join(map(str, self.plies))} plies in {self.threads} threads; there is at "
                "least one of each"
            )


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


@dataclass(frozen=True)
class StagesBench(Bench):
    """Iterations a second, all threads together, by the number of turns after the candidate."""

    candidates: int
    """At most."""
    rollouts: int
    """Per run, in all positions of a stage together."""
    runs: int
    opening: dict[str, float]
    mid_game: dict[str, float]
    late: dict[str, float]
    """Before the nineteenth turn, with tiles in the bag."""


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
    compile_seconds, bench = timed(lambda: _Bench(field, settings, [position], seed))
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
        candidates=len(bench.candidates[0]),
        rollouts=settings.rollouts,
        runs=_RUNS,
        by_plies=rates,
        times_one_thread=ratios,
    )


def measure_stages(field: Field, settings: SimSettings, seed: int) -> StagesBench:
    """Simulate positions of each stage of the game.

    Raises:
        ValueError: mismatched tile sets.
    """
    stages = stage_positions(field, seed)
    compile_seconds, benches = timed(
        lambda: {name: _Bench(field, settings, some, seed) for name, some in stages.items()}
    )
    began = time.perf_counter()
    rates: dict[str, Any] = {
        name: {f"{plies}-ply": round(bench.rate(plies), 1) for plies in settings.plies}
        for name, bench in benches.items()
    }
    seconds = time.perf_counter() - began
    return StagesBench(
        **about(field, _POSITIONS, settings.threads, seed, seconds, compile_seconds),
        candidates=settings.candidates,
        rollouts=settings.rollouts,
        runs=_RUNS,
        **rates,
    )


class _Bench:
    """Positions with their candidates, and a warm generator for each thread."""

    def __init__(
        self, field: Field, settings: SimSettings, positions: Sequence[Position], seed: int
    ) -> None:
        self._settings, self._positions, self._seed = settings, positions, seed
        self._generators = [field.generator() for _ in range(settings.threads)]
        self.candidates: list[list[RankedMove]] = [
            best_candidates(self._generators[0], position, settings.candidates)
            for position in positions
        ]
        self._run(self._generators, 1, 2 * settings.threads)

    def rate(self, plies: int) -> float:
        """Return iterations a second, the median of several runs."""
        share = max(1, self._settings.rollouts // len(self._positions))
        return median(self._run(self._generators, plies, share) for _ in range(_RUNS))

    def rates(self, plies: int) -> tuple[float, float]:
        """Return iterations a second of all threads, and of one thread: 0 if there is only one."""
        share, single = self._settings.rollouts, self._generators[:1]
        if len(self._generators) == 1:
            return self.rate(plies), 0.0
        runs = [
            (self._run(self._generators, plies, share), self._run(single, plies, share))
            for _ in range(_RUNS)
        ]
        return median(many for many, _ in runs), median(alone for _, alone in runs)

    def _run(self, generators: Sequence[Generator], plies: int, rollouts: int) -> float:
        made, seconds = 0, 0.0
        for position, candidates in zip(self._positions, self.candidates, strict=True):
            simulation = Simulation(
                generators,
                position,
                candidates,
                self._settings.win_probabilities,
                plies=plies,
                seed=self._seed,
                rule="equal",
                limit=rollouts,
            )
            began = time.perf_counter()
            made += simulation.advance(rollouts)
            seconds += time.perf_counter() - began
        return made / seconds


def stage_positions(field: Field, seed: int) -> dict[str, list[Position]]:
    """Return positions of each stage, from games that have tiles in the bag at all stages.

    Raises:
        ValueError: there is no such game, or tile sets don't match.
    """
    games = recorded_games(field, _GAMES, seed)
    last = max(_TURNS.values())
    long_enough = (games.turns > last) & (games.results.bags[:, last] > 0)
    chosen = list(islice(cycle(np.flatnonzero(long_enough).tolist()), _POSITIONS))
    if not chosen:
        raise ValueError(
            f"no game of {field.lexicon.name} had tiles in the bag before turn {last + 1}"
        )
    return {
        stage: [situation(games, game, turn, field.rules).position for game in chosen]
        for stage, turn in _TURNS.items()
    }

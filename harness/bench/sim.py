"""How many rollouts of one candidate this machine makes in a second.

A simulation is made of them. The positions are of static games: the first of each, one in the
middle, one late; the candidate is the static choice, and static players go on after it.
"""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import cycle, islice
from typing import Final

from engine.generate import Generator
from engine.position import Position
from engine.rollouts import roll_out_best
from engine.selfplay import play_static_games

from .selfplay import Bench, Field, about, timed

__all__ = ["SimBench", "measure_sim"]

_PLIES: Final = (2, 4)
_TURNS: Final = {"opening": 0, "mid_game": 10, "late": 18}
_POSITIONS = 8  # of each stage, one of a game


@dataclass(frozen=True)
class SimBench(Bench):
    """Rollouts a second, all threads together, by the number of turns after the candidate."""

    rollouts: int
    """Of each stage of the game and number of plies."""
    opening: dict[str, float]
    mid_game: dict[str, float]
    """Before the eleventh turn."""
    late: dict[str, float]
    """Before the nineteenth."""


def measure_sim(field: Field, rollouts: int, threads: int, seed: int) -> SimBench:
    """Roll the static choice out in positions of each stage, so many times in all.

    Raises:
        ValueError: a number of rollouts or threads below 1, or tiles that don't fit each other.
    """
    if rollouts < 1 or threads < 1:
        raise ValueError(f"{rollouts} rollouts in {threads} threads; there is at least one of each")
    compile_seconds, stages = timed(lambda: _positions(field, seed))
    generators = [Generator(field.lexicon, field.rules, field.leaves) for _ in range(threads)]
    compile_seconds += timed(lambda: roll_out_best(generators[0], stages["late"][0], 2, 1))[0]
    began = time.perf_counter()
    found = {
        stage: {
            f"{plies}-ply": round(_rate(generators, stages[stage], plies, rollouts, seed), 1)
            for plies in _PLIES
        }
        for stage in _TURNS
    }
    seconds = time.perf_counter() - began
    return SimBench(
        **about(field, _POSITIONS, threads, seed, seconds, compile_seconds),
        rollouts=rollouts,
        opening=found["opening"],
        mid_game=found["mid_game"],
        late=found["late"],
    )


def _positions(field: Field, seed: int) -> dict[str, list[Position]]:
    games = play_static_games(
        field.lexicon, field.rules, field.leaves, 4 * _POSITIONS, seed=seed, record=True
    )
    long_enough = [game for game, turns in enumerate(games.turns) if turns > max(_TURNS.values())]
    chosen = list(islice(cycle(long_enough), _POSITIONS))
    if not chosen:
        raise ValueError(f"no game of {field.lexicon.name} was long enough for a late position")
    return {
        stage: [games.position(game, turn, field.rules) for game in chosen]
        for stage, turn in _TURNS.items()
    }


def _rate(
    generators: list[Generator], positions: list[Position], plies: int, rollouts: int, seed: int
) -> float:
    """Roll out in all positions, each thread its share, and give the rollouts a second."""
    each = max(1, rollouts // (len(positions) * len(generators)))

    def work(at: int) -> None:
        for number, position in enumerate(positions):
            roll_out_best(
                generators[at], position, plies, each, seed + at * len(positions) + number
            )

    began = time.perf_counter()
    with ThreadPoolExecutor(len(generators)) as pool:
        for _ in pool.map(work, range(len(generators))):
            pass  # what was raised is raised here
    return each * len(positions) * len(generators) / (time.perf_counter() - began)

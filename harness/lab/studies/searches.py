"""Simulations of one position, one after another: for so long, or for so many rollouts.

Each is made in one thread, with the same candidates and chance of its own.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from engine.movegen.candidates import best_candidates
from engine.movegen.generator import Generator, RankedMove
from engine.notation.cgp import write_cgp
from engine.notation.move_text import format_move
from engine.rules.rules import Rules
from engine.simulation.rollout_input import Utility
from engine.simulation.simulation import Simulation
from harness.lab.sampled_positions import Situation, situation_in_play
from harness.lab.study_context import ready
from lexicons.leaves import LeaveTable
from lexicons.store import Lexicon
from lexicons.win_probability import WinProbabilities

__all__ = ["Ground", "Searches", "Values", "search_for", "utilities"]

Floats: TypeAlias = npt.NDArray[np.float64]

_SLICE_S = 0.005
_FIRST_SLICE = 16  # rollouts


class Ground(NamedTuple):
    """What all positions of an experiment are searched with."""

    lexicon: Lexicon
    rules: Rules
    leaves: LeaveTable
    win_probabilities: WinProbabilities
    candidates: int
    """So many of the highest static equity, as far as there are as many."""
    plies: int
    seed: int

    def about(self) -> dict[str, object]:
        """Say what decides the results, in what JSON can say; words and tables by checksums."""
        chances = self.win_probabilities
        return {
            "lexicon": self.lexicon.checksum,
            "leaves": _checksum(self.leaves.values),
            "winprob": _checksum(chances.spreads, chances.unseen, chances.values),
            "candidates": self.candidates,
            "plies": self.plies,
            "seed": self.seed,
        }


@dataclass(frozen=True)
class Values:
    """What a simulation says, by candidate in the order of static equity."""

    samples: list[int]
    win: list[float]
    """Probability, from 0 to 1."""
    win_error: list[float]
    """Its standard error, ∞ for fewer than two samples."""
    equity: list[float]
    """Points."""
    equity_error: list[float]

    @classmethod
    def of(cls, simulation: Simulation) -> Values:
        """Read a simulation."""
        known = {one.move: one for one in simulation.estimates()}
        found = [known[one.move] for one in simulation.candidates]
        return cls(
            [one.samples for one in found],
            [one.win for one in found],
            [one.win_error for one in found],
            [one.equity for one in found],
            [one.equity_error for one in found],
        )


def utilities(win: list[float], equity: list[float]) -> Floats:
    """Give what simulations compare candidates by, in sure wins."""
    utility = Utility()
    return utility.win * np.array(win) + utility.point * np.array(equity)


class Searches:
    """The simulations of one position: that of seed and number (``situation_in_play``).

    All that is compiled or loaded once a process is there when they begin, so they can be timed.
    """

    def __init__(self, ground: Ground, number: int) -> None:
        ready()
        self._ground, self._number = ground, number
        self.situation: Situation = situation_in_play(
            ground.lexicon, ground.rules, ground.leaves, ground.seed, number
        )
        self._generator = Generator(ground.lexicon, ground.rules, ground.leaves)
        self.candidates: list[RankedMove] = best_candidates(
            self._generator, self.situation.position, ground.candidates
        )

    def begin(self, rule: str, chance: int, rollouts: int | None = None) -> Simulation:
        """Begin a simulation, of so many rollouts at most.

        ``chance`` tells apart those of one position.
        """
        ground = self._ground
        seed = int(np.random.SeedSequence((ground.seed, self._number, chance)).generate_state(1)[0])
        return Simulation(
            [self._generator],
            self.situation.position,
            self.candidates,
            ground.win_probabilities,
            plies=ground.plies,
            seed=seed,
            rule=rule,
            limit=rollouts,
        )

    def about(self) -> dict[str, object]:
        """Say what is searched, in what JSON can say."""
        rules = self._ground.rules
        alphabet = rules.distribution.alphabet
        return {
            "number": self._number,
            "cgp": write_cgp(self.situation.position, rules),
            "bag": self.situation.bag,
            "candidates": [format_move(one.move, alphabet) for one in self.candidates],
            "static": [one.equity / 1_000 for one in self.candidates],
        }


def search_for(
    begin: Callable[[], Simulation],
    seconds: float,
    *,
    until_certain: bool = True,
    clock: Callable[[], float] = time.monotonic,
) -> Simulation:
    """Simulate until the time is over, in slices of 5 ms by the speed of the last.

    Args:
        begin: makes the simulation, which takes of the time.
        seconds: how long.
        until_certain: stop before if more would change nothing.
        clock: in seconds.
    """
    end = clock() + seconds
    simulation, size = begin(), _FIRST_SLICE
    while (began := clock()) < end and not (until_certain and simulation.is_certain):
        made = simulation.advance(size)
        if not made:
            break
        now = clock()
        rate = made / max(now - began, 1e-6)
        size = max(1, int(rate * min(_SLICE_S, end - now)))
    return simulation


def _checksum(*arrays: npt.NDArray[Any]) -> str:
    """Give the SHA-256 of what a table holds, whatever file it came from."""
    return hashlib.sha256(b"".join(one.tobytes() for one in arrays)).hexdigest()

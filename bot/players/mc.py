"""``mc`` and ``mc+rh``: a few moves compared by a few samples, after CS221 (Stanford 2016).

The best ``candidates`` moves (3) are rolled out ``samples`` times each (15) for ``plies`` turns
(2); the move that gains most points on the opponent is played. ``mc`` picks candidates and later
moves by score, as ``vanilla`` does; ``mc+rh`` by score and features of the leave, as ``rh``, with
weights learned from its own games. Both count points, not wins. A repeated question gets the same
answer.
"""

from __future__ import annotations

import math
import random
from typing import NamedTuple

from bot.player import Budget, Choice, Considered, Player, View
from bot.search.anytime import Anytime
from bot.search.static_choice import not_refused
from engine.movegen.evaluation import PLAIN, POINT
from engine.movegen.generator import Generator
from engine.rules.rules import Rules
from engine.simulation.rollout_input import BY_POINTS
from engine.simulation.simulation import Estimate, Simulation
from lexicons.leaves import LeaveTable
from lexicons.rack_features import leave_table
from lexicons.store import Lexicon

from .options import number
from .rh import rack_weights

__all__ = ["CS221", "MonteCarloPlayer", "RackMonteCarloPlayer", "Sampling", "sampled_choice"]


class Sampling(NamedTuple):
    """How many moves and continuations are sampled."""

    candidates: int
    samples: int
    """Samples of each candidate."""
    plies: int
    """Turns after the candidate."""


CS221 = Sampling(candidates=3, samples=15, plies=2)
_LEAST = Sampling(candidates=1, samples=2, plies=1)
_MOST = Sampling(candidates=128, samples=1_000_000, plies=64)


class MonteCarloPlayer(Player):
    """Plays the highest mean gain in points; candidates are chosen by score.

    Raises:
        ValueError: an option is not a number or out of range.
    """

    def __init__(self, candidates: str = "3", samples: str = "15", plies: str = "2") -> None:
        given = zip(Sampling._fields, (candidates, samples, plies), _LEAST, _MOST, strict=True)
        self._sampling = Sampling(*(number(*option) for option in given))

    def choose(self, view: View, budget: Budget) -> Choice:
        """Choose by samples; offer the first candidate meanwhile."""
        return sampled_choice(view, budget, self._leaves(view.rules), self._sampling)

    def _leaves(self, rules: Rules) -> LeaveTable | None:
        """Return the leave values; None: leaves are worth nothing."""
        return None


class RackMonteCarloPlayer(MonteCarloPlayer):
    """Plays the highest mean gain in points; candidates are chosen by score and features.

    Raises:
        ValueError: as ``MonteCarloPlayer``, or the weights file cannot be read or parsed.
    """

    def __init__(
        self, weights: str = "", candidates: str = "3", samples: str = "15", plies: str = "2"
    ) -> None:
        super().__init__(candidates, samples, plies)
        self._weights = rack_weights(weights, "mc+rh")

    def warm_up(self, lexicon: Lexicon, rules: Rules) -> None:
        """Compute the leave values.

        Raises:
            ValueError: the weights are for another alphabet.
        """
        self._leaves(rules)

    def _leaves(self, rules: Rules) -> LeaveTable:
        return leave_table(self._weights, rules.distribution)


def sampled_choice(
    view: View, budget: Budget, leaves: LeaveTable | None, sampling: Sampling = CS221
) -> Choice:
    """Choose a move by samples.

    Args:
        view: the game on the player's turn; refused moves are left out.
        budget: the first candidate is offered before sampling, and chosen if time is over before
            all candidates are sampled.
        leaves: leave values for either side; None: leaves are worth nothing.
        sampling: how many candidates, samples and plies.
    """
    generators = [
        Generator(view.lexicon, view.rules, leaves, PLAIN) for _ in range(max(view.threads, 1))
    ]
    ranked = generators[0].best(view.position, sampling.candidates + len(view.refused))
    candidates = not_refused(view, ranked)[: sampling.candidates]
    first = candidates[0]
    choice = Choice(first.move, score=first.score, equity=first.equity / POINT)
    if len(candidates) == 1:
        return choice
    budget.offer(choice)
    simulation = Simulation(
        generators,
        view.position,
        candidates,
        None,
        plies=sampling.plies,
        seed=random.Random(f"{view.seed}/{len(view.history)}/{len(view.refused)}").getrandbits(64),
        rule="equal",
        first=sampling.samples,
        utility=BY_POINTS,
        use_prior=False,  # only the samples count
        limit=len(candidates) * sampling.samples,
    )
    Anytime(simulation).run(budget.remaining_ms)
    estimates = simulation.estimates()
    best = estimates[0]
    return Choice(
        best.move,
        score=best.score,
        equity=best.equity,
        candidates=tuple(map(_considered, estimates)),
    )


def _considered(estimate: Estimate) -> Considered:
    # There is no error before two samples: not before all candidates are sampled, and not in a
    # position without luck, which takes only one.
    is_known = estimate.samples > 1 and math.isfinite(estimate.equity_error)
    return Considered(
        estimate.move,
        estimate.score,
        equity=estimate.equity,
        equity_error=estimate.equity_error if is_known else None,
        samples=estimate.samples,
    )

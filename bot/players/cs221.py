"""``vanilla``, ``rh``, ``mc`` and ``mc+rh``, after CS221 (Stanford 2016).

``vanilla`` plays the highest score and nothing else. Ties go to the first move in packed order
(``engine.kernels.moves``), whatever its leave; ``greedy`` breaks them by equity. If no word can be
played it exchanges one tile, the first by letter.

``rh`` adds learned features of the leave to the score (``lexicons.rack_features``). The built-in
weights are for English; the option ``weights`` names another file, written by ``tilewire train
features``. The seat's leave table is ignored, and nothing else adjusts equity.

``mc`` and ``mc+rh`` roll out the best ``candidates`` moves (3), ``samples`` times each (15), for
``plies`` turns (2), and play the move that gains most points on the opponent. ``mc`` picks
candidates and later moves as ``vanilla`` does; ``mc+rh`` as ``rh``, with weights learned from its
own games. Both count points, not wins. A repeated question gets the same answer.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from msgspec import structs

from bot.player import Budget, Choice, Considered, Player, View
from bot.search.anytime import Anytime
from bot.search.simulating import best_of, considered, simulated, simulation_of
from bot.search.static_choice import as_choice, best_choice, not_refused, turn_chance
from engine.movegen.evaluation import PLAIN
from engine.movegen.generator import Generator
from engine.rules.rules import Rules
from engine.simulation.rollout_input import BY_POINTS
from engine.simulation.simulation import Estimate
from lexicons.leaves import LeaveTable
from lexicons.rack_features import (
    RackWeights,
    Trained,
    leave_table,
    read_rack_weights,
    shipped_rack_weights,
)
from lexicons.store import Lexicon

from .options import number


class Sampling(NamedTuple):
    """How many moves and continuations are sampled."""

    candidates: int
    samples: int
    plies: int
    """Turns after the candidate."""


CS221 = Sampling(candidates=3, samples=15, plies=2)
_LEAST = Sampling(candidates=1, samples=2, plies=1)
_MOST = Sampling(candidates=128, samples=1_000_000, plies=64)


def vanilla() -> Player:
    """Return a player of the highest score."""
    return _Player(None)


def rh(weights: str = "") -> Player:
    """Return a player of the highest score plus leave features; raises as ``_weights``."""
    return _Player(_weights(weights, "rh"))


def mc(candidates: str = "3", samples: str = "15", plies: str = "2") -> Player:
    """Return a player of the highest mean gain; raise ValueError if an option is invalid."""
    return _Player(None, _sampling(candidates, samples, plies))


def mc_rh(
    weights: str = "", candidates: str = "3", samples: str = "15", plies: str = "2"
) -> Player:
    """Return a player as ``mc``, by score plus leave features; raises as ``mc`` and ``rh``."""
    return _Player(_weights(weights, "mc+rh"), _sampling(candidates, samples, plies))


def _sampling(*options: str) -> Sampling:
    fields = zip(Sampling._fields, options, _LEAST, _MOST, strict=True)
    return Sampling(*(number(*option) for option in fields))


def _weights(path: str, player: Trained) -> RackWeights:
    """Read weights, or return built-in ones; raise ValueError if they can't be read or parsed."""
    try:
        return read_rack_weights(path) if path else shipped_rack_weights(player)
    except OSError as error:
        raise ValueError(f"the weights {path!r} cannot be read: {error.strerror}") from None


class _Player(Player):
    """Without weights, leaves are worth nothing; without sampling, nothing is rolled out."""

    def __init__(self, weights: RackWeights | None, sampling: Sampling | None = None) -> None:
        self._weights, self._sampling = weights, sampling

    def warm_up(self, lexicon: Lexicon, rules: Rules) -> None:
        """Compute the leave values; raise ValueError if the weights are for another alphabet."""
        self._leaves(rules)

    def choose(self, view: View, budget: Budget) -> Choice:
        """Choose by samples, or without sampling by equity."""
        leaves = self._leaves(view.rules)
        if self._sampling is not None:
            return sampled_choice(view, budget, leaves, self._sampling)
        return best_choice(Generator(view.lexicon, view.rules, leaves, PLAIN), view)

    def _leaves(self, rules: Rules) -> LeaveTable | None:
        return leave_table(self._weights, rules.distribution) if self._weights else None


def sampled_choice(
    view: View, budget: Budget, leaves: LeaveTable | None, sampling: Sampling = CS221
) -> Choice:
    """Choose a move by samples; refused moves are left out.

    The first candidate is offered before sampling, and chosen if time is over before all candidates
    are sampled. ``leaves`` are used for both sides; None: leaves are worth nothing.
    """
    threads = range(max(view.threads, 1))
    generators = [Generator(view.lexicon, view.rules, leaves, PLAIN) for _ in threads]
    ranked = generators[0].best(view.position, sampling.candidates + len(view.refused))
    candidates = not_refused(view, ranked)[: sampling.candidates]
    choice = as_choice(candidates[0])
    if len(candidates) == 1:
        return choice
    budget.offer(choice)
    simulation = simulation_of(
        view,
        candidates,
        generators,
        plies=sampling.plies,
        seed=turn_chance(view).getrandbits(64),
        rule="equal",
        first=sampling.samples,
        utility=BY_POINTS,
        use_prior=False,  # only the samples count
        limit=len(candidates) * sampling.samples,
    )
    Anytime(simulation).run(budget.remaining_ms)
    best = best_of(simulation.estimates(), _considered)
    return replace(best, search=simulated(simulation))


def _considered(estimate: Estimate) -> Considered:
    # An error takes two samples. There may be fewer before all candidates are sampled, and in a
    # position without luck, which takes one.
    row = considered(estimate)
    error = row.equity_error if estimate.samples > 1 else None
    return structs.replace(row, win=None, win_error=None, equity_error=error)

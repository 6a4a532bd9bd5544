"""One position searched against the clock: a simulation that goes on for as long as it pays.

The simulation does work in slices, each sized by the speed of the last, so that the time is looked
at every few milliseconds. The search ends

* when the leader is certain, or what another candidate might still gain is next to nothing: what
  is left of the turn stays on the clock;
* when the turn's planned time is over, unless the decision is close: then it may stretch.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from bot.player import Budget, Choice, Considered, View
from bot.players.static import generator_for
from engine.movegen.candidates import best_candidates
from engine.simulation.rollout_input import TO_THE_END, Belief
from engine.simulation.simulation import Estimate, Simulation
from lexicons.tables import win_probabilities_for

from .anytime import ROLLOUTS, Anytime

__all__ = ["Search", "Settings", "considered", "usual_candidates", "usual_plies"]

LATE_BAG = 7
"""With so few tiles in the bag rollouts go to the end of the game."""

FIRST_SAMPLES = 8  # of each candidate

ENOUGH = 0.0002
"""Expected regret, in wins, that is not worth any more time."""
CLOSE = 0.002
"""Expected regret, in wins, from which on a decision is close."""


@dataclass(frozen=True)
class Settings:
    """How a position is searched."""

    candidates: int | None = None
    """How many moves are compared, the best by static equity; None: as many as are usual."""
    plies: int | None = None
    """Turns after a candidate; None: as many as are usual for the bag."""
    iterations: int | None = None
    """Rollouts of each candidate, two or more; None: as many as there is time for."""
    rule: str = "top-two"
    """How samples are shared out."""


def usual_candidates(bag: int) -> int:
    """Say how many moves are compared with so many tiles in the bag.

    Once it is empty each takes one rollout, and the best may look bad by its static equity.
    """
    return 15 if bag else 300


def usual_plies(bag: int) -> int:
    """Say how far rollouts go with so many tiles in the bag."""
    return TO_THE_END if bag <= LATE_BAG else 2


class Search:
    """A search of the position of a view, by the player on turn there.

    Args:
        view: the game as he may know it.
        settings: how it is searched.
        seed: for what is drawn.
        belief: what the opponent may hold; by default anything.
    """

    def __init__(
        self, view: View, settings: Settings, seed: int = 0, belief: Belief | None = None
    ) -> None:
        generator = generator_for(view)
        refused = {refusal.move for refusal in view.refused}
        count = settings.candidates or usual_candidates(view.bag)
        candidates = best_candidates(generator, view.position, count, refused)
        others = [generator_for(view) for _ in range(view.threads - 1)]
        self.simulation = Simulation(
            [generator, *others],
            view.position,
            candidates,
            view.win_probabilities or win_probabilities_for(view.rules.distribution),
            plies=settings.plies or usual_plies(view.bag),
            seed=seed,
            rule=settings.rule,
            first=min(FIRST_SAMPLES, settings.iterations or FIRST_SAMPLES),
            belief=belief,
            limit=settings.iterations and settings.iterations * len(candidates),
        )
        self._is_counted = settings.iterations is not None
        self._is_forced = len(candidates) == 1
        self._anytime = Anytime(self.simulation, ROLLOUTS)

    def run(self, budget: Budget) -> Choice:
        """Go on until the search is over, as described above; offer what is found on the way."""
        self.work(budget, lambda: self._is_enough)
        return self.choice()

    def work(self, budget: Budget, until: Callable[[], bool]) -> None:
        """Go on until then, or the turn should be over; offer what is found on the way."""
        offered = None

        def remaining_ms() -> int:
            return budget.remaining_ms(close=self._is_close)

        for is_due in self._anytime.slices(remaining_ms, until):
            if is_due or self.simulation.leader is not offered:
                offered = self.simulation.leader
                budget.offer(self.choice())

    def step(self, budget: Budget) -> None:
        """Make as many rollouts as fit into a few milliseconds, or into what is left."""
        self._anytime.step(budget.remaining_ms(close=True))

    @property
    def is_settled(self) -> bool:
        """Whether no more time would change anything that matters."""
        return self.simulation.regret <= ENOUGH

    @property
    def _is_enough(self) -> bool:
        return self._is_forced if self._is_counted else self.is_settled

    @property
    def _is_close(self) -> bool:
        return not self._is_counted and self.simulation.regret >= CLOSE

    def choice(self) -> Choice:
        """Choose what is best so far."""
        estimates = self.simulation.estimates()
        best = estimates[0]
        return Choice(
            best.move,
            score=best.score,
            equity=best.equity,
            candidates=tuple(map(considered, estimates)),
        )


def considered(estimate: Estimate) -> Considered:
    """Put an estimate as a player says it."""
    return Considered(
        estimate.move,
        score=estimate.score,
        win=estimate.win if estimate.samples else None,
        win_error=estimate.win_error if math.isfinite(estimate.win_error) else None,
        equity=estimate.equity,
        equity_error=estimate.equity_error if math.isfinite(estimate.equity_error) else None,
        samples=estimate.samples,
    )

"""Simulation of a position against the clock, for as long as it pays.

It ends when the leader is certain, or another candidate could gain next to nothing; or when the
turn's planned time is over, unless the decision is close: then it may stretch.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bot.player import Budget, Choice, Considered, View
from engine.movegen.candidates import best_candidates
from engine.movegen.generator import RankedMove
from engine.simulation.rollout_input import TO_THE_END, Belief
from engine.simulation.simulation import Estimate, Simulation
from lexicons.tables import win_probabilities_for

from .anytime import ROLLOUTS, Anytime
from .static_choice import generator_for

LATE_BAG = 7
"""Most tiles in the bag with which rollouts go to the end of the game."""

FIRST_SAMPLES = 8  # per candidate

ENOUGH = 0.0002
"""Expected regret, in wins, below which more time is wasted."""
CLOSE = 0.002
"""Least expected regret, in wins, of a close decision."""


@dataclass(frozen=True)
class Settings:
    """How a position is simulated."""

    candidates: int | None = None
    """Number of moves compared, the best by static equity; None: ``usual_candidates``."""
    plies: int | None = None
    """Turns after a candidate; None: ``usual_plies``."""
    iterations: int | None = None
    """Rollouts per candidate, two or more; None: as many as time allows."""
    rule: str = "top-two"
    """How samples are allotted (``engine.simulation.sampling``)."""
    time_ms: int | None = None
    bags: range | None = None
    """Numbers of tiles in the bag with which a position is simulated at all; None: all."""


def usual_candidates(bag: int) -> int:
    """Return the usual number of candidates, by the number of tiles in the bag.

    With an empty bag each move takes one rollout, and the best may have a low static equity.
    """
    return 15 if bag else 300


def usual_plies(bag: int) -> int:
    """Return the usual length of rollouts in turns, by the number of tiles in the bag."""
    return TO_THE_END if bag <= LATE_BAG else 2


def seed_of(view: View) -> int:
    """Return the seed of a turn: a repeated question gets the same answer."""
    return view.seed * 1_000 + len(view.history) * 10 + len(view.refused)


class Search:
    """A simulation of a view's position, for the player on turn.

    ``belief`` is about the opponent's rack. ``candidates`` are by default the best moves, without
    refused moves.
    """

    def __init__(
        self,
        view: View,
        settings: Settings,
        seed: int = 0,
        belief: Belief | None = None,
        candidates: Sequence[RankedMove] = (),
    ) -> None:
        generator = generator_for(view)
        if not candidates:
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
        """Search until an end described above; offer the best so far on the way."""
        self.work(budget, lambda: self._is_enough)
        return self.choice()

    def work(self, budget: Budget, until: Callable[[], bool]) -> None:
        """Search until ``until`` or the end of the turn; offer the best so far."""
        offered = None

        def remaining_ms() -> int:
            return budget.remaining_ms(close=self._is_close)

        for is_due in self._anytime.slices(remaining_ms, until):
            if is_due or self.simulation.leader is not offered:
                offered = self.simulation.leader
                budget.offer(self.choice())

    def step(self, budget: Budget) -> None:
        """Search for one slice."""
        self._anytime.step(budget.remaining_ms(close=True))

    @property
    def is_settled(self) -> bool:
        """Whether more time would change nothing that matters."""
        return self.simulation.regret <= ENOUGH

    @property
    def _is_enough(self) -> bool:
        return self._is_forced if self._is_counted else self.is_settled

    @property
    def _is_close(self) -> bool:
        return not self._is_counted and self.simulation.regret >= CLOSE

    def choice(self) -> Choice:
        """Return the best candidate so far."""
        return best_of(self.simulation.estimates(), considered)


def best_of(estimates: Sequence[Estimate], shown: Callable[[Estimate], Considered]) -> Choice:
    """Return the first of candidates, with all of them as ``shown``."""
    best = estimates[0]
    candidates = tuple(map(shown, estimates))
    return Choice(best.move, score=best.score, equity=best.equity, candidates=candidates)


def considered(estimate: Estimate) -> Considered:
    """Convert an estimate to a part of a choice."""
    return Considered(
        estimate.move,
        score=estimate.score,
        win=estimate.win if estimate.samples else None,
        win_error=estimate.win_error if math.isfinite(estimate.win_error) else None,
        equity=estimate.equity,
        equity_error=estimate.equity_error if math.isfinite(estimate.equity_error) else None,
        samples=estimate.samples,
    )

"""Simulation of a position against the clock, for as long as it pays.

It goes deeper in stages: first many candidates for few turns, then the candidates that may still be
the best for more turns. A stage only has to find out how much its longer rollouts differ from the
shorter ones of the stage before, whose estimates are its baseline and its prior. A stage ends when
its leader is certain, when another candidate could gain next to nothing, or when its share of the
turn is over. The last stage may run past the turn's planned time if the decision is close.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from msgspec import structs

from bot.player import Budget, Choice, Considered, Searched, View
from engine.inference.leave_prior import LeavePrior
from engine.movegen.candidates import best_candidates
from engine.movegen.generator import Generator, RankedMove
from engine.simulation.rollout_input import TO_THE_END, Baseline, Utility
from engine.simulation.simulation import Estimate, Simulation

from .anytime import ROLLOUTS, Anytime
from .static_choice import STATIC, generator_for

LATE_BAG = 14
"""Most tiles in the bag with which all rollouts go to the end of the game."""
DEEP_BAG = 25
"""Most tiles in the bag with which rollouts of the last stage go to the end of the game."""

OPEN_BAG = 40
"""With more tiles in the bag, longer rollouts agree with those of two turns."""

FIRST_SAMPLES = 8  # per candidate

TURN_MS = 0.07
"""Milliseconds that a turn of a rollout counts as where work is counted, not time."""
TILES_A_TURN = 4.7
"""Tiles that a turn of a rollout to the end uses, about."""

STAGE_SHARE = 0.25
"""Share of a turn's remaining time that a stage may take if another follows."""
DEEPER = 0.006
"""Standard deviation, in wins, of a stage's estimates from those of the one before."""
ALIVE = 0.025
"""How far behind the leader, in wins, a candidate may be to take part in the next stage."""

ENOUGH = 0.00001
"""Usual expected regret, in wins, below which no more time is spent.

It is estimated from few samples and is too low at first: 0.0002 ended most turns within 0.3 s, and
cost wins (docs/results/search.md)."""
CLOSE = 0.002
"""Least expected regret, in wins, of a close decision."""


@dataclass(frozen=True)
class Stage:
    """A simulation of the best moves so far."""

    candidates: int
    plies: int
    """Turns after a candidate."""


def usual_stages(bag: int) -> Sequence[Stage]:
    """Return the usual stages, by the number of tiles in the bag.

    With an empty bag each move takes one rollout, and the best may have a low static equity.
    """
    if bag <= LATE_BAG:
        return (Stage(15 if bag else 300, TO_THE_END),)
    if bag > OPEN_BAG:
        return (Stage(15, 2),)
    return Stage(15, 2), Stage(8, 4), Stage(6, TO_THE_END if bag <= DEEP_BAG else 8)


@dataclass(frozen=True)
class SimulationSettings:
    """How a position is simulated."""

    candidates: int | None = None
    """Number of moves compared first, the best by static equity; None: as in ``stages``."""
    plies: int | None = None
    """Turns after a candidate, in a single stage; None: as in ``stages``."""
    iterations: int | None = None
    """Rollouts per candidate in each stage, two or more; None: as many as time allows."""
    rule: str = "top-two"
    """How samples are allotted (``engine.simulation.sampling``)."""
    time_ms: int | None = None
    """Cap per turn, which ``Strategy`` sets; None: no cap."""
    bags: range | None = None
    """Numbers of tiles in the bag with which a position is simulated; None: all."""
    utility: Utility | None = None
    """By default the usual one."""
    stages: Callable[[int], Sequence[Stage]] = usual_stages
    """By the number of tiles in the bag."""
    enough: float | None = None
    """Expected regret, in wins, below which no more time is spent; None: ``ENOUGH``."""


def seed_of(view: View) -> int:
    """Return the seed of a turn: a repeated question gets the same answer."""
    return view.seed * 1_000 + len(view.history) * 10 + len(view.refused)


def simulation_of(
    view: View, candidates: Sequence[RankedMove], generators: Sequence[Generator] = (), **how: Any
) -> Simulation:
    """Begin to roll out candidates of a view's position, in all its threads.

    ``generators``, one for each thread, are by default new ones of the view; ``how`` is as
    ``Simulation`` takes it.
    """
    generators = generators or [generator_for(view) for _ in range(view.threads)]
    return Simulation(generators, view.position, candidates, view.win_table, **how)


class SimulationSearch:
    """A simulation of a view's position, for the player on turn.

    ``belief`` is about the opponent's rack. ``candidates`` are by default the best moves, without
    refused moves.
    """

    def __init__(
        self,
        view: View,
        settings: SimulationSettings,
        seed: int = 0,
        belief: LeavePrior | None = None,
        candidates: Sequence[RankedMove] = (),
    ) -> None:
        first, *self._stages = settings.stages(view.bag)
        if settings.plies is not None:
            first, self._stages = replace(first, plies=settings.plies), []
        self._generators = [generator_for(view) for _ in range(view.threads)]
        if not candidates:
            candidates = best_candidates(
                self._generators[0],
                view.position,
                settings.candidates or first.candidates,
                view.refused_moves,
            )
        self._view, self._settings, self._belief, self._seed = view, settings, belief, seed
        self._is_counted = settings.iterations is not None
        self._enough = ENOUGH if settings.enough is None else settings.enough
        if self._is_counted:
            self._enough = -1.0
        self._is_forced = len(candidates) == 1
        self._earlier_estimates: list[Estimate] = []
        """Estimates of earlier stages, also of candidates that have dropped out."""
        self._earlier_search = STATIC
        """How far these estimates look."""
        self._rolled_out = 0
        self._begin(candidates, first.plies)

    def _begin(
        self, candidates: Sequence[RankedMove], plies: int, baseline: Baseline | None = None
    ) -> None:
        settings, view = self._settings, self._view
        self.simulation = simulation_of(
            view,
            candidates,
            self._generators,
            plies=plies,
            seed=self._seed,
            rule=settings.rule,
            first=min(FIRST_SAMPLES, settings.iterations or FIRST_SAMPLES),
            belief=self._belief,
            utility=settings.utility,
            baseline=baseline,
            limit=settings.iterations and settings.iterations * len(candidates),
        )
        turns = min(plies, (view.bag + 2 * view.rules.rack_size) / TILES_A_TURN)
        self._anytime = Anytime(self.simulation, ROLLOUTS._replace(unit_ms=TURN_MS * turns))

    def _deepen(self) -> bool:
        """If a rival may still be the best, begin the next stage; return whether it began."""
        simulation = self.simulation
        if simulation.exact:
            self._stages = []
        if not self._stages or not simulation.is_sampled:
            return False
        stage = self._stages[0]
        means = simulation.statistics.means
        best_first = sorted(range(len(means)), key=lambda which: -means[which])
        least_mean = means[best_first[0]] - ALIVE
        alive = [which for which in best_first if means[which] >= least_mean]
        alive = alive[: stage.candidates]
        if len(alive) == 1:
            self._stages = []
            return False
        del self._stages[0]
        self._earlier_search = self._searched
        self._earlier_estimates = self._estimates()
        self._rolled_out += simulation.rollouts
        self._seed += 1  # fresh luck: the first stage's favoured its leader
        candidates = [simulation.candidates[which] for which in alive]
        baseline = simulation.baseline([candidate.move for candidate in candidates], DEEPER)
        self._begin(candidates, stage.plies, baseline)
        return True

    def run(self, budget: Budget) -> Choice:
        """Search until settled or out of time; offer the best candidate so far on the way."""
        self.work(budget, lambda: self._is_forced or self.is_settled)
        return self.choice()

    def work(self, budget: Budget, until: Callable[[], bool]) -> None:
        """Search until ``until`` or the end of the turn; offer the best so far."""
        offered = None
        while True:
            ends_ms = (1 - STAGE_SHARE) * budget.remaining_ms() if self._stages else 0.0

            def remaining_ms(ends_ms: float = ends_ms) -> float:
                left_ms = budget.remaining_ms(close=not ends_ms and self._is_close)
                if left_ms <= ends_ms and not self.simulation.is_sampled:
                    return left_ms  # until it is sampled it has no estimates
                return max(left_ms - ends_ms, 0.0)

            def is_over() -> bool:
                return until() or (bool(self._stages) and self._is_stage_over)

            for is_due in self._anytime.slices(remaining_ms, is_over, budget.seconds):
                leader = self.simulation.leader.move
                if is_due or leader != offered:
                    offered = leader
                    budget.offer(self.choice())
            if until() or budget.expired or not self._deepen():
                return

    def step(self, budget: Budget) -> None:
        """Search for one slice."""
        self._anytime.step(budget.remaining_ms(close=True), budget.seconds)
        if self._is_stage_over:
            self._deepen()

    @property
    def rollouts(self) -> int:
        """Number of rollouts, of all stages."""
        return self._rolled_out + self.simulation.rollouts

    @property
    def is_sampled(self) -> bool:
        """Whether ``choice`` rests on samples."""
        return bool(self._earlier_estimates) or self.simulation.is_sampled

    @property
    def is_settled(self) -> bool:
        """Whether more time would change nothing that matters."""
        return not self._stages and self._is_stage_over

    @property
    def _is_stage_over(self) -> bool:
        return self._anytime.is_over or self.simulation.regret <= self._enough

    @property
    def _is_close(self) -> bool:
        return not self._is_counted and self.simulation.regret >= CLOSE

    def choice(self) -> Choice:
        """Return the best candidate so far, and all candidates, those of the last stage first."""
        return replace(best_of(self._estimates(), considered), search=self._searched)

    @property
    def _is_new_stage(self) -> bool:
        """Whether the estimates are still those of the stage before."""
        return bool(self._earlier_estimates) and not self.simulation.is_sampled

    @property
    def _searched(self) -> Searched:
        if not self.rollouts:
            return STATIC
        deepest = self._earlier_search if self._is_new_stage else simulated(self.simulation)
        return structs.replace(deepest, rollouts=self.rollouts)

    def _estimates(self) -> list[Estimate]:
        if self._is_new_stage:
            return self._earlier_estimates
        estimates = self.simulation.estimates()
        earlier = {estimate.move: estimate for estimate in self._earlier_estimates}
        for index, deepest in enumerate(estimates):
            if shallower := earlier.pop(deepest.move, None):  # its errors are added in quadrature
                win_error = math.hypot(deepest.win_error, shallower.win_error)
                equity_error = math.hypot(deepest.equity_error, shallower.equity_error)
                estimates[index] = replace(deepest, win_error=win_error, equity_error=equity_error)
        return [*estimates, *earlier.values()]


def simulated(simulation: Simulation) -> Searched:
    """Describe a simulation for the record: its plies, candidates and rollouts."""
    return Searched(
        "simulation",
        plies=None if simulation.plies >= TO_THE_END else simulation.plies,
        compared=len(simulation.candidates),
        rollouts=simulation.rollouts,
    )


def best_of(estimates: Sequence[Estimate], shown: Callable[[Estimate], Considered]) -> Choice:
    """Return the first estimate as a choice; ``shown`` converts all to its candidates."""
    best = estimates[0]
    candidates = tuple(map(shown, estimates))
    return Choice(best.move, score=best.score, equity=best.equity, candidates=candidates)


def considered(estimate: Estimate) -> Considered:
    """Convert an estimate to a candidate of a choice."""
    return Considered(
        estimate.move,
        score=estimate.score,
        win=estimate.win if estimate.samples else None,
        win_error=estimate.win_error if math.isfinite(estimate.win_error) else None,
        equity=estimate.equity,
        equity_error=estimate.equity_error if math.isfinite(estimate.equity_error) else None,
        samples=estimate.samples,
    )

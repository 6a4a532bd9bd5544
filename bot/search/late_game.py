"""Searches of the last turns of a game.

With an empty bag the opponent holds the unseen tiles: an ``EndgameSearch`` proves the best move, as
far as time allows. With a few tiles in the bag a ``PreEndgameSearch`` simulates the best moves by
static equity, then plays all out, case by case, the best first: of 20 positions with one or two
tiles in the bag the best move was not among the first 10 by equity in seven, and not among the
first 32 in three.
"""

from __future__ import annotations

from dataclasses import dataclass

from bot.player import Budget, Choice, Considered, Searched, View
from engine.endgame.solver import EndgameSolver, Solution
from engine.inference.leave_prior import LeavePrior
from engine.kernels.endgame_stack import MOST_LISTED
from engine.movegen.generator import RankedMove
from engine.preendgame.replies import Model
from engine.preendgame.solver import PreEndgame, likely_candidates
from engine.rules.rules import points_of

from .analysis.solving import pre_endgame
from .anytime import NODES, Anytime
from .simulating import SimulationSearch, seed_of
from .static_choice import generator_for

PLAYED_OUT = 4
"""Most tiles in the bag with which moves are played out case by case.

With five to seven a simulation to the end tells more: it has thousands of rollouts in the time of a
hundred cases, and gained three points a turn (docs/results/search.md)."""
SIMULATED = 0.15
"""Largest share of a pre-endgame's time for its simulation."""
COMPARED = {1: 24, 2: 24, 3: 16, 4: 12}
"""Number of moves played out at first, at most, by tiles in the bag."""
MS_A_CASE = 1.5
"""Milliseconds of a turn for each case of a move; a shorter turn begins with fewer moves."""
LEAST_MS = 1_500
"""Shortest turn in which more than two tiles in the bag are played out.

At 300 ms it gained nothing, since the cases are too few."""
MODEL: dict[int, Model] = {1: "rational", 2: "rational"}
"""Model of the opponent's replies, by tiles in the bag; with more tiles, ``static``."""
NODE_MS = 0.03
"""Milliseconds that a node of a pre-endgame counts as where work is counted, not time."""
MOST_CASES = 200
ENOUGH_CASES = 48
"""Number of cases after which a pre-endgame's choice replaces its simulation's."""
MOST_TOLD = 32
"""Number of moves that a choice tells of, the best first."""
MOST_NODES = 3_000_000
"""Nodes after which a pre-endgame ends, even without a clock; more would hardly matter."""


@dataclass
class EndgameSearch:
    """The solution of an endgame, for the player on turn of a view."""

    view: View
    """The bag is empty."""
    solver: EndgameSolver

    def run(self, budget: Budget) -> Choice:
        """Solve until the move is proven or time is over; offer the best so far on the way."""
        refused = dict.fromkeys(refusal.move for refusal in self.view.refused)
        solver, offered = self.solver, None
        solver.begin(self.view.position, without=tuple(refused)[-MOST_LISTED:])
        anytime = Anytime(solver, NODES)
        for _ in anytime.slices(budget.remaining_ms, lambda: solver.is_over, budget.seconds):
            solution = solver.solution
            if (solution.move, solution.sure) != offered:
                offered = (solution.move, solution.sure)
                budget.offer(self._choice(solution))
        return self._choice(solver.solution)

    def _choice(self, solution: Solution) -> Choice:
        view = self.view
        move, value = solution.to_play(view.spread)
        score = points_of(view.position.board, move, view.rules)
        final = view.spread + value
        considered = Considered(
            move,
            score=score,
            win=(final > 0) + (final == 0) / 2,
            win_error=0.0 if solution.outcome(view.spread) else None,
            equity=float(value),
            samples=solution.nodes,
        )
        searched = Searched(
            "endgame",
            plies=None if solution.proven else max(solution.depth - 1, 0),
            nodes=solution.nodes,
            proven=solution.proven,
        )
        return Choice(move, score=score, equity=value, candidates=(considered,), search=searched)


@dataclass
class PreEndgameSearch:
    """The search of a pre-endgame, for the player on turn of a view."""

    view: View
    """One to ``PLAYED_OUT`` tiles are in the bag."""
    search: SimulationSearch
    """A simulation of the position, run first."""
    solver: EndgameSolver
    belief: LeavePrior | None

    def run(self, budget: Budget) -> Choice:
        """Simulate, and play moves out, as far as time allows."""
        total_ms = budget.remaining_ms()
        if self._count(total_ms) < 2:
            return self.search.run(budget)
        ends_ms = (1 - SIMULATED) * total_ms
        self.search.work(budget, lambda: self.search.is_settled or budget.remaining_ms() <= ends_ms)
        simulated = self.search.choice()
        budget.offer(simulated)
        candidates = self._candidates()
        if len(candidates) == 1 or budget.expired:
            return simulated
        work = pre_endgame(
            self.view,
            self.solver,
            candidates,
            belief=self.belief,
            model=MODEL.get(self.view.bag, "static"),
            seed=seed_of(self.view),
            most_cases=MOST_CASES,
            first_moves=self._count(total_ms),
        )
        pace = NODES._replace(unit_ms=NODE_MS)
        anytime, offered = Anytime(work, pace, most=MOST_NODES), simulated.move
        for is_due in anytime.slices(budget.remaining_ms, lambda: work.is_decided, budget.seconds):
            if is_due and (choice := self._choice(work, simulated)).move != offered:
                offered = choice.move
                budget.offer(choice)
        return self._choice(work, simulated)

    def _count(self, total_ms: float) -> int:
        """Return the number of moves that a turn has time to play out at first."""
        bag = self.view.bag
        if bag > 2 and total_ms < LEAST_MS:
            return 0
        cases = ENOUGH_CASES if bag > 1 else self.view.rules.rack_size + 1
        return min(int(total_ms / (MS_A_CASE * cases)), COMPARED[bag])

    def _candidates(self) -> list[RankedMove]:
        """Return the moves to play out: the simulated ones, the best first, then all others."""
        view, simulation = self.view, self.search.simulation
        refused = view.refused_moves
        every = {row.move: row for row in likely_candidates(generator_for(view), view.position)}
        known = [estimate.move for estimate in simulation.estimates()]
        order = dict.fromkeys((*known, *every))
        return [every[move] for move in order if move in every and move not in refused]

    def _choice(self, pre_endgame: PreEndgame, simulated: Choice) -> Choice:
        """Return the simulation's choice until enough cases are counted or a move is proven."""
        best = pre_endgame.leader()
        if best.cases < min(pre_endgame.cases, ENOUGH_CASES) and not pre_endgame.is_settled:
            return simulated
        outcomes = pre_endgame.outcomes()
        searched = Searched(
            "pre-endgame",
            compared=pre_endgame.compared,
            nodes=sum(outcome.nodes for outcome in outcomes),
            proven=best.proven,
        )
        return Choice(
            best.move,
            score=best.score,
            equity=best.spread,
            candidates=tuple(
                Considered(
                    outcome.move,
                    score=outcome.score,
                    win=outcome.win,
                    win_error=0.0 if outcome.proven else None,
                    equity=outcome.spread,
                    samples=outcome.cases,
                )
                for outcome in outcomes[:MOST_TOLD]
                if outcome.cases
            ),
            search=searched,
        )

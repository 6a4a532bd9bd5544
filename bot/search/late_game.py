"""Searches of the last turns of a game.

With an empty bag the opponent holds the unseen tiles: an ``EndgameSearch`` proves the best move, as
far as time allows. With a few tiles in the bag a ``PreEndgameSearch`` simulates the best moves by
static equity, then looks briefly at many more: of 20 positions with one or two tiles in the bag
the best move was not among the first 10 by equity in seven, and not among the first 32 in three.
The best of both are played out, case by case.
"""

from __future__ import annotations

from dataclasses import dataclass

from bot.player import Budget, Choice, Considered, Searched, View
from engine.endgame.solver import EndgameSolver, Solution
from engine.inference.leave_prior import LeavePrior
from engine.kernels.endgame_stack import MOST_LISTED
from engine.movegen.candidates import best_candidates
from engine.movegen.generator import RankedMove, passing
from engine.preendgame.replies import Model
from engine.preendgame.solver import PreEndgame
from engine.rules.moves import PASS
from engine.rules.rules import points_of
from engine.simulation.rollout_input import TO_THE_END

from .analysis.solving import pre_endgame
from .anytime import NODES, ROLLOUTS, Anytime
from .simulating import Search, seed_of, simulation_of
from .static_choice import generator_for

PLAYED_OUT = 4
"""Most tiles in the bag with which moves are played out case by case.

With five to seven a simulation to the end tells more: it has thousands of rollouts in the time of a
hundred cases, and gained three points a turn (docs/results/oracle.md)."""
SIMULATED, LOOKED = 0.15, 0.2
"""Largest shares of a pre-endgame's time for its simulation, and for a first look at many moves."""
MOST_LOOKED_AT = 300
"""Number of moves looked at, besides a pass."""
MS_A_LOOK = 5
"""Milliseconds of a turn per move looked at, so that its first rollouts fit into ``LOOKED``."""
FIRST_LOOKS, MOST_LOOKS = 8, 40
"""Rollouts of each move: at first, and on average at most."""
COMPARED = {1: 32, 2: 24, 3: 16, 4: 12}
"""Number of candidates played out at most, by tiles in the bag."""
MS_A_CASE = 1.5
"""Milliseconds of a turn for each case of a candidate; a shorter turn has fewer candidates."""
LEAST_MS = 1_500
"""Shortest turn in which more than two tiles in the bag are played out.

At 300 ms it gained nothing, even by the oracle's judge, since the cases are too few."""
MODEL: dict[int, Model] = {1: "rational", 2: "rational"}
"""Model of the opponent's replies, by tiles in the bag; with more tiles, ``static``."""
MOST_CASES = 200
ENOUGH_CASES = 48
"""Number of cases after which a pre-endgame's choice replaces its simulation's."""
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
        for _ in Anytime(solver, NODES).slices(budget.remaining_ms, lambda: solver.is_over):
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
    search: Search
    """A simulation of the position, run first."""
    solver: EndgameSolver
    belief: LeavePrior | None

    def run(self, budget: Budget) -> Choice:
        """Simulate, look at many more moves, and play the best out, as far as time allows."""
        total_ms = budget.remaining_ms()
        if self._count(total_ms) < 2:
            return self.search.run(budget)
        ends_ms = (1 - SIMULATED) * total_ms
        self.search.work(budget, lambda: self.search.is_settled or budget.remaining_ms() <= ends_ms)
        simulated = self.search.choice()
        budget.offer(simulated)
        candidates = self._candidates(budget, total_ms)[: self._count(total_ms)]
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
        )
        anytime, offered = Anytime(work, NODES, most=MOST_NODES), simulated.move
        for is_due in anytime.slices(budget.remaining_ms, lambda: work.is_settled):
            if is_due and (choice := self._choice(work, simulated)).move != offered:
                offered = choice.move
                budget.offer(choice)
        return self._choice(work, simulated)

    def _count(self, total_ms: float) -> int:
        """Return the number of candidates that a turn has time to play out."""
        bag = self.view.bag
        if bag > 2 and total_ms < LEAST_MS:
            return 0
        cases = ENOUGH_CASES if bag > 1 else self.view.rules.rack_size + 1
        return min(int(total_ms / (MS_A_CASE * cases)), COMPARED[bag])

    def _candidates(self, budget: Budget, total_ms: float) -> list[RankedMove]:
        """Return moves to play out, the best first.

        A quarter of ``_count`` are the best by the simulation; after them come all moves of a first
        look.
        """
        view, simulation = self.view, self.search.simulation
        refused = view.refused_moves
        most = min(max(int(total_ms / MS_A_LOOK), 1), MOST_LOOKED_AT)
        best = best_candidates(generator_for(view), view.position, most, refused)
        ranked = {move.move: move for move in (*simulation.candidates, *best)}
        if PASS not in refused:
            ranked.setdefault(PASS, passing(view.position))
        looks = simulation_of(
            view,
            list(ranked.values()),
            plies=TO_THE_END,
            seed=~seed_of(view),
            first=FIRST_LOOKS,
            rule="elimination",
            belief=self.belief,
            use_prior=False,  # a set-up, or a pass, may be far behind in static equity
            limit=MOST_LOOKS * len(ranked),
        )
        ends_ms = (1 - SIMULATED - LOOKED) * total_ms
        Anytime(looks, ROLLOUTS).run(budget.remaining_ms, lambda: budget.remaining_ms() <= ends_ms)
        known = simulation.estimates()[: max(1, self._count(total_ms) // 4)]
        order = dict.fromkeys(each.move for each in (*known, *looks.estimates()))
        return [ranked[move] for move in order]

    def _choice(self, pre_endgame: PreEndgame, simulated: Choice) -> Choice:
        """Return the simulation's choice until enough cases are counted or a move is proven."""
        best = pre_endgame.leader()
        if best.cases < min(pre_endgame.cases, ENOUGH_CASES) and not pre_endgame.is_settled:
            return simulated
        outcomes = pre_endgame.outcomes()
        searched = Searched(
            "pre-endgame",
            compared=len(outcomes),
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
                for outcome in outcomes
            ),
            search=searched,
        )

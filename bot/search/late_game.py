"""Searches of the last turns of a game.

With an empty bag the opponent holds the unseen tiles: an ``EndgameSearch`` proves the best move, or
the best that time allows. With a few tiles in the bag a ``PreEndgameSearch`` simulates for part of
the time, then plays the best candidates out for every order of the unseen tiles.
"""

from __future__ import annotations

from dataclasses import dataclass

from bot.player import Budget, Choice, Considered, View
from engine.endgame.solver import EndgameSolver, Solution
from engine.kernels.endgame_stack import MOST_LISTED
from engine.movegen.generator import RankedMove
from engine.preendgame.solver import Outcome, PreEndgame
from engine.rules.moves import Place
from engine.rules.rules import score_play
from engine.simulation.rollout_input import Belief

from .anytime import NODES, Anytime
from .simulating import Search, seed_of
from .static_choice import generator_for

SIMULATED = 0.3
"""Largest share of a pre-endgame's time for its simulation."""
COMPARED = {1: 10, 2: 8}
"""Number of candidates played out, by tiles in the bag: the best of the simulation."""
COMPARED_BEYOND = 6
MEMORY = 128 << 20
"""Bytes of memory for a single-threaded solver."""
MEMORY_A_THREAD = 32 << 20
"""Bytes for each further thread: its share holds the placements of any position."""


class Solvers:
    """Keeps the last solver requested, with its memory and what it has learnt."""

    def __init__(self) -> None:
        self._of: tuple[object, ...] | None = None
        self._solver: EndgameSolver | None = None

    def solver(self, view: View, memory: int | None = None) -> EndgameSolver:
        """Return the solver for a view; ``memory`` is in bytes, by default what its threads need.

        Raises:
            MemoryError: the memory is not available.
            ValueError: the memory is too small for the threads.
        """
        threads = view.threads
        memory = memory or MEMORY + (threads - 1) * MEMORY_A_THREAD
        of = (view.lexicon, view.rules, memory, threads)
        if self._solver is None or self._of != of:
            self._solver = None  # free its memory before allocating the next
            self._solver = EndgameSolver(view.lexicon, view.rules, memory=memory, threads=threads)
            self._of = of
        return self._solver


@dataclass
class EndgameSearch:
    """The solution of an endgame, for the player on turn of a view."""

    view: View
    """The bag is empty."""
    solver: EndgameSolver

    def run(self, budget: Budget) -> Choice:
        """Solve until the move is proven or time is over; offer the best so far on the way."""
        solver, offered = self.solver, None
        refused = dict.fromkeys(refusal.move for refusal in self.view.refused)
        solver.begin(self.view.position, without=tuple(refused)[-MOST_LISTED:])
        for _ in Anytime(solver, NODES).slices(budget.remaining_ms, lambda: solver.is_over):
            solution = solver.solution
            if (solution.move, solution.sure) != offered:
                offered = (solution.move, solution.sure)
                budget.offer(self._choice(solution))
        return self._choice(solver.solution)

    def _choice(self, solution: Solution) -> Choice:
        view, score = self.view, 0
        move, value = solution.to_play(view.spread)
        if isinstance(move, Place):
            score = score_play(view.position.board, move, view.rules).score
        final = view.spread + value
        considered = Considered(
            move,
            score=score,
            win=(final > 0) + (final == 0) / 2,
            win_error=0.0 if _is_decided(solution, view.spread) else None,
            equity=float(value),
            samples=solution.nodes,
        )
        text = f"{final:+} at the end, {_certainty(solution)}"
        return Choice(move, score=score, equity=value, text=text, candidates=(considered,))


def _is_decided(solution: Solution, lead: int) -> bool:
    wins = solution.floor is not None and lead + solution.floor > 0
    loses = solution.ceiling is not None and lead + solution.ceiling < 0
    return solution.proven or wins or loses


def _certainty(solution: Solution) -> str:
    if solution.proven:
        return f"proven with {solution.nodes:,} nodes"
    return f"not proven, {solution.depth} plies deep with {solution.nodes:,} nodes"


@dataclass
class PreEndgameSearch:
    """The search of a pre-endgame, for the player on turn of a view."""

    view: View
    """A few tiles are in the bag."""
    search: Search
    """A simulation of the position, run first."""
    solver: EndgameSolver
    belief: Belief | None

    def run(self, budget: Budget) -> Choice:
        """Simulate, then play candidates out until nothing could change or time is over."""
        ends_ms = (1 - SIMULATED) * budget.remaining_ms()
        self.search.work(budget, lambda: self.search.is_settled or budget.remaining_ms() <= ends_ms)
        simulated = self.search.choice()
        budget.offer(simulated)
        candidates = self._candidates()
        if len(candidates) == 1:
            return simulated
        pre_endgame = PreEndgame(
            self.solver,
            generator_for(self.view),
            self.view.position,
            candidates,
            belief=self.belief,
            seed=seed_of(self.view),
        )
        Anytime(pre_endgame, NODES).run(budget.remaining_ms, lambda: pre_endgame.is_settled)
        return self._choice(pre_endgame, simulated)

    def _candidates(self) -> list[RankedMove]:
        simulation = self.search.simulation
        ranked = {row.move: row for row in simulation.candidates}
        count = COMPARED.get(self.view.bag, COMPARED_BEYOND)
        return [ranked[row.move] for row in simulation.estimates()[:count]]

    def _choice(self, pre_endgame: PreEndgame, simulated: Choice) -> Choice:
        """Return the simulation's choice unless all cases are counted or a move is proven best."""
        outcomes = pre_endgame.outcomes()
        best = outcomes[0]
        if best.cases < pre_endgame.cases and not pre_endgame.is_settled:
            return simulated
        cases = "1 case" if best.cases == 1 else f"{best.cases} cases"
        return Choice(
            best.move,
            score=best.score,
            equity=best.spread,
            text=f"wins {best.win:.1%} of {cases}{', proven' if best.proven else ''}",
            candidates=tuple(map(_considered, outcomes)),
        )


def _considered(outcome: Outcome) -> Considered:
    return Considered(
        outcome.move,
        score=outcome.score,
        win=outcome.win,
        equity=outcome.spread,
        samples=outcome.cases,
    )

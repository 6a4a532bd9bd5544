"""Searches of the last turns of a game.

With an empty bag the opponent holds the unseen tiles: an ``EndgameSearch`` proves the best move, or
the best that time allows. With a few tiles in the bag a ``PreEndgameSearch`` simulates for part of
the time, then plays the best candidates out for every order of the unseen tiles.
"""

from __future__ import annotations

from bot.player import Budget, Choice, Considered, View
from engine.endgame.solver import EndgameSolver, Solution
from engine.kernels.endgame_stack import MOST_LISTED
from engine.movegen.generator import RankedMove
from engine.preendgame.solver import Outcome, PreEndgame
from engine.rules.moves import Place
from engine.rules.rules import score_play
from engine.simulation.rollout_input import Belief

from .anytime import NODES, Anytime
from .simulating import Search
from .static_choice import generator_for

__all__ = ["EndgameSearch", "PreEndgameSearch", "Solvers", "how_often"]

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
        """Return the solver for the lexicon, rules and threads of a view.

        Args:
            view: the game.
            memory: bytes; by default what the threads need.

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


class EndgameSearch:
    """The solution of an endgame, for the player on turn of a view.

    Args:
        view: the player's view; the bag is empty.
        solver: keeps what it learnt of earlier positions.
    """

    def __init__(self, view: View, solver: EndgameSolver) -> None:
        self._view, self._solver = view, solver
        refused = dict.fromkeys(refusal.move for refusal in view.refused)
        solver.begin(view.position, without=tuple(refused)[-MOST_LISTED:])

    def run(self, budget: Budget) -> Choice:
        """Solve until the move is proven or time is over; offer the best so far on the way."""
        offered: Solution | None = None
        solver = self._solver
        slices = Anytime(solver, NODES).slices(budget.remaining_ms, lambda: solver.is_over)
        for _ in slices:
            solution = self._solver.solution
            if offered is None or (solution.move, solution.sure) != (offered.move, offered.sure):
                offered = solution
                budget.offer(self._choice(solution))
        return self._choice(self._solver.solution)

    def _choice(self, found: Solution) -> Choice:
        view, score = self._view, 0
        move, value = found.to_play(view.spread)
        if isinstance(move, Place):
            score = score_play(view.position.board, move, view.rules).score
        final = view.spread + value
        considered = Considered(
            move,
            score=score,
            win=(final > 0) + (final == 0) / 2,
            win_error=0.0 if _is_decided(found, view.spread) else None,
            equity=float(value),
            samples=found.nodes,
        )
        text = f"{final:+} at the end, {_certainty(found)}"
        return Choice(move, score=score, equity=value, text=text, candidates=(considered,))


def _is_decided(found: Solution, lead: int) -> bool:
    wins = found.floor is not None and lead + found.floor > 0
    loses = found.ceiling is not None and lead + found.ceiling < 0
    return found.proven or wins or loses


def _certainty(found: Solution) -> str:
    if found.proven:
        return f"proven with {found.nodes:,} nodes"
    return f"not proven, {found.depth} plies deep with {found.nodes:,} nodes"


class PreEndgameSearch:
    """The search of a pre-endgame, for the player on turn of a view.

    Args:
        view: the player's view; a few tiles are in the bag.
        search: a simulation of the position, run first.
        solver: solves the endgames.
        seed: of the draws.
        belief: belief about the opponent's rack; by default none.
    """

    def __init__(
        self,
        view: View,
        search: Search,
        solver: EndgameSolver,
        seed: int,
        belief: Belief | None = None,
    ) -> None:
        self._view, self._search, self._solver = view, search, solver
        self._seed, self._belief = seed, belief

    def run(self, budget: Budget) -> Choice:
        """Simulate, then play candidates out until nothing could change or time is over."""
        self._simulate(budget)
        simulated = self._search.choice()
        budget.offer(simulated)
        candidates = self._candidates()
        if len(candidates) == 1:
            return simulated
        pre_endgame = PreEndgame(
            self._solver,
            generator_for(self._view),
            self._view.position,
            candidates,
            belief=self._belief,
            seed=self._seed,
        )
        Anytime(pre_endgame, NODES).run(budget.remaining_ms, lambda: pre_endgame.is_settled)
        return self._choice(pre_endgame, simulated)

    def _simulate(self, budget: Budget) -> None:
        ends_ms = (1 - SIMULATED) * budget.remaining_ms()
        self._search.work(
            budget,
            lambda: self._search.is_settled or budget.remaining_ms() <= ends_ms,
        )

    def _candidates(self) -> list[RankedMove]:
        simulation = self._search.simulation
        ranked = {row.move: row for row in simulation.candidates}
        count = COMPARED.get(self._view.bag, COMPARED_BEYOND)
        return [ranked[row.move] for row in simulation.estimates()[:count]]

    def _choice(self, pre_endgame: PreEndgame, simulated: Choice) -> Choice:
        """Return the simulation's choice, unless all cases were counted or a move is proven best.

        Otherwise choose as the simulation does.
        """
        outcomes = pre_endgame.outcomes()
        best = outcomes[0]
        if best.cases < pre_endgame.cases and not pre_endgame.is_settled:
            return simulated
        return Choice(
            best.move,
            score=best.score,
            equity=best.spread,
            text=how_often(best),
            candidates=tuple(map(_considered, outcomes)),
        )


def how_often(outcome: Outcome) -> str:
    """Write how often a candidate wins."""
    cases = "1 case" if outcome.cases == 1 else f"{outcome.cases} cases"
    return f"wins {outcome.win:.1%} of {cases}{', proven' if outcome.proven else ''}"


def _considered(outcome: Outcome) -> Considered:
    return Considered(
        outcome.move,
        score=outcome.score,
        win=outcome.win,
        equity=outcome.spread,
        samples=outcome.cases,
    )

"""The last turns of a game, in which play can be worked out.

With an empty bag the opponent holds the unseen tiles: an ``EndgameSearch`` proves the best move, or
comes as near as the time allows. With a few tiles in the bag a ``PreEndgameSearch`` simulates for a
part of the time, and then plays the best candidates out to the end in every way in which the unseen
tiles may lie.
"""

from __future__ import annotations

from bot.player import Budget, Choice, Considered, View
from bot.players.static import generator_for
from engine.endgame import MOST_LISTED, EndgameSolver, Solution
from engine.movegen.generator import RankedMove
from engine.preendgame import Outcome, PreEndgame
from engine.rules.moves import Place
from engine.rules.rules import score_play
from engine.simulation.rollout_input import Belief

from .anytime import NODES, Anytime
from .simulating import Search

__all__ = ["EndgameSearch", "PreEndgameSearch", "Solvers", "how_often"]

SIMULATED = 0.3
"""Share of a pre-endgame's time that its simulation takes at most."""
COMPARED = {1: 10, 2: 8}
"""Candidates that are played out, by tiles in the bag: the best by the simulation."""
COMPARED_BEYOND = 6
MEMORY = 128 << 20
"""Bytes of memory for a solver with one thread."""
MEMORY_A_THREAD = 32 << 20
"""Bytes for each further thread: the placements of any position have room in its share."""


class Solvers:
    """Keeps the solver that was last asked for, with its memory and what it has learnt."""

    def __init__(self) -> None:
        self._of: tuple[object, ...] | None = None
        self._solver: EndgameSolver | None = None

    def solver(self, view: View, memory: int | None = None) -> EndgameSolver:
        """Return the solver for the lexicon, rules and threads of a view.

        Args:
            view: the game.
            memory: bytes; by default what the threads need.

        Raises:
            MemoryError: there is not as much memory.
            ValueError: it is too little for the threads.
        """
        threads = view.threads
        memory = memory or MEMORY + (threads - 1) * MEMORY_A_THREAD
        of = (view.lexicon, view.rules, memory, threads)
        if self._solver is None or self._of != of:
            self._solver = None  # its memory is free before the next has its own
            self._solver = EndgameSolver(view.lexicon, view.rules, memory=memory, threads=threads)
            self._of = of
        return self._solver


class EndgameSearch:
    """An endgame, worked out for the player on turn of a view.

    Args:
        view: the game as the player knows it; the bag is empty.
        solver: remembers what it learnt of earlier positions.
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
            found = self._solver.solution
            if offered is None or (found.move, found.sure) != (offered.move, offered.sure):
                offered = found
                budget.offer(self._choice(found))
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
    """Check whether it is certain who wins."""
    wins = found.floor is not None and lead + found.floor > 0
    loses = found.ceiling is not None and lead + found.ceiling < 0
    return found.proven or wins or loses


def _certainty(found: Solution) -> str:
    if found.proven:
        return f"proven with {found.nodes:,} nodes"
    return f"not proven, {found.depth} plies deep with {found.nodes:,} nodes"


class PreEndgameSearch:
    """A pre-endgame, for the player on turn of a view.

    Args:
        view: the game as the player knows it; a few tiles are in the bag.
        search: a simulation of the position, to begin with.
        solver: solves the endgames.
        seed: for what is drawn.
        belief: what the opponent may hold; by default anything.
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
        """Return the best candidates of the simulation, in its order."""
        simulation = self._search.simulation
        ranked = {one.move: one for one in simulation.candidates}
        count = COMPARED.get(self._view.bag, COMPARED_BEYOND)
        return [ranked[one.move] for one in simulation.estimates()[:count]]

    def _choice(self, pre_endgame: PreEndgame, simulated: Choice) -> Choice:
        """Choose what wins most often, if every case was looked at or it is proven best.

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
    """Describe how often a candidate wins."""
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

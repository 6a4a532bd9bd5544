"""The last turns of a game, where play can be worked out and need not be guessed.

With an empty bag the opponent's rack is what is unseen: an ``EndgameSearch`` proves the best move,
or comes as near as the time allows. With a few tiles in it a ``PreEndgameSearch`` simulates first,
for a part of the time, and then takes the best of what it found to the end, in every way in which
the unseen tiles may lie.
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

__all__ = ["EndgameSearch", "PreEndgameSearch", "how_often"]

SIMULATED = 0.3
"""Of a pre-endgame's time, what its simulation takes at most."""
COMPARED = {1: 10, 2: 8}
"""Candidates that are taken to the end, by tiles in the bag: the best by the simulation."""
COMPARED_BEYOND = 6


class EndgameSearch:
    """An endgame, worked out for the player on turn of a view.

    Args:
        view: the game as he may know it; the bag is empty.
        solver: what it learnt before helps.
    """

    def __init__(self, view: View, solver: EndgameSolver) -> None:
        self._view, self._solver = view, solver
        refused = dict.fromkeys(refusal.move for refusal in view.refused)
        solver.begin(view.position, without=tuple(refused)[-MOST_LISTED:])

    def run(self, budget: Budget) -> Choice:
        """Go on until it is proven or time is over; offer what is found on the way."""
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
    """Tell whether it is certain who wins."""
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
        view: the game as he may know it; there is a bag of a few tiles.
        search: a simulation of the position, to go on with.
        solver: for the endgames.
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
        """Simulate, and then look to the end, until nothing could change or time is over.

        A game that is won or lost anyway is played on for points.
        """
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
        """Give the best candidates of the simulation, in its order."""
        simulation = self._search.simulation
        ranked = {one.move: one for one in simulation.candidates}
        count = COMPARED.get(self._view.bag, COMPARED_BEYOND)
        return [ranked[one.move] for one in simulation.estimates()[:count]]

    def _choice(self, pre_endgame: PreEndgame, simulated: Choice) -> Choice:
        """Choose what wins most often, if it was looked at in every case; else as simulated.

        What is proven to be better than all others need not be looked at any further.
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
    """Say how often a candidate wins."""
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

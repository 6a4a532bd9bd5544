"""The champion of before: two turns of 20 moves, and pre-endgames of ten.

As at commit 8ca8775, with the parts of today: utility is the win chance and a ten-thousandth of a
win for each point, a turn ends at an expected regret of a fiftieth of a percent, rollouts go to the
end of the game from seven tiles in the bag, and with one or two of them the best ten or eight moves
of the simulation are played out, case by case.

Options: ``time``, a cap per turn.
"""

from __future__ import annotations

from bot.player import Budget, Choice, View
from bot.players.champion import CANDIDATES
from bot.players.options import duration_ms
from bot.search.analysis.solving import Solvers, pre_endgame
from bot.search.anytime import NODES, Anytime
from bot.search.belief import OpponentModel
from bot.search.late_game import PreEndgameSearch
from bot.search.simulating import Settings, Stage, seed_of
from bot.search.strategy import Searching, Strategy
from engine.inference.likelihood import stranger
from engine.simulation.rollout_input import TO_THE_END, Utility

PLAYED_OUT = 7
"""Most tiles in the bag with which rollouts went to the end of the game."""
SIMULATED = 0.3
"""Largest share of a pre-endgame's time for its simulation."""
COMPARED = {1: 10, 2: 8}
"""Candidates of a pre-endgame, by tiles in the bag; with more it was simulated."""


class Before(Strategy):
    """The champion as it was, without pondering."""

    def __init__(self, time: str = "2s") -> None:
        super().__init__(
            Settings(
                CANDIDATES,
                time_ms=duration_ms("time", time),
                utility=Utility(win=1.0, lead=0.0, point=0.0001),
                stages=lambda bag: (Stage(CANDIDATES, TO_THE_END if bag <= PLAYED_OUT else 2),),
                enough=0.0002,
            ),
            follow=lambda view: OpponentModel(view, stranger(view.opponent_style)),
            solvers=Solvers(),
        )

    def begin(self, view: View) -> Searching:
        """Begin the search of a turn, with the pre-endgame as it was."""
        search = super().begin(view)
        if not isinstance(search, PreEndgameSearch):
            return search
        if view.bag not in COMPARED:
            return search.search
        return FewMoves(view, search.search, search.solver, search.belief)


class FewMoves(PreEndgameSearch):
    """A pre-endgame of the best moves of the simulation."""

    def run(self, budget: Budget) -> Choice:
        """Simulate, then play candidates out until nothing could change or time is over."""
        ends_ms = (1 - SIMULATED) * budget.remaining_ms()
        self.search.work(budget, lambda: self.search.is_settled or budget.remaining_ms() <= ends_ms)
        simulated, simulation = self.search.choice(), self.search.simulation
        budget.offer(simulated)
        ranked = {candidate.move: candidate for candidate in simulation.candidates}
        best = [ranked[each.move] for each in simulation.estimates()[: COMPARED[self.view.bag]]]
        if len(best) == 1:
            return simulated
        work = pre_endgame(
            self.view, self.solver, best, belief=self.belief, seed=seed_of(self.view)
        )
        Anytime(work, NODES).run(budget.remaining_ms, lambda: work.is_settled)
        leader = work.leader()
        if leader.cases < work.cases and not work.is_settled:
            return simulated
        return self._choice(work, simulated)

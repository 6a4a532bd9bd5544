"""``champion``: the best that there is here for each phase of the game.

======================  ========================================================================
the bag has             what is done
======================  ========================================================================
more than seven tiles   simulation, two plies and win probabilities
three to seven          simulation to the end of the game
one or two              the same, and the best moves of that taken to the end in every way in which
                        the unseen tiles may lie (``engine.preendgame``)
none                    the best move is proven, as far as time allows (``engine.endgame``)
======================  ========================================================================

What the opponent may hold is inferred from his plays, as ``infer`` does it, and simulated against.

While the opponent thinks, if it may, it guesses his replies and begins to search the positions that
they lead to. Those searches know nothing of his rack; they are gone on with where there is nothing
to know, and give a move where there is no time for another. An endgame is solved from his side.

Options: ``time``, than which no turn takes longer; and ``exact=no``, with which nothing is solved,
only simulated, which shows what it is worth.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import islice, takewhile
from typing import TypeAlias

from bot.player import Budget, Choice, View
from bot.search.anytime import NODES, Anytime
from bot.search.late_game import EndgameSearch, PreEndgameSearch
from bot.search.simulating import Search, Settings
from engine.endgame import LEAST_LIMIT, EndgameSolver
from engine.movegen.generator import ScoredMove
from engine.rules.moves import Place
from engine.rules.position import Position
from engine.simulation.replies import after, guess_replies
from engine.simulation.rollout_input import Belief

from .inferring import InferringPlayer
from .options import one_of
from .simulating import Searching, seed_of
from .static import generator_for

__all__ = ["ChampionPlayer"]

CANDIDATES = 20  # while there are tiles in the bag

GUESSES = 200  # racks of the opponent
LIKELY = 6  # replies whose positions are searched

EXACT_BAG = 2
"""With so many tiles in the bag pre-endgames are taken to the end; with more there are too many
ways in which they may lie for the time that a turn has."""
MEMORY = 128 << 20
"""Bytes for a solver with one thread."""
MEMORY_A_THREAD = 32 << 20
"""Bytes more for each other: the placements of any position have room in its share."""

_Key: TypeAlias = tuple[Position, int]


class ChampionPlayer(InferringPlayer):
    """Plays as well as a built-in player can.

    Raises:
        ValueError: an option makes no sense.
    """

    def __init__(self, time: str = "", exact: str = "yes") -> None:
        super().__init__(time=time)
        self._may_solve = one_of("exact", exact, ("yes", "no")) == "yes"
        self._begun: dict[_Key, Search] = {}
        self._solver: EndgameSolver | None = None

    def make_room(self, view: View) -> None:
        """Have the solver there, whose memory takes a while to get."""
        if self._solves(view):
            self._solver_for(view)

    def search(self, view: View) -> Searching:
        """Go on with what was begun while the opponent thought, or begin."""
        belief = self.belief(view)
        exact = self._solves(view)
        if exact and not view.bag:
            return EndgameSearch(view, self._solver_for(view))
        begun = self._take_up(view) if belief is None else None
        search = begun or self._new_search(view, belief)
        if exact and view.bag <= EXACT_BAG:
            return PreEndgameSearch(view, search, self._solver_for(view), seed_of(view), belief)
        return search

    def _solves(self, view: View) -> bool:
        """Tell whether it may, and the rules are such as the solver knows."""
        return self._may_solve and view.rules.scoreless_limit >= LEAST_LIMIT

    def _solver_for(self, view: View) -> EndgameSolver:
        """Give the solver of this game, which remembers what it found out."""
        if self._solver is None:
            threads = view.threads
            memory = MEMORY + (threads - 1) * MEMORY_A_THREAD
            self._solver = EndgameSolver(view.lexicon, view.rules, memory=memory, threads=threads)
        return self._solver

    def at_once(self, view: View) -> Choice:
        """Choose by what was found while the opponent thought, if anything was."""
        begun = self._take_up(view)
        return begun.choice() if begun and begun.simulation.is_sampled else super().at_once(view)

    def _take_up(self, view: View) -> Search | None:
        begun, self._begun = self._begun.get(_key(view)), {}
        return None if view.refused else begun

    def _new_search(self, view: View, belief: Belief | None = None) -> Search:
        settings = Settings(candidates=CANDIDATES if view.bag else None)
        return Search(view, settings, seed_of(view), belief)

    def ponder(self, view: View, budget: Budget) -> None:
        """Search what the opponent's likely replies lead to, each in the measure of its odds."""
        self._begun = {}
        if self._solves(view) and not view.bag:
            self._solve_his(view, budget)
            return
        guesses = guess_replies(generator_for(view), view.position, seed_of(view))
        likely = takewhile(lambda _: not budget.expired, islice(guesses, GUESSES))
        searches: list[tuple[int, Search]] = []
        for played, times in Counter(likely).most_common(LIKELY):
            then = _view_after(view, played)
            if any(then.unseen) and not budget.expired:
                self._begun[_key(then)] = search = self._new_search(then)
                searches.append((times, search))
        while searches and not budget.expired:
            times, search = min(searches, key=lambda one: one[1].simulation.rollouts / one[0])
            search.step(budget)
            if search.is_settled:
                searches.remove((times, search))

    def _solve_his(self, view: View, budget: Budget) -> None:
        """Solve the opponent's endgame, so that the own next one is solved already."""
        solver = self._solver_for(view)
        solver.begin(view.position)
        Anytime(solver, NODES).run(budget.remaining_ms, lambda: solver.is_over)


def _key(view: View) -> _Key:
    return view.position, view.bag


def _view_after(view: View, played: ScoredMove) -> View:
    """Give the view that a reply would lead to."""
    placed = len(played.move.placed) if isinstance(played.move, Place) else 0
    bag = max(view.bag - placed, 0)
    return replace(view, position=after(view.position, played), bag=bag, refused=())

"""The phases of a strategy, shared by ``sim``, ``infer`` and ``champion``.

======================  ========================================================================
tiles in the bag        search
======================  ========================================================================
five tiles or more      simulation
one to four             simulation, then all moves played to the end for many divisions of the
                        unseen tiles, the best of the simulation first (``PreEndgameSearch``)
none                    proof of the best move, as far as time allows (``EndgameSearch``)
======================  ========================================================================

A strategy without a solver simulates in all phases. The belief, if any, first takes in the
opponent's plays.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import islice, takewhile
from typing import TypeAlias

from bot.player import Budget, Choice, Observed, Player, View
from engine.endgame.solver import EndgameSolver
from engine.inference.leave_prior import LeavePrior
from engine.movegen.candidates import guess_replies
from engine.rules.moves import Place
from engine.rules.position import Position
from engine.rules.rules import Rules
from lexicons.store import Lexicon
from lexicons.tables import leaves_for, win_probabilities_for

from .analysis.solving import Solvers, is_solvable
from .anytime import NODES, Anytime
from .belief import OpponentModel
from .late_game import PLAYED_OUT, EndgameSearch, PreEndgameSearch
from .simulating import SimulationSearch, SimulationSettings, seed_of
from .static_choice import generator_for, static_choice

GUESSES = 200
"""Racks drawn for the opponent, each with its reply."""
LIKELY = 6
"""Number of replies whose positions are searched."""


Searching: TypeAlias = SimulationSearch | PreEndgameSearch | EndgameSearch


class Pondering:
    """Searches of the positions after the opponent's likely replies.

    They have no belief about its rack. A search is resumed if its position arises and there is
    still no belief. It also gives the move if no time is left for another search.
    """

    def __init__(self) -> None:
        self.begun: dict[tuple[Position, int], SimulationSearch] = {}
        """By position and tiles in the bag."""

    def search(
        self, view: View, budget: Budget, simulate: Callable[[View], SimulationSearch]
    ) -> None:
        """Search the positions after likely replies, each in proportion to its probability."""
        self.forget()
        guesses = guess_replies(generator_for(view), view.position, seed_of(view))
        likely = takewhile(lambda _: not budget.expired, islice(guesses, GUESSES))
        searches: list[tuple[int, SimulationSearch]] = []
        for played, times in Counter(likely).most_common(LIKELY):
            placed = len(played.move.placed) if isinstance(played.move, Place) else 0
            position = view.position.after(played.move, played.score, (), view.rules)
            then = replace(view, position=position, bag=max(view.bag - placed, 0), refused=())
            if any(then.unseen) and not budget.expired:
                self.begun[then.position, then.bag] = search = simulate(then)
                searches.append((times, search))
        while searches and not budget.expired:
            times, search = min(searches, key=lambda row: row[1].rollouts / row[0])
            search.step(budget)
            if search.is_settled:
                searches.remove((times, search))

    def take_up(self, view: View) -> SimulationSearch | None:
        """Return the search of a position, if any, and drop all others."""
        begun = self.begun.get((view.position, view.bag))
        self.forget()
        return None if view.refused else begun

    def forget(self) -> None:
        """Drop all searches."""
        self.begun = {}


class Strategy(Player):
    """A player composed of its parts.

    Args:
        settings: settings of simulations with tiles in the bag.
        empty_bag: the same with an empty bag, unless endgames are solved; by default ``settings``.
        follow: returns the belief about the opponent of a new game; by default there is none.
        solvers: keeps the solver of endgames and pre-endgames; by default they are simulated.
        ponders: whether it searches while the opponent thinks.
    """

    def __init__(
        self,
        settings: SimulationSettings,
        *,
        empty_bag: SimulationSettings | None = None,
        follow: Callable[[View], OpponentModel] | None = None,
        solvers: Solvers | None = None,
        ponders: bool = False,
    ) -> None:
        self.settings = settings
        self.opponent: OpponentModel | None = None
        """The belief about the opponent; None before the game, or if there is no ``follow``."""
        self.pondering = Pondering()
        self._empty_bag = empty_bag or settings
        self._follow, self._solvers, self._ponders = follow, solvers, ponders

    def warm_up(self, lexicon: Lexicon, rules: Rules) -> None:
        """Load the tables; the seat compiles the kernels."""
        leaves_for(rules.distribution)
        win_probabilities_for(rules.distribution)

    def make_room(self, view: View) -> None:
        """Allocate the solver's memory."""
        self._solver(view)

    def new_game(self, view: View) -> None:
        """Start the belief, with what earlier games reported of the opponent."""
        if self._follow is not None:
            self.opponent = self._follow(view)

    def observe(self, view: View, play: Observed) -> None:
        """Note a turn for the belief."""
        if self.opponent is not None:
            self.opponent.observe(view, play)

    def choose(self, view: View, budget: Budget) -> Choice:
        """Update the belief, and search."""
        if self.settings.time_ms is not None:
            budget.limit(self.settings.time_ms)
        choice = self._choose(view, budget)
        return choice if self.opponent is None else replace(choice, belief=self.opponent.told)

    def _choose(self, view: View, budget: Budget) -> Choice:
        if self.settings.bags is not None and view.bag not in self.settings.bags:
            return static_choice(view)
        if self.opponent is not None:
            self.opponent.take_in(view, budget)
            budget.belief = self.opponent.told
        if budget.expired:
            begun = self.pondering.take_up(view)
            return begun.choice() if begun and begun.is_sampled else static_choice(view)
        return self.begin(view).run(budget)

    def begin(self, view: View) -> Searching:
        """Begin the search of a turn, or resume a search of pondering."""
        belief = None if self.opponent is None else self.opponent.belief(view)
        solver = self._solver(view) if view.bag <= PLAYED_OUT else None
        if solver is not None and not view.bag:
            return EndgameSearch(view, solver)
        begun = self.pondering.take_up(view)  # without a belief about the opponent's rack
        search = begun if begun and belief is None else self._simulate(view, belief)
        return search if solver is None else PreEndgameSearch(view, search, solver, belief)

    def _solver(self, view: View) -> EndgameSolver | None:
        if self._solvers is None or not is_solvable(view.rules):
            return None
        return self._solvers.solver(view.lexicon, view.rules, threads=view.threads)

    def _simulate(self, view: View, belief: LeavePrior | None = None) -> SimulationSearch:
        settings = self.settings if view.bag else self._empty_bag
        return SimulationSearch(view, settings, seed_of(view), belief)

    def ponder(self, view: View, budget: Budget) -> None:
        """Search after likely replies; with an empty bag solve the opponent's endgame.

        The solver keeps what it learnt, so the player's next endgame is already solved.
        """
        if not self._ponders:
            return
        solver = None if view.bag else self._solver(view)
        if solver is None:
            self.pondering.search(view, budget, self._simulate)
            return
        self.pondering.forget()
        solver.begin(view.position)
        Anytime(solver, NODES).run(budget.remaining_ms, lambda: solver.is_over, budget.seconds)

"""``champion``: the best that the house has for each phase of the game.

======================  ========================================================================
the bag has             what is done
======================  ========================================================================
more than seven tiles   simulation, two plies and win probabilities
one to seven            simulation to the end of the game
none                    each of up to 300 moves is played to the end against the rack left
======================  ========================================================================

What the opponent may hold is inferred from his plays, as ``infer`` does it, and simulated against.

While the opponent thinks, if it may, it guesses his replies and begins to search the positions that
they lead to. Those searches know nothing of his rack; they are gone on with where there is nothing
to know, and give a move where there is no time for another. With the option ``time`` no turn takes
longer.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import islice, takewhile
from typing import TypeAlias

from engine.generate import ScoredMove
from engine.moves import Place
from engine.position import Position
from engine.replies import after, guess_replies
from engine.rollouts import Belief

from ..player import Budget, Choice, View
from ..search import Search, Settings
from .inferring import InferringPlayer
from .simulating import seed_of
from .static import generator_for

__all__ = ["ChampionPlayer"]

CANDIDATES = 20  # while there are tiles in the bag

GUESSES = 200  # racks of the opponent
LIKELY = 6  # replies whose positions are searched

_Key: TypeAlias = tuple[Position, int]


class ChampionPlayer(InferringPlayer):
    """Plays as well as the house can.

    Raises:
        ValueError: ``time`` is no duration.
    """

    def __init__(self, time: str = "") -> None:
        super().__init__(time=time)
        self._begun: dict[_Key, Search] = {}

    def search(self, view: View) -> Search:
        """Go on with what was begun while the opponent thought, or begin."""
        belief = self.belief(view)
        if belief is None and (begun := self._take_up(view)):
            return begun
        return self._new_search(view, belief)

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


def _key(view: View) -> _Key:
    return view.position, view.bag


def _view_after(view: View, played: ScoredMove) -> View:
    """Give the view that a reply would lead to."""
    placed = len(played.move.placed) if isinstance(played.move, Place) else 0
    bag = max(view.bag - placed, 0)
    return replace(view, position=after(view.position, played), bag=bag, refused=())

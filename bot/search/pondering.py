"""Pondering: searches of the positions after the opponent's likely replies.

They have no belief about its rack. A search is resumed if its position arises and there is still no
belief, and gives a move if no time is left for another search.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import islice, takewhile

from bot.player import Budget, View
from engine.movegen.candidates import guess_replies
from engine.movegen.generator import ScoredMove
from engine.rules.moves import Place
from engine.rules.position import Position

from .simulating import Search, seed_of
from .static_choice import generator_for

__all__ = ["GUESSES", "LIKELY", "Pondering"]

GUESSES = 200
"""Racks of the opponent that are drawn, each with its reply."""
LIKELY = 6
"""Number of replies whose positions are searched."""


class Pondering:
    """Searches of positions that may arise.

    Args:
        simulate: returns the new search of a position.
    """

    def __init__(self, simulate: Callable[[View], Search]) -> None:
        self.begun: dict[tuple[Position, int], Search] = {}
        """By position and tiles in the bag."""
        self._simulate = simulate

    def search(self, view: View, budget: Budget) -> None:
        """Search the positions after likely replies, in proportion to their odds."""
        self.forget()
        guesses = guess_replies(generator_for(view), view.position, seed_of(view))
        likely = takewhile(lambda _: not budget.expired, islice(guesses, GUESSES))
        searches: list[tuple[int, Search]] = []
        for played, times in Counter(likely).most_common(LIKELY):
            then = _view_after(view, played)
            if any(then.unseen) and not budget.expired:
                self.begun[then.position, then.bag] = search = self._simulate(then)
                searches.append((times, search))
        while searches and not budget.expired:
            times, search = min(searches, key=lambda row: row[1].simulation.rollouts / row[0])
            search.step(budget)
            if search.is_settled:
                searches.remove((times, search))

    def take_up(self, view: View) -> Search | None:
        """Return the search of a position, if any, and drop all others."""
        begun = self.begun.get((view.position, view.bag))
        self.forget()
        return None if view.refused else begun

    def forget(self) -> None:
        """Drop all searches."""
        self.begun = {}


def _view_after(view: View, played: ScoredMove) -> View:
    placed = len(played.move.placed) if isinstance(played.move, Place) else 0
    bag = max(view.bag - placed, 0)
    after = view.position.after(played.move, played.score, ())
    return replace(view, position=after, bag=bag, refused=())

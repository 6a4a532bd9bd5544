"""``sim``: rolls the likeliest moves out and plays the one that wins most often.

Options: ``candidates``, ``plies``, ``time`` (a limit for each turn, as 300ms or 2s) or
``iterations`` (rollouts of each candidate, as many for all, or fewer if the turn's share of the
clock is over before), and ``bag`` (as 0 or 1-7: with another number of tiles in the bag it plays as
``static`` does, which shows what simulation is worth there).
``sim?candidates=23&iterations=300&plies=2`` is what Quackle's authors published.
"""

from __future__ import annotations

from typing import Protocol

from bot.player import Budget, Choice, Player, View
from bot.search.simulating import Search, Settings
from engine.rules.rules import Rules
from engine.simulation.rollout_input import TO_THE_END
from lexicons.store import Lexicon
from lexicons.tables import leaves_for, win_probabilities_for

from .options import duration_ms, number, span
from .static import static_choice

__all__ = ["Searching", "SimulatingPlayer", "seed_of"]


class Searching(Protocol):
    """A turn's search that has begun."""

    def run(self, budget: Budget) -> Choice:
        """Go on until it is over, or the turn should be; offer what is found on the way."""


class SimulatingPlayer(Player):
    """Plays what wins most often in rollouts.

    Raises:
        ValueError: an option makes no sense.
    """

    def __init__(
        self,
        candidates: str = "",
        plies: str = "",
        iterations: str = "",
        time: str = "",
        bag: str = "",
    ) -> None:
        if iterations and time:
            raise ValueError("iterations or time ends a search, not both")
        self.settings = Settings(
            candidates=number("candidates", candidates, 1, 100) if candidates else None,
            plies=number("plies", plies, 1, TO_THE_END) if plies else None,
            iterations=number("iterations", iterations, 2, 1_000_000) if iterations else None,
            rule="equal" if iterations else Settings.rule,
        )
        self._time_ms = duration_ms("time", time) if time else None
        self._bags = span("bag", bag) if bag else None

    def warm_up(self, lexicon: Lexicon, rules: Rules) -> None:
        """Load the tables; the kernels are warmed up with all others."""
        leaves_for(rules.distribution)
        win_probabilities_for(rules.distribution)

    def choose(self, view: View, budget: Budget) -> Choice:
        """Search until it is certain or time is over."""
        if self._time_ms is not None:
            budget.limit(self._time_ms)
        if self._bags is not None and view.bag not in self._bags:
            return static_choice(view)
        self.prepare(view, budget)
        if budget.remaining_ms() == 0:
            return self.at_once(view)
        return self.search(view).run(budget)

    def prepare(self, view: View, budget: Budget) -> None:
        """Do what is to be done before a search, on the same clock; here nothing."""

    def at_once(self, view: View) -> Choice:
        """Choose without any time."""
        return static_choice(view)

    def search(self, view: View) -> Searching:
        """Begin a search."""
        return Search(view, self.settings, seed_of(view))


def seed_of(view: View) -> int:
    """Give the seed of a turn: a turn that is asked again gets the same answer."""
    return view.seed * 1_000 + len(view.history) * 10 + len(view.refused)

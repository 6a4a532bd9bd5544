"""``sim``: rolls the likeliest moves out and plays the one that wins most often.

Options: ``candidates``, ``plies``, ``time`` (a limit for each turn, as 300ms or 2s) or
``iterations`` (rollouts of each candidate, the same number for all, whatever the clock says as long
as it runs), and ``bag`` (as 0 or 1-7: with another number of tiles in the bag it plays as
``static`` does, which shows what simulation is worth there).
``sim?candidates=23&iterations=300&plies=2`` is what Quackle's authors published.
"""

from __future__ import annotations

import re
from typing import Final

from engine.rules import Rules
from lexicons.store import Lexicon
from lexicons.tables import leaves_for, win_probabilities_for

from ..player import Budget, Choice, Player, View
from ..search import Search, Settings
from .static import static_choice

__all__ = ["SimulatingPlayer", "seed_of"]

_RANGES: Final = {"candidates": (1, 100), "plies": (1, 64), "iterations": (2, 1_000_000)}
_UNITS_MS: Final = {"ms": 1, "s": 1_000, "m": 60_000}


class SimulatingPlayer(Player):
    """Plays what wins most often in rollouts.

    Raises:
        ValueError: an option makes no sense.
    """

    def __init__(
        self,
        candidates: str = "15",
        plies: str = "",
        iterations: str = "",
        time: str = "",
        bag: str = "",
    ) -> None:
        self.settings = Settings(
            candidates=_count("candidates", candidates) or 15,
            plies=_count("plies", plies),
            iterations=_count("iterations", iterations),
            rule="equal" if iterations else Settings.rule,
        )
        self._time_ms = _milliseconds(time)
        self._bags = _bags(bag)
        if iterations and time:
            raise ValueError("iterations or time ends a search, not both")

    def warm_up(self, lexicon: Lexicon, rules: Rules) -> None:
        """Load the tables; the kernels are warmed up with all others."""
        leaves_for(rules.distribution)
        win_probabilities_for(rules.distribution)

    def choose(self, view: View, budget: Budget) -> Choice:
        """Search until it is certain or time is over."""
        if self._time_ms is not None:
            budget.limit(self._time_ms)
        if budget.remaining_ms() == 0 or view.bag not in self._bags:
            return static_choice(view)
        return self.search(view).run(budget)

    def search(self, view: View) -> Search:
        """Begin a search."""
        return Search(view, self.settings, seed_of(view))


def seed_of(view: View) -> int:
    """Give the seed of a turn: a turn that is asked again gets the same answer."""
    return view.seed * 1_000 + len(view.history) * 10 + len(view.refused)


def _count(name: str, text: str) -> int | None:
    if not text:
        return None
    fewest, most = _RANGES[name]
    if not text.isascii() or not text.isdigit() or not fewest <= int(text) <= most:
        raise ValueError(f"{name} is a number from {fewest} to {most:,}, not {text!r}")
    return int(text)


def _milliseconds(text: str) -> int | None:
    if not text:
        return None
    found = re.fullmatch(r"(\d+(?:\.\d+)?)(ms|s|m)", text)
    if not found or not (ms := round(float(found[1]) * _UNITS_MS[found[2]])):
        raise ValueError(f"time is a duration such as 300ms or 2s, not {text!r}")
    return ms


def _bags(text: str) -> range:
    """Read how many tiles may be in the bag; any number if nothing is said."""
    found = re.fullmatch(r"(\d{1,3})(?:-(\d{1,3}))?", text or "0-999")
    bags = range(0) if not found else range(int(found[1]), int(found[2] or found[1]) + 1)
    if not bags:
        raise ValueError(f"bag is a number of tiles or a range such as 1-7, not {text!r}")
    return bags

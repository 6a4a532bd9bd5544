"""``champion``: the best that there is here for each phase of the game (``bot.search.strategy``).

It infers what the opponent may hold as ``infer`` does, simulates 20 candidates against that, takes
pre-endgames to the end and proves endgames. While the opponent thinks, if it may, it searches the
positions that likely replies lead to.

Options: ``time``, a cap for each turn; and ``exact=no``, with which nothing is solved, only
simulated, which shows what solving is worth.
"""

from __future__ import annotations

from bot.search.belief import Opponent
from bot.search.late_game import Solvers
from bot.search.simulating import Settings
from bot.search.strategy import Strategy
from engine.inference.likelihood import stranger

from .options import duration_ms, one_of

__all__ = ["CANDIDATES", "champion", "compose"]

CANDIDATES = 20
"""Moves that are simulated while there are tiles in the bag."""


def champion(time: str = "", exact: str = "yes") -> Strategy:
    """Return a player that plays as well as a built-in player can.

    Raises:
        ValueError: an option makes no sense.
    """
    solves = one_of("exact", exact, ("yes", "no")) == "yes"
    return compose(Solvers() if solves else None, duration_ms("time", time) if time else None)


def compose(solvers: Solvers | None, time_ms: int | None = None) -> Strategy:
    """Return the champion's strategy with a solver that may have served before."""
    return Strategy(
        Settings(candidates=CANDIDATES),
        empty_bag=Settings(),
        follow=lambda view: Opponent(view, stranger(view.opponent_style)),
        solvers=solvers,
        ponders=True,
        time_ms=time_ms,
    )

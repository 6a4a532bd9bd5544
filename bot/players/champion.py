"""``champion``: the best method available for each phase (``bot.search.strategy``).

It infers the opponent's rack as ``infer`` does, and ponders. Pondering helps if its next turn has
no belief: with an empty bag, or if nothing is known of the opponent's rack.

Options: ``time``, a cap per turn; and ``exact=no``, which simulates instead of solving, to measure
what solving is worth.
"""

from __future__ import annotations

from bot.search.analysis.solving import Solvers
from bot.search.belief import OpponentModel
from bot.search.simulating import SimulationSettings
from bot.search.strategy import Strategy
from engine.inference.likelihood import stranger

from .options import duration_ms, one_of

CANDIDATES = 20
"""Moves simulated while there are tiles in the bag."""


def champion(time: str = "", exact: str = "yes") -> Strategy:
    """Return the strongest built-in player; raise ValueError if an option is invalid."""
    solves = one_of("exact", exact, ("yes", "no")) == "yes"
    return compose(Solvers() if solves else None, duration_ms("time", time) if time else None)


def compose(solvers: Solvers | None, time_ms: int | None = None) -> Strategy:
    """Return the champion's strategy; ``solvers`` may keep a solver from earlier games."""
    return Strategy(
        SimulationSettings(candidates=CANDIDATES, time_ms=time_ms),
        empty_bag=SimulationSettings(),
        follow=lambda view: OpponentModel(view, stranger(view.opponent_style)),
        solvers=solvers,
        ponders=True,
    )

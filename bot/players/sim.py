"""``sim``: rolls out the likeliest moves and plays the one that wins most often.

Options: ``candidates``, ``plies``, ``time`` (a limit per turn, such as 300ms or 2s) or
``iterations`` (rollouts per candidate, fewer if the turn's share of the clock ends first), and
``bag`` (such as 0 or 1-7: with other numbers of tiles in the bag it plays as ``static``, to measure
what simulation is worth). ``sim?candidates=23&iterations=300&plies=2`` is what Quackle's authors
published.
"""

from __future__ import annotations

from bot.search.simulating import SimulationSettings
from bot.search.strategy import Strategy
from engine.simulation.rollout_input import TO_THE_END

from .options import duration_ms, number, span


def sim(
    candidates: str = "", plies: str = "", iterations: str = "", time: str = "", bag: str = ""
) -> Strategy:
    """Return a player that maximizes wins in rollouts; raise ValueError if an option is invalid."""
    return Strategy(settings_of(candidates, plies, iterations, time, bag))


def settings_of(
    candidates: str, plies: str, iterations: str, time: str, bag: str
) -> SimulationSettings:
    """Read the options shared by simulating players; raise ValueError if one is invalid."""
    if iterations and time:
        raise ValueError("give iterations or time, not both")
    return SimulationSettings(
        candidates=number("candidates", candidates, 1, 100) if candidates else None,
        plies=number("plies", plies, 1, TO_THE_END) if plies else None,
        iterations=number("iterations", iterations, 2, 1_000_000) if iterations else None,
        rule="equal" if iterations else SimulationSettings.rule,
        time_ms=duration_ms("time", time) if time else None,
        bags=span("bag", bag) if bag else None,
    )

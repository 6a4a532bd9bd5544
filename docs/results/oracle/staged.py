"""Simulations by other stages and utilities than the usual ones, as seats of the oracle.

Options: ``stages``, candidates × plies of each, as 15x2+8x4+6x64; ``rollouts`` of each candidate in
each stage, shared out where they decide something; ``lead`` and ``point``, weights in the utility.
"""

from __future__ import annotations

from bot.search.simulating import Settings, Stage
from bot.search.strategy import Strategy
from engine.simulation.rollout_input import Utility


class Staged(Strategy):
    """A simulation without belief and solver."""

    def __init__(
        self, stages: str = "15x2", rollouts: str = "300", lead: str = "0", point: str = "0"
    ) -> None:
        each = [map(int, stage.split("x")) for stage in stages.split("+")]
        fixed = tuple(Stage(candidates, plies) for candidates, plies in each)
        super().__init__(
            Settings(
                iterations=int(rollouts),
                stages=lambda bag: fixed,
                utility=Utility(win=1 - float(lead), lead=float(lead), point=float(point)),
            )
        )

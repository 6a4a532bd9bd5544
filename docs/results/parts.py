"""The champion without one of its parts, as a seat that shows in games what the part is worth.

    tilewire experiment duel "champion?time=300ms" \
        "docs/results/parts.py:Without?part=stages&time=300ms" --by-work

Parts: ``stages``, of which only the first is left; ``lead``, instead of which a point is worth
0.0001; ``one``, ``two`` and ``three``: with as many tiles in the bag, three or four, the simulation
takes the whole turn; ``belief``; ``nothing``, for the champion as it is. In turns of less than
1.5 s (``LEAST_MS``) three or four tiles are never played out: ``three`` takes longer turns.
"""

from __future__ import annotations

from dataclasses import replace

from bot.player import View
from bot.players.champion import CANDIDATES
from bot.players.options import duration_ms, one_of
from bot.search.analysis.solving import Solvers
from bot.search.belief import OpponentModel
from bot.search.late_game import PreEndgameSearch
from bot.search.simulating import SimulationSettings, usual_stages
from bot.search.strategy import Searching, Strategy
from engine.inference.likelihood import stranger
from engine.simulation.rollout_input import Utility

BAGS = {"one": (1,), "two": (2,), "three": (3, 4)}
PARTS = ("stages", "lead", *BAGS, "belief", "nothing")


def follow(view: View) -> OpponentModel:
    """Begin the champion's belief."""
    return OpponentModel(view, stranger(view.opponent_style))


class Without(Strategy):
    """The champion without a part."""

    def __init__(self, part: str, time: str = "") -> None:
        time_ms = duration_ms("time", time) if time else None
        settings = SimulationSettings(candidates=CANDIDATES, time_ms=time_ms)
        if one_of("part", part, PARTS) == "stages":
            settings = replace(settings, stages=lambda bag: usual_stages(bag)[:1])
        elif part == "lead":
            settings = replace(settings, utility=Utility(win=1.0, lead=0.0, point=0.0001))
        super().__init__(
            settings,
            empty_bag=SimulationSettings(),
            follow=None if part == "belief" else follow,
            solvers=Solvers(),
            ponders=True,
        )
        self._simulated = BAGS.get(part, ())

    def begin(self, view: View) -> Searching:
        """Begin as the champion does, but without a pre-endgame if that is the part."""
        search = super().begin(view)
        if isinstance(search, PreEndgameSearch) and view.bag in self._simulated:
            return search.search
        return search

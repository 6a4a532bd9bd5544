"""``champion`` with another end of a turn, as a seat of the oracle.

Options: ``enough``, the expected regret in wins below which a turn ends; ``time``, a cap per turn.
"""

from __future__ import annotations

from bot.players.champion import CANDIDATES
from bot.players.options import duration_ms
from bot.search.analysis.solving import Solvers
from bot.search.belief import OpponentModel
from bot.search.simulating import Settings
from bot.search.strategy import Strategy
from engine.inference.likelihood import stranger


class Patient(Strategy):
    """The champion, without pondering."""

    def __init__(self, enough: str = "0.00001", time: str = "4s") -> None:
        super().__init__(
            Settings(CANDIDATES, time_ms=duration_ms("time", time), enough=float(enough)),
            empty_bag=Settings(),
            follow=lambda view: OpponentModel(view, stranger(view.opponent_style)),
            solvers=Solvers(),
        )

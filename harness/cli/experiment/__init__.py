"""``tilewire experiment``."""

from __future__ import annotations

from cyclopts import App

from . import beliefs, duels, richards_amir, search_quality

__all__ = ["app"]

app = App(name="experiment", help="Play whole games to see who is better, and by what.")

for _command in (
    duels.duel,
    duels.cs221,
    search_quality.regret,
    richards_amir.table1,
    richards_amir.table2,
    beliefs.calibration,
):
    app.command(_command)

"""``tilewire experiment``."""

from __future__ import annotations

from cyclopts import App

from . import beliefs, duels, gains, late, richards_amir, search_quality

__all__ = ["app"]

app = App(name="experiment", help="Play whole games to see who is better, and by what.")

for _command in (
    duels.duel,
    duels.cs221,
    search_quality.regret,
    search_quality.coverage,
    richards_amir.table1,
    richards_amir.table2,
    richards_amir.baselines,
    beliefs.calibration,
    beliefs.styles,
    gains.gains,
    late.endings,
    late.preendings,
    late.late,
):
    app.command(_command)

"""``tilewire experiment``."""

from __future__ import annotations

from cyclopts import App

from . import beliefs, duels, searches

__all__ = ["app"]

app = App(name="experiment", help="Find out who is better, and by how much.")

for _command in (
    duels.duel,
    duels.cs221,
    duels.richards_amir,
    searches.oracle,
    beliefs.calibration,
):
    app.command(_command)

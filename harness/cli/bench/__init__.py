"""``tilewire bench``."""

from __future__ import annotations

from cyclopts import App

from . import endgames, engine, serving

__all__ = ["app"]

app = App(name="bench", help="Measure what this machine does; nothing is asserted.")

for _command in (
    engine.selfplay,
    engine.generate,
    engine.sim,
    engine.infer,
    endgames.endgame,
    serving.deadlines,
    serving.faults,
    serving.server,
):
    app.command(_command)

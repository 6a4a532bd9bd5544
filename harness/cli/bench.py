"""``tilewire bench``."""

from __future__ import annotations

import asyncio
import dataclasses
import json
from typing import Annotated

from cyclopts import App, Parameter

from ..bench.faults import call_faults
from ..bench.load import measure_load
from ..figures import table
from .options import log_to_stderr

__all__ = ["app"]

app = App(name="bench", help="Measure what this machine does; nothing is asserted.")

_Json = Annotated[bool, Parameter(name="--json", negative="")]


@app.command
def faults(*, json_: _Json = False) -> None:
    """Misbehave on real sockets; print each outcome and how soon it came.

    Args:
        json_: Print one JSON object.
    """
    log_to_stderr(verbose=False)
    calls = asyncio.run(call_faults())
    if json_:
        print(json.dumps([dataclasses.asdict(call) for call in calls]))
        return
    rows = [
        (
            call.case,
            call.outcome + ("" if call.outcome == call.expected else f" (not {call.expected})"),
            "–" if call.late_ms is None else f"{call.late_ms} ms",
            call.what,
        )
        for call in calls
    ]
    print(table(("case", "outcome", "called after", "counted from"), rows))


@app.command
def server(
    *,
    connections: int = 200,
    rate: float = 1_000.0,
    seconds: float = 15.0,
    searching: int = 2,
    json_: _Json = False,
) -> None:
    """Load a server with small messages while seats search; print the round trips.

    Args:
        connections: How many at once.
        rate: Messages a second, all connections together.
        seconds: How long.
        searching: Seats that search meanwhile.
        json_: Print one JSON object.
    """
    log_to_stderr(verbose=False)
    load = asyncio.run(measure_load(connections, rate, seconds, searching))
    if json_:
        print(json.dumps(dataclasses.asdict(load)))
        return
    rows = [(name, str(value)) for name, value in dataclasses.asdict(load).items()]
    print(table(("figure", "value"), rows))

"""The process that analyses for a server's page: ``python -m harness.analysis.worker_main``.

``worker.py`` describes its messages; it is imported after the process has lowered its priority.
"""

from __future__ import annotations

import argparse
import contextlib
import os
from collections.abc import Sequence

from bot.seat.runtime import set_pipes_aside


def main(arguments: Sequence[str] | None = None) -> None:
    """Analyse for a server until it closes the pipe."""
    parser = argparse.ArgumentParser(prog="python -m harness.analysis.worker_main")
    parser.add_argument("--kinds", required=True, help="what is played at each table (JSON)")
    parser.add_argument("--idle", action="store_true", help="run only where a core is idle")
    options = parser.parse_args(arguments)
    reading, writing = set_pipes_aside()
    if options.idle:  # so that no game's clock waits for an analysis
        with contextlib.suppress(OSError, AttributeError):
            os.nice(19)
            os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    import msgspec

    from harness.game_kinds import GameKind

    from .worker import Analyst, serve

    analyst = Analyst(msgspec.json.decode(options.kinds, type=dict[str, GameKind]))
    with contextlib.suppress(BrokenPipeError):
        serve(analyst, os.fdopen(reading, "rb"), os.fdopen(writing, "wb"))
    os._exit(0)


if __name__ == "__main__":
    main()

"""Run something in a process of its own whose clocks go by the work that is done in it.

Whoever searches against the clock does as much as a machine can, and something else on the next.
Here time stands still but for rollouts, nodes and racks, each of which takes so many milliseconds,
so that all comes out the same everywhere, however often anybody looks at the clock. Clocks are
changed before anything of the product is imported, since some are taken as default arguments.

    python tests/corpus/by_work.py games
    python tests/corpus/by_work.py commands <commands.json
    python tests/corpus/by_work.py siu ARGUMENT…
"""

from __future__ import annotations

import asyncio  # noqa: F401  # those that wait by the clock have the true one
import concurrent.futures  # noqa: F401
import functools
import json
import multiprocessing.connection
import os
import pkgutil
import queue  # noqa: F401
import subprocess
import sys
import threading  # noqa: F401
import time
import types
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
LIMIT_S = 600


def command(*arguments: str) -> list[str]:
    """Give the command that runs this."""
    return [sys.executable, str(Path(__file__)), *arguments]


def environment() -> dict[str, str]:
    """Give what the process is to have around it."""
    path = os.pathsep.join((str(ROOT / "tests"), str(ROOT)))
    plain = {"PYTHONPATH": path, "COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"}
    return {**os.environ, **plain, "TILEWIRE_BOUNDSCHECK": "1"}


def run(*arguments: str, given: str = "") -> Any:
    """Run this with ``given`` on its input; give what it writes, which is JSON."""
    done = subprocess.run(
        command(*arguments),
        input=given,
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=environment(),
        timeout=LIMIT_S,
        check=False,
    )
    assert done.returncode == 0, f"{arguments}: {done.returncode}\n{done.stderr[-4000:]}"
    return json.loads(done.stdout)


# --- in the process -------------------------------------------------------------------------------


class WorkClock:
    """Goes on by work alone."""

    def __init__(self) -> None:
        self.ns = 10**12
        self._depth = 0

    def install(self) -> None:
        """Have it be the clock of everything that is imported from now on."""
        waiting: Any = multiprocessing.connection  # looks the clock up at each wait
        waiting.time = types.SimpleNamespace(**vars(time))
        changed: Any = time
        changed.perf_counter = changed.monotonic = lambda: self.ns / 1e9
        changed.perf_counter_ns = changed.monotonic_ns = lambda: self.ns

    def follow(self, owner: Any, ms: float) -> None:
        """Have each unit of ``owner.advance`` take so many milliseconds; none in another's."""
        plain = owner.advance

        @functools.wraps(plain)
        def advance(*arguments: Any, **named: Any) -> int:
            self._depth += 1
            try:
                done: int = plain(*arguments, **named)
            finally:
                self._depth -= 1
            if not self._depth:
                self.ns += round(max(done, 1) * ms * 1e6)
            return done

        owner.advance = advance


WORKED_BIT_BY_BIT = {
    "engine.simulation.simulation.Simulation": 0.2,
    "engine.endgame.solver.EndgameSolver": 0.01,
    "engine.preendgame.solver.PreEndgame": 0.0015,
    "engine.inference.inference.Inference": 0.04,
}
"""Whose ``advance`` does work, and milliseconds for each rollout, node or rack, as it counts."""


def _main(what: str, *arguments: str) -> None:
    clock = WorkClock()
    clock.install()
    for owner, ms in WORKED_BIT_BY_BIT.items():
        clock.follow(pkgutil.resolve_name(owner), ms)
    from corpus.champion_games import GAMES, game_text
    from corpus.command_runs import answer_to
    from word_maps import share_word_maps

    from harness.cli import main

    share_word_maps()
    if what == "games":
        print(json.dumps(list(map(game_text, range(GAMES)))))
    elif what == "commands":
        print(json.dumps(list(map(answer_to, json.load(sys.stdin)))))
    else:
        sys.argv = ["tilewire", what, *arguments]
        main()


if __name__ == "__main__":
    _main(*sys.argv[1:])

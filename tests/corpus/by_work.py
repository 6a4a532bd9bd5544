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
import importlib
import json
import multiprocessing.connection
import os
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


def _main(what: str, *arguments: str) -> None:
    clock = WorkClock()
    clock.install()
    product = importlib.import_module("corpus.product")
    importlib.import_module("word_maps").share_word_maps()
    for owner, ms in product.WORKED_BIT_BY_BIT:
        clock.follow(owner, ms)
    if what == "games":
        played = importlib.import_module("corpus.champion_games").played
        print(json.dumps(played()))
    elif what == "commands":
        answers = importlib.import_module("corpus.command_runs").answers
        print(json.dumps(answers(json.load(sys.stdin))))
    else:
        sys.argv = ["tilewire", what, *arguments]
        product.main()


if __name__ == "__main__":
    _main(*sys.argv[1:])

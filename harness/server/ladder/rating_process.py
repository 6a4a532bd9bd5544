"""Ratings computed in a process of their own, so that no clock of a game waits for them.

The process is started for one computation, has a low priority and one thread (two threads of linear
algebra wait for each other wherever the cores are busy), and ends with its parent: it reads what it
has to do up to the end of its input.
"""

from __future__ import annotations

import asyncio
import os
import pickle
import sys
from collections.abc import Sequence
from typing import NamedTuple

from harness.matches.rating_list import Meetings, RatingList, rate_list
from harness.matches.significance import Floats

_ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
_COMMAND = (sys.executable, "-c", f"from {__name__} import main; main()")


class RatingTask(NamedTuple):
    """A history to rate, as it was after some numbers of games."""

    games: Meetings
    held: Floats
    """Ratings of anchors, nan for all others."""
    start: Floats | None
    """As in ``rate_list``."""
    after: Sequence[int]
    """Numbers of games, of which each asks for a list."""


class RatingError(RuntimeError):
    """The process died; the message says how."""


async def rate(task: RatingTask) -> list[RatingList]:
    """Compute lists, one for each number of games.

    Raises:
        RatingError: the process died.
    """
    process = await asyncio.create_subprocess_exec(
        *_COMMAND,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, **_ONE_THREAD},
        start_new_session=True,  # Ctrl-C is the server's
    )
    try:
        answer, said = await process.communicate(pickle.dumps(task))
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode != 0:
        last = said.decode(errors="replace").strip().splitlines()[-1:]
        raise RatingError(f"exit status {process.returncode}: {''.join(last)}")
    return list(pickle.loads(answer))


def rated(task: RatingTask) -> list[RatingList]:
    """Compute lists here."""
    lists = []
    for games in task.after:
        first, second, points = task.games
        some = Meetings(first[:games], second[:games], points[:games])
        lists.append(rate_list(some, task.held, task.start))
    return lists


def main() -> None:
    """Read a task from standard input, write its lists to standard output."""
    os.nice(5)
    task = pickle.loads(sys.stdin.buffer.read())
    sys.stdout.buffer.write(pickle.dumps(rated(task)))

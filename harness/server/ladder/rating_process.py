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

from bot.seat.worker_handle import worker_command
from harness.matches.rating_list import Meetings, RatingList, rate_list
from lexicons.arrays import F64

from .history import DayEnd

_ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
_COMMAND = worker_command(module="harness.server.ladder.rating_process")


class RatingTask(NamedTuple):
    """Games to rate: as they are now, and as they were at the end of some days."""

    games: Meetings
    held: F64
    """Ratings of anchors, nan for all others."""
    start: F64 | None
    """As in ``rate_list``."""
    days: Sequence[DayEnd]


class RatingError(RuntimeError):
    """The process died; the message says how."""


async def rate(task: RatingTask) -> list[RatingList]:
    """Compute the list of now, and that at the end of each day.

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
        answer, stderr = await process.communicate(pickle.dumps(task))
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode != 0:
        last = stderr.decode(errors="replace").strip().splitlines()[-1:]
        raise RatingError(f"exit status {process.returncode}: {''.join(last)}")
    return list(pickle.loads(answer))


def rated(task: RatingTask) -> list[RatingList]:
    """Compute the lists of a task in this process."""
    ends = (task.games.first.size, *(end.games for end in task.days))
    return [rate_list(task.games.up_to(end), task.held, task.start) for end in ends]


def main() -> None:
    """Read a task from standard input, write its lists to standard output."""
    os.nice(5)
    task = pickle.loads(sys.stdin.buffer.read())
    sys.stdout.buffer.write(pickle.dumps(rated(task)))


if __name__ == "__main__":
    main()

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
from datetime import date
from typing import NamedTuple

from bot.seat.worker_handle import worker_command
from harness.matches.rating_list import RatingList, rate_list
from lexicons.arrays import F64

from .tally import Sums, meetings_of

_ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
_COMMAND = worker_command(module="harness.server.ladder.rating_process")


class DayEnd(NamedTuple):
    """The end of a day (UTC) with games."""

    day: date
    games: int
    """Games of the table by then."""


class RatingTask(NamedTuple):
    """A history to rate: as it is now, and as it was at the end of some days."""

    sums: Sums
    held: F64
    """Ratings of anchors, nan for all others."""
    start: F64 | None
    """As in ``rate_list``."""
    after: Sequence[int]
    """For each list the number of rows it counts: all, then those by the end of each day."""
    games: int
    """Games of the table now."""
    days: Sequence[DayEnd]


class RatingError(RuntimeError):
    """The process died; the message says how."""


async def rate(task: RatingTask) -> list[RatingList]:
    """Compute lists, one for each number of rows.

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
    """Compute the lists of a task in this process."""
    return [
        rate_list(meetings_of(task.sums.up_to(number)), task.held, task.start)
        for number in task.after
    ]


def main() -> None:
    """Read a task from standard input, write its lists to standard output."""
    os.nice(5)
    task = pickle.loads(sys.stdin.buffer.read())
    sys.stdout.buffer.write(pickle.dumps(rated(task)))


if __name__ == "__main__":
    main()

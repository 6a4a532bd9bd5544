"""Work for workers in tests. Worker processes import it, so it imports little and lies up here."""

from __future__ import annotations

import os
import secrets
import signal
import time
from pathlib import Path
from typing import NamedTuple

from engine.rules.rules import IllegalMove
from harness.workers import open_workers

FATAL = 3
"""The share that workers die of."""


class Task(NamedTuple):
    """A share like those of trainings."""

    number: int
    seed: tuple[int, ...]


class Luggage:
    """What shares have in common; it leaves a file in a folder whenever it is unpacked."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __setstate__(self, state: dict[str, Path]) -> None:
        self.__dict__.update(state)
        (self.folder / f"unpacked-{secrets.token_hex(8)}").touch()


def square(common: object, share: int) -> int:
    return share**2


def refuse(common: str, share: int) -> int:
    raise LookupError(f"{common} {share}")


def play_illegally(_common: None, _share: int) -> int:
    raise IllegalMove("not_a_word", "QZX is no word")


def work_with_luggage(common: Luggage, share: Task) -> tuple[int, int]:
    return share.number + share.seed[-1], os.getpid()


def die_once(folder: Path, share: int) -> int:
    """Be killed in the middle of a share, but not again when it is done again."""
    mark = folder / "died"
    if share == FATAL and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return share


def die_over_the_result_once(folder: Path, share: int) -> object:
    """Be killed when some of a large result is handed over, but not again."""
    if share == FATAL and not (folder / "died").exists():
        return [bytes(1 << 24), _Deadly(folder)]
    return share


class _Deadly:
    """Kills the process that pickles it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __reduce__(self) -> tuple[type, tuple[int]]:
        return int, (die_once(self._folder, FATAL),)


def die_always(common: object, share: int) -> int:
    if share == FATAL:
        os.kill(os.getpid(), signal.SIGKILL)
    return share


def attend(roll: Path, share: int) -> int:
    """Do share 0; with any other, enter one's process in the roll (a FIFO) and stay forever."""
    if share:
        os.write(os.open(roll, os.O_WRONLY), f"{os.getpid()}\n".encode())
        while True:
            time.sleep(3600)
    return share


def employ(roll: str) -> None:
    """Have two workers that never finish."""
    # A shell has what it puts into the background ignore interrupts.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with open_workers(2) as workers:
        for _ in workers.work_through(attend, Path(roll), range(1, 100)):
            pass

"""Stop a program and all that it has started, again and again, as if the machine stood still."""

from __future__ import annotations

import argparse
import os
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path


def family(pid: int) -> Iterator[int]:
    """Yield a process and its descendants, those left out that are stopped or have ended."""
    with suppress(OSError):
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
        if state not in "TZ":
            yield pid
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text(encoding="ascii").split():
                yield from family(int(child))


def main() -> None:
    """Stop it, and have it go on."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pid", type=int)
    parser.add_argument("--times", type=int, default=6)
    parser.add_argument("--seconds", type=float, default=30.0, help="for which it is stopped")
    parser.add_argument("--between", type=float, default=13.0, help="seconds before each time")
    given = parser.parse_args()
    for _ in range(given.times):
        time.sleep(given.between)
        stopped = [*family(given.pid)]
        for number, pause_s in ((signal.SIGSTOP, given.seconds), (signal.SIGCONT, 0.0)):
            for pid in stopped:
                with suppress(ProcessLookupError):
                    os.kill(pid, number)
            time.sleep(pause_s)


if __name__ == "__main__":
    main()

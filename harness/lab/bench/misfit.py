"""An SIU engine that misbehaves, and records the time: for ``bench faults``.

    python -I -S misfit.py CASE STAMP

CASE is a name of ``CASES``; STAMP is the file that gets the time of the latest deed, in nanoseconds
of the machine's monotonic clock. It imports nothing of ours, like a foreign engine.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

FOREVER_S = 60


def main(case: str, stamp: Path) -> None:
    """Speak SIU until the moment to misbehave."""

    def deed() -> None:
        stamp.write_text(str(time.monotonic_ns()), encoding="ascii")

    if case == "stays":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    for line in sys.stdin:
        match line.split()[:1]:
            case ["siu"] if case == "crash at start":
                deed()
                os._exit(3)
            case ["siu"] if case != "never ready":
                print("capability auto stop\nsiuok", flush=True)
            case ["isready"]:
                print("readyok", flush=True)
            case ["go"]:
                deed()
                _search(case)
            case ["stop"] if case == "hang":
                deed()
            case ["quit"]:
                time.sleep(FOREVER_S if case == "stays" else 0)
                return


def _search(case: str) -> None:
    match case:
        case "crash":
            os._exit(3)
        case "closed output":
            os.close(1)
            time.sleep(FOREVER_S)
        case "flood":
            until = time.monotonic() + FOREVER_S
            while time.monotonic() < until:
                os.write(1, b"info string there is no end of it\n" * 64)
        case "half a line":
            os.write(1, b"bestm")
        case "late":
            time.sleep(1.001)
            print("bestmove pass", flush=True)
        case "illegal":
            print("bestmove 8D.QQQQQ", flush=True)
        case "stays":
            print("bestmove pass", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))

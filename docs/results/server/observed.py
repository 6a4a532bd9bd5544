"""``tilewire``, with a thread that notes every second what its memory is made of, into a file.

The file comes before the arguments: ``python observed.py FILE serve --ladder``. It imports little,
so that the memory is the server's.
"""

from __future__ import annotations

import ctypes
import json
import os
import re
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import NamedTuple

from harness.cli import main as tilewire

NOTE_S = 1.0
_MB = 1 << 20
_HELD = r"arenas allocated current\s+=\s+([\d,]+)"
_USED = r"bytes in allocated blocks\s+=\s+([\d,]+)"


class Memory(NamedTuple):
    """Bytes of a process."""

    resident: int
    """What it shares with no file."""
    in_use: int
    """Of the C library."""
    free: int
    """That the C library keeps, resident or given back."""
    objects: int
    """Small objects of Python."""
    arenas: int
    """That Python has for them."""


class _Told(ctypes.Structure):
    """What glibc's ``mallinfo2`` returns."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in (
            *("arena", "ordblks", "smblks", "hblks", "hblkhd"),
            *("usmblks", "fsmblks", "uordblks", "fordblks", "keepcost"),
        )
    ]


def observe(report: Path) -> None:
    """Note this process's memory every second, in place of what was noted before."""
    allocator = ctypes.CDLL(None)
    allocator.mallinfo2.restype = _Told
    new = report.with_suffix(".new")
    while True:
        time.sleep(NOTE_S)
        told = allocator.mallinfo2()
        new.write_text(json.dumps(Memory(_resident(), told.uordblks, told.fordblks, *_of_python())))
        new.replace(report)


def _resident() -> int:
    resident, shared = Path("/proc/self/statm").read_text().split()[1:3]
    return (int(resident) - int(shared)) * os.sysconf("SC_PAGE_SIZE")


def _of_python() -> tuple[int, int]:
    """Return the bytes of small objects, and of the arenas that they lie in."""
    with tempfile.TemporaryFile() as file:
        kept = os.dup(2)
        os.dup2(file.fileno(), 2)  # the figures go to standard error, and nowhere else
        sys._debugmallocstats()
        os.dup2(kept, 2)
        os.close(kept)
        file.seek(0)
        text = file.read().decode()
    used, held = (_figure(pattern, text) for pattern in (_USED, _HELD))
    return used, held * _MB


def _figure(pattern: str, text: str) -> int:
    found = re.search(pattern, text)
    assert found is not None, pattern
    return int(found[1].replace(",", ""))


def main() -> None:
    """Be ``tilewire``, observed."""
    report = Path(sys.argv.pop(1))
    threading.Thread(target=observe, args=(report,), daemon=True).start()
    tilewire()


if __name__ == "__main__":
    main()

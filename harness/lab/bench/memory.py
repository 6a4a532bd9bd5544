"""What a process has in memory."""

from __future__ import annotations

import os
import resource
import sys
from pathlib import Path

MB = 1 << 20
_PAGE = os.sysconf("SC_PAGE_SIZE")


def own_memory(pid: int) -> int:
    """Return the bytes that a process has in memory and shares with no file.

    Raises:
        OSError: there is no such process, or this system does not tell.
    """
    resident, shared = Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1:3]
    return (int(resident) - int(shared)) * _PAGE


def peak_memory() -> int:
    """Return the most bytes that this process has had in memory."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak << 10  # elsewhere in KiB

"""The number of processors to work on."""

from __future__ import annotations

import os


def usable_cores() -> int:
    """Count the processors that this process may run on; affinity may allow fewer than exist."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1

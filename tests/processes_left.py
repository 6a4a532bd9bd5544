"""Whether processes are gone."""

from __future__ import annotations

import os
import select
from pathlib import Path

from bot.seat import guard


def wait_for_end(pid: int) -> None:
    """Wait until a process that is not ours to wait for is gone."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        assert select.select([handle], [], [], 30)[0], f"process {pid} is still there"
    finally:
        os.close(handle)


def pid_here(inner: int, guarded_by: int) -> int:
    """Return the number that we know a process by, which it may know by another one itself."""
    for pid in guard.descendants(guarded_by):
        status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
        if f"\t{inner}\n" in status.partition("NSpid:")[2].partition("\n")[0] + "\n":
            return pid
    raise AssertionError(f"{guarded_by} guards no process that calls itself {inner}")

"""Whether processes are gone."""

from __future__ import annotations

import os
import select


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

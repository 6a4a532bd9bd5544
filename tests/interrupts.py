"""Long commands in a process of their own, which are watched by their files and interrupted."""

from __future__ import annotations

import signal
import subprocess
import time
from pathlib import Path
from typing import Any

from e2e.processes import COMMAND, PATIENCE_S


def interrupted(out: Path, lines: int, *arguments: str) -> tuple[int, str, str]:
    """Run a command until the file of its ``--out`` has so many lines, and interrupt it.

    Returns:
        Its exit status, what it printed, and what it told on stderr.
    """
    with subprocess.Popen(
        (*COMMAND, *arguments, "--out", str(out)),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            wait_for_lines(out, lines, process)
            process.send_signal(signal.SIGINT)
            printed, told = process.communicate(timeout=60)
        finally:
            process.kill()
    return process.returncode, printed, told


def wait_for_lines(file: Path, count: int, process: subprocess.Popen[Any]) -> int:
    """Wait until a process has written so many lines; return how many there are."""
    until = time.monotonic() + PATIENCE_S
    while (lines := file.read_bytes().count(b"\n") if file.exists() else 0) < count:
        assert process.poll() is None, process.stderr and process.stderr.read()
        assert time.monotonic() < until
        time.sleep(0.01)
    return lines

"""Long commands in a process of their own that are interrupted, as by Ctrl-C."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path


def interrupted(out: Path, lines: int, *arguments: str) -> tuple[int, str, str]:
    """Run a command until the file of its ``--out`` has so many lines, and interrupt it.

    Returns:
        Its exit status, what it printed, and what it told on stderr.
    """
    command = (sys.executable, "-c", "from harness.cli import main; main()", *arguments)
    with subprocess.Popen(
        (*command, "--out", str(out)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            while process.poll() is None and not _has(out, lines):
                time.sleep(0.05)
            process.send_signal(signal.SIGINT)
            printed, told = process.communicate(timeout=60)
        finally:
            process.kill()
    return process.returncode, printed, told


def _has(out: Path, lines: int) -> bool:
    return out.exists() and out.read_bytes().count(b"\n") >= lines

"""How many new strings it takes until the interpreter's table of interned ones is rebuilt.

None of them lives on. Prints the number, and by how much that makes a server's process larger.
"""

from __future__ import annotations

import os
import sys
from itertools import count
from pathlib import Path

import harness.cli.serve
import harness.server.ladder.ladder  # noqa: F401 - what a server has loaded

PAGE = os.sysconf("SC_PAGE_SIZE")


def memory() -> int:
    """Return the bytes that this process has in memory and shares with no file."""
    resident, shared = Path("/proc/self/statm").read_text(encoding="ascii").split()[1:3]
    return (int(resident) - int(shared)) * PAGE


before = memory()
for number in count(1):
    sys.intern(f"string {number}")
    if number % 200 == 0 and (grown := memory() - before) > 500_000:
        print(f"{number:,} strings: {grown / 2**20:.2f} MB more")
        break

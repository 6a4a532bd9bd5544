"""Commands run in this process: what they print, and how they end."""

from __future__ import annotations

import io
import os
import re
import time
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from unittest.mock import patch

import structlog

from harness.cli import run_command

PLAIN = {"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb", "TZ": "UTC"}
Answer = tuple[int, str, str]
"""An exit status, and what came on standard output and on standard error."""

_VOLATILE = (
    (re.compile(r'("(?:seconds|took|nodes_a_second)": )[0-9.e+-]+'), r"\1…"),
    (re.compile(re.escape(str(Path(__file__).parents[2]))), "CHECKOUT"),
    (re.compile(r"tilewire: (compiling|all \d+ kernels|building the word graph).*\n"), ""),
)

_LONG = re.compile(r"\d+\.\d{10,}(?:e-?\d+)?")


def answer_to(arguments: Sequence[str]) -> Answer:
    """Run ``tilewire`` with arguments."""
    out, err, status = io.StringIO(), io.StringIO(), 0
    with patch.dict(os.environ, PLAIN), redirect_stdout(out), redirect_stderr(err):
        time.tzset()  # local time is that of TZ
        try:
            status = run_command(arguments)
        except SystemExit as stop:
            status = int(stop.code or 0)
        finally:
            structlog.reset_defaults()
    return status, masked(out.getvalue()), masked(err.getvalue())


def masked(text: str) -> str:
    """Leave out what is another each time, digits that tell nothing, and blanks at line ends."""
    text = _LONG.sub(lambda found: f"{float(found[0]):.9g}", text)
    for volatile, mask in _VOLATILE:
        text = volatile.sub(mask, text)
    return "\n".join(line.rstrip() for line in text.split("\n"))

"""The log: what strangers choose is in it, and a terminal obeys none of it."""

from __future__ import annotations

import logging
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog

from bot.seat.runtime import log_to_stderr

HOSTILE = "\x1b]0;owned\x07 \x9b31m \x00 \u202e name\r"


@pytest.fixture(autouse=True)
def _own_log() -> Iterator[None]:
    library = logging.getLogger("websockets")
    before = library.handlers, library.propagate, library.level
    yield
    structlog.reset_defaults()
    library.handlers, library.propagate, library.level = before


@pytest.mark.parametrize("on_a_terminal", [True, False])
def test_what_a_terminal_would_obey_is_escaped(
    on_a_terminal: bool, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: on_a_terminal)
    monkeypatch.setenv("NO_COLOR", "1")
    log_to_stderr("info")
    structlog.get_logger().info("hello", name=HOSTILE, others=(HOSTILE, 7))
    try:
        raise ValueError(HOSTILE)
    except ValueError:
        structlog.get_logger().exception("failed")
    logging.getLogger("websockets.server").error("refused %s", HOSTILE)
    lines = capsys.readouterr().err
    assert r"\x1b]0;owned\x07" in lines
    assert "7" in lines
    assert lines.count("owned") == 4
    lines = re.sub(r"\x1b\[\d+m", "", lines)  # our own colours
    assert all(it.isprintable() or it == "\n" for it in lines), repr(lines)


def test_a_log_that_can_not_be_written_stops_nothing() -> None:
    code = (
        "import structlog\nfrom bot.seat.runtime import log_to_stderr\n"
        "log_to_stderr('info')\nstructlog.get_logger().info('said')\nprint('on')"
    )
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        command = [sys.executable, "-c", code]
        said = subprocess.run(command, stdout=subprocess.PIPE, stderr=full, check=True).stdout
    assert said == b"on\n"

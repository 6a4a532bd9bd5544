"""The log: what strangers choose is in it, and a terminal obeys none of it."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator

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

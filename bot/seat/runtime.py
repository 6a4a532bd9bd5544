"""Basics that each process imports first: software name, event loop, log, pipes."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from collections.abc import Callable, Mapping, MutableMapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, TextIO, cast

ROOT = Path(__file__).resolve().parents[2]
"""The folder of our packages."""

PACKAGES = ("bot", "engine", "harness", "lexicons", "protocol")

NOTICE = "tilewire: "
"""Prefix of lines on standard error that the host may show to its user."""


@cache
def software() -> str:
    """Return the program's name and version, for messages."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return f"tilewire {version('tilewire')}"
    except PackageNotFoundError:  # a checkout, not installed
        return "tilewire"


def loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """Return uvloop's loop factory; None if uvloop is not installed."""
    try:
        from uvloop import new_event_loop
    except ImportError:
        return None
    return new_event_loop


def log_to_stderr(level: str) -> None:
    """Log to standard error from a level up: on a terminal for people to read, else as logfmt."""
    import structlog

    drawn = sys.stderr.isatty()
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            _escape_event,
            structlog.dev.ConsoleRenderer()
            if drawn
            else structlog.processors.LogfmtRenderer(key_order=["timestamp", "level", "event"]),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.PrintLoggerFactory(cast("TextIO", _Unfailing())),
        cache_logger_on_first_use=False,
    )
    errors = logging.StreamHandler()
    errors.setFormatter(_Escaped())
    library = logging.getLogger("websockets")
    library.setLevel(logging.ERROR)
    library.handlers, library.propagate = [errors], False


class _Unfailing:
    """Standard error, ignoring errors such as a full disk or a reader that is gone."""

    def write(self, text: str) -> None:
        """Write if that is possible."""
        with suppress(OSError):
            sys.stderr.write(text)

    def flush(self) -> None:
        """Flush if that is possible."""
        with suppress(OSError):
            sys.stderr.flush()


def escaped(text: str) -> str:
    """Escape characters that are not printable, since strangers choose some of what is logged."""
    return "".join(
        character if character.isprintable() else repr(character)[1:-1] for character in text
    )


def _escaped_lines(text: str) -> str:
    return "\n".join(map(escaped, text.split("\n")))


def _escape_event(_logger: Any, _name: str, event: MutableMapping[str, Any]) -> Mapping[str, Any]:
    """Escape the text values of a log event; others are shown by ``repr``, which escapes."""
    return {
        key: (_escaped_lines if key == "exception" else escaped)(value)
        if isinstance(value, str)
        else value
        for key, value in event.items()
    }


class _Escaped(logging.Formatter):
    """Formats the log of the WebSocket library, with tracebacks escaped too."""

    def format(self, record: logging.LogRecord) -> str:
        return _escaped_lines(super().format(record))


def set_pipes_aside() -> tuple[int, int]:
    """Move the pipes to the host aside; return their descriptors, to read and to write.

    Afterwards standard input is empty, and prints go to standard error.
    """
    reading, writing = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return reading, writing


async def read_pipe(descriptor: int) -> tuple[asyncio.StreamReader, asyncio.ReadTransport]:
    """Take over a pipe to read from; its transport closes it."""
    reader = asyncio.StreamReader()
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(descriptor, "rb", 0)
    )
    return reader, transport


async def write_pipe(descriptor: int) -> asyncio.StreamWriter:
    """Take over a pipe to write to."""
    loop = asyncio.get_running_loop()
    transport, protocol = await loop.connect_write_pipe(
        lambda: asyncio.StreamReaderProtocol(asyncio.StreamReader()),
        os.fdopen(descriptor, "wb", 0),
    )
    return asyncio.StreamWriter(transport, protocol, None, loop)

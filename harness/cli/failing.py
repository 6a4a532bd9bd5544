"""How a command ends other than by success: sentences and exit statuses.

Exit statuses are the same in all commands: 0 when it is done, 1 when it failed while running, 2 for
wrong input, 130 after Ctrl-C (SIGINT), 143 after SIGTERM, and 141 when the reader of its output has
gone, as other Unix tools have it.
"""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from errno import EDQUOT, EFBIG, ENOSPC

import msgspec

UNREADABLE = (ValueError, OSError)
"""What is raised for a file that is missing, or whose content is wrong."""

OUTPUT_GONE = 141
"""The status when a pipe's reader has gone: 128 and the number of SIGPIPE."""

_SHOWN = 240
"""The most characters of a file's path that an error shows: its end, which has the name."""


class CommandFailed(Exception):
    """A sentence for the user, and the exit status: 2 for bad input, 1 for what went wrong.

    The sentence is empty if what the command printed says it.
    """

    def __init__(self, message: str, status: int = 2) -> None:
        super().__init__(message)
        self.status = status


class Terminated(KeyboardInterrupt):
    """SIGTERM came; whoever handles Ctrl-C handles it the same way."""


@contextmanager
def sentences(
    where: str = "", kinds: tuple[type[Exception], ...] = (ValueError,), status: int = 2
) -> Iterator[None]:
    """Turn errors of these kinds into CommandFailed; ``where`` begins its sentence."""
    try:
        yield
    except BrokenPipeError:  # of standard output: no fault of a file or a connection
        raise
    except kinds as error:
        if isinstance(error, OSError) and error.errno in (ENOSPC, EDQUOT, EFBIG):
            status = 1  # a full disk is no wrong input
        raise CommandFailed(f"{where}{reason(error, where)}", status) from None


def reason(error: Exception, where: str = "") -> str:
    """Return what an error says, without errno, and without its file if ``where`` isn't empty."""
    if isinstance(error, MemoryError):
        return "there is not enough memory for that; ask for less"
    if not isinstance(error, OSError) or not error.strerror:
        return str(error)
    file = str(error.filename or "")
    shown = file if len(file) <= _SHOWN else f"…{file[-_SHOWN:]}"
    return f"{shown}: {error.strerror}" if shown and not where else error.strerror


def stop_status(stop: KeyboardInterrupt) -> int:
    """Return the exit status of a command that a signal stopped."""
    return 128 + (signal.SIGTERM if isinstance(stop, Terminated) else signal.SIGINT)


def print_json(value: object, *, flush: bool = False) -> None:
    """Print a value as JSON, in ASCII where standard output isn't UTF-8."""
    is_ascii = not (sys.stdout.encoding or "utf-8").lower().startswith("utf")
    text = json.dumps(value, ensure_ascii=is_ascii, default=msgspec.to_builtins)
    print(text, flush=flush)

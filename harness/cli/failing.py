"""The failure of a command, for the user to read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

UNREADABLE = (ValueError, OSError)
"""What is raised for a file that is missing, or whose content is wrong."""


class CommandFailed(Exception):
    """A sentence for the user, and the exit status: 2 for bad input, 1 for what went wrong."""

    def __init__(self, message: str, status: int = 2) -> None:
        super().__init__(message)
        self.status = status


@contextmanager
def sentences(
    where: str = "", kinds: tuple[type[Exception], ...] = (ValueError,), status: int = 2
) -> Iterator[None]:
    """Turn errors of these kinds into a failure of the command, whose sentence ``where`` begins."""
    try:
        yield
    except kinds as error:
        raise CommandFailed(f"{where}{error}", status) from None

"""The failure of a command, for the user to read."""

from __future__ import annotations

__all__ = ["CommandFailed"]


class CommandFailed(Exception):
    """A sentence for the user, and the exit status: 2 for bad input, 1 for what went wrong."""

    def __init__(self, message: str, status: int = 2) -> None:
        super().__init__(message)
        self.status = status

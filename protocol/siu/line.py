"""The bases of commands and answers: values that can be written as lines."""

from __future__ import annotations

from enum import Enum
from typing import ClassVar

__all__ = ["Line", "OneWord"]


class Line:
    """A line of SIU, as a value."""

    __slots__ = ()

    TEMPLATE: ClassVar[str] = ""
    """The line, with ``{0.name}`` for a field."""

    def line(self) -> str:
        """Return the line."""
        return self.TEMPLATE.format(self).rstrip()


class OneWord(Enum):
    """A line of a single word, its value."""

    def line(self) -> str:
        """Return the line."""
        return str(self.value)

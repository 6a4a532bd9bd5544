"""The base of commands and answers: values that can be written as lines."""

from __future__ import annotations

from typing import ClassVar

__all__ = ["Line"]


class Line:
    """A line of SIU, as a value."""

    __slots__ = ()

    TEMPLATE: ClassVar[str] = ""
    """The line, with ``{0.name}`` for a field."""

    def line(self) -> str:
        """Return the line."""
        return self.TEMPLATE.format(self).rstrip()

"""What commands and answers have in common: each is a value that can be written as a line."""

from __future__ import annotations

from typing import ClassVar

__all__ = ["Line"]


class Line:
    """A line of SIU, as a value."""

    __slots__ = ()

    TEMPLATE: ClassVar[str] = ""
    """The line, with ``{0.name}`` where a field goes."""

    def line(self) -> str:
        """Write it."""
        return self.TEMPLATE.format(self)

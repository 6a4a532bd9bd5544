"""What a seat is to the arbiter: whatever answers for one side of a table.

A seat is given a function with ``start``, and from then on reports there what happens: it came, it
said something, it is gone. Messages to it are queued, so a peer that does not read delays nobody.
The kinds of seats are in ``harness.seats``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from protocol.errors import PeerError
from protocol.messages import Message
from protocol.parts import Outcome

__all__ = ["Came", "Gone", "Happening", "Noted", "Report", "Said", "Seat"]


@dataclass(frozen=True, slots=True)
class Came:
    """The seat is connected, and knows the game up to event ``seen``."""

    seen: int = -1


@dataclass(frozen=True, slots=True)
class Said:
    """The seat sent a message, whose last byte came in at ``at_ms``."""

    message: Message
    at_ms: int
    lag_ms: int


@dataclass(frozen=True, slots=True)
class Gone:
    """The seat's connection ended; with a ``failure``, its process died or hangs."""

    why: str
    failure: Outcome | None = None
    evidence: str = ""
    """Of a failed process: its exit status, the end of its stderr, its last messages."""


@dataclass(frozen=True, slots=True)
class Noted:
    """Something was wrong with what the seat said; it goes into the record, the game goes on."""

    code: str
    """``wrong_score``, or why a move was refused."""
    message: str
    evidence: str = ""


Happening: TypeAlias = Came | Said | Noted | Gone
Report: TypeAlias = Callable[[Happening], None]


class Seat(Protocol):
    """One side of a table."""

    name: str
    is_ours: bool
    """Whether its player runs in a process of this host: then it is told what earlier games told
    of its opponent, and what it learns is kept."""

    def start(self, report: Report) -> None:
        """Begin; what happens to the seat is reported from now on."""
        ...

    def restart(self) -> None:
        """Begin again after a failure."""
        ...

    def send(self, message: Message) -> None:
        """Send a message, if the seat is there; it is not waited for."""
        ...

    def refuse(self, error: PeerError) -> None:
        """Answer a message that could not be taken; too many end the connection."""
        ...

    async def stop(self) -> None:
        """Release everything the seat holds; its processes are gone when this returns."""
        ...

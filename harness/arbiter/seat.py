"""The arbiter's interface to a seat: whatever plays one side of a table.

A seat reports its events to a callback: it came, said something, is gone. Messages to it are
queued, so a peer that does not read delays nobody.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from protocol.errors import PeerError
from protocol.messages import Message
from protocol.parts import Outcome


@dataclass(frozen=True, slots=True)
class Came:
    """The seat is connected and knows the game up to event ``seen``."""

    seen: int = -1
    last_lines: Callable[[], str] = str
    """Returns the last lines to and from an engine, for when its time is up."""


@dataclass(frozen=True, slots=True)
class Said:
    """The seat sent a message, whose last byte arrived at ``at_ms``."""

    message: Message
    at_ms: int
    round_trip_ms: int


@dataclass(frozen=True, slots=True)
class Gone:
    """The seat's connection ended; with a ``failure``, its process died or hangs."""

    why: str
    failure: Outcome | None = None
    evidence: str = ""
    """A failed process's exit status, end of stderr and last messages."""


@dataclass(frozen=True, slots=True)
class Noted:
    """A fault in the seat's messages; recorded, and the game goes on."""

    code: str
    """``wrong_score``, or the reason of a refused move."""
    message: str
    evidence: str = ""


@dataclass(frozen=True, slots=True)
class TimeGift:
    """Whoever runs the server gives the seat time."""

    ms: int
    why: str


@dataclass(frozen=True, slots=True)
class Ruled:
    """Whoever runs the server ends the game."""

    outcome: Outcome
    why: str
    winner: int | None = None


SeatEvent: TypeAlias = Came | Said | Noted | Gone | TimeGift | Ruled
Report: TypeAlias = Callable[[SeatEvent], None]


class Seat(Protocol):
    """One side of a table."""

    name: str
    is_ours: bool
    """Whether its player runs here: the host chooses its nonce, and it receives, and updates, the
    stored style of its opponent."""

    def start(self, report: Report) -> None:
        """Begin; report the seat's events from now on."""
        ...

    def restart(self) -> None:
        """Begin again after a failure."""
        ...

    def send(self, message: Message) -> None:
        """Queue a message, if the seat is connected."""
        ...

    def refuse(self, error: PeerError) -> None:
        """Answer an invalid message; too many end the connection."""
        ...

    async def stop(self) -> None:
        """Release all resources; the seat's processes are gone when this returns."""
        ...

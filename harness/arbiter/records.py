"""What the journal keeps of a game: everything, the hidden things too.

Records are appended in the order in which things happened; replaying them gives the game again.
They never leave the host as they are: ``harness.arbiter.views`` makes of them what a player or a
spectator is told.
"""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct

from protocol.parts import Accusation, Belief, Candidate, Outcome, RulesInPlay, TimeControl

__all__ = [
    "Began",
    "ClockNote",
    "Ended",
    "Failed",
    "Opened",
    "Record",
    "RefusedMove",
    "Thought",
    "Turn",
]


class _Record(Struct, frozen=True, kw_only=True, tag_field="record"):
    """One thing that happened in a game."""


class Opened(_Record, frozen=True, tag="opened"):
    """A game was set up."""

    game: str
    players: tuple[str, str]
    lexicon: str
    lexicon_checksum: str
    rules: RulesInPlay
    time: TimeControl
    secret: str
    """Hex; the order of the bag comes from it."""
    committed: bool
    """Whether the players' nonces take part and the secret is opened at the end."""
    mirrored: bool


class Began(_Record, frozen=True, tag="began"):
    """Both seats were ready; this is event 0."""

    nonces: tuple[str, str]


class Turn(_Record, frozen=True, tag="turn"):
    """A turn was taken."""

    seq: int
    seat: int
    move: str
    score: int
    scores: tuple[int, int]
    rack: str
    """The player's rack before the move."""
    rack_after: str
    """The player's rack after drawing."""
    bag: int
    clocks: tuple[int, int]
    """Milliseconds left to both after the turn."""
    words: tuple[str, ...] = ()
    think_ms: int = 0
    lag_ms: int = 0
    """Time on the way that the turn was not charged for."""
    host_lag_ms: int = 0
    """By how much the host itself was late during the turn, as it measured."""


class RefusedMove(_Record, frozen=True, tag="refused"):
    """A move was against the rules."""

    seq: int
    seat: int
    attempt: int
    move: str
    code: str
    message: str


class Thought(_Record, frozen=True, tag="thought"):
    """A seat said what it thinks (an ``info`` message)."""

    seq: int
    seat: int
    text: str | None = None
    candidates: tuple[Candidate, ...] = ()
    belief: Belief | None = None


class Failed(_Record, frozen=True, tag="failed"):
    """Something went wrong with a seat: its connection, its process, its messages."""

    seat: int
    code: str
    message: str
    evidence: str = ""
    """What a failed process left: exit status, the end of its stderr, its last messages."""


class Ended(_Record, frozen=True, tag="ended"):
    """The game is over."""

    seq: int
    outcome: Outcome
    winner: int | None
    scores: tuple[int, int]
    message: str
    racks: tuple[str, str]
    rack_adjustments: tuple[int, int]
    time_penalties: tuple[int, int]
    clocks: tuple[int, int]
    faults: tuple[Accusation, ...] = ()


Record: TypeAlias = Opened | Began | Turn | RefusedMove | Thought | Failed | Ended
"""Any record."""


class ClockNote(Struct, frozen=True, kw_only=True):
    """The clocks of a game now; each note replaces the last."""

    game: str
    clocks: tuple[int, int]
    """Milliseconds left to both, the running turn charged."""
    seq: int
    """The number of the event that the seat to move is choosing."""

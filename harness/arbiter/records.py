"""What the journal keeps of a game: everything, hidden information too.

Records are appended in order; replaying them restores the game. They never leave the host
unchanged: ``harness.arbiter.views`` turns them into messages to players and spectators.
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
    """An event of a game."""


class Opened(_Record, frozen=True, tag="opened"):
    """A game was set up."""

    game: str
    players: tuple[str, str]
    lexicon: str
    lexicon_checksum: str
    rules: RulesInPlay
    time: TimeControl
    secret: str
    """Hex; determines the order of the bag."""
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
    rack_after: str
    """After drawing; ``rack`` is before the move."""
    bag: int
    clocks: tuple[int, int]
    """Milliseconds left to both after the turn."""
    words: tuple[str, ...] = ()
    think_ms: int = 0
    lag_ms: int = 0
    """Network delay that the turn was not charged for."""
    host_lag_ms: int = 0
    """Measured delay of the host itself during the turn."""


class RefusedMove(_Record, frozen=True, tag="refused"):
    """A move was against the rules."""

    seq: int
    seat: int
    attempt: int
    move: str
    code: str
    message: str


class Thought(_Record, frozen=True, tag="thought"):
    """A seat sent its thoughts (an ``info`` message)."""

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
    """Exit status, end of stderr and last messages of a failed process."""


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


class ClockNote(Struct, frozen=True, kw_only=True):
    """The running clocks of a game; each note replaces the last."""

    game: str
    clocks: tuple[int, int]
    """Milliseconds left to both, the running turn charged."""
    seq: int
    """The number of the event that the seat to move is choosing."""

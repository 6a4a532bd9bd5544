"""What the journal keeps of a game: everything, hidden information too.

Replaying the records restores the game. ``harness.arbiter.views`` makes messages of them, without
what their recipient may not see.
"""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

from msgspec import UNSET, Meta, Struct, UnsetType

from protocol.messages import GameOver
from protocol.parts import (
    UPHELD,
    WITHDRAWN,
    Accusation,
    Outcome,
    RulesInPlay,
    Thoughts,
    TimeControl,
    is_void,
)

if TYPE_CHECKING:
    from lexicons.store import Lexicon

SeatNumber: TypeAlias = Annotated[int, Meta(ge=0, le=1)]


def charged_seat(seat: int, move: str) -> int:
    """Return the seat whose clock ran in an event of ``seat``: for a challenge, the challenger."""
    return 1 - seat if move in (WITHDRAWN, UPHELD) else seat


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
    opening: str | None = None
    """The starting position (CGP), seat 0 first, with its racks; None: an empty board."""


class Commitments(_Record, frozen=True, tag="commitments"):
    """Nonces were fixed: those of the host's own seats, then both; replaces an earlier record."""

    digests: tuple[str, str] = ("", "")
    """By seat, SHA-256 of its nonce; empty: not fixed yet."""
    nonces: tuple[str | None, str | None] = (None, None)
    """By seat, the nonce if it is known."""

    @property
    def are_open(self) -> bool:
        """Whether both seats are bound, and one has yet to reveal its nonce."""
        return all(self.digests) and None in self.nonces


class Began(_Record, frozen=True, tag="began"):
    """Both seats were ready; this is event 0."""

    nonces: tuple[str, str]


class TurnRecord(_Record, frozen=True, tag="turn"):
    """A turn was taken, or a challenge judged: an event that everybody is told of.

    A won challenge has the move ``--`` of the player whose play comes off. A lost one has the move
    ``(challenge)`` of the player whose play stands or, if it costs the turn, is the challenger's
    pass. The times of either are the challenger's.
    """

    seq: int
    seat: SeatNumber
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
    challenge: Literal["won", "lost"] | UnsetType = UNSET
    """The result of a challenge; left out of turns."""

    @property
    def charged(self) -> int:
        """The seat whose clock ran; for a challenge, the challenger's."""
        return charged_seat(self.seat, self.move)


class Accepted(_Record, frozen=True, tag="accepted"):
    """The last play, which was open to a challenge, stands: its player drew."""

    seq: int
    """The number of the play."""
    rack_after: str


class RefusedMove(_Record, frozen=True, tag="refused"):
    """A move was against the rules."""

    seq: int
    seat: SeatNumber
    attempt: int
    move: str
    code: str
    message: str


class Thought(_Record, Thoughts, frozen=True, tag="thought"):
    """A seat sent its thoughts (an ``info`` message)."""

    seq: int
    seat: SeatNumber


class Failed(_Record, frozen=True, tag="failed"):
    """Something went wrong with a seat: its connection, its process, its messages."""

    seat: SeatNumber
    code: str
    message: str
    evidence: str = ""
    """Exit status, end of stderr and last messages of a failed process."""


class Given(_Record, frozen=True, tag="given"):
    """A seat was given time by whoever runs the server."""

    seat: SeatNumber
    ms: int
    message: str
    """Who gave it, and why."""


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


Record: TypeAlias = (
    Opened
    | Commitments
    | Began
    | TurnRecord
    | Accepted
    | RefusedMove
    | Thought
    | Failed
    | Given
    | Ended
)


def verdict(players: tuple[str, str], winner: int | None, *, void: bool) -> str:
    """Return who won, for people."""
    return f"{players[winner]} wins" if winner is not None else "no result" if void else "tied"


def result_text(players: tuple[str, str], over: Ended | GameOver) -> str:
    """Return a sentence about how a game ended, for people."""
    # The winner's score first, as people say it; a forfeit's may be the smaller one.
    first, second = over.scores if over.winner != 1 else reversed(over.scores)
    void = is_void(over.outcome, over.winner)
    score = "" if void else f", {first} to {second}"
    return f"{verdict(players, over.winner, void=void)}{score} ({over.message})"


class ClockNote(Struct, frozen=True, kw_only=True):
    """The running clocks of a game; each note replaces the last."""

    game: str
    clocks: tuple[int, int]
    """Milliseconds left to both, the running turn charged."""
    seq: int
    """The number of the event that the seat to move is choosing."""


@dataclass(frozen=True, slots=True)
class Draws:
    """The source of a bag's order.

    ``committed``: the host commits to the secret before the players add their nonces, and opens it
    at the end, so neither side can steer the draws. ``mirrored``: each seat draws from its own end,
    so both games of a pair give both players the same luck.
    """

    secret: bytes
    committed: bool
    mirrored: bool = False

    @classmethod
    def fresh(cls) -> Draws:
        """Return draws from a fresh secret: for remote and rated games."""
        return cls(secrets.token_bytes(32), committed=True)

    @classmethod
    def seeded(cls, seed: int, pair: int) -> Draws:
        """Return the draws of a pair of games from a known seed: for local, trusted matches."""
        secret = hashlib.sha256(f"tilewire pair {pair} of seed {seed}".encode()).digest()
        return cls(secret, committed=False, mirrored=True)


def new_game(
    players: tuple[str, str],
    lexicon: Lexicon,
    time: TimeControl,
    draws: Draws,
    game: str | None = None,
    opening: str | None = None,
    rules: RulesInPlay | None = None,
) -> Opened:
    """Return the setup of a game, the first record of its journal.

    Players' random choices depend on the game's name, so a repeatable match gives ``game``.
    """
    return Opened(
        game=game or secrets.token_hex(8),
        players=players,
        lexicon=lexicon.name,
        lexicon_checksum=lexicon.checksum,
        rules=rules or RulesInPlay(),
        time=time,
        secret=draws.secret.hex(),
        committed=draws.committed,
        mirrored=draws.mirrored,
        opening=opening,
    )

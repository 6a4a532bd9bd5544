"""What a player says: its move, what it thinks of moves, and what it believes of its opponent."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from engine.rules.moves import Move
from engine.rules.position import Rack
from protocol.parts import MAX_MODELS

__all__ = ["Believed", "Choice", "Considered"]

ROUNDING = 1e-9
"""By how much a mean of numbers from 0 to 1 may lie outside."""


@dataclass(frozen=True, slots=True)
class Considered:
    """A move that a player has looked at, and what it thinks of it; None: it does not say.

    Raises:
        ValueError: a chance of winning that is none, a value that is no number, an error below 0.
    """

    move: Move
    score: int | None = None
    win: float | None = None
    """How likely it wins, 0 to 1, a draw counting half."""
    win_error: float | None = None
    """The standard error of that."""
    equity: float | None = None
    """In points."""
    equity_error: float | None = None
    """The standard error of that, in points."""
    samples: int | None = None
    """How many continuations were looked at."""

    def __post_init__(self) -> None:
        """Check what the arbiter would not take, where the mistake is made."""
        if self.win is not None and not -ROUNDING <= self.win <= 1 + ROUNDING:
            raise ValueError(f"win is {self.win}; a chance of winning is 0 to 1")
        if self.equity is not None and not math.isfinite(self.equity):
            raise ValueError(f"equity is {self.equity}; it is a number of points")
        for name, error in (("win_error", self.win_error), ("equity_error", self.equity_error)):
            if error is not None and not 0 <= error < math.inf:
                raise ValueError(f"{name} is {error}; a standard error is a number, 0 or more")
        if self.samples is not None and self.samples < 0:
            raise ValueError(f"samples is {self.samples}; it is 0 or more")


@dataclass(frozen=True, slots=True)
class Believed:
    """What a player believes of its opponent after his last play; it goes into the record.

    Raises:
        ValueError: a chance that is none, a measure below 0 or without end, too many models.
    """

    considered: int = 0
    """Leaves that he may have kept, or, where they are too many, those drawn."""
    surviving: int = 0
    """Those still possible after his play, of those that were looked at."""
    top: tuple[tuple[Rack, float, float], ...] = ()
    """Leaves with their prior and posterior chances, the likeliest first; 20 are told."""
    mass_top10: float = 0.0
    """The posterior chance of the ten likeliest together."""
    entropy_prior: float = 0.0
    """Bits."""
    entropy: float = 0.0
    """Bits, of the posterior."""
    unseen: float = 0.0
    """Prior mass of what there was no time to look at."""
    effective: float = 0.0
    """Effective sample size."""
    tiles: Sequence[float] = ()
    """The chance that he now has one or more of a tile, by tile number."""
    bingo: float | None = None
    """The chance that he has a bingo in his next turn."""
    seconds: float = 0.0
    """What working it out took."""
    note: str = ""
    """Why nothing is known, as a sentence."""
    style: Mapping[str, float] = field(default_factory=dict)
    """Odds of models by name, 16 at most."""

    def __post_init__(self) -> None:
        """Check what the arbiter would not take, where the mistake is made."""
        chances = (self.mass_top10, self.unseen, self.bingo or 0.0, *self.tiles)
        of_leaves = (chance for _, *both in self.top for chance in both)
        for chance in (*chances, *of_leaves, *self.style.values()):
            if not -ROUNDING <= chance <= 1 + ROUNDING:
                raise ValueError(f"a belief has the chance {chance}; a chance is 0 to 1")
        for name in ("considered", "surviving", "entropy_prior", "entropy", "effective", "seconds"):
            if not -ROUNDING <= getattr(self, name) <= 2**53:
                raise ValueError(f"{name} is {getattr(self, name)}; it is a number, 0 or more")
        if len(self.style) > MAX_MODELS or not all(0 < len(name) <= 64 for name in self.style):
            raise ValueError(f"a style of {list(self.style)}; it has {MAX_MODELS} models at most")


@dataclass(frozen=True, slots=True)
class Choice:
    """A move, and what the player thinks of it, which goes into the record of the game."""

    move: Move
    score: int | None = None
    equity: float | None = None
    """In points."""
    text: str | None = None
    """For a person to read, at most 2,000 characters."""
    candidates: tuple[Considered, ...] = ()
    """The moves that were looked at more closely, the best first."""
    belief: Believed | None = None
    """What the player believes of its opponent."""

"""A player's answer: its move, its estimates of moves, how it searched, and what it believes."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import index
from typing import Any

from engine.rules.moves import Move
from engine.rules.position import Rack
from protocol.parts import MAX_COUNT, MAX_MODELS, MAX_NAME, MAX_NUMBER

__all__ = ["Believed", "Choice", "Considered", "Searched"]

LARGEST = sys.float_info.max
ROUNDING = 1e-9
"""How far a mean of numbers from 0 to 1 may lie outside, by rounding."""


@dataclass(frozen=True, slots=True)
class Considered:
    """A move that a player considered, and its estimates; None if unknown.

    Numbers may be numpy's.

    Raises:
        TypeError: a score or sample count is not a whole number, or another value not a number.
        ValueError: a probability is outside 0 to 1, an equity is not finite, or an error or sample
            count is below 0.
    """

    move: Move
    score: int | None = None
    win: float | None = None
    """Probability of winning, 0 to 1; a draw counts half."""
    win_error: float | None = None
    equity: float | None = None
    """In points."""
    equity_error: float | None = None
    """Standard error of ``equity``, in points."""
    samples: int | None = None

    def __post_init__(self) -> None:
        _take(self, float, -ROUNDING, 1 + ROUNDING, win="a chance of winning is 0 to 1")
        _take(self, float, -LARGEST, LARGEST, equity="it is a number of points")
        error = "a standard error is a number, 0 or more"
        _take(self, float, 0, LARGEST, win_error=error, equity_error=error)
        _take(self, index, score="it is a whole number of points")
        _take(self, index, 0, samples="it is a whole number, 0 or more")


@dataclass(frozen=True, slots=True)
class Searched:
    """How a player came to its estimates, for the record; None if unknown or not counted.

    ValueError if a number is out of range, or the phase's name is not 1 to 64 characters long.
    """

    phase: str
    """``static``, ``simulation``, ``pre-endgame``, ``endgame``, or a word of the player's own."""
    plies: int | None = None
    """Turns looked at after a move; None: to the end of the game."""
    compared: int | None = None
    """Candidates compared at this depth, the first of ``Choice.candidates``."""
    rollouts: int | None = None
    """Games played on from a candidate, at any depth."""
    nodes: int | None = None
    """Positions that a solver visited."""
    proven: bool | None = None
    """Whether a solver has proven what the first candidate is worth: its equity in an endgame, its
    probability of winning before; None if the search proves nothing."""

    def __post_init__(self) -> None:
        if not 0 < len(self.phase) <= MAX_NAME:
            shown = self.phase[:MAX_NAME]
            raise ValueError(f"the phase {shown!r} is no name of 1 to {MAX_NAME} characters")
        count = f"it is 0 to {MAX_COUNT:,}"
        _take(self, index, 0, MAX_COUNT, plies=count, compared=count)
        amount = f"it is 0 to {MAX_NUMBER:,}"
        _take(self, index, 0, MAX_NUMBER, rollouts=amount, nodes=amount)


@dataclass(frozen=True, slots=True)
class Believed:
    """A player's belief about the opponent after its last play, for the record.

    Raises:
        ValueError: a probability outside 0 to 1, a measure below 0 or not finite, too many models.
    """

    considered: int = 0
    """Number of leaves that the opponent may have kept, or of a sample if there are too many."""
    surviving: int = 0
    """Number of those leaves still possible after the play."""
    top: tuple[tuple[Rack, float, float], ...] = ()
    """The likeliest leaves first, at most 20, each with its prior and posterior probability."""
    mass_top10: float = 0.0
    """Posterior probability of the ten likeliest leaves together."""
    entropy_prior: float = 0.0
    """Entropy of the prior, in bits."""
    entropy: float = 0.0
    """Entropy of the posterior, in bits."""
    unseen: float = 0.0
    """Prior probability of the leaves not looked at for lack of time."""
    effective: float = 0.0
    """Effective sample size: as many racks drawn from the prior would tell as much."""
    tiles: Sequence[float] = ()
    """Probability that the opponent now holds a tile at least once, by tile number."""
    bingo: float | None = None
    """Probability that the opponent has a bingo next turn."""
    seconds: float = 0.0
    """Time that the inference took."""
    note: str = ""
    """Why nothing is known, as a sentence."""
    style: Mapping[str, float] = field(default_factory=dict)
    """Probability of each model of the opponent's play, by name; at most 16 models."""

    def __post_init__(self) -> None:
        chances = (self.mass_top10, self.unseen, self.bingo or 0.0, *self.tiles)
        of_leaves = (chance for _, *both in self.top for chance in both)
        for chance in (*chances, *of_leaves, *self.style.values()):
            if not -ROUNDING <= chance <= 1 + ROUNDING:
                raise ValueError(f"a belief has the chance {chance}; a chance is 0 to 1")
        for name in ("considered", "surviving", "entropy_prior", "entropy", "effective", "seconds"):
            if not -ROUNDING <= getattr(self, name) <= MAX_NUMBER:
                raise ValueError(f"{name} is {getattr(self, name)}; it is a number, 0 or more")
        named = all(0 < len(name) <= MAX_NAME for name in self.style)
        if len(self.style) > MAX_MODELS or not named:
            raise ValueError(f"a style of {list(self.style)}; it has {MAX_MODELS} models at most")


@dataclass(frozen=True, slots=True)
class Choice:
    """A move and the player's estimates, for the record of the game."""

    move: Move
    score: int | None = None
    equity: float | None = None
    """In points."""
    text: str | None = None
    """A remark for readers of the record, at most 2,000 characters."""
    candidates: tuple[Considered, ...] = ()
    """Moves compared, the best first."""
    search: Searched | None = None
    belief: Believed | None = None

    def __post_init__(self) -> None:
        _take(self, float, -LARGEST, LARGEST, equity="it is a number of points")
        _take(self, index, score="it is a whole number of points")


def _take(
    given: object,
    kind: Callable[[Any], float],
    least: float = -math.inf,
    most: float = math.inf,
    **sentences: str,
) -> None:
    """Convert attributes of ``given`` to Python numbers and check their bounds.

    ``sentences`` has, by attribute, what an error says that it must be.
    """
    for name, sentence in sentences.items():
        number = getattr(given, name)
        if number is None:
            continue
        try:
            converted = kind(number)
        except (TypeError, ValueError):  # ``float`` raises the second for a text
            raise TypeError(f"{name} is {number!r}; {sentence}") from None
        except OverflowError:
            raise ValueError(f"{name} is too large; {sentence}") from None
        if not least <= converted <= most:
            raise ValueError(f"{name} is {number}; {sentence}")
        object.__setattr__(given, name, converted)

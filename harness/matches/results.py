"""The result of one game of a match, as a value and as a line of JSON.

Everything is by **match side**: 0 is side a, 1 is side b, whoever moved first. A file of results
has one game a line, in the order in which the games finished; a line counts once its line break is
there, so a process that is killed while it writes loses no more than that game.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from protocol.parts import Outcome

__all__ = ["GameResult", "SeatResult", "read_results", "result_line"]

FORFEITS: frozenset[Outcome] = frozenset({"resign", "time", "illegal", "crash", "stall", "no_show"})
"""Endings that decide a game against one side, whatever the score."""

Side = Annotated[int, Meta(ge=0, le=1)]
Count = Annotated[int, Meta(ge=0)]


class SeatResult(Struct, frozen=True):
    """One side's part of a game."""

    name: str
    score: int
    """The final score, racks and overtime settled; if the game broke off, as it stood."""
    moves: Count
    """Turns taken: plays, exchanges and passes."""
    think_ms: Count
    """Clock used, all turns together."""
    longest_ms: Count
    """Clock used for the longest turn."""
    overtime_ms: Count = 0
    """How far the clock fell below zero."""
    time_penalty: Count = 0
    """Points taken off for overtime; ``score`` has them off already."""
    bingos: Count = 0
    faults: tuple[str, ...] = ()
    """The code of each thing that went wrong, such as ``illegal`` or ``disconnect``."""


class GameResult(Struct, frozen=True):
    """How a game between side a and side b ended."""

    game: str
    """The game's id."""
    number: int
    """The game's place in the match; a game that was void is played again under its number."""
    pair: int
    """Games with the same pair number belong together: the same opening, seats swapped."""
    first: Side
    """Which side had the first move."""
    sides: tuple[SeatResult, SeatResult]
    outcome: Outcome
    winner: Side | None
    """The side that won; none for a tie, and for a game that is void."""
    turns: Count
    seconds: float
    """How long the turns of both took, by their clocks."""
    note: str = ""
    """What there is to say beyond the outcome, such as ``disconnect``."""

    @property
    def void(self) -> bool:
        """Whether the game does not count: the host failed, or neither side came to play."""
        return self.outcome == "host_error" or (self.outcome == "no_show" and self.winner is None)

    @property
    def forfeit(self) -> bool:
        """Whether the game was lost otherwise than by the score."""
        return self.outcome in FORFEITS and not self.void

    @property
    def spread(self) -> int:
        """Side a's score less side b's, as they stood at the end."""
        return self.sides[0].score - self.sides[1].score

    @property
    def points(self) -> float:
        """What the game is worth to side a: 1, ½ or 0; a forfeit too is 1 or 0."""
        return 0.5 if self.winner is None else 1.0 - self.winner


def result_line(result: GameResult) -> bytes:
    """Return a result as a line of JSON, with its line break."""
    return msgspec.json.encode(result) + b"\n"


def read_results(path: str | Path) -> list[GameResult]:
    """Read a file of results, without what follows its last line break.

    Raises:
        OSError: the file cannot be read.
        ValueError: a line is not a result; the message names file, line and reason.
    """
    *lines, _ = Path(path).read_bytes().split(b"\n")
    results = []
    for number, line in enumerate(lines, start=1):
        try:
            results.append(msgspec.json.decode(line, type=GameResult))
        except (ValueError, RecursionError) as error:  # msgspec's own errors are ValueErrors
            raise ValueError(
                f"{path}, line {number} is not the result of a game: {error}; "
                "mend or remove the line, or use another folder"
            ) from error
    return results

"""A player's answer: its move, and its thoughts in the protocol's own types.

The types of thoughts here are those of ``protocol.parts``, which has their fields. They check what
a player gives: numbers may be numpy's, and what rounding or a large number puts past the limits of
a message is cut to them.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from operator import index
from typing import Any

from msgspec import Struct, structs

from engine.rules.moves import Move
from protocol.parts import (
    MAX_COUNT,
    MAX_LEAVES,
    MAX_MODELS,
    MAX_NAME,
    MAX_NUMBER,
    MAX_POINTS,
    MAX_SENTENCE,
    Belief,
    Candidate,
    LeaveChance,
    Search,
)

__all__ = ["Believed", "Choice", "Considered", "Searched"]

LARGEST = sys.float_info.max
ROUNDING = 1e-9
"""How far a mean of numbers from 0 to 1 may lie outside, by rounding."""


class Considered(Candidate, frozen=True):
    """A move that a player considered, and its estimates; None if unknown.

    Raises:
        TypeError: a score or sample count is not a whole number, or another value not a number.
        ValueError: a probability is outside 0 to 1, an equity is not finite, or an error or sample
            count is below 0.
    """

    move: Move  # type: ignore[assignment]  # the protocol has its text

    def __post_init__(self) -> None:
        _convert(
            self, float, -ROUNDING, 1 + ROUNDING, (0.0, 1.0), win="a chance of winning is 0 to 1"
        )
        largest = float(MAX_NUMBER)
        points = "it is a number of points"
        _convert(self, float, -LARGEST, LARGEST, (-largest, largest), equity=points)
        error = "a standard error is a number, 0 or more"
        _convert(self, float, 0, LARGEST, (0.0, largest), win_error=error, equity_error=error)
        _convert(
            self, index, limits=(-MAX_POINTS, MAX_POINTS), score="it is a whole number of points"
        )
        _convert(self, index, 0, limits=(0, MAX_NUMBER), samples="it is a whole number, 0 or more")


class Searched(Search, frozen=True):
    """How a player came to its estimates, for the record; None if unknown or not counted.

    ValueError if a number is out of range, or the phase's name is not 1 to 64 characters long.
    """

    def __post_init__(self) -> None:
        if not 0 < len(self.phase) <= MAX_NAME:
            shown = self.phase[:MAX_NAME]
            raise ValueError(f"the phase {shown!r} is no name of 1 to {MAX_NAME} characters")
        count = f"it is 0 to {MAX_COUNT:,}"
        _convert(self, index, 0, MAX_COUNT, plies=count, compared=count)
        amount = f"it is 0 to {MAX_NUMBER:,}"
        _convert(self, index, 0, MAX_NUMBER, rollouts=amount, nodes=amount)


class Believed(Belief, frozen=True):
    """A player's belief about the opponent after its last play, for the record.

    Of more leaves than a message holds, the first count.

    Raises:
        ValueError: a probability outside 0 to 1, a measure below 0 or not finite, too many models.
    """

    def __post_init__(self) -> None:
        chance, measure = "a chance is 0 to 1", "it is a number, 0 or more"
        within = (-ROUNDING, 1 + ROUNDING, (0.0, 1.0))
        _convert(self, float, *within, mass_top10=chance, unseen=chance, bingo=chance)
        within = (-ROUNDING, MAX_NUMBER, (0.0, float(MAX_NUMBER)))
        _convert(self, float, *within, entropy_prior=measure, entropy=measure)
        _convert(self, float, *within, effective=measure, seconds=measure)
        _convert(self, index, 0, MAX_NUMBER, leaves_considered=measure, leaves_surviving=measure)
        named = all(0 < len(name) <= MAX_NAME for name in self.style)
        if len(self.style) > MAX_MODELS or not named:
            raise ValueError(f"a style of {list(self.style)}; it has {MAX_MODELS} models at most")
        converted = {
            "top": tuple(
                LeaveChance(leave=leave, prior=_chance(prior), posterior=_chance(posterior))
                for leave, prior, posterior in map(structs.astuple, self.top[:MAX_LEAVES])
            ),
            "tiles": {tile: _chance(number) for tile, number in self.tiles.items()},
            "style": {name: _chance(number) for name, number in self.style.items()},
            "note": self.note[:MAX_SENTENCE] if self.note else None,
        }
        for name, value in converted.items():
            structs.force_setattr(self, name, value)


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
        _convert(self, float, -LARGEST, LARGEST, equity="it is a number of points")
        _convert(self, index, score="it is a whole number of points")
        for each in self.candidates:
            if not isinstance(each, Considered):
                raise TypeError(f"a candidate is {each!r:.80}; write Considered(move)")


def _convert(
    given: object,
    kind: Callable[[Any], float],
    least: float = -math.inf,
    most: float = math.inf,
    limits: tuple[float, float] | None = None,
    **sentences: str,
) -> None:
    """Convert attributes of ``given`` to Python numbers, check their bounds and cut to ``limits``.

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
        if limits is not None:
            converted = max(limits[0], min(converted, limits[1]))
        if isinstance(given, Struct):
            structs.force_setattr(given, name, converted)
        else:
            object.__setattr__(given, name, converted)


def _chance(number: float) -> float:
    """Return a probability as a float from 0 to 1; ValueError if it is further outside."""
    if not -ROUNDING <= number <= 1 + ROUNDING:
        raise ValueError(f"a belief has the chance {number}; a chance is 0 to 1")
    return float(min(max(number, 0.0), 1.0))

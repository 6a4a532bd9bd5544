"""Moves, in tile numbers (see ``lexicons.alphabet``): placing, exchanging, or passing."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TypeAlias

PLAYED_THROUGH = 0  # in ``Place.tiles``: this square's tile lies on the board already


class Direction(IntEnum):
    """The way a word runs."""

    ACROSS = 0
    DOWN = 1


@dataclass(frozen=True, slots=True)
class Place:
    """Tiles put on the board in one line.

    ``row`` and ``column`` (from 0) are the first square of the main word, which may hold a tile
    already. ``tiles`` has an entry for each square of that word: ``PLAYED_THROUGH`` where a tile
    lies, else the letter placed, with ``BLANK_FLAG`` when a blank stands for it.

    A single tile that makes a word both ways is described across: that is canonical.
    """

    row: int
    column: int
    direction: Direction
    tiles: tuple[int, ...]

    @property
    def placed(self) -> tuple[int, ...]:
        """The tiles that come from the rack, in the order of the squares."""
        return tuple(tile for tile in self.tiles if tile != PLAYED_THROUGH)


@dataclass(frozen=True, slots=True)
class Exchange:
    """Tiles put back into the bag for as many others; ``tiles`` is sorted, blanks are 0."""

    tiles: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Pass:
    """A pass."""


Move: TypeAlias = Place | Exchange | Pass

PASS = Pass()

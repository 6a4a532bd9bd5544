"""Boards and positions (racks, scores, whose turn it is) as immutable values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias, TypeVar

import numpy as np

from lexicons.alphabet import BLANK, BLANK_FLAG, EMPTY
from lexicons.arrays import U8
from lexicons.layout import BoardLayout

from .moves import PLAYED_THROUGH, Direction, Move, Pass, Place

if TYPE_CHECKING:
    from .rules import Rules

_T = TypeVar("_T")

Rack: TypeAlias = tuple[int, ...]  # tile numbers, sorted; an unused blank is 0


@dataclass(frozen=True, slots=True)
class Board:
    """Tiles on the squares of a layout.

    ``squares`` is row-major, ``rows × columns`` bytes: ``EMPTY`` or a letter, with ``BLANK_FLAG``
    where a blank stands for it.
    """

    layout: BoardLayout
    squares: bytes

    @classmethod
    def empty(cls, layout: BoardLayout) -> Board:
        """Return a board without tiles."""
        return cls(layout, bytes(layout.rows * layout.columns))

    @property
    def is_empty(self) -> bool:
        """Whether no tile lies on it."""
        return not any(self.squares)

    def at(self, row: int, column: int) -> int:
        """Return the tile on a square; ``EMPTY`` off the board."""
        layout = self.layout
        if 0 <= row < layout.rows and 0 <= column < layout.columns:
            return self.squares[row * layout.columns + column]
        return EMPTY

    def squares_of(self, place: Place) -> Iterator[tuple[int, int, int]]:
        """Yield row, column and entry of ``tiles`` for each square of a placement."""
        down = place.direction is Direction.DOWN
        for step, tile in enumerate(place.tiles):
            yield place.row + step * down, place.column + step * (not down), tile

    def with_move(self, place: Place) -> Board:
        """Return the board after a legal placement."""
        squares = bytearray(self.squares)
        for row, column, tile in self.squares_of(place):
            if tile != PLAYED_THROUGH:
                squares[row * self.layout.columns + column] = tile
        return Board(self.layout, bytes(squares))

    def array(self) -> U8:
        """Return the squares as a new array, ``uint8[rows, columns]``."""
        shape = self.layout.rows, self.layout.columns
        return np.frombuffer(self.squares, np.uint8).reshape(shape).copy()


@dataclass(frozen=True, slots=True)
class Position:
    """A position between two turns.

    ``racks`` and ``scores`` are by seat; a rack is ``()`` when it is empty or not known.
    ``scoreless_turns`` counts those in a row up to now. ``passes`` in a row, and ``exchanges`` by
    seat, are counted where the rules limit them, else 0.
    """

    board: Board
    racks: tuple[Rack, Rack]
    scores: tuple[int, int]
    on_turn: int = 0
    scoreless_turns: int = 0
    passes: int = 0
    exchanges: tuple[int, int] = (0, 0)

    @classmethod
    def empty(cls, layout: BoardLayout) -> Position:
        """Return the position before anything is drawn or played."""
        return cls(Board.empty(layout), ((), ()), (0, 0))

    def spread(self, seat: int) -> int:
        """Return a seat's score less the other's."""
        return self.scores[seat] - self.scores[1 - seat]

    def without_racks(self) -> Position:
        """Return the position with neither rack known."""
        return replace(self, racks=((), ()))

    def with_rack(self, seat: int, rack: Rack) -> Position:
        """Return the position with a seat's rack replaced."""
        return replace(self, racks=with_seat(self.racks, seat, rack))

    def swapped(self) -> Position:
        """Return the position with seats 0 and 1 swapped."""
        return replace(
            self,
            racks=self.racks[::-1],
            scores=self.scores[::-1],
            on_turn=1 - self.on_turn,
            exchanges=self.exchanges[::-1],
        )

    def after(self, move: Move, score: int, rack: Rack, rules: Rules) -> Position:
        """Return the position after a legal move; the mover scores and then holds ``rack``."""
        seat = self.on_turn
        return Position(
            self.board.with_move(move) if isinstance(move, Place) else self.board,
            with_seat(self.racks, seat, rack),
            with_seat(self.scores, seat, self.scores[seat] + score),
            1 - seat,
            *self.counts_after(move, rules),
        )

    def taken_back(self, rules: Rules) -> Position:
        """Return the position after a play made in this one was challenged off."""
        return Position(
            self.board, self.racks, self.scores, 1 - self.on_turn, *self.counts_after(None, rules)
        )

    def counts_after(self, move: object, rules: Rules) -> tuple[int, int, tuple[int, int]]:
        """Return scoreless turns, passes and exchanges after a move of the player on turn.

        None is a play that was challenged off; anything but a placement, a pass or None counts as
        an exchange.
        """
        if isinstance(move, Place):
            return 0, 0, self.exchanges
        passes, exchanges = 0, self.exchanges
        if isinstance(move, Pass):
            passes = (self.passes + 1) * rules.limits_passes
        elif move is not None:
            made = exchanges[self.on_turn] + rules.limits_exchanges
            exchanges = with_seat(exchanges, self.on_turn, made)
        return self.scoreless_turns + 1, passes, exchanges


def with_seat(pair: tuple[_T, _T], seat: int, value: _T) -> tuple[_T, _T]:
    """Return a pair by seat with one seat's value replaced."""
    return (value, pair[1]) if seat == 0 else (pair[0], value)


def tiles_of(board: Board, racks: Iterable[Rack]) -> Iterator[int]:
    """Yield the tiles on a board and on racks, unsorted; a blank on the board is a blank."""
    for tile in board.squares:
        if tile != EMPTY:
            yield BLANK if tile & BLANK_FLAG else tile
    for rack in racks:
        yield from rack


def unseen(position: Position, seat: int, rules: Rules) -> tuple[int, ...]:
    """Count the tiles that a seat doesn't see, by tile number: in the bag or on the other rack.

    Raises:
        ValueError: there are more of a tile in sight than the distribution has.
    """
    left = list(rules.distribution.counts)
    for tile in tiles_of(position.board, (position.racks[seat],)):
        left[tile] -= 1
    if min(left) < 0:
        tile = left.index(min(left))
        name = rules.distribution.alphabet.tile_text(tile)
        raise ValueError(
            f"{rules.distribution.counts[tile] - left[tile]} tiles {name} are in sight; "
            f"the {rules.distribution.name} distribution has {rules.distribution.counts[tile]}"
        )
    return tuple(left)


def bag_count(position: Position, rules: Rules, hidden: Sequence[int] | None = None) -> int:
    """Count the tiles in the bag; an unknown rack counts as full, as far as tiles go.

    ``hidden`` are the ``unseen`` tiles of the player on turn, whose rack is known, if counted
    already. Raises as ``unseen``.
    """
    if hidden is None:
        hidden = unseen(position, position.on_turn, rules)
    held = len(position.racks[1 - position.on_turn])
    empty = position.racks.count(())
    return max(sum(hidden) - held - empty * rules.rack_size, 0)

"""Which moves are worth a simulation: the best by static equity, each really different."""

from __future__ import annotations

from collections.abc import Collection

from engine.evaluation import PASS_EQUITY
from engine.generate import Generator, RankedMove
from engine.moves import PASS, Direction, Move, Place
from engine.position import Position
from lexicons.layout import BoardLayout

__all__ = ["best_candidates", "is_symmetric"]


def best_candidates(
    generator: Generator, position: Position, count: int, without: Collection[Move] = ()
) -> list[RankedMove]:
    """Give so many of the moves of the highest static equity, fewer if there are no more.

    On an empty board that is its own mirror image every word can be played across and down, which
    comes to the same; it is given across. A pass is given only if there is nothing else.

    Raises:
        ValueError: as ``Generator.best``.
    """
    mirrored = position.board.is_empty and is_symmetric(position.board.layout)
    wanted = (2 if mirrored else 1) * (count + len(without))
    found = [
        one
        for one in generator.best(position, wanted)
        if one.move not in without and not (mirrored and _runs_down(one.move))
    ]
    passed = RankedMove(PASS, 0, PASS_EQUITY, position.racks[position.on_turn])
    return found[:count] or [passed]


def _runs_down(move: Move) -> bool:
    return isinstance(move, Place) and move.direction is Direction.DOWN


def is_symmetric(layout: BoardLayout) -> bool:
    """Tell whether rows and columns of a board can be swapped."""
    if layout.rows != layout.columns or layout.start[0] != layout.start[1]:
        return False
    side = range(layout.rows)
    return all(
        multipliers[row * layout.columns + column] == multipliers[column * layout.columns + row]
        for multipliers in (layout.letter_multipliers, layout.word_multipliers)
        for row in side
        for column in side
    )

"""Which moves a search compares: the best by static equity, and those that it is told to."""

from __future__ import annotations

from collections.abc import Sequence

from engine.movegen.candidates import best_candidates, ranked_moves
from engine.movegen.generator import Generator, RankedMove
from engine.rules.moves import Move
from engine.rules.position import Position

__all__ = ["chosen", "with_asked"]


def chosen(
    generator: Generator,
    position: Position,
    count: int,
    only: Sequence[Move] = (),
    also: Sequence[Move] = (),
) -> list[RankedMove]:
    """Give the moves that are to be compared, each once, the highest equity first.

    Args:
        generator: finds and ranks them.
        position: with the rack of the player on turn.
        count: so many of the best …
        only: … or these alone, whatever words they make.
        also: beside the others.
    """
    best = [] if only else best_candidates(generator, position, count)
    return with_asked(generator, position, best, (*only, *also))


def with_asked(
    generator: Generator, position: Position, best: Sequence[RankedMove], asked: Sequence[Move]
) -> list[RankedMove]:
    """Give moves with those that are asked for, each once, the highest equity first."""
    there = {one.move for one in best}
    others = [move for move in dict.fromkeys(asked) if move not in there]
    ranked = ranked_moves(generator, position, others) if others else []
    return sorted((*best, *ranked), key=lambda one: -one.equity)

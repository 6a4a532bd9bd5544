"""Every move of a position ranked by static equity."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from engine.kernels.moves import EXCHANGE, PASS_MOVE
from engine.movegen.generator import Generator, RankedMove
from engine.movegen.move_codec import leaves_of, unpack
from engine.rules.position import Position

__all__ = ["RankedMoves", "rank_moves"]


@dataclass(frozen=True)
class RankedMoves:
    """The best moves of a position, and the number of moves of each kind."""

    position: Position
    counts: Mapping[str, int]
    """Number of legal moves by kind: ``place``, ``exchange``, ``pass``."""
    moves: tuple[RankedMove, ...]
    """The highest equity first."""


def rank_moves(generator: Generator, position: Position, limit: int | None) -> RankedMoves:
    """Rank the moves of a position and count them all.

    Only the best ``limit`` become objects: a rack with blanks has very many moves.

    Raises:
        ValueError: generators refuse the position.
    """
    every = generator.arrays(position)
    best = np.lexsort((every.packed, -every.equities))[:limit]
    moves = map(
        RankedMove,
        unpack(every.packed[best], position.board),
        every.scores[best].tolist(),
        every.equities[best].tolist(),
        leaves_of(every.subracks[best], tuple(sorted(position.racks[position.on_turn]))),
    )
    placed = int(np.count_nonzero(every.packed < EXCHANGE))
    passes = int(np.count_nonzero(every.packed >= PASS_MOVE))
    exchanges = len(every.packed) - placed - passes
    counts = {"place": placed, "exchange": exchanges, "pass": passes}
    return RankedMoves(position, counts, tuple(moves))

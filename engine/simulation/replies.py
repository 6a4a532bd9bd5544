"""Likely replies of the opponent: the static choices of random racks."""

from __future__ import annotations

import random
from collections.abc import Iterator

from engine.movegen.generator import Generator, ScoredMove
from engine.rules.position import Position, unseen

__all__ = ["guess_replies"]


def guess_replies(generator: Generator, position: Position, seed: int) -> Iterator[ScoredMove]:
    """Yield the static choices of random racks of the player on turn, without end.

    The other player's rack is known; it is not drawn from.
    """
    rules, seat = generator.rules, position.on_turn
    hidden = [
        tile for tile, count in enumerate(unseen(position, 1 - seat, rules)) for _ in range(count)
    ]
    chance = random.Random(seed)
    while True:
        rack = tuple(sorted(chance.sample(hidden, min(rules.rack_size, len(hidden)))))
        best = generator.best(position.with_rack(seat, rack))[0]
        yield ScoredMove(best.move, best.score)

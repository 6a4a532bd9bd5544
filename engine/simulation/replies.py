"""Likely replies of the opponent: the static choices of random racks."""

from __future__ import annotations

import random
from collections.abc import Iterator

from engine.movegen.generator import Generator, ScoredMove
from engine.rules.position import Position, unseen

__all__ = ["after", "guess_replies"]


def guess_replies(generator: Generator, position: Position, seed: int) -> Iterator[ScoredMove]:
    """Yield the static choices of random racks of the player on turn, without end.

    Args:
        generator: its leaves are the opponent's.
        position: with the rack of the other player.
        seed: for the racks.
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


def after(position: Position, played: ScoredMove) -> Position:
    """Return the position after a move; the mover's rack is then unknown."""
    return position.after(played.move, played.score, ())

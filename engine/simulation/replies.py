"""What the opponent is likely to do: the static choices of racks that it may have."""

from __future__ import annotations

import random
from collections.abc import Iterator

from engine.movegen.generator import Generator, ScoredMove
from engine.rules.position import Position, unseen

__all__ = ["after", "guess_replies"]


def guess_replies(generator: Generator, position: Position, seed: int) -> Iterator[ScoredMove]:
    """Draw racks for the player on turn, whose own is not known; return the static choice of each.

    It never ends: whoever asks says when it is enough.

    Args:
        generator: its leaves are the opponent's.
        position: the rack of the player who is not on turn is known.
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
    """Return the position after a move of the player on turn, whose rack is not known then."""
    return position.after(played.move, played.score, ())

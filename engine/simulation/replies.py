"""What the opponent is likely to do: the static choices of racks that he may have."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

from engine.movegen.generator import Generator, ScoredMove
from engine.rules.moves import Exchange, Pass, Place
from engine.rules.position import Position, unseen

__all__ = ["after", "guess_replies"]


def guess_replies(generator: Generator, position: Position, seed: int) -> Iterator[ScoredMove]:
    """Draw racks for the player on turn, whose own is not known; give the static choice of each.

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
        best = generator.best(_with_rack(position, seat, rack))[0]
        yield ScoredMove(best.move, best.score)


def after(position: Position, played: ScoredMove) -> Position:
    """Give the position after a move of the player on turn, whose rack is not known then."""
    seat, board = position.on_turn, position.board
    scores = list(position.scores)
    scores[seat] += played.score
    match played.move:
        case Place() as place:
            board, scoreless = board.with_move(place), 0
        case Exchange() | Pass():
            scoreless = position.scoreless_turns + 1
    moved = Position(board, position.racks, (scores[0], scores[1]), 1 - seat, scoreless)
    return _with_rack(moved, seat, ())


def _with_rack(position: Position, seat: int, rack: tuple[int, ...]) -> Position:
    first, second = position.racks
    return replace(position, racks=(rack, second) if seat == 0 else (first, rack))

"""Candidates for simulation by static equity, without mirror images; and likely replies."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterator, Sequence

import numpy as np

from engine.rules.moves import Direction, Move, Place
from engine.rules.position import Position, bag_count, unseen
from engine.rules.rules import leave_of, points_of
from lexicons.alphabet import as_tiles
from lexicons.layout import BoardLayout

from .evaluation import POINT
from .generator import Generator, RankedMove, ScoredMove, passing
from .move_codec import leaves_of, pack


def best_candidates(
    generator: Generator, position: Position, count: int, without: Collection[Move] = ()
) -> list[RankedMove]:
    """Return the ``count`` moves of the highest static equity, or all if there are fewer.

    On an empty board that is its own mirror image, plays across and down are equivalent; only those
    across are returned. A pass is returned only if there is nothing else. Raises as
    ``Generator.best``.
    """
    mirrored = position.board.is_empty and is_symmetric(position.board.layout)
    wanted = (2 if mirrored else 1) * (count + len(without))
    candidates = [
        candidate
        for candidate in generator.best(position, wanted)
        if candidate.move not in without and not (mirrored and _runs_down(candidate.move))
    ]
    return candidates[:count] or [passing(position)]


def ranked_moves(
    generator: Generator, position: Position, moves: Sequence[Move]
) -> list[RankedMove]:
    """Evaluate moves, in the order given; the equity of a phony is only score and leave.

    Raises:
        ValueError: as ``legal_moves``, or a move that is impossible with this rack and board.
    """
    listed = generator.arrays(position)
    rack = tuple(sorted(position.racks[position.on_turn]))
    ranked = []
    for move in moves:
        at = np.flatnonzero(listed.packed == np.uint64(pack(move)))[:1]
        if len(at):
            (leave,) = leaves_of(listed.subracks[at], rack)
            score, equity = int(listed.scores[at[0]]), int(listed.equities[at[0]])
            ranked.append(RankedMove(move, score, equity, leave))
        else:
            ranked.append(_phony(generator, position, move))
    return ranked


def _phony(generator: Generator, position: Position, move: Move) -> RankedMove:
    rules = generator.rules
    score = points_of(position.board, move, rules)
    leave = tuple(sorted(leave_of(position.racks[position.on_turn], move)))
    known = bag_count(position, rules) and len(leave) < generator.leaves.rack_size
    worth = round(generator.leaves.value(leave) * POINT) if known else 0
    return RankedMove(move, score, score * POINT + worth, leave)


def _runs_down(move: Move) -> bool:
    return isinstance(move, Place) and move.direction is Direction.DOWN


def is_symmetric(layout: BoardLayout) -> bool:
    """Return whether rows and columns of a board can be swapped."""
    if layout.rows != layout.columns or layout.start[0] != layout.start[1]:
        return False
    side = range(layout.rows)
    return all(
        multipliers[row * layout.columns + column] == multipliers[column * layout.columns + row]
        for multipliers in (layout.letter_multipliers, layout.word_multipliers)
        for row in side
        for column in side
    )


def guess_replies(generator: Generator, position: Position, seed: int) -> Iterator[ScoredMove]:
    """Yield static choices for random racks of the player on turn, without end."""
    rules, seat = generator.rules, position.on_turn
    hidden = as_tiles(unseen(position, 1 - seat, rules))
    chance = random.Random(seed)
    while True:
        rack = tuple(sorted(chance.sample(hidden, min(rules.rack_size, len(hidden)))))
        best = generator.best(position.with_rack(seat, rack))[0]
        yield ScoredMove(best.move, best.score)

"""Candidates for simulation by static equity, without mirror images; and likely replies."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterator, Sequence

import numpy as np

from engine.rules.moves import Direction, Move, Place
from engine.rules.position import Position, bag_count, unseen
from engine.rules.rules import leave_of, points_of
from lexicons.alphabet import BLANK, as_tiles
from lexicons.layout import BoardLayout

from .evaluation import POINT
from .generator import Generator, RankedMove, ScoredMove, passing
from .move_codec import leaves_of, pack

_MANY_BLANKS = 3  # on a rack: more than most games have


def best_candidates(
    generator: Generator, position: Position, count: int, without: Collection[Move] = ()
) -> list[RankedMove]:
    """Return the ``count`` moves of the highest static equity, or all if there are fewer.

    On an empty board that is its own mirror image, plays across and down are equivalent; only those
    across are returned. With three blanks or more half of them are the best bingos, if there are so
    many, as no leave table knows well what such a rack keeps. A pass is returned only if there is
    nothing else. Raises as ``Generator.best``.
    """
    mirrored = position.board.is_empty and is_symmetric(position.board.layout)
    wanted = (2 if mirrored else 1) * (count + len(without))

    def different(moves: Sequence[RankedMove]) -> list[RankedMove]:
        return [
            ranked
            for ranked in moves
            if ranked.move not in without and not (mirrored and _runs_down(ranked.move))
        ][:count]

    candidates = different(generator.best(position, wanted))
    if position.racks[position.on_turn].count(BLANK) >= _MANY_BLANKS:
        bingos = different(generator.bingos(position, wanted))[: (count + 1) // 2]
        others = [ranked for ranked in candidates if ranked not in bingos]
        candidates = bingos + others[: count - len(bingos)]
        candidates.sort(key=lambda ranked: -ranked.equity)
    return candidates or [passing(position)]


def ranked_moves(
    generator: Generator, position: Position, moves: Sequence[Move]
) -> list[RankedMove]:
    """Evaluate moves, in the order given; the equity of a phony is only score and leave.

    Raises:
        ValueError: as ``legal_moves``, or a move that is impossible with this rack and board.
    """
    listed = generator.arrays(position)
    rack, leaves = tuple(sorted(position.racks[position.on_turn])), generator.leaves
    ranked = []
    for move in moves:
        index = np.flatnonzero(listed.packed == np.uint64(pack(move)))[:1]
        if len(index):
            (leave,) = leaves_of(listed.subracks[index], rack)
            score, equity = int(listed.scores[index[0]]), int(listed.equities[index[0]])
        else:
            score = points_of(position.board, move, generator.rules)
            leave = leave_of(rack, move)
            bag_known = bag_count(position, generator.rules) and len(leave) < leaves.rack_size
            equity = score * POINT + (round(leaves.value(leave) * POINT) if bag_known else 0)
        ranked.append(RankedMove(move, score, equity, leave))
    return ranked


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


def with_asked(
    generator: Generator, position: Position, best: Sequence[RankedMove], asked: Sequence[Move]
) -> list[RankedMove]:
    """Return the best and the requested moves, each once, the highest equity first."""
    there = {ranked.move for ranked in best}
    others = [move for move in dict.fromkeys(asked) if move not in there]
    ranked = ranked_moves(generator, position, others) if others else []
    return sorted((*best, *ranked), key=lambda ranked: -ranked.equity)

"""Equity of a play beyond its score, as far as it depends on the tiles played.

Filled in for every subrack once a turn, which completes the leave map. The numbers and their
sources are explained in ``engine.movegen.evaluation``.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from lexicons.bits import bit_count
from lexicons.jit import helper, record_dtype

from .board import BoardRecord
from .crosses import first_square
from .moves import LETTER_MASK, MAX_PLACED, move_tile, tile_count
from .racks import RackRecord

__all__ = [
    "EVALUATION",
    "LATE_TILES",
    "PASS_EQUITY",
    "POINT",
    "EvaluationRecord",
    "fill_equity_terms",
    "opening_cost",
    "use_evaluation",
]

POINT = 1_000  # thousandths
PASS_EQUITY = -1_000 * POINT
"""Below every other move; no table has the worth of all seven tiles."""
LATE_TILES = 16

EVALUATION = record_dtype(
    [
        ("vowels", np.uint64),  # bit n: letter n is a vowel
        ("opening_vowel", np.int32),  # first play: beside a double; twice that by a triple
        ("late", np.int32, (LATE_TILES,)),  # by tiles in the bag after the play, plus 7
        ("out_times", np.int32),  # bag empty: times the opponent's points, for going out
        ("kept_times", np.int32),  # … times the own points, for not going out
        ("not_out", np.int32),  # … plus this
    ],
)
EvaluationRecord: TypeAlias = Any  # thousandths of a point


@helper
def fill_equity_terms(
    rack: RackRecord,
    evaluation: EvaluationRecord,
    bag: Any,
    opponent_points: Any,
    exchange_minimum: Any,
) -> None:
    """Fill in the equity terms of playing and of exchanging each subrack; ``bag`` counts tiles."""
    whole = (1 << rack.held) - 1
    rack.exchangeable = min(rack.held, bag) if bag >= exchange_minimum else 0
    for subrack in range(whole + 1):
        kept = whole ^ subrack
        rack.swaps[subrack] = rack.leaves[kept]
        if bag:
            left = bag - np.int64(bit_count(np.uint64(subrack))) + MAX_PLACED
            late = evaluation.late[left] if left < LATE_TILES else 0
            rack.equity_terms[subrack] = rack.leaves[kept] + late
        elif kept:
            points = evaluation.kept_times * rack.points[kept]
            rack.equity_terms[subrack] = -POINT * points - evaluation.not_out
        else:
            rack.equity_terms[subrack] = POINT * evaluation.out_times * opponent_points


@helper
def use_evaluation(evaluation: EvaluationRecord, other: EvaluationRecord) -> None:
    """Copy ``other`` into an evaluation, which is modified in place."""
    evaluation.vowels = other.vowels
    evaluation.opening_vowel = other.opening_vowel
    evaluation.out_times = other.out_times
    evaluation.kept_times = other.kept_times
    evaluation.not_out = other.not_out
    for tiles in range(LATE_TILES):
        evaluation.late[tiles] = other.late[tiles]


@helper
def opening_cost(board: BoardRecord, evaluation: EvaluationRecord, move: Any) -> Any:
    """Compute the cost of a first play for vowels beside premium squares of the next lines."""
    squares, side = board.squares, board.side
    square = first_square(side, move)
    cost = np.int64(0)
    for nth in range(tile_count(move)):
        letter = move_tile(move, nth) & LETTER_MASK
        if evaluation.vowels >> letter & np.uint64(1):
            steps = _premium_steps(squares[square - side]) + _premium_steps(squares[square + side])
            cost += evaluation.opening_vowel * steps
        square += 1
    return cost


@helper
def _premium_steps(square: Any) -> Any:
    """Return 1 for a double, 2 for a triple, 0 for a plain square or off the board."""
    if not square.on_board:
        return np.int64(0)
    return np.int64(square.letter_multiplier) + np.int64(square.word_multiplier) - 2

"""Static evaluation: what each move is worth without looking ahead.

While the bag has tiles, equity is the score and the worth of what stays on the rack
(``bot.leaves``). The worth shrinks over the last tiles of the bag, for fewer turns are left to use
them in. When the bag is empty there is nothing to draw: who goes out gains twice what the opponent
still holds, who does not may lose twice what he keeps, and the opponent has another turn.

Equity is in thousandths of a point.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from engine.moves import Exchange, Move, Pass, Place
from engine.position import Rack
from lexicons.alphabet import BLANK, BLANK_FLAG

from .leaves import leave_formula
from .player import View

__all__ = ["Evaluated", "evaluate", "leave_after", "leave_worth"]

POINT = 1_000

FULL_WORTH_BAG = 7
"""With fewer tiles in the bag than these, leaves are worth less, in proportion."""

PASS_COST = 10_000
"""What a pass costs while the bag has tiles: nothing is drawn to what is kept."""

NOT_OUT_COST = 8_000
"""What it costs, with an empty bag, not to go out: the opponent's next turn."""


class Evaluated(NamedTuple):
    """A move with its score in points and its equity in thousandths."""

    move: Move
    score: int
    equity: int


def evaluate(view: View) -> list[Evaluated]:
    """Evaluate what may be played, the best first; equals stay in the order of ``legal_moves``."""
    adjustment = _out_play(view) if view.bag == 0 else leave_worth(view)
    found = [
        Evaluated(move, score, score * POINT + adjustment(move))
        for move, score in view.legal_moves()
    ]
    found.sort(key=lambda evaluated: -evaluated.equity)
    return found


def leave_after(rack: Rack, move: Move) -> Rack:
    """Give what a move leaves on the rack, before drawing."""
    match move:
        case Place():
            used = [BLANK if tile & BLANK_FLAG else tile for tile in move.tiles if tile]
        case Exchange():
            used = list(move.tiles)
        case Pass():
            return rack
    left = list(rack)
    for tile in used:
        left.remove(tile)
    return tuple(left)


def leave_worth(view: View) -> Callable[[Move], int]:
    """Give a function that says what a move leaves is worth, while the bag has tiles."""
    formula = leave_formula(view.rules.distribution)
    parts = min(view.bag, FULL_WORTH_BAG)
    rack = view.rack

    def worth(move: Move) -> int:
        value = formula.worth(leave_after(rack, move)) * parts // FULL_WORTH_BAG
        return value - PASS_COST if isinstance(move, Pass) else value

    return worth


def _out_play(view: View) -> Callable[[Move], int]:
    """Give a function that says what a move is worth beyond its score, when the bag is empty."""
    distribution = view.rules.distribution
    rack = view.rack
    opponents = sum(
        count * points for count, points in zip(view.unseen, distribution.points, strict=True)
    )

    def worth(move: Move) -> int:
        left = leave_after(rack, move)
        if not left:
            return 2 * POINT * opponents
        return -2 * POINT * distribution.value(left) - NOT_OUT_COST

    return worth

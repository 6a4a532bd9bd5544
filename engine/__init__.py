"""What may be played, and what is best: rules, games, move generation. Pure: no I/O, no clock.

``Game.start`` deals, ``game.play(move, words)`` checks a move and gives the game after it.
``legal_moves`` finds every move; it alone imports numba, when first asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .rules.bag import Bag, DrawStream, verify_draws
from .rules.game import Game
from .rules.moves import PASS, Direction, Exchange, Move, Place
from .rules.position import Board, Position
from .rules.rules import IllegalMove, Rules, check_move, standard_rules

if TYPE_CHECKING:
    from .movegen.generator import legal_moves

__all__ = [
    "PASS",
    "Bag",
    "Board",
    "Direction",
    "DrawStream",
    "Exchange",
    "Game",
    "IllegalMove",
    "Move",
    "Place",
    "Position",
    "Rules",
    "check_move",
    "legal_moves",
    "standard_rules",
    "verify_draws",
]


def __getattr__(name: str) -> Any:
    if name == "legal_moves":
        from .movegen.generator import legal_moves

        return legal_moves
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

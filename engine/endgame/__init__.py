"""Endgames: with the bag empty both racks are known, and the best play can be proved.

``solver``     a position worked on in slices; after any of them there is a move and a value
``mtdf``  what is asked next, until the value is known
``searcher``   one thread's memory, laid out for the kernel (``engine.kernels.endgame``)

Values are points in spread that the player on turn gains from here to the end of the game, with
what the racks come to in the end: twice the other's tiles for going out, or each its own after six
scoreless turns.
"""

from __future__ import annotations

from engine.kernels.endgame_stack import MOST_LISTED

from .searcher import LEAST_MEMORY
from .solver import (
    LEAST_LIMIT,
    USUAL_MEMORY,
    EndgameSolver,
    Solution,
    least_memory,
    with_both_racks,
)

__all__ = [
    "LEAST_LIMIT",
    "LEAST_MEMORY",
    "MOST_LISTED",
    "USUAL_MEMORY",
    "EndgameSolver",
    "Solution",
    "least_memory",
    "with_both_racks",
]

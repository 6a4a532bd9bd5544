"""The second table of CS221 (Stanford 2016): simple players against each other.

*vanilla* plays the highest score, *rh* adds learned features of the leave, and *static* has a whole
leave table and all adjustments.
"""

from __future__ import annotations

from itertools import combinations

from engine.evaluation import PLAIN
from lexicons.leaves import LeaveTable

from ..bench.selfplay import Field
from .duel import Duel, Judge, play_duel, static, vanilla

__all__ = ["USUAL_GAMES", "measure_cs221"]

USUAL_GAMES = 300


def measure_cs221(
    field: Field, rack_table: LeaveTable, games: int, threads: int, seed: int
) -> list[Duel]:
    """Play so many games between each two of static, rh and vanilla, in this order.

    Args:
        field: words and rules; its leave table is that of static.
        rack_table: the leave table of rh (``lexicons.rack_features.leave_table``).
        games: for each two players.
        threads: how many games at once.
        seed: for the bags, which are the same for each two players.

    Raises:
        ValueError: fewer than four games, an odd number of them, or no thread.
    """
    judges = {
        "static": static(field.leaves),
        "rh": Judge(rack_table, PLAIN),
        "vanilla": vanilla(field.leaves),
    }
    return [
        play_duel(
            names,
            (judges[names[0]], judges[names[1]]),
            field.lexicon,
            field.rules,
            games,
            threads=threads,
            seed=seed,
        )
        for names in combinations(judges, 2)
    ]

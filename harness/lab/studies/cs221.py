"""The tables of CS221 (Stanford 2016): simple players against each other.

*vanilla* plays the highest score, *rh* adds learned features of the leave, and *static* has a whole
leave table and all adjustments; these play in kernels. *mc* and *mc+rh* sample before they move
(``bot.players.mc``), and play turn by turn.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import numpy as np

from engine.movegen.evaluation import PLAIN
from harness.lab.study_context import Field
from harness.lab.workers import open_crew
from lexicons.leaves import LeaveTable

from .duel import Duel, Judge, add_up, play_duel, static, vanilla
from .games import Meeting, open_games, play_missing

__all__ = ["PLAYERS", "measure_cs221", "measure_sampling"]

PLAYERS = ("vanilla", "rh", "mc", "mc+rh")


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


def measure_sampling(
    field: Field,
    games: int,
    workers: int,
    seed: int,
    out: Path | None = None,
    progress: Callable[[str], Callable[[int], object]] | None = None,
) -> list[Duel]:
    """Play so many games of each of CS221's own players against vanilla, itself among them.

    Args:
        field: words and rules.
        games: for each player.
        workers: how many processes play at once.
        seed: for the bags, which are the same for each player, and for their samples.
        out: a file that has, or gets, what came of each game (``open_games``).
        progress: told a player, gives what is told after each of his games how many there are.

    Raises:
        ValueError: as ``open_games``, ``open_crew`` and ``play_missing``.
        OSError: the file can't be read or written.
    """
    meetings = [
        Meeting((player, "vanilla"), field.lexicon, field.rules, seed) for player in PLAYERS
    ]
    found = []
    with open_games(out, meetings[0]) as lines, open_crew(workers, alone=True) as crew:
        for one in meetings:
            count = None if progress is None else progress(one.seats[0])
            records = play_missing(lines, one, games, crew, count).records[:games]
            scores = np.array([each["scores"] for each in records])
            found.append(add_up(*one.seats, scores[:, 0], scores[:, 1]))
    return found

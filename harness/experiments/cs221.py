"""The second table of CS221 (Stanford 2016): simple players against each other, game by game.

*vanilla* plays the highest score, *rh* adds learned features of the leave, and *static* has a whole
leave table and all adjustments. The games are played in pairs with the same draws, the seats
swapped, so that most of the luck cancels out.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np

from engine.evaluation import PLAIN, STANDARD, Evaluation
from engine.selfplay import StaticGames, play_static_games
from lexicons.leaves import LeaveTable

from ..bench.selfplay import Field

__all__ = ["USUAL_GAMES", "Duel", "measure_cs221"]

USUAL_GAMES = 300


@dataclass(frozen=True)
class Duel:
    """One player against another; a row of the table."""

    player: str
    opponent: str
    games: int
    wins: float
    """The share of games that the player wins; a tie is half a win."""
    mean: float
    """Points of the player in a game."""
    opponent_mean: float
    difference: float
    """Points a game that the player is ahead."""
    error: float
    """The standard error of that, over pairs."""
    lost_twice: float
    """The share of games that he loses to twice his points or more."""
    largest_ratio: float
    """The winner's points by the loser's, in the game where that is most; a loser without points
    counts as having one."""


class _Judge(NamedTuple):
    leaves: LeaveTable
    evaluation: Evaluation


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
    if games < 4 or games % 2:
        raise ValueError(f"{games} games; they come in pairs, two pairs or more")
    judges = {
        "static": _Judge(field.leaves, STANDARD),
        "rh": _Judge(rack_table, PLAIN),
        "vanilla": _Judge(LeaveTable.zero(field.rules.distribution), PLAIN),
    }
    duels = []
    for player, opponent in combinations(judges, 2):
        played = play_static_games(
            field.lexicon,
            field.rules,
            judges[player].leaves,
            games,
            seed=seed,
            threads=threads,
            opponent=judges[opponent].leaves,
            pairs=True,
            mirrored=True,
            evaluation=judges[player].evaluation,
            opponent_evaluation=judges[opponent].evaluation,
        )
        duels.append(duel_of(player, opponent, played))
    return duels


def duel_of(player: str, opponent: str, played: StaticGames) -> Duel:
    """Add games up that were played in pairs."""
    seats = played.begins[:, np.newaxis]
    own = np.take_along_axis(played.scores, seats, axis=1)[:, 0]
    other = np.take_along_axis(played.scores, 1 - seats, axis=1)[:, 0]
    pairs = (own - other).reshape(-1, 2).mean(axis=1)
    ratios = np.maximum(own, other) / np.maximum(np.minimum(own, other), 1)
    return Duel(
        player=player,
        opponent=opponent,
        games=len(own),
        wins=round(float(np.sign(own - other).mean() + 1) / 2, 4),
        mean=round(float(own.mean()), 2),
        opponent_mean=round(float(other.mean()), 2),
        difference=round(float(pairs.mean()), 2),
        error=round(float(pairs.std(ddof=1) / np.sqrt(len(pairs))), 2),
        lost_twice=round(float(np.mean((own < other) & (2 * own <= other))), 4),
        largest_ratio=round(float(ratios.max()), 2),
    )

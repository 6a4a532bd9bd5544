"""One player against another in whole games, thousands a second, all in kernels.

The games are played in pairs with the same draws, the seats swapped, so that most of the luck
cancels out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from engine.movegen.evaluation import PLAIN, STANDARD, Evaluation
from engine.rules.rules import Rules
from engine.simulation.selfplay import StaticGames, play_static_games
from harness.matches.significance import mean_and_error
from lexicons.leaves import LeaveTable
from lexicons.store import Lexicon

__all__ = ["Duel", "Judge", "add_up", "duel_of", "greedy", "play_duel", "static", "vanilla"]

Points: TypeAlias = npt.NDArray[np.signedinteger[Any]]

_TIE_BREAK = 1_000
"""Leaves of a greedy player count so much less that all of them are less than a point."""


class Judge(NamedTuple):
    """What a player of kernel games judges moves by: the highest equity is played."""

    leaves: LeaveTable
    evaluation: Evaluation


def static(leaves: LeaveTable) -> Judge:
    """Judge by a leave table and all adjustments."""
    return Judge(leaves, STANDARD)


def greedy(leaves: LeaveTable) -> Judge:
    """Judge by the score; of equal scores by what they leave."""
    return Judge(LeaveTable(leaves.distribution, leaves.values // _TIE_BREAK), PLAIN)


def vanilla(leaves: LeaveTable) -> Judge:
    """Judge by the score alone."""
    return Judge(LeaveTable.zero(leaves.distribution), PLAIN)


@dataclass(frozen=True)
class Duel:
    """What came of the games of one player against another."""

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
    """Half the width of its 95 % interval, over pairs."""
    lost_twice: float
    """The share of games that he loses to twice his points or more."""
    largest_ratio: float
    """The winner's points by the loser's, in the game where that is most; a loser without points
    counts as having one."""


def play_duel(
    names: tuple[str, str],
    judges: tuple[Judge, Judge],
    lexicon: Lexicon,
    rules: Rules,
    games: int,
    *,
    threads: int,
    seed: int,
) -> Duel:
    """Play so many games between two players.

    Raises:
        ValueError: fewer than four games, an odd number of them, or no thread.
    """
    if games < 4 or games % 2:
        raise ValueError(f"{games} games; they come in pairs, two pairs or more")
    player, opponent = judges
    played = play_static_games(
        lexicon,
        rules,
        player.leaves,
        games,
        seed=seed,
        threads=threads,
        opponent=opponent.leaves,
        pairs=True,
        mirrored=True,
        evaluation=player.evaluation,
        opponent_evaluation=opponent.evaluation,
    )
    return duel_of(*names, played)


def duel_of(player: str, opponent: str, played: StaticGames) -> Duel:
    """Add games up that were played in pairs."""
    seats = played.begins[:, np.newaxis]
    own = np.take_along_axis(played.scores, seats, axis=1)[:, 0]
    other = np.take_along_axis(played.scores, 1 - seats, axis=1)[:, 0]
    return add_up(player, opponent, own, other)


def add_up(player: str, opponent: str, own: Points, other: Points) -> Duel:
    """Add games up by the points of each, [games], four or more; two in a row are a pair."""
    pairs = np.arange(len(own)) // 2
    difference, error = mean_and_error((own - other).astype(np.float64), pairs, len(own) // 2)
    assert difference is not None
    assert error is not None  # since there are two pairs or more
    ratios = np.maximum(own, other) / np.maximum(np.minimum(own, other), 1)
    return Duel(
        player=player,
        opponent=opponent,
        games=len(own),
        wins=round(float(np.sign(own - other).mean() + 1) / 2, 4),
        mean=round(float(own.mean()), 2),
        opponent_mean=round(float(other.mean()), 2),
        difference=round(difference, 2),
        error=round(error, 2),
        lost_twice=round(float(np.mean((own < other) & (2 * own <= other))), 4),
        largest_ratio=round(float(ratios.max()), 2),
    )

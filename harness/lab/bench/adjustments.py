"""What each adjustment of the static evaluation is worth: games with it against games without.

In each pair of games both players draw the same tiles from an end of the bag of their own, once in
either seat, so that most of the luck cancels out.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np

from engine.movegen.evaluation import STANDARD, Evaluation
from engine.simulation.selfplay import play_static_games
from harness.lab.study_context import Field

__all__ = ["Adjustment", "measure_adjustments"]


@dataclass(frozen=True)
class Adjustment:
    """One adjustment, switched off for one of the players."""

    name: str
    games: int
    spread: float
    """Points a game that the player with it gains."""
    error: float
    """The standard error of that, over pairs."""
    wins: float
    """The share of games that he wins; a tie is half a win."""


def measure_adjustments(field: Field, games: int, threads: int, seed: int) -> list[Adjustment]:
    """Play games with and without each adjustment.

    Raises:
        ValueError: fewer than two games, an odd number of them, or no thread.
    """
    if games < 4 or games % 2:
        raise ValueError(f"{games} games; they come in pairs, two pairs or more")
    found = []
    for switch in fields(Evaluation):
        played = play_static_games(
            field.lexicon,
            field.rules,
            field.leaves,
            games,
            seed=seed,
            threads=threads,
            pairs=True,
            mirrored=True,
            opponent_evaluation=replace(STANDARD, **{switch.name: False}),
        )
        spread = played.scores[:, 0] - played.scores[:, 1]
        spread = np.where(played.begins == 0, spread, -spread)
        pairs = spread.reshape(-1, 2).mean(axis=1)
        found.append(
            Adjustment(
                name=switch.name,
                games=games,
                spread=round(float(pairs.mean()), 3),
                error=round(float(pairs.std(ddof=1) / np.sqrt(len(pairs))), 3),
                wins=round(float(np.sign(spread).mean() + 1) / 2, 4),
            )
        )
    return found

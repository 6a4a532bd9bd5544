"""Rollouts of the static choice: what it gains when both sides go on as static players.

The simulation that chooses between moves will be made of these.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from engine.generate import Generator, RankedMove
from engine.kernels.game import MOST_TILES, new_game
from engine.kernels.rollouts import roll_out
from engine.position import Position, unseen

__all__ = ["Rollouts", "roll_out_best"]


@dataclass(frozen=True)
class Rollouts:
    """What came of rolling one move out."""

    move: RankedMove
    spreads: npt.NDArray[np.int32]
    """[rollouts] points that the mover gained on his opponent, the move's own included."""
    turns: int
    """How many turns static players took in all."""


def roll_out_best(
    generator: Generator, position: Position, plies: int, rollouts: int, seed: int = 0
) -> Rollouts:
    """Make the static choice of a position, let static players take turns after it, and again.

    Args:
        generator: its desk is used; one thread at a time.
        position: the opponent's rack, if it is known, is not looked at.
        plies: how many turns are taken after the move, fewer if the game ends.
        rollouts: how many times, each with another rack of the opponent and another bag.
        seed: for the draws.

    Raises:
        ValueError: as ``Generator.best``, there is nothing to do but pass, or more tiles are unseen
            than rollouts take.
    """
    best = generator.best(position)[0]
    packed = generator.desk["found"]["moves"][0, 0]
    if not generator.desk["found"]["count"][0]:
        raise ValueError("the player on turn can only pass; there is nothing to roll out")
    rules = generator.rules
    hidden = np.repeat(
        np.arange(len(rules.distribution.counts), dtype=np.uint8),
        unseen(position, position.on_turn, rules),
    )
    if len(hidden) > MOST_TILES:
        raise ValueError(f"{len(hidden)} tiles are unseen; rollouts take {MOST_TILES} at most")
    spreads = np.zeros(rollouts, np.int32)
    turns = roll_out(
        generator.desk,
        new_game(rules),
        generator.words.words,
        generator.leaves.arrays,
        np.array(sorted(position.racks[position.on_turn]), np.uint8),
        hidden,
        min(rules.rack_size, len(hidden)),
        packed,
        best.score,
        plies,
        np.uint64(seed),
        spreads,
    )
    return Rollouts(best, spreads, int(turns))

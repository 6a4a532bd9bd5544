"""What rollouts begin from, laid out for the kernel: racks, beliefs, utilities, probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from engine.generate import RankedMove
from engine.kernels.game import MOST_TILES
from engine.kernels.rollouts import CERTAIN, Candidates, Chances, Holdings, Scene
from engine.kernels.worths import POINT
from engine.packing import pack
from engine.position import Position, Rack, unseen
from engine.rules import Rules
from lexicons.leaves import LeaveTable
from lexicons.win_probability import WinProbabilities

__all__ = [
    "BY_POINTS",
    "TO_THE_END",
    "Belief",
    "Utility",
    "chances",
    "holdings",
    "packed_candidates",
    "scene",
]

TO_THE_END = 64
"""More plies than any game has left, for rollouts that begin late."""


@dataclass(frozen=True)
class Utility:
    """What a candidate is chosen for."""

    win: float = 1.0
    """For a sure win."""
    point: float = 0.0001
    """For each point: a hundred points count as a hundredth of a win."""


BY_POINTS = Utility(win=0.0, point=0.01)
"""Points and nothing else."""


@dataclass(frozen=True)
class Belief:
    """What the opponent may hold: tiles that he is thought to have, the rest drawn at random."""

    holdings: Sequence[Rack]
    """Each at most a rack, and possible with the tiles that are unseen."""
    weights: Sequence[float]
    """Of each, above 0."""


def scene(position: Position, rules: Rules, plies: int, seed: int, utility: Utility) -> Scene:
    """Lay out what every rollout begins with.

    Raises:
        ValueError: more of a tile is in sight than there are, or more are unseen than kernels take.
    """
    seat = position.on_turn
    hidden = np.repeat(
        np.arange(len(rules.distribution.counts), dtype=np.uint8), unseen(position, seat, rules)
    )
    if len(hidden) > MOST_TILES:
        raise ValueError(f"{len(hidden)} tiles are unseen; rollouts take {MOST_TILES} at most")
    known = len(position.racks[1 - seat])
    return Scene(
        rack=np.array(sorted(position.racks[seat]), np.uint8),
        hidden=hidden,
        opponent_tiles=known or min(rules.rack_size, len(hidden)),
        spread=position.scores[seat] - position.scores[1 - seat],
        scoreless=position.scoreless_turns,
        plies=min(plies, TO_THE_END),
        # Mixed, so that the samples of one seed are not those of the next, moved by one.
        seed=np.random.SeedSequence(seed & (1 << 64) - 1).generate_state(1, np.uint64)[0],
        win_weight=round(utility.win),
        point_weight=round(utility.point * CERTAIN),
    )


def holdings(position: Position, scene: Scene, belief: Belief | None, rules: Rules) -> Holdings:
    """Lay a belief out; a rack that is known is one holding, the whole of it.

    Raises:
        ValueError: a holding is not possible, or weights that are none.
    """
    hidden = scene.hidden
    known = position.racks[1 - position.on_turn]
    if known:
        belief = Belief([known], [1.0])
    if belief is None:
        belief = Belief([], [])
    counts = np.bincount(hidden, minlength=len(rules.distribution.counts))
    tiles = np.zeros((len(belief.holdings), rules.rack_size), np.uint8)
    sizes = np.array([len(one) for one in belief.holdings], np.uint8)
    for row, holding in zip(tiles, belief.holdings, strict=True):
        too_many = len(holding) > min(rules.rack_size, len(hidden))
        if too_many or (np.bincount(holding, minlength=len(counts)) > counts).any():
            raise ValueError(
                f"the opponent can't hold {rules.distribution.alphabet.text(holding)!r}: these "
                "tiles are not all unseen"
            )
        row[: len(holding)] = sorted(holding)
    weights = np.array(belief.weights, np.float64)
    if len(weights) != len(sizes) or not (weights > 0).all() or not np.isfinite(weights).all():
        raise ValueError(
            f"{len(weights)} weights for {len(sizes)} holdings; each has one, and it is above 0"
        )
    return Holdings(tiles, sizes, np.cumsum(weights))


def chances(table: WinProbabilities | None) -> Chances:
    """Lay a table out; without one every game that has not ended is won half."""
    if table is None:
        return Chances(np.full((1, 1), CERTAIN // 2, np.int32), 0, 0)
    values = np.round(table.values.astype(np.float64) * CERTAIN).astype(np.int32)
    return Chances(values, int(table.spreads[0]), int(table.unseen[0]))


def packed_candidates(candidates: Sequence[RankedMove], leaves: LeaveTable) -> Candidates:
    """Lay candidates out; what a whole rack is worth that stays, no table says."""
    worths = [
        round(leaves.value(one.leave) * POINT) if len(one.leave) < leaves.rack_size else 0
        for one in candidates
    ]
    return Candidates(
        np.array([pack(one.move) for one in candidates], np.uint64),
        np.array([one.score for one in candidates], np.int32),
        np.array(worths, np.int32),
    )

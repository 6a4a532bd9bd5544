"""Input of rollouts, laid out for the kernel: racks, leaves, utilities, probabilities."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from engine.inference.leave_prior import LeavePrior
from engine.kernels.rollouts import CERTAIN, Candidates, Chances, Holdings, Scene
from engine.movegen.evaluation import POINT
from engine.movegen.generator import RankedMove, check_rack
from engine.movegen.move_codec import pack
from engine.rules.moves import PASS, Place
from engine.rules.position import Position, unseen
from engine.rules.rules import Rules
from lexicons.arrays import F64
from lexicons.leaves import LeaveTable
from lexicons.win_probability import WinProbabilities

from .arm_statistics import Prior

_DEVIATION = 2.5
"""Standard deviation, in points, of equities after long simulations from static ones.

Measured as 3.3 over 20 candidates in each of 120 positions; less serves better, since a few are
far off and most are closer."""
_STEP = 20  # points over which win probabilities are taken to be linear

UNITS = np.array([CERTAIN, POINT, CERTAIN])
"""Parts of a win, of a point and of a squashed lead that kernels count."""

TO_THE_END = 64  # most plies of a rollout; hardly any game takes more


@dataclass(frozen=True)
class Utility:
    """Weights of a win, of the squashed lead and of a point in the choice of a candidate.

    Raises:
        ValueError: weights that are negative, infinite or all 0, or a scale that is not above 0.
    """

    win: float = 0.75
    lead: float = 0.25
    """Of the final lead, squashed into 0 to 1: points count most in a game that is open."""
    point: float = 0.0
    scale: float = 100.0
    """Points of lead that are squashed into 0.73."""

    def __post_init__(self) -> None:
        weights = (self.win, self.lead, self.point)
        if not (all(0 <= weight < math.inf for weight in weights) and any(weights)):
            raise ValueError(
                f"a win is worth {self.win}, a lead {self.lead} and a point {self.point}; all are "
                "0 or more, one above"
            )
        if not 0 < self.scale < math.inf:
            raise ValueError(f"scale is {self.scale}; it must be above 0 and finite")

    @property
    def weights(self) -> tuple[float, float, float]:
        """Weights of a win, a point and the squashed lead."""
        return self.win, self.point, self.lead

    def of(self, wins: F64, spreads: F64) -> F64:
        """Return the utility of win probabilities and spreads, in points."""
        leads = 1 / (1 + np.exp(-spreads / self.scale))
        utilities: F64 = self.win * wins + self.point * spreads + self.lead * leads
        return utilities


BY_POINTS = Utility(win=0.0, lead=0.0, point=1.0)  # points alone


@dataclass(frozen=True)
class Baseline:
    """Results of shorter rollouts of the candidates; longer ones measure the difference."""

    plies: int
    means: F64  # [candidates] utilities, shrunk
    values: F64  # [candidates, 3] win, equity in points, squashed lead
    deviation: float  # standard deviation, in wins, of longer rollouts' results from these


def scene(
    position: Position,
    rules: Rules,
    plies: int,
    seed: int,
    *,
    scale: float = 1.0,
    baseline: int = 0,
) -> Scene:
    """Return the common start of all rollouts.

    ``scale`` is that of ``Utility``, ``baseline`` the turns of the baseline, 0 without one.

    Raises:
        ValueError: a rack that generators refuse, or more of a tile in sight than there are.
    """
    seat = position.on_turn
    for rack in position.racks:
        check_rack(rack, len(rules.distribution.counts))
    hidden = np.repeat(
        np.arange(len(rules.distribution.counts), dtype=np.uint8), unseen(position, seat, rules)
    )
    known_tiles = len(position.racks[1 - seat])
    return Scene(
        rack=np.array(sorted(position.racks[seat]), np.uint8),
        hidden=hidden,
        opponent_tiles=known_tiles or min(rules.rack_size, len(hidden)),
        spread=position.spread(seat),
        scale=scale,
        scoreless=position.scoreless_turns,
        passes=position.passes,
        exchanges=(position.exchanges[seat], position.exchanges[1 - seat]),
        plies=min(plies, TO_THE_END),
        baseline=baseline,
        # Mixed, else the next seed would give the same samples, shifted by one.
        seed=np.random.SeedSequence(seed & (1 << 64) - 1).generate_state(1, np.uint64)[0],
    )


def believed(
    position: Position, scene: Scene, belief: LeavePrior | None, rules: Rules
) -> LeavePrior:
    """Return what the opponent kept, as far as is known: a belief, or the rack in the position.

    Its weights sum to 1.

    Raises:
        ValueError: a belief beside a known rack, an impossible leave or invalid weights.
    """
    opponent_rack = position.racks[1 - position.on_turn]
    if opponent_rack and belief is not None:
        raise ValueError("the opponent's rack is in the position; nothing is left to believe")
    belief_prior = (
        LeavePrior.certain(opponent_rack) if opponent_rack else belief or LeavePrior.nothing()
    )
    weights = belief_prior.weights
    total = weights.sum()
    if (
        len(weights) != len(belief_prior.tiles)
        or not (weights > 0).all()
        or not 0 < total < math.inf
    ):
        raise ValueError(
            f"{len(weights)} weights for {len(belief_prior.tiles)} leaves; "
            "each has one, and it is above 0"
        )
    if not 0 <= belief_prior.doubt <= 1:
        raise ValueError(f"a doubt of {belief_prior.doubt}; it is a share from 0 to 1")
    counts = np.bincount(scene.hidden, minlength=len(rules.distribution.counts))
    most = scene.opponent_tiles
    alien = (belief_prior.tiles >= len(counts)).any(axis=1)
    if alien.any():
        tiles = tuple(belief_prior.tiles[np.argmax(alien)].tolist())
        raise ValueError(f"the opponent can't hold {tiles}: these are no tiles")
    possible = belief_prior.are_possible(counts) & (belief_prior.size <= most)
    if not possible.all():
        text = rules.distribution.alphabet.text(belief_prior.tiles[np.argmin(possible)].tolist())
        raise ValueError(
            f"the opponent can't hold {text!r}: a leave is at most {most} of the unseen tiles"
        )
    return replace(belief_prior, weights=weights / total)


def holdings(kept: LeavePrior, rules: Rules) -> Holdings:
    """Return what the opponent kept as arrays: none if nothing is known."""
    if not kept.size:
        nothing = np.zeros((0, rules.rack_size), np.uint8)
        return Holdings(nothing, np.zeros(0, np.uint8), np.zeros(0))
    weights = kept.weights
    if kept.doubt:  # a last row, of no tiles
        weights = np.append(weights * (1 - kept.doubt), kept.doubt)
    tiles = np.zeros((len(weights), max(rules.rack_size, kept.size)), np.uint8)
    tiles[: len(kept.tiles), : kept.size] = kept.tiles
    sizes = np.zeros(len(weights), np.uint8)
    sizes[: len(kept.tiles)] = kept.size
    return Holdings(tiles, sizes, np.cumsum(weights))


def chances(table: WinProbabilities | None) -> Chances:
    """Return win probabilities for the kernel; without a table unfinished games count half."""
    if table is None:
        return Chances(np.full((1, 1), CERTAIN // 2, np.int32), 0, 0)
    values = np.round(table.values.astype(np.float64) * CERTAIN).astype(np.int32)
    return Chances(values, int(table.spreads[0]), int(table.unseen[0]))


def packed_candidates(
    candidates: Sequence[RankedMove], leaves: LeaveTable, baseline: Baseline | None = None
) -> Candidates:
    """Return candidates as arrays; a whole rack kept has no table value, so 0."""
    baselines = np.zeros((len(candidates), 3)) if baseline is None else baseline.values
    worths = [
        round(leaves.value(candidate.leave) * POINT)
        if len(candidate.leave) < leaves.rack_size
        else 0
        for candidate in candidates
    ]
    return Candidates(
        np.array([pack(candidate.move) for candidate in candidates], np.uint64),
        np.array([candidate.score for candidate in candidates], np.int32),
        np.array(worths, np.int32),
        np.round(baselines * UNITS).astype(np.int64),
    )


def static_prior(
    candidates: Sequence[RankedMove], scene: Scene, table: WinProbabilities | None, utility: Utility
) -> Prior:
    """Return the prior by static equity; a pass counts as the worst of the others."""
    spreads = [scene.spread + candidate.equity / POINT for candidate in candidates]
    bag = len(scene.hidden) - scene.opponent_tiles
    placed = [len(c.move.placed) if isinstance(c.move, Place) else 0 for c in candidates]
    left = [bag + len(scene.rack) - tiles for tiles in placed]
    wins, best = np.zeros(len(candidates)), int(np.argmax(spreads))
    near, near_wins = np.array([spreads[best] - _STEP, spreads[best] + _STEP]), np.zeros(2)
    if table is not None:
        wins = np.array([1 - table.at(-round(s), n) for s, n in zip(spreads, left, strict=True)])
        near_wins = np.array([1 - table.at(-round(float(s)), left[best]) for s in near])
    means = utility.of(wins, np.array(spreads))
    low, high = utility.of(near_wins, near)
    if len(passes := [candidate.move == PASS for candidate in candidates]) > sum(passes):
        means[passes] = means[np.invert(passes)].min()
    return Prior(means, _DEVIATION * float(high - low) / (2 * _STEP))

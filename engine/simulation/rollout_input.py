"""Input of rollouts, laid out for the kernel: racks, beliefs, utilities, probabilities."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from engine.kernels.rollouts import CERTAIN, Candidates, Chances, Holdings, Scene
from engine.movegen.evaluation import POINT
from engine.movegen.generator import RankedMove, check_rack
from engine.movegen.move_codec import pack
from engine.rules.moves import PASS, Place
from engine.rules.position import Position, Rack, unseen
from engine.rules.rules import Rules
from lexicons.arrays import F64, I64, U8
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
class Belief:
    """What the opponent may hold: tiles that it may have; the rest is drawn at random."""

    holdings: Sequence[Rack] | U8  # each at most a rack, of unseen tiles; in an array one per row
    weights: Sequence[float] | F64  # one per holding, above 0
    doubt: float = 0.0  # share of samples that draw its whole rack at random, 0 to 1


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
    check_rack(position.racks[seat], len(rules.distribution.counts))
    hidden = np.repeat(
        np.arange(len(rules.distribution.counts), dtype=np.uint8), unseen(position, seat, rules)
    )
    known = len(position.racks[1 - seat])
    return Scene(
        rack=np.array(sorted(position.racks[seat]), np.uint8),
        hidden=hidden,
        opponent_tiles=known or min(rules.rack_size, len(hidden)),
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


def holdings(position: Position, scene: Scene, belief: Belief | None, rules: Rules) -> Holdings:
    """Return a belief as arrays; a known rack is the only holding.

    Raises:
        ValueError: an impossible holding or invalid weights.
    """
    hidden = scene.hidden
    known = position.racks[1 - position.on_turn]
    if known and belief is not None:
        raise ValueError("the opponent's rack is in the position; nothing is left to believe")
    belief = belief or Belief([known] if known else [], [1.0] if known else [])
    tiles, sizes = _rows(belief, rules)
    weights = np.array(belief.weights, np.float64)
    if len(weights) != len(sizes) or not (weights > 0).all() or not weights.sum() < math.inf:
        raise ValueError(
            f"{len(weights)} weights for {len(sizes)} holdings; each has one, and it is above 0"
        )
    if not 0 <= belief.doubt <= 1:
        raise ValueError(f"a doubt of {belief.doubt}; it is a share from 0 to 1")
    counts = np.bincount(hidden, minlength=len(rules.distribution.counts))
    _check_possible(tiles, sizes, counts, scene.opponent_tiles, rules)
    if belief.doubt and len(weights):
        tiles = np.append(tiles, np.zeros((1, rules.rack_size), np.uint8), axis=0)
        sizes = np.append(sizes, np.uint8(0))
        weights = np.append(weights / weights.sum() * (1 - belief.doubt), belief.doubt)
    return Holdings(tiles, sizes, np.cumsum(weights))


def _rows(belief: Belief, rules: Rules) -> tuple[U8, U8]:
    most, kinds = rules.rack_size, len(rules.distribution.counts)
    if isinstance(belief.holdings, np.ndarray):
        count, size = belief.holdings.shape
        sizes = np.full(count, size, np.uint8)
        tiles = np.zeros((count, max(most, size)), np.uint8)
        tiles[:, :size] = np.sort(belief.holdings, axis=1)
    else:
        for holding in belief.holdings:
            _check_tiles(holding, kinds)
        sizes = np.array([len(rack) for rack in belief.holdings], np.uint8)
        tiles = np.zeros((len(sizes), max(most, *sizes.tolist(), 0)), np.uint8)
        for row, holding in zip(tiles, belief.holdings, strict=True):
            row[: len(holding)] = sorted(holding)
    return tiles, sizes


def _check_tiles(holding: Rack, kinds: int) -> None:
    if not all(0 <= tile < kinds for tile in holding):
        raise ValueError(f"the opponent can't hold {tuple(holding)}: these are no tiles")


def _check_possible(
    tiles: U8,
    sizes: U8,
    counts: I64,
    most: int,
    rules: Rules,
) -> None:
    used = np.arange(tiles.shape[1]) < sizes[:, np.newaxis]
    alien = (used & (tiles >= len(counts))).any(axis=1)
    if alien.any():
        row = int(np.flatnonzero(alien)[0])
        _check_tiles(tuple(tiles[row, : sizes[row]].tolist()), len(counts))
    times = np.ones(tiles.shape, np.int64)  # occurrences so far; rows are sorted
    for at in range(1, tiles.shape[1]):
        again = used[:, at] & (tiles[:, at] == tiles[:, at - 1])
        times[again, at] += times[again, at - 1]
    impossible = (sizes > most) | (used & (times > counts[tiles])).any(axis=1)
    if impossible.any():
        row = int(np.flatnonzero(impossible)[0])
        text = rules.distribution.alphabet.text(tiles[row, : sizes[row]].tolist())
        raise ValueError(
            f"the opponent can't hold {text!r}: a holding is at most {most} of the unseen tiles"
        )


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
    known = np.zeros((len(candidates), 3)) if baseline is None else baseline.values
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
        np.round(known * UNITS).astype(np.int64),
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

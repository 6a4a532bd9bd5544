"""What rollouts begin from, laid out for the kernel: racks, beliefs, utilities, probabilities."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from engine.kernels.equity_terms import POINT
from engine.kernels.game import MOST_TILES
from engine.kernels.rollouts import CERTAIN, Candidates, Chances, Holdings, Scene
from engine.movegen.generator import RankedMove, check_rack
from engine.movegen.move_codec import pack
from engine.rules.moves import PASS, Move, Place
from engine.rules.position import Position, Rack, unseen
from engine.rules.rules import Rules
from lexicons.leaves import LeaveTable
from lexicons.win_probability import WinProbabilities

from .arm_statistics import Prior

__all__ = [
    "BY_POINTS",
    "TO_THE_END",
    "Belief",
    "Utility",
    "chances",
    "holdings",
    "packed_candidates",
    "prior",
    "scene",
]

_DEVIATION = 2.5
"""Points by which equities after long simulations are off from the static ones.

It was 3.3 over 20 candidates in each of 120 positions; less serves better, since some are off by
far more than that and most by less."""
_STEP = 20  # points over which a table of win probabilities is taken to be straight

TO_THE_END = 64
"""The most plies of a rollout, more than any game has that begins late; hardly one has so many from
its beginning."""


@dataclass(frozen=True)
class Utility:
    """What a candidate is chosen for: ``win`` × probability to win + ``point`` × points."""

    win: float = 1.0
    point: float = 0.0001
    """A hundred points count as a hundredth of a win: they decide where all else is even."""

    def __post_init__(self) -> None:
        """Check the weights."""
        if not (0 <= self.win < math.inf and 0 <= self.point < math.inf and self.win + self.point):
            raise ValueError(
                f"a win is worth {self.win} and a point {self.point}; both are 0 or more, one above"
            )


BY_POINTS = Utility(win=0.0, point=1.0)
"""Points and nothing else."""


@dataclass(frozen=True)
class Belief:
    """What the opponent may hold: tiles that it is thought to have, the rest drawn at random."""

    holdings: Sequence[Rack] | npt.NDArray[np.uint8]
    """Each at most a rack, and possible with the tiles that are unseen; as an array a row each."""
    weights: Sequence[float] | npt.NDArray[np.float64]
    """Of each, above 0."""
    doubt: float = 0.0
    """The share of samples in which its whole rack is drawn at random, 0 to 1."""


def scene(position: Position, rules: Rules, plies: int, seed: int) -> Scene:
    """Lay out what every rollout begins with.

    Raises:
        ValueError: a rack that generators refuse, more of a tile in sight than there are, or more
            unseen than kernels take.
    """
    seat = position.on_turn
    check_rack(position.racks[seat], len(rules.distribution.counts))
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
    )


def holdings(position: Position, scene: Scene, belief: Belief | None, rules: Rules) -> Holdings:
    """Lay a belief out; a rack that is known is one holding, the whole of it.

    Raises:
        ValueError: a holding is not possible, or weights that are none.
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


def _rows(belief: Belief, rules: Rules) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8]]:
    """Return each holding as a sorted row, filled up with blanks, and the number of its tiles."""
    most, kinds = rules.rack_size, len(rules.distribution.counts)
    if isinstance(belief.holdings, np.ndarray):
        count, size = belief.holdings.shape
        sizes = np.full(count, size, np.uint8)
        tiles = np.zeros((count, max(most, size)), np.uint8)
        tiles[:, :size] = np.sort(belief.holdings, axis=1)
    else:
        for holding in belief.holdings:
            _check_tiles(holding, kinds)
        sizes = np.array([len(one) for one in belief.holdings], np.uint8)
        tiles = np.zeros((len(sizes), max(most, *sizes.tolist(), 0)), np.uint8)
        for row, holding in zip(tiles, belief.holdings, strict=True):
            row[: len(holding)] = sorted(holding)
    return tiles, sizes


def _check_tiles(holding: Rack, kinds: int) -> None:
    if not all(0 <= tile < kinds for tile in holding):
        raise ValueError(f"the opponent can't hold {tuple(holding)}: these are no tiles")


def _check_possible(
    tiles: npt.NDArray[np.uint8],
    sizes: npt.NDArray[np.uint8],
    counts: npt.NDArray[np.int64],
    most: int,
    rules: Rules,
) -> None:
    """Check that each holding is part of what is unseen, and fits on the rack."""
    used = np.arange(tiles.shape[1]) < sizes[:, np.newaxis]
    alien = (used & (tiles >= len(counts))).any(axis=1)
    if alien.any():
        row = int(np.flatnonzero(alien)[0])
        _check_tiles(tuple(tiles[row, : sizes[row]].tolist()), len(counts))
    times = np.ones(tiles.shape, np.int64)  # that a tile was there so far; rows are sorted
    for at in range(1, tiles.shape[1]):
        again = used[:, at] & (tiles[:, at] == tiles[:, at - 1])
        times[again, at] += times[again, at - 1]
    impossible = (sizes > most) | (used & (times > counts[tiles])).any(axis=1)
    if impossible.any():
        row = int(np.flatnonzero(impossible)[0])
        text = rules.distribution.alphabet.text(tiles[row, : sizes[row]].tolist())
        raise ValueError(
            f"the opponent can't hold {text!r}: he has {most} tiles of those that are unseen"
        )


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


def prior(
    candidates: Sequence[RankedMove], scene: Scene, table: WinProbabilities | None, utility: Utility
) -> Prior:
    """Compute what is thought of candidates before any is rolled out: what their equity makes of
    it.

    The equity of a pass only puts it behind all else; it is thought to be as bad as the worst.
    """
    spreads = [scene.spread + one.equity / POINT for one in candidates]
    bag = len(scene.hidden) - scene.opponent_tiles
    left = [bag + len(scene.rack) - _placed(one.move) for one in candidates]
    wins, slope = np.zeros(len(candidates)), 0.0
    if table is not None:
        wins = np.array([1 - table.at(-round(s), n) for s, n in zip(spreads, left, strict=True)])
        best = int(np.argmax(spreads))
        ahead, behind = (round(spreads[best]) + step for step in (_STEP, -_STEP))
        slope = (table.at(-behind, left[best]) - table.at(-ahead, left[best])) / (2 * _STEP)
    means = utility.win * wins + utility.point * np.array(spreads)
    if len(passes := [one.move == PASS for one in candidates]) > sum(passes):
        means[passes] = means[np.invert(passes)].min()
    return Prior(means, _DEVIATION * (utility.win * slope + utility.point))


def _placed(move: Move) -> int:
    """Count the tiles that a move takes out of the bag and the racks."""
    return len(move.placed) if isinstance(move, Place) else 0

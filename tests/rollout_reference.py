"""The slow twin of a rollout: the same luck, played turn by turn with the rules of plain Python.

It shares the choice of replies with the kernel (``Generator.best``, which has a twin of its own),
and nothing else: the random numbers, deal, draws and sums are written out here.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate

import numpy as np

from engine.inference.leave_prior import LeavePrior
from engine.movegen.generator import Generator, RankedMove
from engine.rules.game import adjusted, settlement
from engine.rules.moves import Exchange, Move, Place
from engine.rules.position import Position, Rack, tiles_of, unseen
from engine.rules.rules import check_move, leave_of
from lexicons.leaves import LeaveTable
from lexicons.store import Lexicon
from lexicons.win_probability import WinProbabilities

SURE = 100_000
SCALE = 100
"""Points of lead that are squashed into 0.73."""
_BITS = (1 << 64) - 1


class Luck:
    """SplitMix64 (Steele, Lea and Flood 2014); each sample begins elsewhere."""

    def __init__(self, seed: int, sample: int) -> None:
        mixed = int(np.random.SeedSequence(seed).generate_state(1, np.uint64)[0])
        self.state = (mixed + sample) * 0xD1342543DE82EF95 & _BITS

    def below(self, count: int) -> int:
        self.state = self.state + 0x9E3779B97F4A7C15 & _BITS
        mixed = self.state
        mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9 & _BITS
        mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB & _BITS
        return ((mixed ^ mixed >> 31) >> 32) * count >> 32


@dataclass
class Rollout:
    """A rollout as it goes on, and what came of it."""

    position: Position
    """As the mover sees it, but for the opponent's rack; the mover's score is what he gained."""
    bag: list[int]
    """The mover draws from the front, the opponent from the back."""
    dealt: Rack
    """What the opponent was given."""
    luck: Luck
    kept: dict[int, int] = field(default_factory=dict)
    """By seat, worth of what was left of the rack before the last draw, thousandths of a point."""
    turns: list[tuple[Move, int, bool]] = field(default_factory=list)
    """After the candidate: move, score, whether it was a bingo."""
    ending: str = ""
    gained: int = 0
    """Thousandths of a point."""
    win: int = 0
    """In parts of ``SURE``."""
    lead: int = 0
    """Squashed, in parts of ``SURE``."""


@dataclass(frozen=True)
class SlowRollouts:
    """Rollouts of a position."""

    generator: Generator
    lexicon: Lexicon
    position: Position
    table: WinProbabilities | None
    plies: int
    seed: int = 0
    belief: LeavePrior | None = None

    def of(self, candidate: RankedMove, sample: int) -> Rollout:
        """Play one candidate out, and say what came of it."""
        rollout = self.deal(sample)
        mover = self.position.on_turn
        tiles = self._tiles(rollout)
        self._take_turn(rollout, candidate.move)
        for _ in range(self.plies):
            if rollout.ending:
                break
            reply = self.generator.best(rollout.position)[0]
            score = self._take_turn(rollout, reply.move)
            assert score == reply.score
            bingo = isinstance(reply.move, Place) and len(reply.move.placed) == self.rack_size
            rollout.turns.append((reply.move, score, bingo))
            assert self._tiles(rollout) == tiles, "tiles were made or lost"
        self._add_up(rollout, mover)
        return rollout

    def deal(self, sample: int) -> Rollout:
        """Give the opponent a rack and put the rest into an order."""
        position, luck = self.position, Luck(self.seed, sample)
        mover = position.on_turn
        counts = unseen(position, mover, self.generator.rules)
        bag = [tile for tile, count in enumerate(counts) for _ in range(count)]
        known = position.racks[1 - mover]
        size = len(known) or min(self.rack_size, len(bag))
        belief = LeavePrior.certain(known) if known else self.belief
        rack: list[int] = []
        if belief is not None:
            rack += sorted(_drawn(belief, luck))
            for tile in rack:  # the last tile of the bag comes where it was
                at = bag.index(tile)
                bag[at] = bag[-1]
                del bag[-1]
        for last in range(len(bag) - 1, 0, -1):
            other = luck.below(last + 1)
            bag[last], bag[other] = bag[other], bag[last]
        while len(rack) < size:
            rack.append(bag.pop())
        dealt = tuple(sorted(rack))
        begun = replace(position.with_rack(1 - mover, dealt), scores=(0, 0))
        return Rollout(begun, bag, dealt, luck)

    @property
    def rack_size(self) -> int:
        return self.generator.rules.rack_size

    @property
    def leaves(self) -> LeaveTable:
        return self.generator.leaves

    def _tiles(self, rollout: Rollout) -> Counter[int]:
        position = rollout.position
        return Counter([*tiles_of(position.board, position.racks), *rollout.bag])

    def _take_turn(self, rollout: Rollout, move: Move) -> int:
        """Make a legal move of the seat that is on turn, draw, and see whether it was the last."""
        position, rules = rollout.position, self.generator.rules
        seat = position.on_turn
        play = check_move(position, move, rules, self.lexicon.graph.contains, len(rollout.bag))
        score, rack = play.score if play else 0, position.racks[seat]
        left = list(leave_of(rack, move))
        rollout.kept[seat] = self._worth(left)
        mover = seat == self.position.on_turn
        for _ in range(min(len(rack) - len(left), len(rollout.bag))):
            left.append(rollout.bag.pop(0 if mover else -1))
        if isinstance(move, Exchange):
            for tile in move.tiles:
                rollout.bag.insert(rollout.luck.below(len(rollout.bag) + 1), tile)
        rollout.position = position.after(move, score, tuple(sorted(left)), rules)
        settled = settlement(rollout.position, len(rollout.bag), seat, rules)
        if settled:
            rollout.ending, rollout.position = settled[0], adjusted(rollout.position, settled[1])
        return score

    def _worth(self, leave: Sequence[int]) -> int:
        """A whole rack is no leave."""
        if len(leave) >= self.leaves.rack_size:
            return 0
        return int(self.leaves.values[self.leaves.place(leave)])

    def _add_up(self, rollout: Rollout, mover: int) -> None:
        scores = rollout.position.scores
        gained = (scores[mover] - scores[1 - mover]) * 1_000
        if not rollout.ending and rollout.bag:
            gained += rollout.kept[mover] - rollout.kept.get(1 - mover, 0)
        before = self.position.scores
        ahead = gained + (before[mover] - before[1 - mover]) * 1_000
        rollout.gained = gained
        rollout.win = self._win(rollout, ahead, mover)
        rollout.lead = math.floor(SURE / (1 + math.exp(-ahead / 1_000 / SCALE)) + 0.5)

    def _win(self, rollout: Rollout, ahead: int, mover: int) -> int:
        if rollout.ending:
            return SURE if ahead > 0 else SURE // 2 if ahead == 0 else 0
        if self.table is None:
            return SURE // 2
        on_turn = rollout.position.on_turn
        hidden = len(rollout.bag) + len(rollout.position.racks[1 - on_turn])
        own = ahead if on_turn == mover else -ahead
        win = round(self.table.at(math.floor(own / 1_000 + 0.5), hidden) * SURE)
        return win if on_turn == mover else SURE - win


def _drawn(belief: LeavePrior, luck: Luck) -> Rack:
    """Choose a leave by its weight, or none at all in doubt."""
    weights = belief.weights / belief.weights.sum() * (1 - belief.doubt)
    sums = list(accumulate([*weights.tolist(), *([belief.doubt] if belief.doubt else [])]))
    wanted = luck.below(1 << 31) / (1 << 31) * sums[-1]
    chosen = next(at for at, each in enumerate(sums) if each > wanted)
    return tuple(belief.tiles[chosen].tolist()) if chosen < len(belief.tiles) else ()

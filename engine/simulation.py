"""Simulation: which of some candidates is best, by rolling each of them out many times.

Every candidate is played, static players go on for some turns, and the rollout is worth an equity
and a probability to win (``engine.kernels.rollouts``). Samples go where they decide something
(``engine.allocation``). A simulation knows no clock: ``advance`` does so much work, and may be
called again for as long as there is time.

What comes of it depends on the seed and the number of rollouts alone: not on how the work was cut
into slices, nor on the number of threads.

Candidates are compared by *utility*: the probability to win, and a little for each point, which
decides where every candidate wins, or none.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from engine.allocation import RULES, Standing
from engine.generate import Generator, RankedMove
from engine.kernels.board import set_up
from engine.kernels.game import new_game
from engine.kernels.rollouts import CERTAIN, Tally, lay_out, roll_out
from engine.kernels.worths import POINT
from engine.moves import Move
from engine.position import Position, Rack
from engine.rollouts import (
    BY_POINTS,
    TO_THE_END,
    Belief,
    Utility,
    chances,
    holdings,
    packed_candidates,
    scene,
)
from lexicons.win_probability import WinProbabilities

__all__ = ["Estimate", "Ply", "Simulation"]

_FEWEST = 128  # samples of a round
_GROWTH = 8  # a round is this part of all samples so far
_CHUNK = 16  # samples of one task
_REMEMBERED = 1 << 16  # samples of each candidate whose utility is kept, for covariances

Counts = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Ply:
    """What one turn after a candidate looks like."""

    turns: int
    """Rollouts that came so far."""
    score: float
    """Mean, in points."""
    score_deviation: float
    """Standard deviation, in points."""
    bingos: float
    """How often all tiles were laid down, from 0 to 1."""


@dataclass(frozen=True)
class Estimate:
    """What is known of a candidate."""

    move: Move
    score: int
    """Points."""
    leave: Rack
    static: int
    """Static equity, thousandths of a point."""
    samples: int
    win: float
    """Probability, from 0 to 1; a tie counts half."""
    win_error: float
    """Its standard error."""
    equity: float
    """Points gained on the opponent from before the move on, with what the last leaves are worth;
    until there are samples the static equity."""
    equity_error: float
    """Its standard error."""


class Simulation:
    """Rollouts of some candidates of a position.

    Args:
        generators: one for each thread; they belong to the simulation while it lasts.
        position: the mover's rack is known. If the opponent's is, it is taken for granted.
        candidates: legal moves of the position, each once.
        win_probabilities: by spread and unseen tiles; without them candidates are compared by
            points.
        plies: how many turns are taken after a candidate, unless the game ends.
        seed: for what is drawn.
        first: samples of each candidate before the rule is asked, two or more.
        rule: how samples are shared out: ``top-two``, ``elimination``, ``ocba`` or ``equal``.
        belief: what the opponent may hold; by default anything.
        utility: what is wanted.

    Raises:
        ValueError: no candidate, generator or ply, an unknown rule, a belief that the unseen tiles
            do not allow, or a position that generators refuse.
    """

    def __init__(
        self,
        generators: Sequence[Generator],
        position: Position,
        candidates: Sequence[RankedMove],
        win_probabilities: WinProbabilities | None,
        *,
        plies: int = 2,
        seed: int = 0,
        first: int = 16,
        rule: str = "top-two",
        belief: Belief | None = None,
        utility: Utility | None = None,
    ) -> None:
        if not candidates or not generators or plies < 1:
            raise ValueError(
                f"{len(candidates)} candidates, {len(generators)} generators, {plies} plies; a "
                "simulation takes one or more of each"
            )
        if first < 2:
            raise ValueError(f"{first} first samples; nothing is known of less than 2")
        if rule not in RULES:
            raise ValueError(f"no rule is called {rule!r}; known: {', '.join(RULES)}")
        self.position = position
        self.candidates = tuple(candidates)
        self.plies = plies
        self._first = first
        self._rule = RULES[rule]
        utility = utility or (Utility() if win_probabilities is not None else BY_POINTS)
        self._unit = (utility.win or 1.0) / CERTAIN
        rules = generators[0].rules
        self._scene = scene(position, rules, plies, seed, utility)
        self._holdings = holdings(position, self._scene, belief, rules)
        self._chances = chances(win_probabilities)
        self._moves = packed_candidates(candidates, generators[0].leaves)
        self._searchers = [_Searcher(one, position, len(candidates), plies) for one in generators]
        self._values = np.zeros((len(candidates), first), np.int32)
        self._planned = np.zeros(len(candidates), np.int64)
        self._tasks: deque[tuple[int, int, int]] = deque()
        self._standing: Standing | None = None
        self._pool = ThreadPoolExecutor(max(1, len(generators) - 1))
        self.exact = len(self._scene.hidden) == self._scene.opponent_tiles
        """Whether nothing is left to chance, since the bag is empty: one sample says it all."""

    # --- work -----------------------------------------------------------------------------------

    def advance(self, rollouts: int) -> int:
        """Make so many more rollouts, or those that are left to make; give their number."""
        done = 0
        while done < rollouts:
            if not self._tasks and not self._plan():
                break
            tasks = self._next_tasks(rollouts - done)
            done += int(tasks[:, 2].sum())
            self._work_out(tasks)
            if not self._tasks:
                self._standing = None
        return done

    def _plan(self) -> bool:
        """Plan the next round; tell whether there is one."""
        count = len(self.candidates)
        if self.exact:
            wanted = np.full(count, 0 if self._planned.any() else 1)
        elif not self._planned.any():
            wanted = np.full(count, self._first)
        else:
            size = max(_FEWEST, int(self._planned.sum()) // _GROWTH)
            wanted = self._rule(self.standing, size)
        if not wanted.any():
            return False
        self._make_room(int((self._planned + wanted).max()))
        for one in np.flatnonzero(wanted).tolist():
            first, end = int(self._planned[one]), int(self._planned[one] + wanted[one])
            self._tasks += [(one, at, min(_CHUNK, end - at)) for at in range(first, end, _CHUNK)]
        self._planned += wanted
        return True

    def _make_room(self, samples: int) -> None:
        before = self._values.shape[1]
        if before < min(samples, _REMEMBERED):
            room = np.zeros((len(self.candidates), min(2 * samples, _REMEMBERED)), np.int32)
            room[:, :before] = self._values
            self._values = room

    def _next_tasks(self, rollouts: int) -> Counts:
        """Take tasks off the plan of so many samples in all, the last one perhaps in part."""
        taken: list[tuple[int, int, int]] = []
        while self._tasks and rollouts:
            one, first, count = self._tasks.popleft()
            if count > rollouts:
                self._tasks.appendleft((one, first + rollouts, count - rollouts))
                count = rollouts
            taken.append((one, first, count))
            rollouts -= count
        return np.array(taken, np.int64)

    def _work_out(self, tasks: Counts) -> None:
        searchers = self._searchers[: len(tasks)]
        if len(searchers) == 1:
            self._search(searchers[0], tasks)
            return
        waiting = deque(tasks[at : at + 1] for at in range(len(tasks)))

        def help_out(searcher: _Searcher) -> None:
            while True:
                try:
                    task = waiting.popleft()
                except IndexError:
                    return
                self._search(searcher, task)

        others = [self._pool.submit(help_out, one) for one in searchers[1:]]
        help_out(searchers[0])
        for other in others:
            other.result()

    def _search(self, searcher: _Searcher, tasks: Counts) -> None:
        roll_out(
            searcher.generator.desk,
            searcher.game,
            searcher.generator.words.words,
            searcher.generator.leaves.arrays,
            self._scene,
            self._holdings,
            self._chances,
            self._moves,
            tasks,
            self._values,
            searcher.tally,
        )

    # --- what is known ----------------------------------------------------------------------------

    @property
    def rollouts(self) -> int:
        """How many were made."""
        return int(self._sum("samples").sum())

    @property
    def standing(self) -> Standing:
        """What the last whole round says, in parts of a sure win."""
        if self._standing is None:
            self._standing = self._stand()
        return self._standing

    @property
    def leader(self) -> RankedMove:
        """The best candidate; before there are samples the first."""
        samples = self._sum("samples")
        if not samples.all():
            return self.candidates[0]
        return self.candidates[int(np.argmax(self._sum("sums")[:, 2] / samples))]

    @property
    def is_certain(self) -> bool:
        """Whether more samples would change nothing, as far as can be told."""
        if len(self.candidates) == 1:
            return True
        samples = self._sum("samples")
        if self.exact:
            return bool(samples.all())
        return bool((samples >= self._first).all()) and self.standing.is_certain

    @property
    def regret(self) -> float:
        """What it may cost to choose the leader, in expected wins; 1 before there are samples."""
        if self.is_certain:
            return 0.0
        if not (self._sum("samples") >= self._first).all():
            return 1.0
        return self.standing.regret

    def estimates(self) -> list[Estimate]:
        """Say what is known of every candidate, the best first."""
        samples = self._sum("samples")
        sums, squares = self._sum("sums"), self._sum("squares")
        utilities = [
            (-sums[one, 2] / samples[one] if samples[one] else math.inf, one)
            for one in range(len(samples))
        ]
        return [
            _estimate(self.candidates[one], int(samples[one]), sums[one], squares[one])
            for _, one in sorted(utilities)
        ]

    def plies_of(self, move: Move) -> list[Ply]:
        """Say what the turns after a candidate look like, as far as any rollout came.

        Raises:
            ValueError: it is no candidate.
        """
        which = [one.move for one in self.candidates].index(move)
        turns, scores = self._sum("turns")[which], self._sum("scores")[which]
        squares, bingos = self._sum("score_squares")[which], self._sum("bingos")[which]
        plies: list[Ply] = []
        for ply in range(np.count_nonzero(turns)):
            count, mean = int(turns[ply]), float(scores[ply] / turns[ply])
            deviation = math.sqrt(max(float(squares[ply]) / count - mean * mean, 0.0))
            plies.append(Ply(count, mean, deviation, float(bingos[ply] / count)))
        return plies

    def _sum(self, field: str) -> Counts:
        """Add up what the threads have."""
        total: Counts = sum(getattr(one.tally, field) for one in self._searchers)
        return total

    def _stand(self) -> Standing:
        samples = self._sum("samples")
        sums, squares = self._sum("sums")[:, 2], self._sum("squares")[:, 2]
        means = sums / samples
        variances = np.maximum(squares - sums * means, 0) / np.maximum(samples - 1, 1)
        leader = int(np.argmax(means))
        common = np.minimum(np.minimum(samples, samples[leader]), self._values.shape[1])
        pairs = zip(self._values, common.tolist(), strict=True)
        covariances = np.array([_covariance(self._values[leader, :n], one[:n]) for one, n in pairs])
        unit = self._unit
        return Standing(samples, means * unit, variances * unit**2, leader, covariances * unit**2)


class _Searcher:
    """What one thread has to itself."""

    def __init__(self, generator: Generator, position: Position, count: int, plies: int) -> None:
        self.generator = generator
        self.game = new_game(generator.rules, mirrored=True)
        plies = min(plies, TO_THE_END)
        self.tally = Tally(
            np.zeros(count, np.int64),
            *(np.zeros((count, 3), np.int64) for _ in range(2)),
            *(np.zeros((count, plies), np.int64) for _ in range(4)),
        )
        set_up(generator.desk["board"], position.board)
        lay_out(generator.desk, generator.words.words)


def _estimate(one: RankedMove, samples: int, sums: Counts, squares: Counts) -> Estimate:
    win, win_error = _mean(samples, int(sums[0]), int(squares[0]), CERTAIN)
    equity, equity_error = _mean(samples, int(sums[1]), int(squares[1]), POINT)
    if not samples:
        win, equity = 0.5, one.equity / POINT
    return Estimate(
        one.move,
        one.score,
        one.leave,
        one.equity,
        samples,
        win,
        win_error,
        equity,
        equity_error,
    )


def _mean(samples: int, total: int, squares: int, unit: int) -> tuple[float, float]:
    """Give a mean and its standard error, ∞ for fewer than two samples."""
    if not samples:
        return 0.0, math.inf
    mean = total / samples
    if samples == 1:
        return mean / unit, math.inf
    variance = max(squares - total * mean, 0.0) / (samples - 1)
    return mean / unit, math.sqrt(variance / samples) / unit


def _covariance(one: npt.NDArray[np.int32], other: npt.NDArray[np.int32]) -> float:
    """Estimate the covariance of two rows of utilities."""
    first, second = one.astype(np.float64), other.astype(np.float64)
    product = float(first @ second) - float(first.sum()) * float(second.mean())
    return product / max(len(one) - 1, 1)

"""Final spreads of the moves of a pre-endgame, and their proven bounds, case by case."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from engine.endgame.solver import Solution
from engine.movegen.generator import RankedMove
from engine.rules.moves import PASS, Exchange, Move
from engine.rules.rules import Rules, passes_left, used_tiles
from lexicons.arrays import F64

from .scenarios import FullPosition

EPSILON = 1e-9  # tolerance of sums of weights


@dataclass(slots=True)
class Trial:
    """A move in one case with one order of the bag; spreads are final, for the player on turn."""

    full: FullPosition  # before the move
    weight: float
    asked: FullPosition | None = None
    """The position whose value is sought, once it is known who replies and how."""
    only: Move | None = None
    """The move that is made there; None: the best."""
    is_exact: bool = True
    """Whether the game is certain to go on so, by the model of the opponent."""
    final: float = 0.0
    low: float = -np.inf
    high: float = np.inf
    is_exhausted: bool = False
    """Whether the solver can find no more, though it is not proven."""
    is_returned: bool = False
    """Whether both sides passed, and the player on turn makes one move for all such cases."""
    visits: int = 0

    def end_by_passes(self, full: FullPosition, seat: int, rules: Rules) -> None:
        """Note that both sides passed; to pass on costs each side its tiles."""
        value, racks = rules.distribution.value, full.position.racks
        final = full.position.spread(seat) + value(racks[1 - seat]) - value(racks[seat])
        self.final = self.low = float(final)
        self.is_returned, self.is_exact, self.is_exhausted = True, False, True
        self.asked = None

    def ask(
        self,
        full: FullPosition,
        ranked: RankedMove,
        rules: Rules,
        seat: int,
        *,
        seed: int,
        is_phony: bool = False,
    ) -> None:
        """Seek what a move is worth for ``seat``; ``seed`` is for the places of exchanged tiles."""
        self.asked, self.only = full, ranked.move
        left = len(full.bag) - len(used_tiles(ranked.move))
        # Nobody exchanges in the search, and few of the places of exchanged tiles are looked at.
        ends = ranked.move == PASS and passes_left(full.position, rules) == 1
        self.is_exact = left < rules.exchange_minimum or ends
        is_exchange = isinstance(ranked.move, Exchange)
        if is_exchange or is_phony:  # a solver lists neither
            self.asked, self.only = full.after(ranked.move, ranked.score, rules, seed), None
            self.is_exact = self.is_exact and not is_exchange
            if self.asked.over:
                self.final = self.low = self.high = float(self.asked.position.spread(seat))

    def is_open(self, *, outcome_only: bool) -> bool:
        """Return whether the spread is undecided; with ``outcome_only``, win, draw or loss."""
        if self.is_exhausted:
            return False
        if outcome_only:
            return bool(np.sign(self.low) != np.sign(self.high))
        return self.low < self.high

    def take(self, solution: Solution, seat: int, *, outcome_only: bool) -> None:
        """Update the bounds by a solver's result about ``asked``."""
        assert self.asked is not None
        position = self.asked.position
        lead, sign = position.spread(seat), 1 if position.on_turn == seat else -1
        for gain, side in ((solution.floor, 1), (solution.ceiling, -1)):
            if gain is None:
                continue
            if side == sign:
                self.low = max(self.low, float(lead + sign * gain))
            else:
                self.high = min(self.high, float(lead + sign * gain))
        if not outcome_only:  # else the value is only a rough guess
            self.final = float(lead + sign * solution.value)
        self.final = min(max(self.final, self.low), self.high)


@dataclass(frozen=True)
class Assessment:
    """A move's estimate and proven bounds; spreads are final, in points."""

    win: float
    spread: float
    win_low: float
    win_high: float
    spread_low: float
    spread_high: float


@dataclass
class MoveBounds:
    """A move and its trials, by case and order of the bag; all weights sum to 1."""

    ranked: RankedMove
    trials: Sequence[Sequence[Trial]]
    are_all: bool
    """Whether the trials are all that can happen, and not drawn."""
    is_phony: bool = False
    """Whether the lexicon lacks a word of it; then it is taken to stand."""
    nodes: int = 0
    has_look: bool = False
    """Whether a trial was looked at."""
    _standing: Assessment | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self._starts = np.cumsum([0, *map(len, self.trials)])
        count = int(self._starts[-1])
        self.weights: F64 = np.array([trial.weight for case in self.trials for trial in case])
        self.final: F64 = np.zeros(count)
        self.low: F64 = np.full(count, -np.inf)
        self.high: F64 = np.full(count, np.inf)
        self.looked = np.zeros(count, np.bool_)

    def note(self, case: int, order: int) -> None:
        """Update the bounds by a trial."""
        trial, index = self.trials[case][order], int(self._starts[case]) + order
        self.final[index] = trial.final
        if trial.is_exact:
            self.low[index], self.high[index] = trial.low, trial.high
        self.looked[index] = self.has_look = True
        self._standing = None

    def of_case(self, case: int) -> slice:
        """Return where the orders of a case stand in the arrays."""
        return slice(int(self._starts[case]), int(self._starts[case + 1]))

    @property
    def cases(self) -> int:
        """Number of cases looked at."""
        done = np.add.reduceat(~self.looked, self._starts[:-1]) == 0
        return int(done.sum())

    @property
    def is_proven(self) -> bool:
        """Whether the outcome of everything that can happen is proven."""
        return self.are_all and bool((np.sign(self.low) == np.sign(self.high)).all())

    @property
    def are_points_proven(self) -> bool:
        """Whether the spread after everything that can happen is proven."""
        return self.are_all and bool((self.low == self.high).all())

    @property
    def assessment(self) -> Assessment:
        """Estimate by the trials looked at, if any, and bounds by all."""
        if self._standing is None:
            looked = self.looked if self.has_look else np.ones_like(self.looked)
            weights = self.weights[looked] / self.weights[looked].sum()
            self._standing = Assessment(
                win=float(weights @ won(self.final[looked])),
                spread=float(weights @ self.final[looked]),
                win_low=float(self.weights @ won(self.low)),
                win_high=float(self.weights @ won(self.high)),
                spread_low=float(self.weights @ self.low),
                spread_high=float(self.weights @ self.high),
            )
        return self._standing

    @property
    def error(self) -> float:
        """Standard error of the share of wins in the trials looked at, from drawing them."""
        weights, wins = self.weights[self.looked], won(self.final[self.looked])
        if self.are_all and self.looked.all():
            return 0.0
        if len(wins) < 2:
            return 0.5
        share = weights / weights.sum()
        squares = share**2 @ (wins - share @ wins) ** 2
        return float(np.sqrt(squares * len(wins) / (len(wins) - 1)))

    def shares(self) -> tuple[float, float, float]:
        """Return the shares of wins, draws and losses in the trials looked at, at least one."""
        weights, final = self.weights[self.looked], self.final[self.looked]
        wins, draws, losses = (float(weights[np.sign(final) == s].sum()) for s in (1, 0, -1))
        total = wins + draws + losses
        return wins / total, draws / total, losses / total


def won(spreads: F64) -> F64:
    """Return the shares of a win that final spreads are worth: 1, a half or 0."""
    return (np.sign(spreads) + 1) / 2

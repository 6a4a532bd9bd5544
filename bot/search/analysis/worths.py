"""What moves are worth with an empty bag, by the endgame solver.

The best move comes first, then the moves that are asked about, such as the played one, then the
other candidates if they are easy. The work is limited by time or, for the same result everywhere,
by nodes.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from bot.player import View
from bot.search.analysis.solving import Solvers
from bot.search.static_choice import generator_for
from engine.endgame.solver import with_both_racks
from engine.movegen.candidates import ranked_moves
from engine.movegen.evaluation import POINT
from engine.movegen.generator import RankedMove
from engine.preendgame.scenarios import FullPosition
from engine.rules.moves import Move
from engine.simulation.rollout_input import Utility
from engine.simulation.rollout_results import Difference
from engine.simulation.simulation import Estimate

NODES_A_ROLLOUT = 30
"""Nodes that take about as long as a rollout, which they replace if rollouts are counted."""
LEAST_NODES = 20_000
"""Fewest nodes, however few the rollouts; less than a second, which proves most endgames."""

_MEMORY = 40 << 20  # bytes
_SLICE = 500  # nodes between looks at the clock
_BEST, _ASKED, _OTHERS = 0.6, 0.3, 0.1  # shares of the work, at most
_EASY = 2_000  # nodes for another candidate, at most


@dataclass(frozen=True)
class Worth:
    """What a move gains in spread to the end of the game if both sides then play their best."""

    gain: int
    """In points; a guess between the bounds until they meet."""
    floor: int | None
    """Proven: the least gain, if known."""
    ceiling: int | None
    """Proven: the greatest gain, if known."""

    @property
    def is_proven(self) -> bool:
        """Whether the gain is certain."""
        return self.floor is not None and self.floor == self.ceiling

    def is_below(self, other: Worth) -> bool:
        """Check whether this is proven to be less than another."""
        return self.ceiling is not None and other.floor is not None and self.ceiling < other.floor


class Solving:
    """The work on one endgame, limited by ``nodes`` or, if that is None, by ``seconds``.

    The moves ``asked`` about can't be the best if they are refused (``is_refused``), but are valued
    as if they stood.

    Raises:
        ValueError: the tiles do not add up to an endgame.
    """

    def __init__(
        self,
        view: View,
        candidates: Sequence[RankedMove],
        asked: Sequence[Move],
        *,
        is_refused: bool = False,
        seconds: float,
        nodes: int | None,
    ) -> None:
        self._generator, self._rules = generator_for(view), view.rules
        self._position = with_both_racks(view.position, view.rules)
        self._solver = Solvers().solver(view.lexicon, view.rules, memory=_MEMORY)
        self._asked, self._seconds_limit, self._most = asked, seconds, nodes
        self._without = list(asked) if is_refused else []
        self._began = time.monotonic()
        self.candidates = tuple(candidates)
        self.worths: dict[Move, Worth] = {}
        self.nodes, self.seconds = 0, 0.0

    def slices(self) -> Iterator[None]:
        """Solve until the limit; the first node, which may compile, is not timed."""
        self._solver.begin(self._position, without=self._without)
        self.nodes += self._solver.advance(1)
        self._began = time.monotonic()
        # Without moves to ask about, the best move gets their share of the limit, too.
        yield from self._solve(_BEST if self._asked else _BEST + _ASKED)
        self._take_best()
        for candidate in [row for row in self.candidates if row.move in self._asked]:
            yield from self._solve_after(candidate, _ASKED / len(self._asked))
        end = self._spent + _OTHERS
        for candidate in self.candidates:
            if self._spent < end:
                yield from self._solve_after(candidate, end - self._spent, _EASY)

    def stop(self) -> None:
        """Keep what is known of the best move, where the work ends before its time."""
        if not self.worths and self._solver.solution.depth:
            self._take_best()

    @property
    def _spent(self) -> float:
        """The share of the work that is done."""
        if self._most is not None:
            return self.nodes / self._most
        return (time.monotonic() - self._began) / self._seconds_limit

    def _solve(self, share: float, most: int | None = None) -> Iterator[None]:
        """Go on solving, for at most a share of the work and ``most`` nodes."""
        end, last = self._spent + share, None if most is None else self.nodes + most
        while not self._solver.is_over and self._spent < end:
            if last is not None and self.nodes >= last:
                break
            self.nodes += self._solver.advance(_SLICE)
            self.seconds = time.monotonic() - self._began
            yield

    def _take_best(self) -> None:
        solution = self._solver.solution
        if all(row.move != solution.move for row in self.candidates):
            rows = ranked_moves(self._generator, self._position, [solution.move])
            self.candidates = (*self.candidates, *rows)
        floor = solution.floor if solution.move == solution.sure else None
        self.worths[solution.move] = Worth(solution.value, floor, solution.ceiling)

    def _solve_after(
        self, row: RankedMove, share: float, most: int | None = None
    ) -> Iterator[None]:
        """Solve the position after a move; with a limit of ``most`` nodes only a proof is kept."""
        if row.move in self.worths:
            return
        after = FullPosition(self._position, ()).after(row.move, row.score, self._rules)
        seat = self._position.on_turn
        gain = after.position.spread(seat) - self._position.spread(seat)
        if after.over:
            self.worths[row.move] = Worth(gain, gain, gain)
            return
        self._solver.begin(after.position)
        self.nodes += self._solver.advance(1)
        yield from self._solve(share, most)
        reply = self._solver.solution
        worth = Worth(
            gain - reply.value,
            None if reply.ceiling is None else gain - reply.ceiling,
            None if reply.floor is None else gain - reply.floor,
        )
        if worth.is_proven or most is None:
            self.worths[row.move] = worth

    def estimates(self) -> list[Estimate]:
        """Return all candidates, the best first, those of unknown worth last."""
        return [self._estimate(row) for row in sorted(self.candidates, key=self._rank)]

    def _rank(self, row: RankedMove) -> tuple[bool, int, bool]:
        worth = self.worths.get(row.move)
        return (False, -worth.gain, not worth.is_proven) if worth else (True, 0, False)

    def _estimate(self, row: RankedMove) -> Estimate:
        worth, fields = self.worths.get(row.move), (row.move, row.score, row.leave, row.equity)
        if worth is None:
            return Estimate(*fields, 0, 0.5, float("inf"), row.equity / POINT, float("inf"))
        win, _ = self._outcome(worth)
        return Estimate(*fields, 1, win, 0.0, float(worth.gain), 0.0)

    def difference(self, best: Move, move: Move) -> Difference:
        """Return the lead of the best over a candidate, with infinite errors if one is unknown."""
        if best not in self.worths or move not in self.worths:
            return Difference(0.0, float("inf"), 0.0, float("inf"))
        one, other = self.worths[best], self.worths[move]
        win, lead = self._outcome(one)
        other_win, other_lead = self._outcome(other)
        points = float(one.gain - other.gain)
        return Difference(win - other_win, 0.0, points, 0.0, lead - other_lead, 0.0)

    def _outcome(self, worth: Worth) -> tuple[float, float]:
        """Return a win (a draw is half) and the squashed lead at the end of the game."""
        spread = self._position.spread(self._position.on_turn) + worth.gain
        lead = Utility(win=0.0, lead=1.0).of(np.zeros(1), np.array([spread], np.float64))
        return (1 + np.sign(spread).item()) / 2, float(lead[0])

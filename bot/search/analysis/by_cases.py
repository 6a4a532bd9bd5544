"""What moves are worth with one or two tiles in the bag, in every case of what may be drawn.

Rollouts come first, so that all candidates have estimates early. A solver then looks at all legal
moves (``engine.preendgame``), in the order of the rollouts; what it finds replaces the estimates.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from bot.player import View
from bot.search.analysis.solving import Solvers, is_solvable, pre_endgame
from bot.search.anytime import NODES, Anytime, time_until
from bot.search.static_choice import generator_for
from engine.inference.leave_prior import LeavePrior
from engine.movegen.generator import RankedMove
from engine.preendgame.replies import Model
from engine.preendgame.scenarios import list_scenarios
from engine.preendgame.solver import Draw, Outcome, likely_candidates
from engine.rules.moves import Move
from engine.simulation.rollout_input import Utility
from engine.simulation.rollout_results import Difference
from engine.simulation.simulation import Estimate

SIMULATED = 0.3
"""Share of the work for the rollouts."""
MODEL: Model = "perfect"
"""The opponent that published values assume."""

_LEAST_NODES = {1: 15_000, 2: 250_000}
"""Fewest nodes, by tiles in the bag, of which rollouts give up their share; with fewer they tell
more. With three tiles a minute is not enough."""
_NODES_A_SECOND = 15_000
_NODES_A_CASE = 60
"""Nodes of the work for each case of a move that is taken up."""
_MOST_CASES = 400
_MEMORY = 40 << 20  # bytes
_FIRST = 3  # moves listed even if they are no candidates
_WRONG = 0.2
"""Chance that an outcome is another than the solver says, if it is not proven: of 275 that were
proven later 37 were, and those of one move tend to be wrong together."""
_POINTS = 15.0  # standard error of the spread of a case that is not proven, measured likewise
_DOUBT = 0.08  # standard error of a share of wins, above which rollouts tell more
_SAME = 1e-9  # equal sums in another order differ by less


@dataclass(frozen=True)
class Cases:
    """What is known of the moves of a pre-endgame."""

    cases: int
    moves: int
    """Number of legal moves."""
    compared: int
    """Of these, looked at or proven no better than another."""
    proven: int
    """Of these, certain in all cases or proven no better than another."""
    is_settled: bool
    """Whether no more work could change which move is best."""
    outcomes: Mapping[Move, Outcome]
    """Of moves that were looked at in all cases, the best first."""
    by_bag: Mapping[Move, Sequence[Draw]]
    """What comes of each of them, by the bag."""

    def estimate(self, move: Move) -> Estimate:
        """Return an estimate, with errors of what is not proven; its samples are cases."""
        row, draws = self.outcomes[move], self.by_bag[move]
        guesses = math.hypot(*(0.0 if draw.proven else draw.weight for draw in draws))
        win_error = math.hypot(row.error, math.sqrt(_WRONG) * guesses)
        error = 0.0 if row.points_proven else _POINTS * math.hypot(*(each.weight for each in draws))
        fields = (move, row.score, row.leave, row.static, row.cases)
        return Estimate(*fields, row.win, win_error, row.spread, error)

    def difference(self, best: Move, move: Move) -> Difference:
        """Return the lead of the best over a candidate, with infinite errors if one is unknown."""
        if move not in self.outcomes:
            return Difference(0.0, math.inf, 0.0, math.inf)
        best_estimate, other = self.estimate(best), self.estimate(move)
        errors = [
            (best_estimate.win_error, other.win_error),
            (best_estimate.equity_error, other.equity_error),
        ]
        win_error, error = map(math.hypot, *zip(*errors, strict=True)) if best != move else (0, 0)
        win, points = (
            round(best_estimate.win - other.win, 9),
            round(best_estimate.equity - other.equity, 9),
        )
        a_point = 1 / (4 * Utility().scale)  # of lead, at most
        return Difference(win, win_error, points, error, a_point * points, a_point * error)


class Casework:
    """The work on all moves of one pre-endgame, limited by ``nodes``, or ``seconds`` if None.

    ``candidates`` come in the order of the rollouts, the ``protected`` among them, of which all is
    looked at. With ``is_alone`` no other move is compared.

    Raises:
        ValueError: as ``PreEndgame``.
    """

    def __init__(
        self,
        view: View,
        belief: LeavePrior | None,
        candidates: Sequence[RankedMove],
        protected: Sequence[Move],
        *,
        is_alone: bool = False,
        seed: int,
        seconds: float,
        nodes: int | None,
    ) -> None:
        began, generator = time.monotonic(), generator_for(view)
        limit = _NODES_A_SECOND * seconds if nodes is None else nodes
        cases, _ = list_scenarios(view.position, view.rules, belief, seed, _MOST_CASES)
        most = int(limit / (_NODES_A_CASE * len(cases)))
        likely = [] if is_alone else likely_candidates(generator, view.position, most)
        self.ranked = {row.move: row for row in (*candidates, *likely)}
        self._moves = len(generator.arrays(view.position).packed)
        self._listed = {row.move for row in candidates}
        self._protected = list(protected)
        self._work = pre_endgame(
            view,
            Solvers().solver(view.lexicon, view.rules, memory=_MEMORY),
            list(self.ranked.values()),
            protected=self._protected,
            belief=belief,
            model=MODEL,
            seed=seed,
            most_cases=_MOST_CASES,
        )
        self._limit, self._most, self._spent = seconds, nodes, time.monotonic() - began
        self.nodes, self.seconds = 0, 0.0

    def slices(self) -> Iterator[None]:
        """Work until the limit; the first node, which may compile, is not timed."""
        first = self._work.advance(1)
        began = time.monotonic() - self._spent
        most = None if self._most is None else max(self._most - first, 0)
        anytime = Anytime(self._work, NODES, most=most)
        ends = began + self._limit if most is None else math.inf
        for _ in anytime.slices(time_until(ends, time.monotonic)):
            self.nodes, self.seconds = first + anytime.done, time.monotonic() - began
            yield

    def known(self) -> Cases | None:
        """Return what is known; None until little is open of the best and the played move."""
        work = self._work
        whole = {row.move: row for row in work.outcomes() if row.cases == work.cases}
        best = work.leader()
        outcomes = {
            move: row
            for index, (move, row) in enumerate(whole.items())
            if index < _FIRST or move in self._listed or _are_equal(row, best)
        }
        draws = {move: work.draws(move) for move in outcomes}
        is_settled = work.is_settled and len(self.ranked) == self._moves
        counts = (work.cases, self._moves, work.compared, work.proven)
        cases = Cases(*counts, is_settled, outcomes, draws)
        for move in (best.move, *self._protected):
            row = outcomes.get(move)
            if row is None or not (row.beaten or cases.estimate(move).win_error <= _DOUBT):
                return None
        return cases


def is_worth_it(view: View, seconds: float, nodes: int | None) -> bool:
    """Check whether ``seconds``, or ``nodes``, are enough to look at moves in all cases."""
    least = _LEAST_NODES.get(view.bag, math.inf)
    most = _NODES_A_SECOND * seconds if nodes is None else nodes
    return is_solvable(view.rules) and (1 - SIMULATED) * most >= least


def _are_equal(one: Outcome, other: Outcome) -> bool:
    gains = (one.win - other.win, one.spread - other.spread)
    return one.proven and other.proven and max(map(abs, gains)) < _SAME

"""Candidates of a pre-endgame compared, case by case.

Work goes where it decides most (successive halving; Karnin, Koren and Somekh, *Almost Optimal
Exploration in Multi-Armed Bandits*, 2013): all candidates get a short look at some cases, the
better half a longer look at more, and so on. A candidate proven no better than another gets no more
work. If the last few are proven and others may still be as good, the others are resumed, so that
the best candidate is proven in the end.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count

from engine.endgame.solver import EndgameSolver
from engine.inference.leave_prior import LeavePrior
from engine.movegen.candidates import best_candidates
from engine.movegen.evaluation import POINT
from engine.movegen.generator import Generator, RankedMove, passing
from engine.rules.moves import Exchange, Move
from engine.rules.position import Position, Rack, bag_count
from engine.rules.rules import Rules, check_move, used_tiles, why_not

from . import MOST_IN_BAG
from .bounds import EPSILON, Branch, CandidateBounds, Trial
from .replies import MODELS, Model, Opponent
from .scenarios import FullPosition, Scenario, list_scenarios, orders_of

_CANDIDATES = {1: 24, 2: 16, 3: 12}  # by tiles in the bag
_CANDIDATES_BEYOND = 10

_FIRST_NODES = 64  # of the first look at an endgame
_GROWTH = 4  # factor of each next look
_FIRST_CASES = 24
_FEW = 3  # least number of candidates in a round

_BEGIN = 20  # nodes that take as long as taking up an endgame


@dataclass(frozen=True)
class Outcome:
    """The state of knowledge about a candidate."""

    move: Move
    score: int  # points
    leave: Rack
    static: int  # equity, thousandths of a point
    win: float  # share of wins over the cases looked at, 0 to 1; a tie counts half
    wins: float
    draws: float
    losses: float  # the three sum to 1; all draws before any case was looked at
    spread: float  # mean points gained to the end; a guess where points are not proven
    cases: int  # looked at, of ``PreEndgame.cases``
    proven: bool  # whether every outcome is certain, so that the shares are exact
    nodes: int


def likely_candidates(
    generator: Generator, position: Position, most: int | None = None
) -> list[RankedMove]:
    """Return the moves to compare: the best by static equity, and a pass.

    ``most`` are the moves besides the pass; by default 24 with one tile in the bag, fewer with
    more. Raises as ``Generator.best``.
    """
    bag = bag_count(position, generator.rules)
    candidates = best_candidates(
        generator, position, most or _CANDIDATES.get(bag, _CANDIDATES_BEYOND)
    )
    passed = passing(position)
    return candidates if passed in candidates else [*candidates, passed]


class PreEndgame:
    """The pre-endgame of a position; results improve with work.

    ``solver`` must not be used otherwise meanwhile. ``position`` has 1 to 7 tiles in the bag; a
    known rack of the opponent is taken as certain. ``candidates`` are distinct legal moves, the
    best by equity first. Without a ``belief`` the opponent may hold anything. ``seed`` is for drawn
    cases and orders, of which ``most_cases`` are drawn if there are more.

    Raises:
        ValueError: another bag, incomplete or impossible racks, a finished game, no candidate, an
            unknown model, or a belief that the unseen tiles rule out.
    """

    def __init__(
        self,
        solver: EndgameSolver,
        generator: Generator,
        position: Position,
        candidates: Sequence[RankedMove],
        *,
        belief: LeavePrior | None = None,
        model: Model = "rational",
        seed: int = 0,
        most_cases: int = 400,
    ) -> None:
        rules = generator.rules
        _check(position, rules, candidates, model, most_cases)
        self._solver, self._generator = solver, generator
        self._position, self._seat = position, position.on_turn
        self._seed = seed
        cases, self.mass = list_scenarios(position, rules, belief, seed, most_cases)
        self.cases = len(cases)
        orders = max(1, most_cases // len(cases))
        seat = position.on_turn
        known = [(position.with_rack(1 - seat, case.rack), case) for case in cases]
        self._bounds = [self._bounds_of(candidate, known, orders) for candidate in candidates]
        self._alive = list(range(len(candidates)))
        self._by_points: set[int] = set()
        self._beaten_by_now: set[int] | None = None
        self._quota = 0
        self._is_compared = False  # whether all candidates have been looked at
        self._opponent = Opponent(model, generator, self._search, seed)
        self._steps = self._work()
        self.is_over = False  # whether nothing that matters is left to decide

    def _bounds_of(
        self, ranked: RankedMove, cases: list[tuple[Position, Scenario]], most_orders: int
    ) -> CandidateBounds:
        together = len(used_tiles(ranked.move))
        trials, exact = [], True
        for nth, (position, case) in enumerate(cases):
            orders, all_listed = orders_of(case.bag, together, most_orders, self._seed + nth)
            exact = exact and all_listed and not isinstance(ranked.move, Exchange)
            trials.append(
                [Trial(FullPosition(position, bag), case.weight * s) for bag, s in orders]
            )
        return CandidateBounds(ranked, trials, exact and self.mass > 1 - EPSILON)

    def advance(self, nodes: int) -> int:
        """Work for about ``nodes`` of the solver; return the number done, 0 when it is over.

        With a solver of one thread the result does not depend on the size of the slices.
        """
        done = 0
        while done < nodes:
            self._quota = nodes - done
            worked = next(self._steps, None)
            if worked is None:
                self.is_over = True
                break
            done += worked
        return done

    def _work(self) -> Iterator[int]:
        for number in count():
            selected = self._select(number)
            if not selected:
                return
            self._alive = selected
            for which, case, order in self._round(number):
                for nodes in self._look(which, case, order):
                    self._bounds[which].nodes += nodes
                    yield nodes

    def _round(self, number: int) -> Iterator[tuple[int, int, int]]:
        """Yield the trials of a round, case by case; all cases get a first look before a second."""
        new = {which for which in self._alive if not self._bounds[which].looked.all()}
        for case in range(min(_FIRST_CASES << 2 * number, self.cases)):
            for which in self._alive:
                if self._is_compared and which in self._beaten():
                    continue
                for order, trial in enumerate(self._bounds[which].trials[case]):
                    if self._is_open(which, trial) and not (which in new and trial.visits):
                        yield which, case, order

    def _select(self, number: int) -> list[int]:
        if not self._is_compared:
            return list(range(len(self._bounds)))
        left = [which for which in self._in_order() if which not in self._beaten()]
        best = max(self._bounds[which].assessment.win for which in left)
        level = {w for w in left if self._bounds[w].assessment.win > best - EPSILON}
        self._by_points = level if len(level) > 1 or len(left) == 1 else set()
        half = max(_FEW, -(-len(self._bounds) >> number))
        if not any(map(self._has_open, left[:half])):
            half = len(left)
            left = [which for which in left if self._has_open(which)][:_FEW]
        return left[:half]

    def _has_open(self, which: int) -> bool:
        return any(
            self._is_open(which, trial) for trials in self._bounds[which].trials for trial in trials
        )

    def _is_open(self, which: int, trial: Trial) -> bool:
        outcome_only = which not in self._by_points
        return trial.visits == 0 or trial.is_guess or any(trial.open(outcome_only=outcome_only))

    def _look(self, which: int, case: int, order: int) -> Iterator[int]:
        bounds = self._bounds[which]
        trial = bounds.trials[case][order]
        if not trial.branches or trial.is_guess:
            yield from self._play(bounds.ranked, trial)
        nodes = _FIRST_NODES * _GROWTH**trial.visits
        outcome_only = which not in self._by_points
        for branch in trial.open(outcome_only=outcome_only):
            # The first look is for points, to have something to compare by.
            if trial.visits and branch.is_open(outcome_only=True):
                yield from self._search(branch, nodes, first_win=True)
            if branch.is_open(outcome_only=outcome_only):
                yield from self._search(branch, nodes)
            if outcome_only and branch.high < 0:
                break
        trial.visits += 1
        bounds.note(case, order)
        self._is_compared = self._is_compared or all(some.looked.any() for some in self._bounds)
        self._beaten_by_now = None

    def _play(self, ranked: RankedMove, trial: Trial) -> Iterator[int]:
        full = trial.full.after(ranked.move, ranked.score, self._generator.rules, self._seed)
        if not full.bag or full.over:
            trial.branches = [Branch(full, self._seat)]
        elif trial.visits or self._opponent.is_static:
            trial.branches = yield from self._opponent.branches(full)
            trial.is_guess = False
        else:
            trial.branches = yield from self._opponent.static_branches(full)
            trial.is_guess = True

    def _search(self, branch: Branch, nodes: int, *, first_win: bool = False) -> Iterator[int]:
        if branch.low == branch.high:
            return
        solver = self._solver
        solver.begin(branch.position, first_win=first_win)
        yield _BEGIN
        while nodes > 0 and not solver.is_over:
            done = solver.advance(min(nodes, self._quota))
            nodes -= done
            yield done
        solution = solver.solution
        branch.take(solution, outcome_only=first_win)
        branch.is_exhausted = solver.is_over and not solution.proven

    @property
    def is_settled(self) -> bool:
        """Whether no more work could change which of several candidates is best."""
        rivals = len(self._bounds) - 1
        is_decided = self._is_compared and len(self._beaten()) == rivals > 0
        return self.is_over or is_decided

    def leader(self) -> Outcome:
        """Return the outcome of the best candidate so far."""
        return self._outcome(self._bounds[self._in_order(deepest=True)[0]])

    def outcomes(self) -> list[Outcome]:
        """Return the outcomes of all candidates, the best first.

        Candidates dropped after a shorter look, but not proven worse, come last. Until all have
        been looked at in a case, they keep the given order.
        """
        return [self._outcome(self._bounds[which]) for which in self._in_order(deepest=True)]

    def _outcome(self, bounds: CandidateBounds) -> Outcome:
        ranked = bounds.ranked
        wins, draws, losses, spread = 0.0, 1.0, 0.0, ranked.equity / POINT
        if bounds.looked.any():
            wins, draws, losses = bounds.shares()
            spread = bounds.assessment.spread - self._position.spread(self._seat)
        return Outcome(
            ranked.move,
            ranked.score,
            ranked.leave,
            ranked.equity,
            wins + draws / 2,
            wins,
            draws,
            losses,
            spread,
            bounds.cases,
            bounds.is_proven,
            bounds.nodes,
        )

    def _in_order(self, *, deepest: bool = False) -> list[int]:
        every = list(range(len(self._bounds)))
        if not self._is_compared:
            return every
        left = set(every) - self._beaten()
        given_up = left - set(self._alive) if deepest else set()
        shallow = {which for which in given_up if self._has_open(which)}

        def key(which: int) -> tuple[bool, float, float]:
            assessment = self._bounds[which].assessment
            return which in shallow, -round(assessment.win, 9), -assessment.spread

        order = sorted(every, key=key)
        # A beaten candidate may look better in the cases in which it was looked at.
        leader = next(which for which in order if which in left)
        return sorted(order, key=lambda which: which != leader)

    def _beaten(self) -> set[int]:
        """Return the candidates proven no better than the one with the best proven floor."""
        if self._beaten_by_now is None:
            assessments = [bounds.assessment for bounds in self._bounds]
            floors = [(round(known.win_low, 9), known.spread_low) for known in assessments]
            best = floors.index(max(floors))
            self._beaten_by_now = {
                which
                for which, assessment in enumerate(assessments)
                if which != best and assessments[best].beats(assessment)
            }
        return self._beaten_by_now


def _check(
    position: Position, rules: Rules, candidates: Sequence[RankedMove], model: str, most_cases: int
) -> None:
    if reason := why_not(position, rules):
        raise ValueError(reason)
    known = position.racks[1 - position.on_turn]
    if known and len(known) != rules.rack_size:
        raise ValueError(
            f"the opponent's rack has {len(known)} tiles; while there is a bag it has "
            f"{rules.rack_size}, or it is left out"
        )
    bag = bag_count(position, rules)
    if not 1 <= bag <= MOST_IN_BAG:
        raise ValueError(
            f"{bag} tiles are in the bag; a pre-endgame has 1 to {MOST_IN_BAG}"
            + ("" if bag else ", and without any it is an endgame")
        )
    if model not in MODELS:
        raise ValueError(f"no model is called {model!r}; known: {', '.join(MODELS)}")
    if not candidates or most_cases < 1:
        raise ValueError(
            f"{len(candidates)} candidates in {most_cases} cases; there is at least one of each"
        )
    for candidate in candidates:
        check_move(position, candidate.move, rules, None, bag)

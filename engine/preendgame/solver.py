"""The moves of a pre-endgame compared, case by case.

Every move may be the best, so all are compared. Each round looks briefly at more moves, in the
given order, and longer at the most promising of those that were looked at (after successive
halving; Karnin, Koren and Somekh, *Almost Optimal Exploration in Multi-Armed Bandits*, 2013). A
move is dropped only if it is proven no better than another: then its best possible outcome is not
above what the other is certain to reach. Once the promising ones are proven the others are, each in
the case first that is likeliest to refute it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count

import numpy as np

from engine.endgame.solver import EndgameSolver
from engine.inference.leave_prior import LeavePrior
from engine.movegen.candidates import best_candidates
from engine.movegen.evaluation import POINT
from engine.movegen.generator import Generator, RankedMove, passing
from engine.movegen.move_codec import pack
from engine.rules.moves import PASS, Exchange, Move, Place
from engine.rules.position import Position, Rack, bag_count
from engine.rules.rules import Rules, check_move, passes_left, used_tiles, why_not
from lexicons.arrays import F64

from . import MOST_IN_BAG
from .bounds import EPSILON, MoveBounds, Trial, won
from .replies import MODELS, Model, Opponent
from .scenarios import FullPosition, list_scenarios, orders_of

_MORE_MOVES = 3  # factor of the number of moves looked at, round by round
_FIRST_NODES = 64  # of the first look at a trial
_GROWTH = 4  # factor of each next look
_FIRST_CASES = 24
_FEW = 3  # least number of moves in a round

_TAKE_UP = 5  # nodes that take as long as making the trials of a move
_BEGIN = 20  # nodes that take as long as taking up a position


@dataclass(frozen=True)
class Draw:
    """What comes of a move with one bag; the shares sum to 1."""

    bag: Rack
    weight: float
    """Probability of this bag."""
    wins: float
    draws: float
    losses: float
    proven: bool


@dataclass(frozen=True)
class Outcome:
    """The state of knowledge about a move."""

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
    points_proven: bool  # whether the spread is certain too
    beaten: bool  # whether it is proven no better than the best
    error: float  # standard error of ``win`` if cases were drawn, or are still to be looked at
    nodes: int


def likely_candidates(
    generator: Generator, position: Position, most: int | None = None
) -> list[RankedMove]:
    """Return all legal moves, or ``most`` and a pass, the best by static equity first.

    Raises as ``Generator.best``.
    """
    if most is None:
        return generator.everything(position)
    candidates, passed = best_candidates(generator, position, most), passing(position)
    return candidates if passed in candidates else [*candidates, passed]


class PreEndgame:
    """The pre-endgame of a position; results improve with work.

    ``solver`` must not be used otherwise meanwhile. ``position`` has 1 to 7 tiles in the bag; a
    known rack of the opponent is taken as certain. ``candidates`` are distinct legal moves, the
    likeliest to be best first; those that are ``protected`` are not dropped, so that what they are
    worth is known in the end. Without a ``belief`` the opponent may hold anything. Moves that win
    equally often are compared ``by_spread``, or all kept. ``seed`` is for drawn cases and orders,
    of which ``most_cases`` are drawn if there are more. ``first_moves`` are looked at in the first
    round, and three times as many in each next one.

    Raises:
        ValueError: another bag, incomplete or impossible racks, a finished game, no candidate, a
            protected move that is none, an unknown model, or a belief that the unseen tiles rule
            out.
    """

    def __init__(
        self,
        solver: EndgameSolver,
        generator: Generator,
        position: Position,
        candidates: Sequence[RankedMove],
        *,
        protected: Sequence[Move] = (),
        belief: LeavePrior | None = None,
        model: Model = "perfect",
        by_spread: bool = True,
        seed: int = 0,
        most_cases: int = 400,
        first_moves: int = 24,
    ) -> None:
        rules = generator.rules
        _check(position, rules, candidates, model, most_cases)
        moves = [candidate.move for candidate in candidates]
        if any(move not in moves for move in protected):
            raise ValueError("a move is protected, but it is none of those to compare")
        self._solver, self._generator, self._rules = solver, generator, rules
        self._by_spread = by_spread
        self._position, self._seat, self._seed = position, position.on_turn, seed
        self._legal = set(generator.arrays(position).packed.tolist())
        self._protected = [moves.index(move) for move in protected]
        self._pass = moves.index(PASS) if PASS in moves else None
        cases, self.mass = list_scenarios(position, rules, belief, seed, most_cases)
        self.model: Model = model
        self._scenarios = cases
        orders = max(1, most_cases // len(cases))
        full_positions = [(position.with_rack(1 - self._seat, case.rack), case) for case in cases]
        self._candidates, self._known, self._most_orders = candidates, full_positions, orders
        self._bounds: list[MoveBounds] = []
        """Of the first of the candidates, which have been taken up."""
        self._table: F64 = np.tile([0.0, -np.inf, 1.0, np.inf], (len(candidates), 1))
        """By move: the proven bounds of wins and spread."""
        self._returned: list[tuple[int, int]] = []
        """Cases and orders in which the opponent answers a pass with a pass."""
        self._beaten_by_now: set[int] | None = None
        self._first = first_moves
        self._alive: list[int] = []
        self._by_points: set[int] = set()
        self._begun: FullPosition | None = None
        self._quota = 0
        self._opponent = Opponent(model, generator, self._search, seed)
        self._steps = self._work()
        self.is_over = False  # whether nothing that matters is left to decide

    @property
    def cases(self) -> int:
        """Number of cases."""
        return len(self._scenarios)

    def _bounds_of(self, ranked: RankedMove) -> MoveBounds:
        together = len(used_tiles(ranked.move))
        trials, are_all = [], self.mass > 1 - EPSILON
        for nth, (position, case) in enumerate(self._known):
            seed = self._seed + nth
            orders, all_listed = orders_of(case.bag, together, self._most_orders, seed)
            are_all = are_all and all_listed
            trials.append(
                [Trial(FullPosition(position, bag), case.weight * s) for bag, s in orders]
            )
        is_phony = isinstance(ranked.move, Place) and pack(ranked.move) not in self._legal
        return MoveBounds(ranked, trials, are_all, is_phony)

    # --- work -------------------------------------------------------------------------------------

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
            self._alive = self._select(number)
            most = min(self._first * _MORE_MOVES**number, len(self._candidates))
            fresh = range(len(self._bounds), max(most, len(self._bounds)))
            if not self._alive and not fresh:
                return
            yield from self._first_look(fresh)
            for which in self._alive:
                for case, order in self._worst_first(which, number):
                    if which in self._beaten() and which not in self._protected:
                        break
                    yield from self._look(which, case, order)
            self._take_back_passes()

    def _first_look(self, moves: range) -> Iterator[int]:
        """Take moves up, and look at them case by case, so that all have seen the same cases."""
        for which in moves:
            self._bounds.append(self._bounds_of(self._candidates[which]))
            self._note(which)
            yield _TAKE_UP
        for case in range(min(_FIRST_CASES, self.cases)):
            for which in moves:
                for order in range(len(self._bounds[which].trials[case])):
                    yield from self._look(which, case, order)

    def _worst_first(self, which: int, number: int) -> list[tuple[int, int]]:
        """Return the open trials of a move in so many cases, those that seem lost first."""
        seen = self._bounds[which].trials[: _FIRST_CASES << 2 * number]
        opened = [
            ((trial.final, -trial.weight), (case, order))
            for case, trials in enumerate(seen)
            for order, trial in enumerate(trials)
            if self._is_open(which, trial)
        ]
        return [index for _, index in sorted(opened)]

    def _select(self, number: int) -> list[int]:
        """Return the moves to look at longer: the most promising; once they are proven, others."""
        if not self._bounds:
            return []
        taken_up = self._in_order()[: len(self._bounds)]
        left = [which for which in taken_up if which not in self._beaten()]
        best = max(self._bounds[which].assessment.win for which in left)
        level = {w for w in left if self._bounds[w].assessment.win > best - EPSILON}
        are_compared = self._by_spread and (len(level) > 1 or len(left) == 1)
        self._by_points = level if are_compared else set()
        most = max(_FEW, self._first >> number)
        chosen = [which for which in left[:most] if self._has_open(which)]
        if not chosen and len(self._bounds) == len(self._candidates):
            chosen = [which for which in left if self._has_open(which)][:_FEW]
        protected = [
            which for which in self._protected if which in taken_up and self._has_open(which)
        ]
        return [*protected, *(which for which in chosen if which not in protected)]

    def _has_open(self, which: int) -> bool:
        return which >= len(self._bounds) or any(
            self._is_open(which, trial) for trials in self._bounds[which].trials for trial in trials
        )

    def _is_open(self, which: int, trial: Trial) -> bool:
        return trial.visits == 0 or trial.is_open(outcome_only=which not in self._by_points)

    def _look(self, which: int, case: int, order: int) -> Iterator[int]:
        bounds = self._bounds[which]
        trial = bounds.trials[case][order]
        for nodes in self._work_on(bounds, trial, which in self._by_points):
            bounds.nodes += nodes
            yield nodes
        if trial.is_returned and not trial.visits:
            self._returned.append((case, order))
        trial.visits += 1
        bounds.note(case, order)
        self._note(which)

    def _work_on(self, bounds: MoveBounds, trial: Trial, by_points: bool) -> Iterator[int]:
        if trial.asked is None:
            yield from self._ask(bounds, trial)
        nodes, seat = _FIRST_NODES * _GROWTH**trial.visits, self._seat
        # The first look is for points, to have something to compare by.
        if trial.visits and trial.is_open(outcome_only=True):
            yield from self._search(trial, seat, nodes, first_win=True)
        if trial.visits == 0 or trial.is_open(outcome_only=not by_points):
            yield from self._search(trial, seat, nodes)

    def _ask(self, bounds: MoveBounds, trial: Trial) -> Iterator[int]:
        rules, full, ranked = self._rules, trial.full, bounds.ranked
        trial.ask(full, ranked, rules, self._seat, seed=self._seed, is_phony=bounds.is_phony)
        is_emptied = len(used_tiles(ranked.move)) >= len(full.bag)
        if self.model == "perfect" or is_emptied or trial.low == trial.high:
            return
        after = full.after(ranked.move, ranked.score, rules, self._seed)
        if after.over:
            return
        reply = yield from self._opponent.reply(after)
        if ranked.move == reply.move == PASS and passes_left(after.position, rules) > 1:
            trial.end_by_passes(after, self._seat, rules)
            return
        trial.ask(after, reply, rules, self._seat, seed=self._seed)
        # A reply chosen by a sample is no proof, nor is one place of the tiles exchanged.
        is_sure = self.model == "static" and not isinstance(ranked.move, Exchange)
        trial.is_exact = trial.is_exact and is_sure

    def _search(
        self, trial: Trial, seat: int, nodes: int, *, first_win: bool = False
    ) -> Iterator[int]:
        if trial.low == trial.high or trial.asked is None:
            return
        solver = self._solver
        if self._begun != trial.asked or trial.only is None:
            full = trial.asked
            solver.begin(full.position, bag=full.bag, first_win=first_win)
            self._begun = full
            yield _BEGIN
        if trial.only is not None:
            solver.begin_with(trial.only, first_win=first_win)
        while nodes > 0 and not solver.is_over:
            done = solver.advance(min(nodes, self._quota))
            nodes -= done
            yield done
        solution = solver.solution
        trial.take(solution, seat, outcome_only=first_win)
        trial.is_exhausted = solver.is_over and not solution.proven

    def _take_back_passes(self) -> None:
        """After two passes, make one move in all cases in which the opponent passes: the best.

        We don't know what is in the bag, by these models. To pass on ends the game.
        """
        if self._pass is None or not self._returned:
            return
        passed, least = self._bounds[self._pass], bag_count(self._position, self._rules)
        trials = [passed.trials[case][order] for case, order in self._returned]
        weights = np.array([trial.weight for trial in trials])
        best = np.array([trial.low for trial in trials])

        def worth(finals: F64) -> tuple[float, float]:
            return round(float(weights @ won(finals)), 9), float(weights @ finals)

        for bounds in self._bounds:
            starts = [bounds.of_case(case).start for case, _ in self._returned]
            if len(used_tiles(bounds.ranked.move)) >= least and bounds.looked[starts].all():
                best = max(best, bounds.final[starts], key=worth)
        for (case, order), trial, final in zip(self._returned, trials, best, strict=True):
            trial.final = float(final)
            passed.note(case, order)

    # --- what is known ----------------------------------------------------------------------------

    @property
    def is_settled(self) -> bool:
        """Whether no more work could change which of several moves is best."""
        rivals = len(self._candidates) - 1
        is_decided = len(self._beaten()) == rivals > 0
        return self.is_over or (is_decided and not any(map(self._has_open, self._protected)))

    @property
    def is_decided(self) -> bool:
        """Whether it is proven that no other move wins more often than the best."""
        least, most = self._table[:, 0], self._table[:, 2]
        best = int(least.argmax())
        return bool((np.delete(most, best) <= least[best] + EPSILON).all())

    @property
    def compared(self) -> int:
        """Number of moves that were looked at, or proven no better without."""
        looked = {which for which, bounds in enumerate(self._bounds) if bounds.has_look}
        return len(looked | self._beaten())

    @property
    def proven(self) -> int:
        """Number of moves of which each outcome, or that another is no worse, is proven."""
        certain = {which for which, bounds in enumerate(self._bounds) if bounds.is_proven}
        return len(certain | self._beaten())

    def leader(self) -> Outcome:
        """Return the outcome of the best move so far."""
        return self._outcome(self._in_order()[0])

    def outcomes(self) -> list[Outcome]:
        """Return the outcomes of all moves, the best first.

        Moves that were left after a shorter look, but are not proven worse, come behind those that
        were looked at longer; those not looked at come last, in the given order.
        """
        return [self._outcome(which) for which in self._in_order()]

    def draws(self, move: Move) -> list[Draw]:
        """Return what comes of a compared move by the bag, in the cases looked at."""
        bounds_by_move = {bounds.ranked.move: bounds for bounds in self._bounds}
        if move not in bounds_by_move:
            return []
        bounds = bounds_by_move[move]
        weights_by_bag: dict[Rack, F64] = {}  # winning, tied, losing; and unproven, of any of these
        for case, scenario in enumerate(self._scenarios):
            for index in range(*bounds.of_case(case).indices(len(bounds.final))):
                if bounds.looked[index]:
                    sign = int(np.sign(bounds.final[index]))
                    is_open = np.sign(bounds.low[index]) != np.sign(bounds.high[index])
                    outcome = np.array([sign > 0, sign == 0, sign < 0, is_open])
                    earlier = weights_by_bag.get(scenario.bag, np.zeros(4))
                    weights_by_bag[scenario.bag] = earlier + outcome * bounds.weights[index]
        draws = []
        for bag, (winning, tied, losing, unproven) in sorted(weights_by_bag.items()):
            weight = winning + tied + losing
            wins, ties, losses = (float(part / weight) for part in (winning, tied, losing))
            draws.append(Draw(bag, float(weight), wins, ties, losses, not unproven))
        return draws

    def _outcome(self, which: int) -> Outcome:
        if which < len(self._bounds):
            bounds = self._bounds[which]
        else:
            bounds = MoveBounds(self._candidates[which], [], are_all=False)
        ranked = bounds.ranked
        wins, draws, losses, spread = 0.0, 1.0, 0.0, ranked.equity / POINT
        if bounds.has_look:
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
            bounds.are_points_proven,
            which in self._beaten(),
            bounds.error,
            bounds.nodes,
        )

    def _in_order(self) -> list[int]:
        looked = [which for which, bounds in enumerate(self._bounds) if bounds.has_look]
        seen = set(looked)
        left = seen - self._beaten()
        shallow = {which for which in left - set(self._alive) if self._has_open(which)}

        def key(which: int) -> tuple[bool, float, float]:
            assessment = self._bounds[which].assessment
            return which in shallow, -round(assessment.win, 9), -assessment.spread

        order = sorted(looked, key=key)
        # A beaten move may look better in the cases in which it was looked at.
        leader = next((which for which in order if which in left), None)
        order.sort(key=lambda which: which != leader)
        return [*order, *(which for which in range(len(self._candidates)) if which not in seen)]

    def _note(self, which: int) -> None:
        assessment = self._bounds[which].assessment
        self._table[which] = (
            assessment.win_low,
            assessment.spread_low,
            assessment.win_high,
            assessment.spread_high,
        )
        self._beaten_by_now = None

    def _beaten(self) -> set[int]:
        """Return the moves proven no better than the one with the best proven floor."""
        if self._beaten_by_now is None:
            win_low, spread_low, win_high, spread_high = self._table.T
            best = np.lexsort((spread_low, np.round(win_low, 9)))[-1]
            is_worse = win_low[best] > win_high + EPSILON
            is_as_good = self._by_spread & (win_low[best] >= win_high - EPSILON)
            beaten = is_worse | is_as_good & (spread_low[best] >= spread_high - EPSILON)
            self._beaten_by_now = {int(which) for which in np.flatnonzero(beaten)} - {int(best)}
        return self._beaten_by_now


def _check(
    position: Position, rules: Rules, candidates: Sequence[RankedMove], model: str, most_cases: int
) -> None:
    if reason := why_not(position, rules):
        raise ValueError(reason)
    opponent_rack = position.racks[1 - position.on_turn]
    if opponent_rack and len(opponent_rack) != rules.rack_size:
        raise ValueError(
            f"the opponent's rack has {len(opponent_rack)} tiles; while there is a bag it has "
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

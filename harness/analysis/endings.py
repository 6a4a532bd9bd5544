"""The end of a game: proofs of endgames, comparisons of moves in pre-endgames."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from bot.player import Budget
from bot.search.anytime import NODES, Anytime, Work
from engine.endgame.solver import EndgameSolver, Solution
from engine.preendgame.replies import Model
from engine.preendgame.solver import Outcome, PreEndgame
from engine.rules.moves import PASS, Move
from engine.rules.position import Position, bag_count
from engine.rules.rules import Rules, leave_of, passes_left, points_of


def spend(budget: Budget, work: Work, is_enough: Callable[[], bool] = lambda: False) -> float:
    """Work until the budget is spent, the work is done or ``is_enough``; return seconds."""
    began = time.perf_counter()
    Anytime(work, NODES).run(budget.remaining_ms, is_enough)
    return time.perf_counter() - began


@dataclass(frozen=True)
class EndgameProof:
    """The state of an endgame's proof; points and turns are those of the player on turn."""

    position: Position
    first_win: bool
    """Whether only the winner was sought; then value and spread are bounds."""
    solution: Solution
    is_over: bool
    """Whether more time would not help."""
    pv: tuple[Move, ...]
    """The best play of both sides."""
    scores: tuple[int, ...]
    """What each move of ``pv`` scores."""
    ends_game: bool
    """Whether ``pv`` leads to the end of the game."""
    seconds: float

    @property
    def before(self) -> int:
        """The spread now."""
        return self.position.spread(self.position.on_turn)

    @property
    def spread(self) -> int:
        """The spread at the end of the game."""
        return self.before + self.solution.value

    @property
    def outcome(self) -> Literal["won", "lost", "drawn"] | None:
        """The proven result, if any."""
        return self.solution.outcome(self.before)


def proof_so_far(
    solver: EndgameSolver,
    position: Position,
    rules: Rules,
    *,
    first_win: bool = False,
    seconds: float = 0,
) -> EndgameProof:
    """Return what a solver knows of the endgame it has begun with, and the best play."""
    line, at, scores = solver.line(), position, []
    for move in line:
        score = points_of(at.board, move, rules)
        at = at.after(move, score, leave_of(at.racks[at.on_turn], move), rules)
        scores.append(score)
    # ``engine.kernels.endgame`` explains why two passes will do.
    ends_game = not all(at.racks) or line[-2:] == (PASS, PASS) or passes_left(at, rules) < 1
    return EndgameProof(
        position,
        first_win,
        solver.solution,
        solver.is_over,
        line,
        tuple(scores),
        ends_game,
        seconds,
    )


@dataclass(frozen=True)
class PreEndgameComparison:
    """Moves compared by how often they win, over all bags and opponent's racks; the best first."""

    position: Position
    model: Model
    bag: int
    cases: int
    """Number of combinations of bag and opponent's rack."""
    mass: float
    """Probability of these cases together; 1 if there are no others."""
    settled: bool
    """Whether more time would change nothing."""
    seconds: float
    moves: tuple[Outcome, ...]


def compare_moves(
    compared: PreEndgame, position: Position, rules: Rules, budget: Budget, *, model: Model
) -> PreEndgameComparison:
    """Play each candidate out, for all possible bags."""
    # A single candidate is evaluated all the same: its result is the answer.
    has_choice = len(compared.outcomes()) > 1
    seconds = spend(budget, compared, lambda: has_choice and compared.is_settled)
    return PreEndgameComparison(
        position,
        model,
        bag_count(position, rules),
        compared.cases,
        compared.mass,
        compared.is_settled,
        seconds,
        tuple(compared.outcomes()),
    )

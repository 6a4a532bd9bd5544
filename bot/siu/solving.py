"""``go endgame`` and ``go peg``: the end of a game, proven as far as time allows.

One solver serves both and is kept across positions: memory stays within ``EndgameHash``, and what
it learnt of a game helps in the next turn. ``champion`` has another solver, for ``go auto``.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from bot.player import Budget
from bot.search.anytime import NODES, Anytime
from bot.search.late_game import Solvers
from engine.endgame.solver import EndgameSolver, Solution, least_memory
from engine.inference.leave_prior import LeavePrior
from engine.kernels.endgame_stack import MOST_LISTED
from engine.movegen.generator import Generator, RankedMove
from engine.preendgame.solver import Outcome, PreEndgame, likely_candidates
from engine.rules.moves import Move
from engine.rules.rules import IllegalMove, check_move
from protocol.siu.answers import Answer, Fault, InfoEndgame, InfoPeg, InfoText

from .beliefs import believed
from .info_lines import Texts, Told
from .modes import NOTHING, Task
from .resources import Kit, view_at, with_asked

__all__ = ["solve_endgame", "solve_preendgame", "solver_for"]


def solver_for(solvers: Solvers, task: Task, kit: Kit, told: Told) -> EndgameSolver:
    """Return a solver with the memory that is set, and as many threads as that serves.

    Raises:
        ValueError: the memory is not available, or too small for one thread.
    """
    size = task.settings.endgame_mb
    threads = _most_threads(size << 20, task.threads)
    if threads < task.threads:
        some = f"an EndgameHash of {size} is enough for {threads}"
        told((InfoText(f"string {some} of {task.threads} threads"),), None)
    try:
        return solvers.solver(replace(view_at(task, kit), threads=threads), size << 20)
    except MemoryError as error:
        raise ValueError(f"EndgameHash {size}: {error}") from None


def _most_threads(memory: int, wanted: int) -> int:
    """Return the number of threads that the memory serves, from 1 to ``wanted``."""
    enough = (threads for threads in range(wanted, 1, -1) if least_memory(threads) <= memory)
    return next(enough, 1)


def solve_endgame(solver: EndgameSolver, task: Task, kit: Kit, budget: Budget, told: Told) -> str:
    """Solve an endgame: report its best line on the way, and return the best move.

    Raises:
        ValueError: the position can't be solved; the message gives the reason.
    """
    began, text, news = time.perf_counter(), Texts(task), _News(told)
    deepest = task.go.depth
    only = _choice(task, kit, text, told)
    if task.only and not only:
        return NOTHING
    solver.begin(task.situation.position, first_win=task.go.firstwin, only=only)
    slices = Anytime(solver, NODES).slices(budget.remaining_ms, lambda: solver.is_over)
    for is_due in slices:
        if is_due:
            solution = solver.solution
            news.tell((_endgame_line(solver, solution, text),), text(solution.move))
        if deepest is not None and solver.solution.depth >= deepest:
            break
    solution = solver.solution
    counted = _counted(solution.nodes, began, f"depth {solution.depth} ")
    certainty = InfoText(f"string {_certainty(solution)}")
    best = text(solution.move)
    told((counted, certainty), best)  # the line takes a while, and time may be over
    told((_endgame_line(solver, solution, text),), best)
    return best


def solve_preendgame(
    solver: EndgameSolver, task: Task, kit: Kit, kept: LeavePrior | None, budget: Budget, told: Told
) -> str:
    """Compare moves over all possible bags: report on the way, and return the best.

    ``kept`` is the opponent's inferred leave, if it counts.

    Raises:
        ValueError: the position can't be solved; the message gives the reason.
    """
    began, text, news = time.perf_counter(), Texts(task), _News(told)
    generator, situation = kit.generator(), task.situation
    candidates = _candidates(generator, task)
    compared = PreEndgame(
        solver,
        generator,
        situation.position,
        candidates,
        belief=believed(task, kit, kept),
        model=task.settings.peg_model,
        seed=task.settings.seed,
    )
    for is_due in Anytime(compared, NODES).slices(budget.remaining_ms):
        if is_due:
            outcomes = compared.outcomes()
            news.tell(_peg_lines(task, outcomes, text), text(outcomes[0].move))
        # A single candidate is evaluated all the same.
        is_chosen = compared.is_settled and len(candidates) > 1
        if is_chosen or (task.go.firstwin and _is_won(compared.leader())):
            break
    outcomes = compared.outcomes()
    best = outcomes[0]
    counted = _counted(sum(outcome.nodes for outcome in outcomes), began)
    cover = InfoText(
        f"string {best.cases} of {compared.cases} cases looked at, {100 * compared.mass:.1f} % of "
        f"what can be; {'' if best.proven else 'not '}proven"
    )
    told((*_peg_lines(task, outcomes, text), counted, cover), text(best.move))
    return text(best.move)


class _News:
    """Reports changes since the last report."""

    def __init__(self, told: Told) -> None:
        self._told = told
        self._before: Sequence[Answer] = ()

    def tell(self, answers: Sequence[Answer], best: str) -> None:
        """Report the state so far, as far as it is news."""
        self._told([answer for answer in answers if answer not in self._before], best)
        self._before = answers


def _choice(task: Task, kit: Kit, text: Texts, told: Told) -> list[Move]:
    """Return the legal moves of ``searchmoves``, the best by static equity if there are many."""
    position, possible = task.situation.position, list[Move]()
    for move in task.only:
        try:
            check_move(position, move, kit.rules, kit.lexicon.graph.contains, 0)
        except IllegalMove as error:
            told((Fault("bad-move", f"{text(move)}: {error}"),), None)
        else:
            possible.append(move)
    if len(possible) <= MOST_LISTED:
        return possible
    dropped = f"{len(possible) - MOST_LISTED} of searchmoves, the lowest by static equity"
    told((Fault("bad-move", f"{dropped}: an endgame takes {MOST_LISTED} at most"),), None)
    ranked = with_asked(kit.generator(), position, (), possible)
    return [candidate.move for candidate in ranked[:MOST_LISTED]]


def _candidates(generator: Generator, task: Task) -> list[RankedMove]:
    position, most = task.situation.position, task.settings.candidates or None
    usual = [] if task.only else likely_candidates(generator, position, most)
    return with_asked(generator, position, usual, (*task.only, *task.also))


def _endgame_line(solver: EndgameSolver, found: Solution, text: Texts) -> InfoEndgame:
    return InfoEndgame(found.depth, found.value, text.line(solver.line()))


def _certainty(found: Solution) -> str:
    """Describe what is proven of the value; the draft has no words for it.

    After ``firstwin`` only a bound is known.
    """
    if found.proven and found.floor == found.ceiling:
        return "proven"
    bounds = (("at least", found.floor), ("at most", found.ceiling))
    known = [f"{name} {bound:+d}" for name, bound in bounds if bound is not None]
    return ", ".join(("outcome proven" if found.proven else "not proven", *known))


def _peg_lines(task: Task, outcomes: Sequence[Outcome], text: Texts) -> tuple[Answer, ...]:
    """Write the results of the best moves, and of those requested.

    How often each wins has a line of its own. Winning draws are not listed: with more than one tile
    in the bag there are too many.
    """
    wanted, lines = {*task.only, *task.also}, list[Answer]()
    for rank, outcome in enumerate(outcomes):
        if outcome.cases and (rank < task.settings.lines or outcome.move in wanted):
            name = text(outcome.move)
            lines.append(InfoPeg(name, spread=outcome.spread))
            lines.append(InfoText(f"score wp {100 * outcome.win:.2f} pv {name}"))
    return tuple(lines)


def _is_won(best: Outcome) -> bool:
    return best.proven and best.win == 1.0


def _counted(nodes: int, began: float, depth: str = "") -> InfoText:
    ms = max(round(1_000 * (time.perf_counter() - began)), 1)
    return InfoText(f"{depth}time {ms} nodes {nodes} nps {1_000 * nodes // ms}")

"""``go endgame`` and ``go peg``: the end of a game, proven as far as time allows.

Both share one solver, which is kept from position to position, with ``EndgameHash`` MiB of memory.
"""

from __future__ import annotations

from collections.abc import Sequence

from bot.player import Budget, View
from bot.search.analysis.solving import Solvers, pre_endgame
from bot.search.anytime import NODES, Anytime
from bot.search.static_choice import generator_for
from engine.endgame.solver import EndgameSolver, least_memory
from engine.inference.leave_prior import LeavePrior
from engine.kernels.endgame_stack import MOST_LISTED
from engine.movegen.candidates import with_asked
from engine.preendgame.solver import Outcome, likely_candidates
from engine.rules.moves import Move
from engine.rules.rules import IllegalMove, check_move
from protocol.siu.answers import Answer, Fault, InfoEndgame, InfoPeg, InfoText

from .modes import SearchTask
from .report import Report


def solver_for(solvers: Solvers, task: SearchTask, view: View, report: Report) -> EndgameSolver:
    """Return a solver with ``EndgameHash`` MiB, and as many of the threads as that is enough for.

    Raises:
        MemoryError: the memory is not available.
        ValueError: the memory is too small.
    """
    size = task.settings.endgame_mb
    enough = (count for count in range(task.threads, 1, -1) if least_memory(count) <= size << 20)
    threads = next(enough, 1)
    if threads < task.threads:
        some = f"an EndgameHash of {size} is enough for {threads}"
        report.tell(InfoText(f"string {some} of {task.threads} threads"))
    try:
        return solvers.solver(view.lexicon, view.rules, threads=threads, memory=size << 20)
    except MemoryError as error:
        raise MemoryError(f"EndgameHash {size}: {error}") from None


def solve_endgame(
    solver: EndgameSolver, task: SearchTask, view: View, budget: Budget, report: Report
) -> Move | None:
    """Solve an endgame: report its best line on the way, and return the best move.

    Return None if none of ``searchmoves`` is legal.

    Raises:
        ValueError: the position can't be solved; the message gives the reason.
    """
    deepest, only = task.go.depth, _choice(task, view, report)
    if task.only and not only:
        return None
    solver.begin(view.position, first_win=task.go.firstwin, only=only)
    for is_due in Anytime(solver, NODES).slices(budget.remaining_ms, lambda: solver.is_over):
        if is_due:
            line, best = _endgame_line(solver, view, report)
            report.tell_news((line,), best)
        if deepest is not None and solver.solution.depth >= deepest:
            break
    solution = solver.solution
    best, _ = solution.to_play(view.spread)
    counted = report.counted(solution.nodes, solution.depth)
    proven = "proven"
    if not solution.proven or solution.floor != solution.ceiling:  # after ``firstwin`` one bound
        bounds = (("at least", solution.floor), ("at most", solution.ceiling))
        known = [f"{name} {bound:+d}" for name, bound in bounds if bound is not None]
        proven = ", ".join(("outcome proven" if solution.proven else "not proven", *known))
    report.tell(counted, InfoText(f"string {proven}"), best=best)
    # The line last: finding it takes a while, and time may be over.
    line, best = _endgame_line(solver, view, report)
    report.tell(line, best=best)
    return best


def solve_preendgame(
    solver: EndgameSolver,
    task: SearchTask,
    view: View,
    belief: LeavePrior | None,
    budget: Budget,
    report: Report,
) -> Move:
    """Compare moves over all possible bags; report and raise as ``solve_endgame``."""
    generator, most = generator_for(view), task.settings.candidates or None
    usual = [] if task.only else likely_candidates(generator, view.position, most)
    compared = pre_endgame(
        view,
        solver,
        with_asked(generator, view.position, usual, (*task.only, *task.also)),
        belief=belief,
        protected=task.also,
        model=task.settings.peg_model,
        seed=task.settings.seed,
    )
    for is_due in Anytime(compared, NODES).slices(budget.remaining_ms, lambda: compared.is_settled):
        if is_due:
            outcomes = compared.outcomes()
            report.tell_news(_peg_lines(task, outcomes, report), outcomes[0].move)
        if task.go.firstwin and (leader := compared.leader()).proven and leader.win == 1.0:
            break
    outcomes = compared.outcomes()
    best = outcomes[0]
    cover = InfoText(
        f"string {best.cases} of {compared.cases} cases looked at, {100 * compared.mass:.1f} % of "
        f"what can be; {'' if best.proven else 'not '}proven; {compared.compared} of "
        f"{len(outcomes)} moves compared, {compared.proven} proven; opponent {compared.model}"
    )
    counted = report.counted(sum(outcome.nodes for outcome in outcomes))
    report.tell(*_peg_lines(task, outcomes, report), counted, cover, best=best.move)
    return best.move


def _choice(task: SearchTask, view: View, report: Report) -> list[Move]:
    """Return the legal moves of ``searchmoves``, the best by static equity if there are many."""
    possible = list[Move]()
    for move in task.only:
        try:
            check_move(view.position, move, view.rules, view.lexicon.graph.contains, 0)
        except IllegalMove as error:
            report.tell(Fault("bad-move", f"{report.text(move)}: {error}"))
        else:
            possible.append(move)
    if len(possible) <= MOST_LISTED:
        return possible
    dropped = f"{len(possible) - MOST_LISTED} of searchmoves, the lowest by static equity"
    report.tell(Fault("bad-move", f"{dropped}: an endgame takes {MOST_LISTED} at most"))
    ranked = with_asked(generator_for(view), view.position, (), possible)
    return [candidate.move for candidate in ranked[:MOST_LISTED]]


def _endgame_line(solver: EndgameSolver, view: View, report: Report) -> tuple[InfoEndgame, Move]:
    """Return the line of the move to play, with its gain, and that move.

    While the best move is a guess, the move to play is one proven to win, if any.
    """
    solution = solver.solution
    move, gain = solution.to_play(view.spread)
    line = report.line(solver.line((move, gain)))
    return InfoEndgame(solution.depth, gain, line), move


def _peg_lines(task: SearchTask, outcomes: Sequence[Outcome], report: Report) -> tuple[Answer, ...]:
    """Write how often the best and requested moves win, without the draws with which they win."""
    wanted, lines = {*task.only, *task.also}, list[Answer]()
    for rank, outcome in enumerate(outcomes):
        if outcome.cases and (rank < task.settings.lines or outcome.move in wanted):
            name = report.text(outcome.move)
            lines.append(InfoPeg(name, spread=outcome.spread))
            lines.append(InfoText(f"score wp {100 * outcome.win:.2f} pv {name}"))
    return tuple(lines)

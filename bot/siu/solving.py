"""``go endgame`` and ``go peg``: the end of a game, proved where there is time for it.

One solver serves both, and stays from one position to the next, so that they use no more memory
than ``EndgameHash`` says, and what was learnt of a game helps with its next turn. Beside it is, for
``go auto``, the one of ``champion``.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from bot.search.anytime import NODES, Anytime
from engine.endgame import MOST_LISTED, EndgameSolver, Solution, least_memory
from engine.inference.leave_prior import LeavePrior
from engine.movegen.generator import Generator, RankedMove
from engine.preendgame import Outcome, PreEndgame, likely_candidates
from engine.rules.moves import Move
from engine.rules.rules import IllegalMove, check_move
from protocol.siu.answers import Answer, Fault, InfoEndgame, InfoPeg, InfoText

from .candidate_moves import with_asked
from .info_lines import Texts, Told
from .modes import NOTHING, Task
from .resources import Kit
from .search_budget import Watch
from .simulating import believed

__all__ = ["Solvers", "solve_endgame", "solve_preendgame"]


class Solvers:
    """Keeps the solver that the last search had."""

    def __init__(self) -> None:
        self._of: tuple[object, ...] | None = None
        self._solver: EndgameSolver | None = None

    def solver(self, task: Task, kit: Kit, told: Told) -> EndgameSolver:
        """Give one for these words, with as much memory, and so many threads if it is enough.

        Raises:
            ValueError: there is not as much memory, or it is too little for one thread.
        """
        memory = task.settings.endgame_mb << 20
        threads = _most_threads(memory, task.threads)
        if threads < task.threads:
            some = f"an EndgameHash of {task.settings.endgame_mb} is enough for {threads}"
            told((InfoText(f"string {some} of {task.threads} threads"),), None)
        of = (kit, memory, threads)
        if self._solver is None or self._of != of:
            self._solver = None  # its memory is free before the next has its own
            try:
                self._solver = EndgameSolver(kit.lexicon, kit.rules, memory=memory, threads=threads)
            except MemoryError as error:
                raise ValueError(f"EndgameHash {task.settings.endgame_mb}: {error}") from None
            self._of = of
        return self._solver


def _most_threads(memory: int, wanted: int) -> int:
    """Say how many threads so much memory is enough for, one at least and no more than wanted."""
    enough = (n for n in range(wanted, 1, -1) if least_memory(n) <= memory)
    return next(enough, 1)


def solve_endgame(solver: EndgameSolver, task: Task, kit: Kit, watch: Watch, told: Told) -> str:
    """Work an endgame out; give the best move, and tell its line as it goes on.

    Args:
        solver: does it.
        task: says what, and until when.
        kit: what it works with.
        watch: says when it is over.
        told: hears of it.

    Raises:
        ValueError: it is none that can be worked out; says why.
    """
    began, text, news = time.perf_counter(), Texts(task), _News(told)
    deepest = task.go.depth
    only = _choice(task, kit, text, told)
    if task.only and not only:
        return NOTHING
    solver.begin(task.situation.position, first_win=task.go.firstwin, only=only)
    slices = Anytime(solver, NODES).slices(watch.remaining_ms, lambda: solver.is_over)
    for is_due in slices:
        if is_due:
            found = solver.solution
            news.tell((_endgame_line(solver, found, text),), text(found.move))
        if deepest is not None and solver.solution.depth >= deepest:
            break
    found = solver.solution
    counted = _counted(found.nodes, began, f"depth {found.depth} ")
    certainty = InfoText(f"string {_certainty(found)}")
    best = text(found.move)
    told((counted, certainty), best)  # the line takes a while, and there may be none left
    told((_endgame_line(solver, found, text),), best)
    return best


def solve_preendgame(
    solver: EndgameSolver, task: Task, kit: Kit, kept: LeavePrior | None, watch: Watch, told: Told
) -> str:
    """Compare moves with all that may be in the bag; give the best, and tell how each does.

    Args:
        solver: plays the endgames out.
        task: says what, and until when.
        kit: what it works with.
        kept: what the opponent may have kept, if it is to count.
        watch: says when it is over.
        told: hears of it.

    Raises:
        ValueError: it is none that can be worked out; says why.
    """
    began, text, news = time.perf_counter(), Texts(task), _News(told)
    generator, situation = kit.generator(), task.situation
    candidates = _candidates(generator, task)
    compared = PreEndgame(
        solver,
        generator,
        situation.position,
        candidates,
        belief=believed(situation, kit, kept),
        model=task.settings.peg_model,
        seed=task.settings.seed,
    )
    for is_due in Anytime(compared, NODES).slices(watch.remaining_ms):
        if is_due:
            outcomes = compared.outcomes()
            news.tell(_peg_lines(task, outcomes, text), text(outcomes[0].move))
        # One candidate alone is looked into all the same.
        is_chosen = compared.is_settled and len(candidates) > 1
        if is_chosen or (task.go.firstwin and _is_won(compared.leader())):
            break
    outcomes = compared.outcomes()
    best = outcomes[0]
    counted = _counted(sum(one.nodes for one in outcomes), began)
    cover = InfoText(
        f"string {best.cases} of {compared.cases} cases looked at, {100 * compared.mass:.1f} % of "
        f"what can be; {'' if best.proven else 'not '}proven"
    )
    told((*_peg_lines(task, outcomes, text), counted, cover), text(best.move))
    return text(best.move)


# --- what is told ---------------------------------------------------------------------------------


class _News:
    """Tells now and then what has changed since it last did."""

    def __init__(self, told: Told) -> None:
        self._told = told
        self._before: Sequence[Answer] = ()

    def tell(self, answers: Sequence[Answer], best: str) -> None:
        """Tell what is known now, in as far as it is news."""
        self._told([one for one in answers if one not in self._before], best)
        self._before = answers


def _choice(task: Task, kit: Kit, text: Texts, told: Told) -> list[Move]:
    """Give the moves to choose from, if not all: those that can be made, the likeliest if many."""
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
    return [one.move for one in ranked[:MOST_LISTED]]


def _candidates(generator: Generator, task: Task) -> list[RankedMove]:
    position, most = task.situation.position, task.settings.candidates or None
    usual = [] if task.only else likely_candidates(generator, position, most)
    return with_asked(generator, position, usual, (*task.only, *task.also))


def _endgame_line(solver: EndgameSolver, found: Solution, text: Texts) -> InfoEndgame:
    return InfoEndgame(found.depth, found.value, text.line(solver.line()))


def _certainty(found: Solution) -> str:
    """Say what of the value is proven; the draft has no words for it.

    Of a win that was asked for alone a bound is known, and not by how much.
    """
    if found.proven and found.floor == found.ceiling:
        return "proven"
    bounds = (("at least", found.floor), ("at most", found.ceiling))
    known = [f"{name} {bound:+d}" for name, bound in bounds if bound is not None]
    return ", ".join(("outcome proven" if found.proven else "not proven", *known))


def _peg_lines(task: Task, outcomes: Sequence[Outcome], text: Texts) -> tuple[Answer, ...]:
    """Write what is known of the best so many moves, and of those asked for.

    How often each wins is said in a line of its own; not with which draws, which are many where
    more than one tile is in the bag.
    """
    wanted, lines = {*task.only, *task.also}, list[Answer]()
    for rank, one in enumerate(outcomes):
        if one.cases and (rank < task.settings.lines or one.move in wanted):
            name = text(one.move)
            lines.append(InfoPeg(name, spread=one.spread))
            lines.append(InfoText(f"score wp {100 * one.win:.2f} pv {name}"))
    return tuple(lines)


def _is_won(best: Outcome) -> bool:
    return best.proven and best.win == 1.0


def _counted(nodes: int, began: float, depth: str = "") -> InfoText:
    ms = max(round(1_000 * (time.perf_counter() - began)), 1)
    return InfoText(f"{depth}time {ms} nodes {nodes} nps {1_000 * nodes // ms}")

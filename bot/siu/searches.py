"""The searches, a method for each mode of ``go``; one thread runs them in turn.

A search first reports its ``Provenance``, then results and its best move so far.
"""

from __future__ import annotations

import math
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace

from bot.player import Budget, ExchangedCount, Observed, View
from bot.players.champion import compose
from bot.search.analysis.solving import Solvers
from bot.search.anytime import ROLLOUTS, Anytime, Pulse
from bot.search.simulating import SimulationSearch, SimulationSettings, usual_stages
from bot.search.strategy import Strategy
from engine.inference.inference import Posterior
from engine.inference.leave_prior import LeavePrior
from engine.inference.rack_filter import KEPT_DOUBT
from engine.movegen.evaluation import POINT
from engine.notation.cgp import write_cgp
from engine.notation.cgp_moves import format_cgp_move
from engine.rules.moves import Direction, Exchange, Move, Place
from engine.rules.position import Board, Position, bag_count
from engine.rules.rule_sets import rules_for
from engine.rules.rules import Rules
from engine.simulation.simulation import Simulation
from lexicons import jit
from lexicons.alphabet import BLANK_FLAG, load_distribution
from lexicons.kernel_cache import kernels_of
from protocol.channel import now_ms
from protocol.siu.answers import Fault, Ignored, InfoGen, InfoInfer, InfoText, Provenance
from protocol.siu.commands import Go, Mode, SetPosition

from .beliefs import believed, inference_about
from .modes import NOTHING, SearchTask
from .position import SiuSituation, SiuTurn, read_position
from .report import Report, Told
from .resources import Kit, chosen, load_kit
from .settings import SiuSettings
from .solving import solve_endgame, solve_preendgame, solver_for

USUAL_RACKS = 200_000
"""Racks looked at if a ``go infer`` has no limit; an upper bound if leaves are listed."""
MOST_RACKS = 1_000_000
REHEARSED_MS = 50
FOR_EVER_MS = 10**15
"""The end of a search without one, on the clock of ``now_ms``."""


class Follower:
    """Keeps ``champion`` informed of the game that ``go auto`` plays.

    The player is kept, so that inferences are not repeated, while each position continues the last
    position of the same game with the same player on turn.
    """

    def __init__(self) -> None:
        self._solvers = Solvers()
        self._player = compose(self._solvers)
        self._of: tuple[object, ...] | None = None
        self._told: tuple[SiuTurn, ...] = ()

    def player(self, task: SearchTask, kit: Kit) -> tuple[Strategy, View]:
        """Return the informed player and its view; MemoryError if its solver gets no memory."""
        situation = task.situation
        of = (task.game, kit, situation.seat, situation.key[0], task.settings.seed, task.threads)
        told = len(self._told)
        if of != self._of or self._told != situation.turns[:told]:
            self._player = compose(self._solvers)
            self._of, told = None, 0
            start = kit.view(task, 0)
            self._player.make_room(start)
            self._player.new_game(start)
            self._of = of
        history = list(_history(situation))
        for at, observed in enumerate(history[told:], told + 1):
            if observed is not None:
                self._player.observe(kit.view(task, at, history[:at]), observed)
        self._told = situation.turns
        view = kit.view(task, history=history)
        if self._player.opponent is not None:
            is_whole = bool(view.position.racks[view.opponent])
            self._player.opponent.known = situation.known if view.bag and not is_whole else ()
        return self._player, view


def _history(situation: SiuSituation) -> Iterator[Observed | None]:
    """Yield turns as the player on turn saw them; None for a turn challenged off."""
    for at, turn in enumerate(situation.turns):
        if turn.phony:
            yield None
            continue
        after = situation.seen(at + 1)
        move = turn.move
        if isinstance(move, Exchange) and turn.seat != situation.seat:
            move = len(move.tiles)
        yield Observed(
            seq=at + 1,
            seat=turn.seat,
            move=ExchangedCount(move) if isinstance(move, int) else move,
            score=turn.score,
            scores=after.scores,
            bag=bag_count(after, situation.rules),
            think_ms=0,
        )


class SearchMaker:
    """Makes searches, and keeps results for later ones; ``name`` is ours in provenances."""

    def __init__(self, name: str, progress: Callable[[str], None]) -> None:
        self._name = name
        self._progress = progress
        self._kit: tuple[tuple[object, ...], Kit] | None = None
        self._is_warm = False
        self._loading = threading.Lock()
        self._follower = Follower()
        self._solvers = Solvers()
        self._inferred: tuple[tuple[str, ...], Rules, LeavePrior] | None = None

    # --- getting ready ----------------------------------------------------------------------------

    def load(self, settings: SiuSettings, rules: Rules | None = None) -> Kit:
        """Load the data of settings; the first time also compile. Raises as ``load_kit``."""
        rules = rules or rules_for(load_distribution(settings.distribution))
        key = (settings.lexicon, settings.leaves, settings.win_probabilities, rules)
        with self._loading:
            if self._kit is None or self._kit[0] != key:
                self._kit = key, load_kit(settings, rules, self._name, self._progress)
            kit = self._kit[1]
        if not self._is_warm:
            self._is_warm = True
            if not all(kernel.is_kept for kernel in kernels_of([__name__])):
                self._progress("compiling the search kernels, once, in half a minute")
            jit.load()
            self._rehearse(settings)
        return kit

    def _rehearse(self, settings: SiuSettings) -> None:
        """Make a short search in each mode, so that everything is loaded."""
        early = _some_situation(settings)
        for go, situation in (
            *((go, early) for go in (Go("gen"), Go("infer"), Go("sim", iterations=2), Go("auto"))),
            (Go("endgame"), _late_situation(settings, 0)),
            (Go("peg"), _late_situation(settings, 1)),
        ):
            task = SearchTask(0, -1, go.mode, go, situation, settings, threads=settings.threads)
            self.search(task, Budget(now_ms() + REHEARSED_MS), lambda _answers, _best: None)
        self._inferred = None

    def _kit_for(self, task: SearchTask) -> Kit:
        words = task.situation.lexicon or task.settings.lexicon
        return self.load(replace(task.settings, lexicon=words), task.situation.rules)

    # --- searching --------------------------------------------------------------------------------

    def at_once(self, task: SearchTask) -> tuple[Provenance, str]:
        """Return the provenance and the best move by static equity; safe in any thread.

        Raises as ``load``.
        """
        kit = self._kit_for(task)
        return kit.provenance, _first_move(task, kit)

    def search(self, task: SearchTask, budget: Budget, told: Told) -> str:
        """Search until time is over or nothing is left to do; return the best move.

        After an error, return the best move by static equity. Return ``none`` after an inference,
        or if no move can be chosen.
        """
        try:
            kit = self._kit_for(task)
        except (ValueError, OSError, MemoryError) as error:
            told((_fault(error),), None)
            return NOTHING
        report = Report(task, told)
        if task.go.useinference and task.mode != "auto" and self._kept(task) is None:
            why = InfoText("string there is no result of go infer about this position")
            report.tell(Ignored("useinference"), why)
        report.tell(kit.provenance)
        try:
            best = _MODES[task.mode](self, task, kit, budget, report)
        except (ValueError, OSError, MemoryError) as error:
            report.tell(_fault(error))
            with suppress(ValueError, MemoryError):  # for the same reason
                return NOTHING if task.mode == "infer" else _first_move(task, kit)
            return NOTHING
        if task.waits:
            budget.wait()
        return NOTHING if best is None else report.text(best)

    def _gen(self, task: SearchTask, kit: Kit, budget: Budget, report: Report) -> Move:
        write = task.situation.rules.distribution.alphabet.text
        rows = chosen(kit.view(task), task.settings.lines, task.only, task.also)
        lines = (
            InfoGen(report.text(row.move), row.score, row.equity / POINT, write(row.leave))
            for row in rows
        )
        report.tell(*lines, best=rows[0].move)
        return rows[0].move

    def _sim(self, task: SearchTask, kit: Kit, budget: Budget, report: Report) -> Move:
        view, go = kit.view(task), task.go
        usual = usual_stages(view.bag)[0]
        settings = SimulationSettings(
            plies=go.depth or usual.plies,  # one stage, so that all reports are of one simulation
            iterations=go.iterations,
            rule="top-two" if go.iterations is None else "equal",
        )
        count = task.settings.candidates or usual.candidates
        candidates = chosen(view, count, task.only, task.also)
        search = SimulationSearch(view, settings, view.seed, self._belief(task, view), candidates)
        simulation, wanted = search.simulation, go.stopcondition
        limits = (go.iterations, go.movetime_ms, wanted)
        is_unlimited = not go.infinite and all(limit is None for limit in limits)

        def is_enough() -> bool:
            if wanted is not None:
                return certainty(simulation) >= wanted / 100
            return is_unlimited and search.is_settled

        def tell(*counted: InfoText) -> None:
            results = report.simulated(simulation.estimates())
            report.tell(*results, *counted, best=simulation.leader.move)

        for is_due in Anytime(simulation, ROLLOUTS).slices(budget.remaining_ms, is_enough):
            if is_due and simulation.is_sampled:
                tell()
        tell(report.counted(simulation.rollouts, simulation.plies))
        return simulation.leader.move

    def _kept(self, task: SearchTask) -> LeavePrior | None:
        """Return the last inference's result, if wanted and if it was about this position."""
        about = (task.situation.key, task.situation.rules)
        if not task.go.useinference or self._inferred is None or self._inferred[:2] != about:
            return None
        return self._inferred[2]

    def _belief(self, task: SearchTask, view: View) -> LeavePrior | None:
        return believed(view, task.situation.known, self._kept(task))

    def _infer(self, task: SearchTask, kit: Kit, budget: Budget, report: Report) -> None:
        inference = inference_about(task, kit.view(task))
        write = task.situation.rules.distribution.alphabet.text

        def tell() -> Posterior:
            posterior = inference.posterior()
            likeliest = posterior.top(task.settings.lines)
            lines = [InfoInfer(write(leave), chance) for leave, _, chance in likeliest]
            report.tell(*lines)
            return posterior

        limited = task.go.movetime_ms is not None or task.go.infinite
        looking = Anytime(inference, most=MOST_RACKS if limited else USUAL_RACKS)
        for is_due in looking.slices(budget.remaining_ms, lambda: inference.is_over):
            if is_due:
                tell()
        posterior = tell()
        if posterior.note:
            report.tell(InfoText(f"string {posterior.note}"))
        self._inferred = task.situation.key, task.situation.rules, posterior.as_prior(KEPT_DOUBT)

    def _endgame(self, task: SearchTask, kit: Kit, budget: Budget, report: Report) -> Move | None:
        view = kit.view(task)
        solver = solver_for(self._solvers, task, view, report)
        return solve_endgame(solver, task, view, budget, report)

    def _peg(self, task: SearchTask, kit: Kit, budget: Budget, report: Report) -> Move:
        view = kit.view(task)
        solver = solver_for(self._solvers, task, view, report)
        return solve_preendgame(solver, task, view, self._belief(task, view), budget, report)

    def _auto(self, task: SearchTask, kit: Kit, budget: Budget, report: Report) -> Move:
        player, view = self._follower.player(task, kit)
        pulse = Pulse()

        def offered() -> None:
            best = budget.best
            if best is not None and pulse.is_due():
                report.tell(*report.simulated(best.candidates), best=best.move)
                pulse.done()
            elif best is not None:
                report.tell(best=best.move)

        budget.on_change(offered)
        try:
            choice = player.choose(view, budget)
        finally:
            budget.on_change(None)
        report.tell(*report.simulated(choice.candidates), best=choice.move)
        return choice.move


_MODES: Mapping[Mode, Callable[[SearchMaker, SearchTask, Kit, Budget, Report], Move | None]] = {
    "gen": SearchMaker._gen,
    "sim": SearchMaker._sim,
    "infer": SearchMaker._infer,
    "endgame": SearchMaker._endgame,
    "peg": SearchMaker._peg,
    "auto": SearchMaker._auto,
}


def _fault(error: Exception) -> Fault:
    code = "no-memory" if isinstance(error, MemoryError) else "bad-position"
    return Fault(code, str(error))


def _first_move(task: SearchTask, kit: Kit) -> str:
    """Return the best move by static equity, of ``searchmoves`` if there are any."""
    (first, *_) = chosen(kit.view(task), 1, task.only)
    return Report(task, lambda _answers, _best: None).text(first.move)


def certainty(simulation: Simulation) -> float:
    """Return a lower bound of the probability that the leader is the best, 0 to 1.

    It subtracts the sum of the rivals' chances (Bonferroni). Rivals equal to the leader in every
    sample don't count.
    """
    if not simulation.is_sampled:
        return 0.0
    if simulation.exact or len(simulation.candidates) == 1:
        return 1.0
    statistics = simulation.statistics
    others = ~statistics.twins
    others[statistics.leader] = False
    scores = statistics.scores()[others].tolist()
    return max(0.0, 1.0 - sum(math.erfc(score / math.sqrt(2)) / 2 for score in scores))


def _some_situation(settings: SiuSettings) -> SiuSituation:
    rules = rules_for(load_distribution(settings.distribution))
    tiles, alphabet = rules.distribution.all_tiles(), rules.distribution.alphabet
    board = Board.empty(rules.layout)
    start = write_cgp(Position(board, ((), ()), (0, 0)), rules)
    place = Place(*rules.layout.start, Direction.ACROSS, tiles[-2:])
    first = format_cgp_move(place, board, alphabet)
    every = (len(tiles) - 2) // rules.rack_size
    rack = tiles[: every * rules.rack_size : every]
    return read_position(SetPosition(start, (first, f"rack.{alphabet.text(rack)}")), settings)


def _late_situation(settings: SiuSettings, bag: int) -> SiuSituation:
    """Return a position with a number of tiles in the bag, for a rehearsal.

    All other tiles lie on the board, row by row with free rows between; they form no words.
    """
    rules = rules_for(load_distribution(settings.distribution))
    tiles, layout = rules.distribution.all_tiles(), rules.layout
    count = 2 * rules.rack_size + bag
    hidden = tiles[:: max(len(tiles) // count, 1)][-count:]
    lying = (Counter(tiles) - Counter(hidden)).elements()
    squares = bytearray(layout.rows * layout.columns)
    order = sorted(range(len(squares)), key=lambda square: (square // layout.columns) % 2)
    for square, tile in zip(order, lying, strict=False):
        squares[square] = tile or BLANK_FLAG | 1
    rack = tuple(sorted(hidden[: rules.rack_size]))
    late = Position(Board(layout, bytes(squares)), (rack, ()), (0, 0))
    return read_position(SetPosition(write_cgp(late, rules)), settings)

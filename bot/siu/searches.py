"""The searches, a method for each mode of ``go``; one thread runs them in turn.

A search reports the provenance of its figures first, then results and its best move so far, so it
can end at any moment. Before that ``at_once`` serves, in another thread.
"""

from __future__ import annotations

import math
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeAlias

from bot.player import Budget
from bot.search.anytime import Anytime
from bot.search.late_game import Solvers
from bot.search.simulating import Search, usual_candidates
from bot.search.simulating import Settings as SearchSettings
from engine.inference.leave_prior import LeavePrior
from engine.movegen.evaluation import POINT
from engine.notation.cgp import write_cgp
from engine.notation.cgp_moves import format_cgp_move
from engine.rules.moves import Direction, Place
from engine.rules.position import Board, Position
from engine.rules.rules import Rules, standard_rules
from engine.simulation.simulation import Simulation
from lexicons import jit
from lexicons.alphabet import BLANK_FLAG
from protocol.channel import now_ms
from protocol.siu.answers import Fault, Ignored, InfoGen, InfoText, Provenance
from protocol.siu.commands import Go, Mode, SetPosition

from .auto_player import Follower
from .beliefs import KEPT_DOUBT, believed, infer_lines, inference_about, most_racks
from .info_lines import Pulse, Texts, Told, sim_lines
from .modes import NOTHING, Task
from .position import Situation, read_position
from .resources import Kit, chosen, load_kit, view_at
from .settings import Settings
from .solving import solve_endgame, solve_preendgame, solver_for

__all__ = ["Searcher", "Watch"]

REHEARSED_MS = 50
FOR_EVER_MS = 10**15


class Watch(Budget):
    """A budget with a wait for its end. Safe to use from any thread.

    Args:
        ends_ms: its end; None: when cancelled.
        clock: returns milliseconds.
    """

    def __init__(self, ends_ms: int | None = None, clock: Callable[[], int] = now_ms) -> None:
        super().__init__(FOR_EVER_MS if ends_ms is None else ends_ms, clock=clock)
        self._told = threading.Event()
        self._is_timed = ends_ms is not None

    def cancel(self) -> None:
        """End it now."""
        super().cancel()
        self._told.set()

    def wait(self) -> None:
        """Wait until it is over."""
        self._told.wait(self.remaining_ms() / 1_000 if self._is_timed else None)


class Searcher:
    """Makes searches, and keeps results that the next may use.

    Args:
        name: our name in provenances.
        progress: takes a sentence when something takes long.
    """

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

    def load(self, settings: Settings, rules: Rules | None = None) -> Kit:
        """Load the data of settings; the first time also compile and rehearse.

        Raises:
            ValueError: a file is invalid, or for other tiles.
            OSError: a file can't be read.
        """
        rules = rules or standard_rules(settings.distribution)
        key = (settings.lexicon, settings.leaves, settings.win_probabilities, rules)
        with self._loading:
            if self._kit is None or self._kit[0] != key:
                self._kit = key, load_kit(settings, rules, self._name, self._progress)
            kit = self._kit[1]
        if not self._is_warm:
            self._is_warm = True
            jit.announce_compilation(self._progress)
            jit.warm_up()
            self._rehearse(settings)
        return kit

    def _rehearse(self, settings: Settings) -> None:
        """Make a short search of each kind, so that everything is loaded."""
        early = _some_situation(settings)
        for go, situation in (
            *((go, early) for go in (Go("gen"), Go("infer"), Go("sim", iterations=2), Go("auto"))),
            (Go("endgame"), _late_situation(settings, 0)),
            (Go("peg"), _late_situation(settings, 1)),
        ):
            task = Task(0, -1, go.mode, go, situation, settings, threads=settings.threads)
            self.search(task, Watch(now_ms() + REHEARSED_MS), lambda _answers, _best: None)
        self._inferred = None

    def _kit_for(self, task: Task) -> Kit:
        words = task.situation.lexicon or task.settings.lexicon
        return self.load(replace(task.settings, lexicon=words), task.situation.rules)

    # --- searching --------------------------------------------------------------------------------

    def at_once(self, task: Task) -> tuple[Provenance, str]:
        """Return the best move by static equity, in any thread.

        Raises:
            ValueError: as ``load``, or there is no move.
            OSError: as ``load``.
        """
        kit = self._kit_for(task)
        (first, *_) = chosen(kit.generator(), task.situation.position, 1, task.only)
        return kit.provenance, Texts(task)(first.move)

    def search(self, task: Task, watch: Watch, told: Told) -> str:
        """Search until the watch ends or nothing is left to do; return the best move."""
        try:
            kit = self._kit_for(task)
            best = _MODES[task.mode](self, task, kit, watch, told)
        except (ValueError, OSError) as error:
            told((Fault("bad-position", str(error)),), None)
            return NOTHING
        if task.waits:
            watch.wait()
        return best

    def _gen(self, task: Task, kit: Kit, watch: Watch, told: Told) -> str:
        text, write = Texts(task), kit.rules.distribution.alphabet.text
        position, count = task.situation.position, task.settings.lines
        rows = chosen(kit.generator(), position, count, task.only, task.also)
        lines = (
            InfoGen(text(row.move), row.score, row.equity / POINT, write(row.leave)) for row in rows
        )
        told((kit.provenance, *lines), text(rows[0].move))
        return text(rows[0].move)

    def _sim(self, task: Task, kit: Kit, watch: Watch, told: Told) -> str:
        began, text = time.perf_counter(), Texts(task)
        kept = self._kept(task, told) if task.go.useinference else None
        told((kit.provenance,), None)
        search = _simulation(task, kit, kept)
        simulation, wanted = search.simulation, task.go.stopcondition
        limits = (task.go.iterations, task.go.movetime_ms, wanted)
        is_unlimited = not task.go.infinite and all(limit is None for limit in limits)

        def is_enough() -> bool:
            if wanted is not None:
                return certainty(simulation) >= wanted / 100
            return is_unlimited and search.is_settled

        for is_due in Anytime(simulation).slices(watch.remaining_ms, is_enough):
            if is_due and simulation.is_sampled:
                told(sim_lines(task, simulation.estimates(), text), text(simulation.leader.move))
        ms = max(round(1_000 * (time.perf_counter() - began)), 1)
        told(
            (
                *sim_lines(task, simulation.estimates(), text),
                InfoText(
                    f"depth {simulation.plies} time {ms} nodes {simulation.rollouts} "
                    f"nps {1_000 * simulation.rollouts // ms}"
                ),
            ),
            text(simulation.leader.move),
        )
        return text(simulation.leader.move)

    def _kept(self, task: Task, told: Told) -> LeavePrior | None:
        """Return the last inference's result, if it was about this position."""
        about = (task.situation.key, task.situation.rules)
        if self._inferred is not None and self._inferred[:2] == about:
            return self._inferred[2]
        why = InfoText("string there is no result of go infer about this position")
        told((Ignored("useinference"), why), None)
        return None

    def _infer(self, task: Task, kit: Kit, watch: Watch, told: Told) -> str:
        told((kit.provenance,), None)
        inference = inference_about(task, kit)
        looking = Anytime(inference, most=most_racks(task))
        for is_due in looking.slices(watch.remaining_ms, lambda: inference.is_over):
            if is_due:
                told(infer_lines(inference.posterior(), task, kit), None)
        posterior = inference.posterior()
        note = (InfoText(f"string {posterior.note}"),) if posterior.note else ()
        told((*infer_lines(posterior, task, kit), *note), None)
        self._inferred = task.situation.key, task.situation.rules, posterior.as_prior(KEPT_DOUBT)
        return NOTHING

    def _endgame(self, task: Task, kit: Kit, watch: Watch, told: Told) -> str:
        told((kit.provenance,), None)
        solver = solver_for(self._solvers, task, kit, told)
        return solve_endgame(solver, task, kit, watch, told)

    def _peg(self, task: Task, kit: Kit, watch: Watch, told: Told) -> str:
        kept = self._kept(task, told) if task.go.useinference else None
        told((kit.provenance,), None)
        solver = solver_for(self._solvers, task, kit, told)
        return solve_preendgame(solver, task, kit, kept, watch, told)

    def _auto(self, task: Task, kit: Kit, watch: Watch, told: Told) -> str:
        text, pulse = Texts(task), Pulse()
        player, view = self._follower.player(task, kit)
        told((kit.provenance,), None)

        def offered() -> None:
            best = watch.best
            if best is not None:
                due = pulse.is_due()
                told(sim_lines(task, best.candidates, text) if due else (), text(best.move))
                if due:
                    pulse.done()

        watch.on_change(offered)
        try:
            choice = player.choose(view, watch)
        finally:
            watch.on_change(None)
        told(sim_lines(task, choice.candidates, text), text(choice.move))
        return text(choice.move)


_Search: TypeAlias = Callable[[Searcher, Task, Kit, Watch, Told], str]

_MODES: Mapping[Mode, _Search] = {
    "gen": Searcher._gen,
    "sim": Searcher._sim,
    "infer": Searcher._infer,
    "endgame": Searcher._endgame,
    "peg": Searcher._peg,
    "auto": Searcher._auto,
}


def _simulation(task: Task, kit: Kit, kept: LeavePrior | None) -> Search:
    view, go = view_at(task, kit), task.go
    count = task.settings.candidates or usual_candidates(view.bag)
    settings = SearchSettings(
        plies=go.depth,
        iterations=go.iterations,
        rule="top-two" if go.iterations is None else "equal",
    )
    candidates = chosen(kit.generator(), view.position, count, task.only, task.also)
    belief = believed(task, kit, kept)
    return Search(view, settings, view.seed, belief, candidates)


def certainty(simulation: Simulation) -> float:
    """Return a lower bound of the probability that the leader is the best, 0 to 1.

    It adds up each rival's chance of being better (Bonferroni), except candidates equal to the
    leader in every sample.
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


def _some_situation(settings: Settings) -> Situation:
    rules = standard_rules(settings.distribution)
    tiles, alphabet = rules.distribution.all_tiles(), rules.distribution.alphabet
    board = Board.empty(rules.layout)
    start = write_cgp(Position(board, ((), ()), (0, 0)), rules)
    first = format_cgp_move(
        Place(*rules.layout.start, Direction.ACROSS, tiles[-2:]), board, alphabet
    )
    every = (len(tiles) - 2) // rules.rack_size
    rack = tiles[: every * rules.rack_size : every]
    return read_position(SetPosition(start, (first, f"rack.{alphabet.text(rack)}")), settings)


def _late_situation(settings: Settings, bag: int) -> Situation:
    """Return a turn with a number of tiles in the bag, for a rehearsal.

    All other tiles lie on the board, row by row, with free rows between while they fit; they form
    no words.
    """
    rules = standard_rules(settings.distribution)
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

"""The searches, one for each mode of ``go``; they run in one thread, one after another.

A search tells what it finds as it goes on: where its figures come from before anything else, then
results, and its best move so far, so that whoever has to end it at once has an answer. Until then
there is ``at_once``, for another thread.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeAlias

from bot.search.anytime import Anytime
from engine.inference.leave_prior import LeavePrior
from engine.movegen.evaluation import POINT
from engine.notation.cgp import write_cgp
from engine.notation.cgp_moves import format_cgp_move
from engine.rules.moves import Direction, Place
from engine.rules.position import Board, Position
from engine.rules.rules import Rules, standard_rules
from lexicons import jit
from lexicons.alphabet import BLANK_FLAG
from protocol.channel import now_ms
from protocol.siu.answers import Fault, Ignored, InfoGen, InfoText, Provenance
from protocol.siu.commands import Go, Mode, SetPosition

from .auto_player import Follower
from .candidate_moves import chosen
from .inferring import Inferring
from .info_lines import Pulse, Texts, Told, sim_lines
from .modes import NOTHING, Task
from .position import Situation, read_position
from .resources import Kit, load_kit
from .search_budget import Watch
from .settings import Settings
from .simulating import Simulating
from .solving import Solvers, solve_endgame, solve_preendgame

__all__ = ["Searcher"]

REHEARSED_MS = 50


class Searcher:
    """Makes searches, and remembers of one what the next may want.

    Args:
        name: what we are called where figures come from.
        progress: told in a sentence what takes time.
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
        """Load what settings name, and the first time compile, and rehearse.

        Raises:
            ValueError: what is wrong with a file, or that it is for other tiles.
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
        """Make a short search of each kind, so that all is read that is read when first wanted."""
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
        """Give the best move by static equity. Any thread may ask.

        Raises:
            ValueError: as ``load``, or there is no move.
            OSError: as ``load``.
        """
        kit = self._kit_for(task)
        (first, *_) = chosen(kit.generator(), task.situation.position, 1, task.only)
        return kit.provenance, Texts(task)(first.move)

    def search(self, task: Task, watch: Watch, told: Told) -> str:
        """Make a search; give the best move. It ends when the watch says so, or by itself."""
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
        """List the best moves by static equity."""
        text, write = Texts(task), kit.rules.distribution.alphabet.text
        position, count = task.situation.position, task.settings.lines
        found = chosen(kit.generator(), position, count, task.only, task.also)
        lines = (
            InfoGen(text(one.move), one.score, one.equity / POINT, write(one.leave))
            for one in found
        )
        told((kit.provenance, *lines), text(found[0].move))
        return text(found[0].move)

    def _sim(self, task: Task, kit: Kit, watch: Watch, told: Told) -> str:
        """Roll candidates out."""
        began, text = time.perf_counter(), Texts(task)
        kept = self._kept(task, told) if task.go.useinference else None
        told((kit.provenance,), None)
        search = Simulating(task, kit, kept)
        simulation = search.simulation
        slices = Anytime(simulation).slices(watch.remaining_ms, lambda: search.is_settled)
        for is_due in slices:
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
        """Give what the last inference found, if it was about this position."""
        about = (task.situation.key, task.situation.rules)
        if self._inferred is not None and self._inferred[:2] == about:
            return self._inferred[2]
        why = InfoText("string there is no result of go infer about this position")
        told((Ignored("useinference"), why), None)
        return None

    def _infer(self, task: Task, kit: Kit, watch: Watch, told: Told) -> str:
        """Work out what the opponent kept when he last moved."""
        told((kit.provenance,), None)
        search = Inferring(task, kit)
        for is_due in search.slices(watch):
            if is_due:
                told(search.told(search.posterior()), None)
        found = search.posterior()
        note = (InfoText(f"string {found.note}"),) if found.note else ()
        told((*search.told(found), *note), None)
        self._inferred = task.situation.key, task.situation.rules, search.kept(found)
        return NOTHING

    def _endgame(self, task: Task, kit: Kit, watch: Watch, told: Told) -> str:
        """Prove the best play, or come as near as there is time."""
        told((kit.provenance,), None)
        return solve_endgame(self._solvers.solver(task, kit, told), task, kit, watch, told)

    def _peg(self, task: Task, kit: Kit, watch: Watch, told: Told) -> str:
        """Compare moves by what may be in the bag."""
        kept = self._kept(task, told) if task.go.useinference else None
        told((kit.provenance,), None)
        solver = self._solvers.solver(task, kit, told)
        return solve_preendgame(solver, task, kit, kept, watch, told)

    def _auto(self, task: Task, kit: Kit, watch: Watch, told: Told) -> str:
        """Ask the champion."""
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


def _some_situation(settings: Settings) -> Situation:
    """Give the second turn of some game, for a rehearsal."""
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
    """Give a turn with so many tiles in the bag, for a rehearsal; the words on its board are none.

    All other tiles lie on it, row by row, with a free row after each as long as there is room.
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

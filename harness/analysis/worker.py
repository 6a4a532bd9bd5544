"""The work of the process that analyses for a server's page.

It reads messages from its standard input and answers on its standard output, each JSON after its
length in four bytes, little-endian. It does one task at a time; ``{"stop": true}`` ends the current
one with what is known by then. Answers to a task are:

* ``{"sheet": …}`` if the task names no line: the turns of what was given (``sheet_json``);
* ``{"so_far": …}`` a few times a second, and last ``{"findings": …}``, as
  ``tilewire analyze --json`` prints them, with ``replies`` (``replies_json``) and ``belief``;
* ``{"moves": …}``, the list of moves before a line, or ``{"words": …}`` (``look_up``);
* ``{"refused": sentence}`` if the task can't be done, with the ``part`` and the ``squares`` of a
  position that are wrong, if known.

The last answer has the ``table`` whose words and rules apply, unless it refuses.
"""

from __future__ import annotations

import math
import queue
import re
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any, BinaryIO

import msgspec

from bot.equipment import Resources, tables_for
from bot.player import Believed
from bot.search.analysis.findings import Findings, SearchTools
from bot.search.analysis.inferred import look, observe
from bot.search.analysis.over_racks import OverRacks
from bot.search.analysis.questions import rank_moves
from bot.search.belief import RACKS, believed
from engine.inference.equity_loss import Judges
from engine.inference.likelihood import MODELS, Style
from engine.movegen.generator import Generator
from engine.notation.cgp import write_cgp
from engine.notation.move_text import NotationError
from engine.notation.replaying import LOST_TURN, Replay
from engine.rules.rule_sets import rules_in_play
from engine.rules.rules import stalled, why_not
from harness.game_kinds import MAIN, GameKind
from lexicons.store import load_lexicon

from .as_json import answer_json, progress_json, replies_json
from .look_up import look_up
from .review import ReviewedTurn, analyse_turn
from .sheet import read_sheet, read_try, sheet_json
from .task import LENGTH, AnalysisTask

_LEXICON = re.compile(rb"(?:^#lexicon|\blex)[ \t]+([^;\s]+)", re.MULTILINE)

SO_FAR_S = 0.3
"""Least time between two ``so_far`` answers."""


class Analyst:
    """Does a server's tasks; the words and rules of each of its tables are loaded when needed."""

    def __init__(self, kinds: Mapping[str, GameKind]) -> None:
        self._kinds = kinds
        self._desks: dict[str, _Desk] = {}

    def do(
        self,
        task: AnalysisTask,
        on_progress: Callable[[dict[str, Any]], None],
        stopped: Callable[[], bool],
    ) -> dict[str, Any]:
        """Do a task and return the answer; ``on_progress`` takes the ``so_far`` answers."""
        table = self._table_of(task.data) if task.table is None else task.table
        if table not in self._desks:
            self._desks[table] = _Desk(self._kinds[table])
        answer = self._desks[table].do(task, on_progress, stopped)
        return answer if "refused" in answer else answer | {"table": table}

    def _table_of(self, data: bytes) -> str:
        """Return the table whose lexicon a game names and whose rules fit best, else ``MAIN``.

        Rules fit best if replaying the game by them gives the fewest notices.
        """
        named = {name.decode(errors="replace").casefold() for name in _LEXICON.findall(data)}
        notices: dict[str, float] = {MAIN: math.inf}
        for table, kind in self._kinds.items():
            if kind.words.casefold() in named:
                with suppress(ValueError):
                    replay = read_sheet(data, rules_in_play(kind.rules)).replay
                    notices[table] = len(replay.notices) if replay else 0
        return min(notices, key=notices.__getitem__)


class _Desk:
    """The words, leave values, win probabilities and rules of one table."""

    def __init__(self, kind: GameKind) -> None:
        equipment = kind.equipment
        self._rules = rules = rules_in_play(kind.rules)
        lexicon = load_lexicon(equipment.lexicon, rules.distribution)
        self._leaves, chances = tables_for(equipment, rules.distribution)
        self._resources = Resources(lexicon, self._leaves, chances)
        # Each task for a turn has the whole game.
        self._read = lru_cache(maxsize=8)(partial(read_sheet, rules=rules))

    def do(
        self,
        task: AnalysisTask,
        on_progress: Callable[[dict[str, Any]], None],
        stopped: Callable[[], bool],
    ) -> dict[str, Any]:
        """Do a task and return the answer; ``on_progress`` takes the ``so_far`` answers."""
        words = self._resources.lexicon
        try:
            if task.word:
                return {"words": look_up(task.word, task.rack, words, self._leaves)}
            sheet = self._read(task.data)
            if task.line is None:
                return {"sheet": sheet_json(sheet, self._rules, words.name)}
            turn = sheet.turn(task.line, self._rules)
            if task.most:
                return {"moves": self._moves(turn, task.most)}
            if turn.obstacle:
                raise ValueError(turn.obstacle)
            belief = self._belief(sheet.replay, task.line) if task.believes else None
            return {"findings": self._findings(turn, belief, task, on_progress, stopped)}
        except NotationError as error:
            return {"refused": str(error), "part": error.part or None, "squares": error.squares}
        except ValueError as error:
            return {"refused": str(error)}

    def _moves(self, turn: ReviewedTurn, most: int) -> dict[str, Any]:
        """List the moves before a turn, for which a part of a rack is enough."""
        position, rules = turn.position, self._rules
        if lacks := why_not(position, rules, whole=False):
            raise NotationError(lacks, "scores" if stalled(position, rules) else "racks")
        if turn.obstacle != why_not(position, rules):
            raise ValueError(turn.obstacle)
        generator = Generator(self._resources.lexicon, rules, self._leaves)
        listed = answer_json(rank_moves(generator, position, most), rules)
        count = sum(listed["count"].values())
        return {"line": turn.line, "cgp": write_cgp(position, rules), **listed, "count": count}

    def _belief(self, replay: Replay | None, line: int) -> Believed | None:
        """Return the belief after the play before a line; None: no play, or it tells nothing."""
        if replay is None or line == 1:
            return None
        step = replay.steps[line - 2]  # lines count from 1, and the play is a line before
        if not step.event.kind.is_turn or LOST_TURN in step.event.note.split("\n"):
            return None
        rules, words = self._rules, self._resources.lexicon
        mover, observer = step.seat, 1 - step.seat
        position = step.before.with_rack(mover, ())
        if len(position.racks[observer]) < rules.rack_size:  # a rack known in part tells nothing
            position = position.with_rack(observer, ())
        # The file has the number of tiles of an exchange that weren't shown.
        move = step.move if step.move is not None else int(step.event.detail)
        try:
            observed = observe(position, move, rules, words)
        except ValueError:  # a phony, or an empty bag
            return None
        judges = Judges(words, rules, self._leaves)
        style = Style.of(MODELS["soft"])
        belief, _ = look(judges, observed.play, observed.counts, style, racks=RACKS)
        chances = observed.tiles_now(belief.as_prior())
        return believed(belief, chances, rules.distribution.alphabet)

    def _findings(
        self,
        turn: ReviewedTurn,
        belief: Believed | None,
        task: AnalysisTask,
        on_progress: Callable[[dict[str, Any]], None],
        stopped: Callable[[], bool],
    ) -> dict[str, Any]:
        settings = SearchTools(
            self._rules,
            replace(self._resources, threads=task.threads),
            seed=task.seed,
            seconds=task.seconds,
            rollouts=task.rollouts,
        )
        told_s, is_known = time.monotonic(), False

        def tell(findings: Findings) -> None:
            nonlocal told_s, is_known
            is_first = findings.is_known and not is_known  # it comes as soon as all have samples
            if is_first or time.monotonic() - told_s >= SO_FAR_S:
                told_s, is_known = time.monotonic(), findings.is_known
                on_progress({"so_far": progress_json(findings, self._rules)})

        findings: Findings | OverRacks
        if task.move and turn.lacks_tiles:
            raise ValueError("the rack is not recorded")
        if task.move:
            move = read_try(task.move, turn, self._rules)
            turn = replace(turn, tried=move, taken_back=False)
        moves = [read_try(text, turn, self._rules) for text in task.moves]
        findings = analyse_turn(settings, turn, stopped, tell, moves)
        nick, leaves = turn.nick, self._leaves
        answer = answer_json(findings, self._rules, line=turn.line, nick=nick, leaves=leaves)
        own: dict[str, Any] = {"line": turn.line, "notices": [*turn.notices]}
        if isinstance(findings, Findings):
            own["replies"] = replies_json(findings)
        if task.believes:
            own["belief"] = belief
        return answer | own


def serve(analyst: Analyst, reading: BinaryIO, writing: BinaryIO) -> None:
    """Do the tasks that come in, one after another, until the input ends."""
    tasks: queue.Queue[AnalysisTask | None] = queue.Queue()
    stop = threading.Event()

    def listen() -> None:
        while len(header := reading.read(LENGTH.size)) == LENGTH.size:
            message = reading.read(*LENGTH.unpack(header))
            if b'"stop"' in message[:8]:
                stop.set()
            else:
                stop.clear()
                tasks.put(msgspec.json.decode(message, type=AnalysisTask))
        stop.set()
        tasks.put(None)

    threading.Thread(target=listen, daemon=True).start()
    while (task := tasks.get()) is not None:
        _send(writing, analyst.do(task, lambda so_far: _send(writing, so_far), stop.is_set))


def _send(writing: BinaryIO, message: dict[str, Any]) -> None:
    frame = msgspec.json.encode(message)
    writing.write(LENGTH.pack(len(frame)) + frame)
    writing.flush()

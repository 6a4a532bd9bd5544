"""The work of the process that analyses for a server's page.

It reads messages from its standard input and answers on its standard output, each JSON after its
length in four bytes, little-endian. It does one task at a time; ``{"stop": true}`` ends the current
one with what is known by then. Answers to a task are:

* ``{"sheet": …}`` if the task names no line: the turns of what was given (``sheet_json``), and the
  ``table`` whose words and rules apply;
* ``{"so_far": …}`` a few times a second, and last ``{"findings": …}``, as
  ``tilewire analyze --json`` prints them, with ``replies`` (``replies_json``);
* ``{"refused": sentence}`` if the task can't be done.
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
from bot.search.analysis.findings import Findings, Settings
from bot.search.analysis.over_racks import OverRacks
from engine.rules.rule_sets import rules_in_play
from harness.game_kinds import MAIN, GameKind
from lexicons.store import load_lexicon

from .as_json import answer_json, progress_json, replies_json
from .review import Turn, analyse_turn
from .sheet import read_sheet, read_try, sheet_json
from .task import LENGTH, Task

_LEXICON = re.compile(rb"(?:^#lexicon|\blex)[ \t]+([^;\s]+)", re.MULTILINE)

SO_FAR_S = 0.3
"""Least time between two ``so_far`` answers."""


class Analyst:
    """Does a server's tasks; the words and rules of each of its tables are loaded when needed."""

    def __init__(self, kinds: Mapping[str, GameKind]) -> None:
        self._kinds = kinds
        self._desks: dict[str, _Desk] = {}

    def do(
        self, task: Task, told: Callable[[dict[str, Any]], None], stopped: Callable[[], bool]
    ) -> dict[str, Any]:
        """Do a task and return the answer; ``told`` takes the ``so_far`` answers."""
        table = self._table_of(task.data) if task.table is None else task.table
        if table not in self._desks:
            self._desks[table] = _Desk(self._kinds[table])
        answer = self._desks[table].do(task, told, stopped)
        return answer | {"table": table} if "sheet" in answer else answer

    def _table_of(self, data: bytes) -> str:
        """Return the table whose lexicon a game names and whose rules fit best, else ``MAIN``."""
        named = {word.decode(errors="replace").casefold() for word in _LEXICON.findall(data)}
        fits = {MAIN: math.inf}
        for table, kind in self._kinds.items():
            if kind.words.casefold() in named:
                with suppress(ValueError):
                    played = read_sheet(data, rules_in_play(kind.rules)).replay
                    fits[table] = len(played.notices) if played else 0
        return min(fits, key=fits.__getitem__)


class _Desk:
    """The words, leave values, win probabilities and rules of one table."""

    def __init__(self, kind: GameKind) -> None:
        equipment = kind.equipment
        self._rules = rules = rules_in_play(kind.rules)
        lexicon = load_lexicon(equipment.lexicon, rules.distribution)
        self._resources = Resources(lexicon, *tables_for(equipment, rules.distribution))
        # Each task for a turn has the whole game.
        self._read = lru_cache(maxsize=8)(partial(read_sheet, rules=rules))

    def do(
        self, task: Task, told: Callable[[dict[str, Any]], None], stopped: Callable[[], bool]
    ) -> dict[str, Any]:
        """Do a task and return the answer; ``told`` takes the ``so_far`` answers."""
        try:
            sheet = self._read(task.data)
            if task.line is None:
                return {"sheet": sheet_json(sheet, self._rules, self._resources.lexicon.name)}
            turn = sheet.turn(task.line, self._rules)
            if turn.obstacle:
                raise ValueError(turn.obstacle)
            return {"findings": self._findings(turn, task, told, stopped)}
        except ValueError as error:
            return {"refused": str(error)}

    def _findings(
        self,
        turn: Turn,
        task: Task,
        told: Callable[[dict[str, Any]], None],
        stopped: Callable[[], bool],
    ) -> dict[str, Any]:
        settings = Settings(
            self._rules,
            self._resources,
            seed=task.seed,
            seconds=task.seconds,
            rollouts=task.rollouts,
        )
        told_s = time.monotonic()

        def tell(findings: Findings) -> None:
            nonlocal told_s
            if time.monotonic() - told_s >= SO_FAR_S:
                told_s = time.monotonic()
                told({"so_far": progress_json(findings, self._rules)})

        findings: Findings | OverRacks
        if task.move and turn.lacks_tiles:
            raise ValueError("the rack is not recorded")
        if task.move:
            move = read_try(task.move, turn, self._rules)
            turn = replace(turn, tried=move, taken_back=False)
        findings = analyse_turn(settings, turn, stopped, tell)
        leaves = self._resources.leaves
        known = answer_json(findings, self._rules, line=turn.line, nick=turn.nick, leaves=leaves)
        own = {"line": turn.line, "notices": [*turn.notices]}
        if isinstance(findings, Findings):
            own["replies"] = replies_json(findings)
        return known | own


def serve(analyst: Analyst, reading: BinaryIO, writing: BinaryIO) -> None:
    """Do the tasks that come in, one after another, until the input ends."""
    tasks: queue.Queue[Task | None] = queue.Queue()
    stop = threading.Event()

    def listen() -> None:
        while len(header := reading.read(LENGTH.size)) == LENGTH.size:
            message = reading.read(*LENGTH.unpack(header))
            if b'"stop"' in message[:8]:
                stop.set()
            else:
                stop.clear()
                tasks.put(msgspec.json.decode(message, type=Task))
        stop.set()
        tasks.put(None)

    threading.Thread(target=listen, daemon=True).start()
    while (task := tasks.get()) is not None:
        _send(writing, analyst.do(task, lambda so_far: _send(writing, so_far), stop.is_set))


def _send(writing: BinaryIO, message: dict[str, Any]) -> None:
    frame = msgspec.json.encode(message)
    writing.write(LENGTH.pack(len(frame)) + frame)
    writing.flush()

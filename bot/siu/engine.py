"""The process around the conversation: lines in, lines out, searches meanwhile.

Threads read lines, write lines and search. None waits for another, so lines are answered during a
search, and a front end that does not read can't prevent the end. Another thread finds each search's
first move, since the searching thread may still be busy with an abandoned search.

The end of the input or the output ends the engine.
"""

from __future__ import annotations

import contextlib
import os
import queue
import sys
import threading
import traceback
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from protocol.channel import now_ms
from protocol.siu.answers import Answer, InfoInfer, InfoSim, InfoText
from protocol.siu.commands import Bare

from .conversation import Effect, SiuConversation
from .modes import SearchTask
from .settings import SiuSettings

if TYPE_CHECKING:  # these import numpy and numba
    from bot.player import Budget

    from .searches import SearchMaker

MAX_LINE = 1 << 20
"""Longest line, in bytes; the rest of a longer line is dropped."""

UNREAD = 2_000
"""Unread lines after which search results are dropped."""

LAST_WORDS_S = 0.2
"""Time for the front end to read the last lines before the end."""

SWITCH_S = 0.001
"""Switch interval of threads: with the usual 5 ms ``bestmove`` would come late after ``stop``."""

_News: TypeAlias = Callable[[], Sequence[Effect]]


def run(settings: SiuSettings, name: str, author: str, reading: int, writing: int) -> None:
    """Talk to a front end over two file descriptors, until either side ends."""
    sys.setswitchinterval(SWITCH_S)
    _Shell(SiuConversation(settings, name, author), name).run(reading, writing)


class _Shell:
    """Passes news to the conversation, and carries out its effects."""

    def __init__(self, conversation: SiuConversation, name: str) -> None:
        self._conversation = conversation
        self._name = name
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._news: queue.SimpleQueue[_News] = queue.SimpleQueue()
        self._work: queue.SimpleQueue[Callable[[SearchMaker], None]] = queue.SimpleQueue()
        self._firsts: queue.SimpleQueue[SearchTask] = queue.SimpleQueue()
        self._budget: Budget | None = None  # of the search begun last
        self._imports = threading.Lock()
        """Held while importing: concurrent imports in two threads may deadlock, a bug in Python."""
        self._is_over = False

    def run(self, reading: int, writing: int) -> None:
        writer = _start("siu writer", self._write, writing)
        _start("siu reader", self._read, reading)
        _start("siu searcher", self._search)
        while not self._is_over:
            for effect in self._next():
                self._do(effect)
        self._lines.put(None)
        writer.join(LAST_WORDS_S)

    def _next(self) -> Sequence[Effect]:
        """Wait for news, or for the conversation's next tick."""
        wakes, now = self._conversation.wakes_ms, now_ms()
        if wakes is not None and wakes <= now:
            return self._conversation.tick(now)
        try:
            news = self._news.get(timeout=None if wakes is None else (wakes - now) / 1_000)
        except queue.Empty:
            return ()
        return news()

    def _do(self, effect: Effect) -> None:
        match effect:
            case SiuSettings():
                self._work.put(partial(self._load, effect))
            case SearchTask():
                from bot.player import Budget

                from .searches import FOR_EVER_MS

                self._budget = Budget(FOR_EVER_MS if effect.ends_ms is None else effect.ends_ms)
                self._work.put(partial(self._make, effect, self._budget))
                if effect.mode != "infer":
                    self._firsts.put(effect)
            case Bare.STOP:
                assert self._budget is not None
                self._budget.cancel()
            case Bare.QUIT:
                self._is_over = True
            case _:
                self._lines.put(effect.line())

    def _take(self, text: str, at_ms: int) -> Sequence[Effect]:
        if text.split(maxsplit=1)[:1] in (["position"], ["setoption"]):
            self._bring_in()
        return self._conversation.take(text, at_ms)

    def _bring_in(self) -> type[SearchMaker]:
        with self._imports:
            from . import position  # noqa: F401
            from .searches import SearchMaker
        return SearchMaker

    def _read(self, descriptor: int) -> None:
        with os.fdopen(descriptor, "rb") as stream, contextlib.suppress(OSError):
            while line := stream.readline(MAX_LINE):
                at_ms, rest = now_ms(), line
                while len(rest) == MAX_LINE and not rest.endswith(b"\n"):
                    rest = stream.readline(MAX_LINE)
                text = line.decode(errors="replace")
                self._news.put(partial(self._take, text, at_ms))
        self._news.put(_leave)

    def _write(self, descriptor: int) -> None:
        while (line := self._lines.get()) is not None:
            data = " ".join(line.splitlines()).encode(errors="replace") + b"\n"
            try:
                while data:
                    data = data[os.write(descriptor, data) :]
            except OSError:  # the front end is gone
                self._news.put(_leave)
                return

    def _search(self) -> None:
        work = self._work.get()  # heavy imports wait for the first task
        searcher = self._bring_in()(self._name.replace(" ", "/"), self._progress)
        work(searcher)  # the searcher is warm from then on
        _start("siu first moves", self._find_first_moves, searcher)
        while True:
            self._work.get()(searcher)

    def _find_first_moves(self, searcher: SearchMaker) -> None:
        while True:
            task = self._firsts.get()
            with contextlib.suppress(Exception):  # the search itself reports the reason
                whence, best = searcher.at_once(task)
                self._news.put(partial(self._conversation.at_once, task.number, whence, best))

    def _progress(self, sentence: str) -> None:
        self._news.put(lambda: (InfoText(f"string {sentence}"),))

    def _load(self, settings: SiuSettings, searcher: SearchMaker) -> None:
        fault = ""
        try:
            searcher.load(settings)
        except (ValueError, OSError) as error:
            fault = str(error) or type(error).__name__
        except Exception as error:  # no memory, or a bug of ours: the front end still gets readyok
            traceback.print_exc()
            fault = f"{type(error).__name__}: {error}"
        self._news.put(partial(self._conversation.loaded, settings, fault))

    def _make(self, task: SearchTask, budget: Budget, searcher: SearchMaker) -> None:
        best: str | None = None
        try:
            best = searcher.search(task, budget, partial(self._told, task.number))
        except Exception:  # a bug of ours: the front end still gets its bestmove
            traceback.print_exc()
            self._progress("the search has failed; standard error has the traceback")
        self._news.put(partial(self._conversation.ended, task.number, best))

    def _told(self, number: int, answers: Sequence[Answer], best: str | None) -> None:
        if self._lines.qsize() > UNREAD:
            answers = [answer for answer in answers if not isinstance(answer, InfoSim | InfoInfer)]
        self._news.put(partial(self._conversation.told, number, answers, best))


def _start(name: str, target: Callable[..., None], *arguments: object) -> threading.Thread:
    thread = threading.Thread(target=target, args=arguments, name=name, daemon=True)
    thread.start()
    return thread


def _leave() -> Sequence[Effect]:
    return (Bare.QUIT,)

"""The conversation of an SIU engine: lines and search news in, effects out.

No I/O, no clock, no thread: time is an argument, and slow work is done elsewhere.

* Each ``go`` gets exactly one ``bestmove``. An invalid ``go`` (no rack, no legal move, a mode for
  another phase of the game) gets an error and ``bestmove none``. A ``go`` without any position gets
  the error only, as the conformance suite wants it.
* A ``go`` during a search ends that search as ``stop`` does, and begins after its ``bestmove``.
* If a search does not end soon after it should, its best move so far is written for it. Anything
  that it reports later is dropped.
* ``position`` and ``setoption`` during a search are for the next ``go``.
* The draft has no error code for options, so they use ``unknown-command``.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from protocol.siu.answers import (
    Answer,
    BestMove,
    Capability,
    Done,
    Fault,
    Id,
    Ignored,
    Provenance,
)
from protocol.siu.commands import Bare, Go, SetOption, SetPosition, parse_command

from .modes import HONOURED, NOTHING, SearchTask, honoured
from .settings import SiuSettings, options, with_option

if TYPE_CHECKING:  # these import numpy, which the handshake does not need
    from engine.rules.moves import Move

    from .position import SiuSituation

PATIENCE_MS = 20
"""Time for a search to end by itself once it should; the answer is due within 50 ms."""

LAST_RESORT = "pass"
"""A move that is legal in any position."""

_SHOWN = 200  # characters


Effect: TypeAlias = Answer | SiuSettings | SearchTask | Bare
"""What the caller has to do.

An answer: write it. Settings: load them, then call ``loaded``. A task: begin the search, pass its
reports to ``told`` and its end to ``ended``. ``STOP``: end the search begun last. ``QUIT``: end the
engine at once.
"""


@dataclass
class _Search:
    """A ``go`` without its ``bestmove``: running or queued."""

    number: int
    preface: list[Answer]
    task: SearchTask | None = None
    """None: the ``go`` is invalid."""
    best: str | None = None
    is_told_whence: bool = False
    """Whether its ``Provenance`` was written."""
    due_ms: int | None = None
    """When its best move so far is written for it; None: no deadline yet."""
    is_ending: bool = False


class SiuConversation:
    """A conversation with a front end."""

    def __init__(self, settings: SiuSettings, name: str, author: str) -> None:
        self._initial = self._settings = settings
        self._name, self._author = name, author
        self._wanted: SiuSettings | None = None
        self._good: SiuSettings | None = None
        self._loads = 0  # in progress
        self._owed = 0  # readyok answers
        self._situation: SiuSituation | None = None
        self._games = 0
        self._number = 0
        self._searches: deque[_Search] = deque()  # the first is running
        self._effects: list[Effect] = []

    @property
    def wakes_ms(self) -> int | None:
        """When to call ``tick``, if nothing happens before; None: not at all."""
        search = self._searches[0] if self._searches else None
        return None if search is None or search.best is None else search.due_ms

    # --- what happens -----------------------------------------------------------------------------

    def take(self, line: str, now_ms: int) -> list[Effect]:
        """Obey a line of the front end."""
        match parse_command(line):
            case None:
                pass
            case Bare.SIU:
                self._say(Id("name", self._name), Id("author", self._author))
                self._say(Capability((*HONOURED, "stream", "stop")))
                self._say(*options(self._initial), Done.SIU)
                self._load()
            case Bare.ISREADY:
                if self._good is None or not self._searches:
                    self._load()
                    self._owed += 1
                    self._answer_ready()
                else:
                    self._say(Done.READY)
            case SetOption(name, value):
                try:
                    self._settings = with_option(self._settings, name, value)
                except ValueError as error:
                    self._fault("unknown-command", f"setoption: {error}")
            case SetPosition() as command:
                self._place(command)
            case Bare.NEWGAME:
                self._games += 1
                self._situation = None
            case Go() as go:
                self._go(go, now_ms)
            case Bare.STOP:
                for search in self._searches:
                    self._end(search, now_ms)
            case Bare.QUIT:
                self._effects.append(Bare.QUIT)
            case unknown:
                self._fault("unknown-command", f"{unknown.line()[:_SHOWN]}; it is ignored")
        return self._done()

    def loaded(self, settings: SiuSettings, fault: str = "") -> list[Effect]:
        """Note that settings are loaded; after a fault, go back to the data loaded last."""
        if fault:
            self._fault("unknown-command", f"setoption: {fault}")
            self._settings = self._settings.without(settings, self._good or SiuSettings())
            if self._settings.needs_loading(settings):
                self._load()
        else:
            self._good = settings
        self._loads -= 1
        self._answer_ready()
        return self._done()

    def told(self, number: int, answers: Sequence[Answer], best: str | None) -> list[Effect]:
        """Pass on a search's report, and keep its best move so far."""
        if self._is_on(number):
            search = self._searches[0]
            search.best = best or search.best
            for answer in answers:
                if not (isinstance(answer, Provenance) and search.is_told_whence):
                    self._say(answer)
                search.is_told_whence |= isinstance(answer, Provenance)
        return self._done()

    def at_once(self, number: int, whence: Provenance, best: str) -> list[Effect]:
        """Take a first best move for a search that has none yet."""
        known = self._is_on(number) and self._searches[0].best is not None
        return [] if known else self.told(number, (whence,), best)

    def ended(self, number: int, best: str | None) -> list[Effect]:
        """Note the end of a search; ``best`` is None if it failed."""
        if self._is_on(number):
            self._finish(best or self._searches[0].best or NOTHING)
        return self._done()

    def tick(self, now_ms: int) -> list[Effect]:
        """Answer for an overdue search."""
        wakes = self.wakes_ms
        if wakes is not None and now_ms >= wakes:
            search = self._searches[0]
            self._effects.append(Bare.STOP)
            self._finish(search.best or NOTHING)
        return self._done()

    def _done(self) -> list[Effect]:
        effects, self._effects = self._effects, []
        return effects

    # --- commands ---------------------------------------------------------------------------------

    def _answer_ready(self) -> None:
        if not self._loads:
            self._say(*[Done.READY] * self._owed)
            self._owed = 0

    def _load(self) -> None:
        if self._wanted is None or self._settings.needs_loading(self._wanted):
            self._wanted = self._settings
            self._loads += 1
            self._effects.append(self._settings)

    def _place(self, command: SetPosition) -> None:
        from .position import BadMove, read_position  # imports numpy

        self._situation = None
        if not command.cgp:
            self._fault("bad-position", "write position cgp BOARD RACKS SCORES ZEROS")
            return
        try:
            self._situation = read_position(command, self._settings)
        except BadMove as error:
            self._fault("bad-move", str(error))
        except ValueError as error:
            self._fault("bad-position", str(error))
        else:
            for note in self._situation.notes:
                self._fault("bad-position", note)

    # --- searches ---------------------------------------------------------------------------------

    def _go(self, go: Go, now_ms: int) -> None:
        if self._situation is None:
            self._fault("no-position", "say position cgp … first")
            return
        self._load()
        self._number += 1
        go, ignored = honoured(go, self._settings.threads)
        search = _Search(self._number, list(map(Ignored, ignored)))
        self._make(search, go, self._situation, now_ms)
        for earlier in self._searches:
            self._end(earlier, now_ms)
        self._searches.append(search)
        if len(self._searches) == 1:
            self._begin()

    def _make(self, search: _Search, go: Go, situation: SiuSituation, now_ms: int) -> None:
        settings = self._settings
        if why := situation.why_not(go.mode):
            search.preface.append(Fault("bad-position", why))
            return
        named: dict[Move, str] = {}
        only, also = (
            self._moves(search, texts, situation, named)
            for texts in (go.searchmoves, go.alsosearchmoves)
        )
        if go.searchmoves and not only:
            search.preface.append(Fault("bad-move", "no move of searchmoves is legal"))
            return
        ends_ms = None if (limit := settings.limit_ms(go)) is None else now_ms + limit
        search.due_ms = None if ends_ms is None else ends_ms + PATIENCE_MS
        search.best = NOTHING if go.mode == "infer" else None
        search.task = SearchTask(
            self._number,
            self._games,
            go.mode,
            go,
            situation,
            settings,
            only,
            also,
            named,
            go.threads or settings.threads,
            ends_ms,
        )

    def _moves(
        self, search: _Search, texts: Sequence[str], situation: SiuSituation, named: dict[Move, str]
    ) -> tuple[Move, ...]:
        """Read moves to compare; skip impossible moves with an error in the preface."""
        moves = []
        for text in texts:
            try:
                move, name = situation.read_move(text)
            except ValueError as error:
                search.preface.append(Fault("bad-move", f"{text[:_SHOWN]}: {error}"))
            else:
                named[move] = name
                moves.append(move)
        return tuple(moves)

    def _begin(self) -> None:
        while self._searches:
            search = self._searches[0]
            self._say(*search.preface)
            if search.task is not None:
                self._effects.append(search.task)
                if search.is_ending:
                    self._effects.append(Bare.STOP)
                return
            self._searches.popleft()
            self._say(BestMove(NOTHING))

    def _end(self, search: _Search, now_ms: int) -> None:
        if search.is_ending or search.task is None:
            return
        search.is_ending = True
        search.due_ms = min(now_ms + PATIENCE_MS, search.due_ms or now_ms + PATIENCE_MS)
        if search is self._searches[0]:
            self._effects.append(Bare.STOP)
        if self._loads and search.best is None:
            search.best = LAST_RESORT

    def _finish(self, best: str) -> None:
        self._searches.popleft()
        self._say(BestMove(best))
        self._begin()

    def _is_on(self, number: int) -> bool:
        return bool(self._searches) and self._searches[0].number == number

    # --- answers ----------------------------------------------------------------------------------

    def _say(self, *answers: Answer) -> None:
        self._effects += answers

    def _fault(self, code: str, text: str) -> None:
        self._say(Fault(code, text))

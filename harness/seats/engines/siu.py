"""An SIU engine as a seat: ``siu:PROGRAM ARGUMENTS?Option=value``.

The seat keeps the engine's clock, and sends ``stop`` when a search is over. Each question gives the
whole game, so that an engine can infer, and a restarted engine knows all but its earlier racks.
Before each question it has to say ``readyok``; anything earlier, such as a surplus ``bestmove``, is
not taken as an answer.

Source: SIU draft 0.2 (woogles-io/open-protocols, ``siu/siu.md``).
"""

from __future__ import annotations

import asyncio
import math
from collections import deque
from pathlib import Path

from bot.player import Budget, Choice, View
from bot.registry import SeatError, SeatSpec
from bot.seat.offers import Declined
from engine.rules.position import Position
from engine.rules.rule_sets import load_rules
from protocol.siu.answers import (
    Answer,
    BestMove,
    Capability,
    Done,
    Fault,
    InfoGen,
    InfoSim,
    InfoText,
    Option,
    Provenance,
    parse_answer,
)
from protocol.siu.commands import Bare, Command, Go, Mode

from .engine import STALL_S, Context, ProcessEngine, latest_ms, nonstandard_rule
from .process import EngineFailed
from .siu_terms import SearchResults, game_so_far, same_lexicon, score_error, settings, trial

OURS = ("name", "memory", "cores", "log", "mode", "start", "folder")
"""Options of the seat; all others are the engine's."""

PLAYING: tuple[Mode, ...] = ("auto", "sim", "gen")
"""Modes that find a move in any position, the best mode first."""

START_S = 10.0
"""Limit for its introduction, and for its first moves; it loads and compiles in between."""

READY_SHARE = 0.8
"""Share of the time to get ready that an engine may take, so that a fault is found in time."""

LONGEST = 5_000
"""Longest kept line about a move, in characters: there may be many."""

MOST_OPTIONS = 1_000
"""Most options, and most modes, of an engine that are kept."""

MOST_FAULTS = 20
"""Complaints kept in answer to one question, the last ones."""

LATE_MS = 50
"""How much a search may exceed its limit before it is stopped."""

LEAD_MS = 200
"""Time before the last moment at which ``stop`` is sent; at most a quarter of the rest."""


class SiuEngine(ProcessEngine):
    """An SIU engine in one game."""

    quit_line = Bare.QUIT.line()
    form = "8D.HOUSE, ex.ABC or pass"

    def __init__(self, spec: SeatSpec, context: Context) -> None:
        super().__init__(spec, context)
        options = dict(spec.options)
        self._context = context
        self._start_in = Path(options["folder"])
        if not self._start_in.is_dir():
            raise SeatError(f"{spec.text!r}: there is no such folder; folder=DIR: it starts there")
        mode = options.get("mode")
        self._modes = tuple(each for each in PLAYING if mode in (None, each))
        if not self._modes:
            raise SeatError(
                f"{spec.text!r}: mode is {', '.join(PLAYING[:-1])} or {PLAYING[-1]}, not {mode!r}"
            )
        if nonstandard_rule(context.rules, ("rack_size",)):
            raise SeatError(f"{self._name} needs racks of 7 tiles: SIU has no option for others")
        start = options.get("start", str(START_S))
        self._start_s = float(start) if start.replace(".", "", 1).isdecimal() else 0.0
        if not self._start_s:
            raise SeatError(f"{spec.text!r}: start is a number of seconds above 0, not {start!r}")
        self._given = {key: value for key, value in options.items() if key not in OURS}
        for key, value in self._given.items():
            if not (key + value).isprintable():
                raise SeatError(f"{spec.text!r}: the option {key!r} has to fit in a line")
        self._options: dict[str, Option] = {}
        self._capabilities: set[str] = set()
        self._go: Mode = self._modes[0]
        self._used = ""
        """The lexicon that it says it uses, before its first moves."""
        self._searching = False
        self._begun: Position | None = None
        self._racks: dict[int, tuple[int, ...]] = {}
        """Its racks in earlier turns, by number of the turn."""

    async def start(self, view: View) -> None:
        """Start it, shake hands, set its options, and learn its words."""
        self._begun = view.position.without_racks()
        loop = asyncio.get_running_loop()
        end_s = loop.time() + view.time.ready_ms * READY_SHARE / 1_000

        def left_s(most_s: float = math.inf) -> float:
            return max(0.0, min(most_s, end_s - loop.time()))

        self.process = await self.start_process(folder=self._start_in)
        self.process.is_known = _is_known
        self._say(Bare.SIU)
        await self.process.wait_for(
            self._introduced, left_s(self._start_s), "said siuok (start=20 gives it 20 s)"
        )
        playing = [mode for mode in self._modes if mode in self._capabilities]
        if not playing:
            raise Declined(
                "unsupported_option",
                f"{self._name} does not search with 'go {' | '.join(self._modes)}'; "
                f"it can: {', '.join(sorted(self._capabilities)) or 'nothing'}",
            )
        self._go = playing[0]
        chosen = settings(self._name, self._options, self._given, self._context, view.rules)
        if any(setting.name.casefold() == "lexicon" for setting in chosen):
            self._used = ""  # what it said before it was told
        for setting in chosen:
            self._say(setting)
        if faults := await self._ready(left_s()):
            said = "; ".join(map(_quoted, faults))
            told = ", ".join(f"{option.name}={option.value}" for option in chosen) or "no option"
            raise Declined(
                "unknown_lexicon" if "lexicon" in said.casefold() else "unsupported_option",
                f"{self._name}, told {told}, says: {said}",
            )
        self._say(Bare.NEWGAME)
        await self._ready(left_s())
        if "gen" in self._capabilities:
            await self._try_out(view, left_s(self._start_s))
        self._check_words(view.lexicon.name)

    def _heard(self, line: str) -> Answer | None:
        """Read a line of the time before its first moves, and note the lexicon that it names."""
        answer = parse_answer(line)
        if isinstance(answer, Provenance):
            self._used = answer.lexicon or self._used
        return answer

    def _introduced(self, line: str) -> bool | None:
        match self._heard(line):
            case Capability(names) if len(self._capabilities) < MOST_OPTIONS:
                self._capabilities.update(names)
            case Option(name) as option if len(self._options) < MOST_OPTIONS:
                self._options[name.casefold()] = option
            case Done.SIU:
                return True
        return None

    async def _ready(self, limit_s: float) -> list[Fault]:
        """Wait until it has handled everything; return its complaints."""
        assert self.process is not None
        faults = deque[Fault](maxlen=MOST_FAULTS)

        def ready(line: str) -> bool | None:
            answer = self._heard(line)
            if isinstance(answer, Fault):
                faults.append(answer)
            return True if answer is Done.READY else None

        self._say(Bare.ISREADY)
        await self.process.wait_for(ready, limit_s, "said readyok")
        return list(faults)

    async def _try_out(self, view: View, limit_s: float) -> None:
        """List moves on an empty board; raise Declined if tiles or board are not the game's.

        The scores tell which tiles and board the engine has.
        """
        assert self.process is not None
        lexicon, rules = view.lexicon.name, view.rules
        wrong: list[str] = []

        def tried(line: str) -> BestMove | Fault | None:
            answer = self._heard(line)
            if isinstance(answer, InfoGen) and not wrong:
                wrong.extend(score_error(answer, rules))
            return answer if isinstance(answer, BestMove | Fault) else None

        self._say(trial(rules))
        self._say(Go("gen"))
        end = await self.process.wait_for(tried, limit_s, "said bestmove to its first go gen")
        if isinstance(end, Fault):
            raise Declined(
                "unknown_lexicon" if rules == load_rules() else "unsupported_rules",
                f"{self._name} makes no moves with {lexicon} by the rules {rules.name}; it says: "
                f"{_quoted(end)}",
            )
        if wrong:
            raise Declined(
                "unsupported_rules",
                f"{self._name} does not play by the rules {rules.name}: on an empty board "
                f"{wrong[0]}",
            )

    def _check_words(self, lexicon: str) -> None:
        """Raise Declined if the lexicon that it named is not the game's."""
        used = self._used[:100]
        known = [lexicon, self._context.lexicon_name]
        known += [value for key, value in self._given.items() if key.casefold() == "lexicon"]
        if used and not any(same_lexicon(self._used, name) for name in known):
            way = f"say so with Lexicon={used}" if "lexicon" in self._options else "let it say that"
            raise Declined(
                "unknown_lexicon",
                f"{self._name} plays with the words of {used!r} and the game with those of "
                f"{lexicon!r}; if they are the same, {way}",
            )

    async def choose(self, view: View, budget: Budget) -> Choice | str:
        """Let it search for the planned time of the turn."""
        self._racks[len(view.history) + 1] = view.rack
        if self._searching:  # since an earlier turn
            self._say(Bare.STOP)
            earlier = SearchResults()
            if await self._best_within(STALL_S, earlier) is None:
                raise self._stalled(earlier)
        assert self._begun is not None, "it is started first"
        self._say(game_so_far(view, self._begun, self._racks))
        found = SearchResults()
        for fault in await self._ready(STALL_S):
            found.take(fault)
        latest = latest_ms(budget, LEAD_MS)
        movetime = max(1, min(budget.remaining_ms(), latest))
        self._searching = True
        self._say(Go(self._go, movetime_ms=movetime))
        best = await self._best_within(min(movetime + LATE_MS, latest) / 1_000, found)
        if best is None:
            self._say(Bare.STOP)
            stalled_s = STALL_S
            if "stop" not in self._capabilities:  # it ends by itself, as long as there is time
                stalled_s += budget.until_last_ms() / 1_000
            best = await self._best_within(stalled_s, found)
        if best is None:
            raise self._stalled(found)
        return found.answer(best.move, view)

    async def _best_within(self, limit_s: float, found: SearchResults) -> BestMove | None:
        """Read a search's lines until its end, or return None at the end of the time."""
        process = self.process
        assert process is not None

        def best_in(line: str) -> BestMove | None:
            if process.cut_off:
                return None  # half a move may be another; its end is reported next
            match parse_answer(line):
                case InfoGen() | InfoSim() | Fault() as said if len(line) <= LONGEST:
                    found.take(said)
                case BestMove() as best:
                    self._searching = False
                    return best
            return None

        return await process.until(best_in, limit_s)

    def _stalled(self, found: SearchResults) -> EngineFailed:
        said = f"; it says: {_quoted(found.fault)}" if found.fault else ""
        why = f"{self._name} sent no bestmove within {STALL_S:g} s after its time{said}"
        return EngineFailed("stall", why)

    def _say(self, command: Command) -> None:
        assert self.process is not None
        self.process.send(command.line())


def _is_known(line: str) -> bool:
    """Check whether a line is SIU's, and not a candidate that can't be read."""
    answer = parse_answer(line)
    if isinstance(answer, InfoText):
        return not answer.text.startswith(("gen ", "sim "))
    return answer is not None or not line.strip()


def _quoted(fault: Fault) -> str:
    return f"{fault.code} {fault.text}".strip()[:500]

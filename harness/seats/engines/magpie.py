"""An unmodified MAGPIE as a seat: ``magpie:PROGRAM?lexicon=…&data=DIR&plies=…&threads=…``.

A turn is given as a CGP, with the opponent's rack if the empty bag reveals it. Its best move by
equity is asked for at once and kept. Then it searches, by phase: a simulation with more than four
tiles in the bag, its pre-endgame solver with one to four if time allows, its endgame solver with
none. A solver exceeds its limit, and may take seconds to stop or never do; then it is killed, and
an earlier answer is played.

Source: MAGPIE's README, its ``help``, and its observed behaviour.
"""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import Mapping
from typing import NamedTuple

from bot.player import Budget, Choice, View
from bot.registry import SeatError, SeatSpec
from bot.seat.offers import Declined
from engine.rules.rules import Rules
from protocol.channel import now_ms

from .engine import (
    STALL_S,
    Context,
    ProcessEngine,
    data_folder,
    latest_ms,
    nonstandard_rule,
    only_standard,
    words_of,
)
from .magpie_console import MagpieConsole, error_in
from .magpie_terms import (
    MagpieTurn,
    MoveMissing,
    Reader,
    endgame,
    generated,
    opening,
    position_cgp,
    preendgame,
    sample_racks,
    scores_differ,
    simulated,
    words_differ,
)
from .process import EngineFailed, EngineProcess

OURS = ("cores", "data", "lexicon", "log", "memory", "name")
"""Options of the seat; all others are settings of MAGPIE."""

DEFAULTS = {
    "plies": "2",
    "numplays": "15",
    "eplies": "25",
    "ttfraction": "0.0001",
    "wmp": "false",
    "rit": "false",
}
"""Settings that a seat may change; a ``ttfraction`` of gigabytes takes time to clear."""

FIXED = {
    "mode": "sync",
    "savesettings": "false",
    "hr": "false",
    "shprompt": "false",
    "shwithmoves": "false",
    "printonfinish": "true",
    "pegoutcomes": "false",
    "showbu": "false",
    "shplies": "1",
    "maxnumdplays": "15",
}
"""Settings that reading its answers depends on."""

OF_THE_GAME = ("tlim", "etlim", "pegtlim", "path", "lex", "bb", "pfrequency")
"""Settings that follow from the game."""

ENGLISH = ("CSW", "NWL", "OSPD", "OSW", "TWL", "America", "CEL")
"""Prefixes of lexicons that it plays with English tiles; it refuses unknown prefixes."""

START_S = 30.0
"""Limit for loading its data."""

LATE_MS = 150
"""How much a search may exceed its limit before it is stopped."""

LEAD_MS = 400
"""Time before the last moment at which a search is killed; at most a quarter of the rest."""

LEAST_MS = 50
"""Shortest useful search."""

PREENDGAME_MS = {1: 3_000, 2: 6_000, 3: 30_000, 4: 60_000}
"""Time that its pre-endgame solver may need to look at all moves once, by tiles in the bag; with
less a simulation says more, since the solver does not begin with the best moves."""

SIMULATED_FIRST = 0.25
"""Share of such a turn for a simulation, in case the solver finds nothing."""

MANY = "20000"
"""More moves than any rack without a blank has."""


_WORDS = re.compile("kwg|klv|lexicon")


class _Search(NamedTuple):
    """A command, to which its limit in seconds is added, and the reader of its answer."""

    command: str
    read: Reader


SIMULATION = _Search("gsim -tlim", simulated)
PREENDGAME = _Search("peg -pegtlim", preendgame)
ENDGAME = _Search("endgame -etlim", endgame)


class MagpieEngine(ProcessEngine):
    """MAGPIE in one game."""

    quit_line = "quit"

    def __init__(self, spec: SeatSpec, context: Context) -> None:
        super().__init__(spec, context)
        options = dict(spec.options)
        self._settings = _settings(spec, options, context.threads)
        self._data = data_folder(spec)
        self._lexicon = options.get("lexicon", context.lexicon.name)
        if not (file := self._data / "lexica" / f"{self._lexicon}.kwg").is_file():
            raise SeatError(f"{spec.text!r}: there is no file {file}")
        if why := self._why_not(context.rules):
            raise SeatError(why)
        self._console: MagpieConsole | None = None
        self._killed: EngineProcess | None = None

    # --- before the game ------------------------------------------------------------------------

    def _why_not(self, rules: Rules) -> str:
        """Return why it can't play by rules; empty if it can, as far as is known before a game."""
        if nonstandard_rule(rules, ("layout",)) and "bdn" not in self._settings:
            return f"{self._name} plays on the standard board; name another with bdn=LAYOUT"
        varied = ("layout", "bingo_bonus", "pass_limit", "challenge", "challenge_by")
        return only_standard(self._name, rules, varied)

    async def start(self, view: View) -> None:
        """Start it; check its words, and that it can simulate."""
        if why := self._why_not(view.rules):
            raise Declined("unsupported_rules", why)
        self._settings["bb"] = str(view.rules.bingo_bonus)
        # Its working folder: it reads ``./data`` and a file of settings, if any.
        data = self.folder / "data"
        (data / "lexica").mkdir(parents=True)
        for entry in self._data.iterdir():
            if entry.name != "lexica":
                (data / entry.name).symlink_to(entry)
        known_as = self._lexicon
        if view.rules.distribution.name == "english" and not known_as.startswith(ENGLISH):
            known_as = f"CEL{self._lexicon}"
        self._settings["lex"] = known_as
        files = list((self._data / "lexica").iterdir())
        named = {file.name: file for file in files}
        named |= {f"{known_as}{file.suffix}": file for file in files if file.stem == self._lexicon}
        for name, file in named.items():
            (data / "lexica" / name).symlink_to(file)
        console, error = await self._launch()
        if error:
            code = "unknown_lexicon" if _WORDS.search(error) else "unsupported_option"
            raise Declined(code, f"{self._name} can't be set up for this: {error}")
        await self._check_words(view, console)
        if error := error_in(await console.ask("gsim -tlim 0.05", START_S)):
            raise Declined("unsupported_option", f"{self._name} can't simulate: {error}")

    async def _check_words(self, view: View, console: MagpieConsole) -> None:
        """Compare words and scores of first moves with ours, for some racks."""
        racks = tuple(sample_racks(view.rules))
        ours = await asyncio.to_thread(words_of, view.lexicon, racks)
        for rack, words in zip(racks, ours, strict=True):
            said = await console.ask(f"cgp {opening(rack, view.rules)}", START_S)
            said += await console.ask(f"generate -numplays {MANY} -maxnumdplays {MANY}", START_S)
            if error := error_in(said):
                raise Declined("unsupported_rules", f"{self._name} can't play this: {error}")
            try:
                other_words = words_differ(said, words, view.rules)
                other_scores = scores_differ(said, view.rules)
            except MoveMissing as line:
                why = f"{self._name} lists a line that is not a move: {str(line)[:80]}"
                raise Declined("unsupported_rules", why) from None
            if other_words:
                raise Declined(
                    "unknown_lexicon",
                    f"{self._name} plays with other words than {view.lexicon.name}: of those made "
                    f"of {view.text(rack)}, it {other_words}",
                )
            if other_scores:
                raise Declined("unsupported_rules", f"{self._name} says that {other_scores}")
        usual = {key: self._settings[key] for key in ("numplays", "maxnumdplays")}
        await console.ask(f"set {_arguments(usual)}", START_S)

    async def _launch(self) -> tuple[MagpieConsole, str]:
        self.process = await self.start_process(
            "set", *_arguments(self._settings).split(), folder=self.folder, one_stream=True
        )
        console = self._console = MagpieConsole(self.process)
        return console, await console.loaded(START_S)

    # --- a turn ---------------------------------------------------------------------------------

    async def choose(self, view: View, budget: Budget) -> Choice | str:
        """Ask for its best move by equity, then search for the rest of the turn."""
        console = await self._ready()
        limit_s = budget.until_last_ms() / 1_000 + STALL_S
        command = f"cgp {position_cgp(view)}"
        said = await console.ask(command, limit_s)
        said += await console.ask("generate", limit_s)
        if error := error_in(said):
            raise EngineFailed("crash", f"{self._name}, told {command!r}, says: {error}")
        try:
            listed = generated(said, view)
        except MoveMissing as line:
            return str(line)
        if not listed:
            return " ".join(said)
        turn, left = MagpieTurn(view, budget, listed), budget.remaining_ms()
        if not view.bag:
            await self._search(ENDGAME, left, turn)
        elif left < PREENDGAME_MS.get(view.bag, math.inf):
            await self._search(SIMULATION, left, turn)
        else:
            await self._search(SIMULATION, int(left * SIMULATED_FIRST), turn)
            await self._search(PREENDGAME, budget.remaining_ms(), turn)
        return turn.answer()

    async def _search(self, search: _Search, limit_ms: int, turn: MagpieTurn) -> None:
        """Search for ``limit_ms``, stop it if it goes on, and kill it if it does not stop."""
        console = await self._ready()
        began = now_ms()
        latest = began + latest_ms(turn.budget, LEAD_MS)
        limit_ms = min(limit_ms, latest - began)
        if limit_ms < LEAST_MS:
            return
        command = f"{search.command} {limit_ms / 1_000:g}"
        said = await console.search(command, began + limit_ms + LATE_MS, latest)
        name, took = command.partition(" ")[0], f"{(now_ms() - began) / 1_000:.1f} s"
        if said is None:
            await self._kill()
            turn.note(f"{name} was killed, {took}")
            return
        try:
            moves = search.read(said, turn.view)
        except MoveMissing as line:  # an earlier answer is played
            turn.note(f"{name} listed a line that is not a move, {str(line)[:80]}, {took}")
            return
        if moves:
            turn.found(moves, f"{name}, {took}")
        else:
            turn.note(f"{name} found nothing that counts, {took}")

    # --- its process ----------------------------------------------------------------------------

    async def _ready(self) -> MagpieConsole:
        """Return a console that is ready for the next line; restart MAGPIE if it is not."""
        console = self._console
        if console is not None and console.searching:
            await self._kill()
        if self._console is not None:
            await self._console.settle()
            return self._console
        console, error = await self._launch()
        if error:
            raise EngineFailed("crash", f"{self._name}, started again, says: {error}")
        return console

    async def _kill(self) -> None:
        if self.process is not None:
            self._killed = self.process
        self.process = self._console = None
        if self._killed is not None:
            await self._killed.kill()  # ``close`` does so again if this is cancelled
            self._killed = None

    async def close(self) -> None:
        """End it, and any process still being killed."""
        if self._killed is not None:
            await self._killed.kill()
        await super().close()


def _arguments(settings: Mapping[str, str]) -> str:
    return " ".join(f"-{key} {value}" for key, value in settings.items())


def _settings(spec: SeatSpec, options: Mapping[str, str], threads: int) -> dict[str, str]:
    given = {key: value for key, value in options.items() if key not in OURS}
    for key, value in given.items():
        if key in FIXED or key in OF_THE_GAME:
            raise SeatError(f"{spec.text!r}: the seat sets {key} itself; leave it out")
        if not re.fullmatch(r"[a-z0-9]+", key) or not re.fullmatch(r"[!-~]+", value):
            raise SeatError(f"{spec.text!r}: {key}={value} is no setting of MAGPIE's")
    return DEFAULTS | {"threads": str(threads)} | given | FIXED

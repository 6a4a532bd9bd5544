"""An unmodified Quackle as a seat: ``quackle:PROGRAM?lexicon=…&player=…&data=DIR``.

The program is Quackle's test harness: one process per move, which reads the game from a file and
prints the best moves among much else. It knows no clock or time limit, so the seat keeps them: a
quick player is asked first, which takes a quarter of a second, then the strongest player that
should fit into the turn. If it is late it is killed, and the quick player's move is played.

Source: the harness's help text, its output, and its observed behaviour.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Callable, Sequence

from bot.player import Budget, Choice, Considered, View
from bot.registry import SeatError, SeatSpec
from bot.seat.child_process import Limits
from bot.seat.offers import Declined
from engine.notation.move_text import NotationError
from engine.rules.moves import Move
from engine.rules.position import Rack
from harness.writing import write_file
from lexicons.alphabet import BLANK, TileDistribution
from lexicons.store import Lexicon
from lexicons.text import read_text
from protocol.channel import now_ms

from .engine import (
    STALL_S,
    Context,
    EngineChoice,
    ProcessEngine,
    check_beginning,
    data_folder,
    difference,
    only_standard,
    words_of,
)
from .process import EngineFailed
from .quackle_text import Listed, MoveReader, tiles_differ, written_game

OPTIONS = ("alphabet", "cores", "data", "lexicon", "log", "memory", "name", "player")

SPEEDY, STATIC = "Speedy Player", "Static Player"

SECONDS = {
    STATIC: 0,
    SPEEDY: 0,
    "Twenty Second Championship Player": 20,
    "Championship Player": 66,
    "Five Minute Championship Player": 300,
}
"""Quackle's players, the weakest first, and their nominal seconds per turn."""

DEFAULT_PLAYER = "Twenty Second Championship Player"

PRE_ENDGAME_BAG = 2
"""Most tiles in the bag at which the championship players look through all draws."""

USUAL, WITH_BLANK, PRE_ENDGAME = 0.25, 0.8, 3.5
"""Typical length of a turn as a share of those seconds; a pre-endgame may take nearly double."""

START_S = 30.0
"""Limit for loading its lexicon and listing words."""

EXIT_S = 1.0
"""Wait for its exit status after the end of its output."""

LETTERS_ASKED = 14
"""Letters in the check of words, the commonest, each once: they make thousands of words."""

MOST_WORDS = 200_000
LONGEST_WORD = 100
"""Words of its list that are kept, and characters of each: the list may have no end."""


_VARIED = ("pass_limit", "challenge", "challenge_by")
"""Rules that may differ from English tournaments: the host alone applies them."""


class QuackleEngine(ProcessEngine):
    """Quackle in one game."""

    def __init__(self, spec: SeatSpec, context: Context) -> None:
        super().__init__(spec, context)
        if why := only_standard(context.name, context.rules, _VARIED):
            raise SeatError(why)
        options = dict(spec.options)
        if unknown := sorted(options.keys() - set(OPTIONS)):
            raise SeatError(
                f"{spec.text!r}: no option is called {unknown[0]!r}; it takes: {', '.join(OPTIONS)}"
            )
        self._limits = Limits(self._limits.memory_mb, self._limits.cores or context.threads)
        self._player = options.get("player", DEFAULT_PLAYER)
        if self._player not in SECONDS:
            raise SeatError(
                f"{spec.text!r}: no player {self._player!r}; Quackle has: {', '.join(SECONDS)}"
            )
        lexicon = options.get("lexicon", context.lexicon.name.lower())
        alphabet = options.get("alphabet", context.lexicon.distribution.name)
        self._command += [f"--lexicon={lexicon}", f"--alphabet={alphabet}"]
        self._data = data_folder(spec)
        self._lexicon_file = self._data / "lexica" / f"{lexicon}.dawg"
        self._alphabet_file = self._data / "alphabets" / f"{alphabet}.quackle_alphabet"
        for file in (self._lexicon_file, self._alphabet_file):
            if not file.is_file():
                raise SeatError(f"{spec.text!r}: there is no file {file}")
        self._told = ""

    # --- before the game ------------------------------------------------------------------------

    async def start(self, view: View) -> None:
        """Check its tiles and words; no process is left running."""
        check_beginning(self._name, view)
        rules = view.rules
        if why := only_standard(self._name, rules, _VARIED):
            raise Declined("unsupported_rules", why)
        try:
            differ = tiles_differ(read_text(self._alphabet_file), rules.distribution)
        except ValueError as error:
            why = f"{self._name} has an alphabet that can't be read: {error}"
            raise Declined("unsupported_rules", why) from None
        if differ:
            raise Declined(
                "unsupported_rules",
                f"{self._name} has another letter, count or value of {differ} in "
                f"{self._alphabet_file} than the {rules.distribution.name} distribution",
            )
        # It runs in ``game`` and finds ``../data``.
        (self.folder / "data").symlink_to(self._data)
        (self.folder / "game").mkdir()
        try:
            async with asyncio.timeout(START_S):
                await self._check_words(view.lexicon)
        except TimeoutError:
            raise EngineFailed(
                "stall", f"{self._name} has not listed words within {START_S:g} s"
            ) from None

    async def _check_words(self, lexicon: Lexicon) -> None:
        rack = _commonest(lexicon.distribution)
        letters = lexicon.distribution.alphabet.text(rack)
        (ours,) = await asyncio.to_thread(words_of, lexicon, (rack,))
        answers: set[str] = set()

        def take(line: str) -> None:
            if line and not set(line) & set(" .:") and len(answers) < MOST_WORDS:
                answers.add(line[:LONGEST_WORD].rstrip("#"))  # marks words of a part of its list

        await self._read_output(["--mode=anagram", "--build", f"--letters={letters}"], take)
        if answers != ours:
            raise Declined(
                "unknown_lexicon",
                f"{self._name} plays with other words than {lexicon.name}: of those made of "
                f"{letters}, {self._lexicon_file} has {len(answers):,}, "
                f"{difference(ours, answers)}",
            )

    # --- a turn ---------------------------------------------------------------------------------

    async def choose(self, view: View, budget: Budget) -> Choice | str:
        """Ask the quick player, then the strongest that should be back in time."""
        self._told = written_game(view)
        write_file(self.folder / "game" / "game.gcg", self._told)
        began = now_ms()
        limit_s = budget.until_last_ms() / 1000 + STALL_S
        quick = SPEEDY if view.bag and self._player != STATIC else STATIC
        first = await self._listed(quick, limit_s)
        if first is None:
            raise EngineFailed("stall", f"{self._name}: no answer by {quick} in {limit_s:.1f} s")
        strong = self._strongest_within(view, budget.remaining_ms())
        if strong is None:
            return _answer(view, f"{quick}, {_seconds(began)}", first)
        listed = await self._listed(strong, budget.remaining_ms(close=True) / 1000)
        if listed is None:
            late = f"{quick}; the {strong} was not back after {_seconds(began)}"
            return _answer(view, late, first)
        by = f"{strong}, {_seconds(began)}"
        return _answer(view, by, listed, first.moves, simulated=strong != SPEEDY)

    def _strongest_within(self, view: View, limit_ms: int) -> str | None:
        """Return the player for the rest of the turn; None: the quick player has to do.

        With tiles in the bag the Speedy Player is the Static Player, which generates moves once.
        With an empty bag it searches, mostly less than a second, and all others leave that to it.
        """
        if not view.bag:
            return None if self._player == STATIC else SPEEDY
        share = USUAL
        if BLANK in view.rack:
            share = WITH_BLANK
        if view.bag <= PRE_ENDGAME_BAG:
            share = PRE_ENDGAME
        up_to = SECONDS[self._player]
        fitting = [
            player
            for player, seconds in SECONDS.items()
            if 0 < seconds <= up_to and seconds * share * 1000 <= limit_ms
        ]
        return fitting[-1] if fitting else None

    async def _listed(self, player: str, limit_s: float) -> MoveReader | None:
        """Return a player's moves, or None if it is late; raise EngineFailed if it lists none."""
        reader = MoveReader()
        arguments = ["--seed=1", f"--computer={player}", "--position=game.gcg"]
        try:
            async with asyncio.timeout(limit_s):
                await self._read_output(arguments, reader.read)
        except TimeoutError:
            return None
        except EngineFailed as failed:
            if failed.code == "stall" or not reader.moves:
                raise
        if not reader.moves:
            raise EngineFailed(
                "crash",
                f"{self._name} has ended without a move: "
                f"{reader.complaint or f'the {player} lists none'}",
            )
        return reader

    # --- its processes --------------------------------------------------------------------------

    async def _read_output(self, arguments: Sequence[str], take: Callable[[str], None]) -> None:
        """Run it once and read all its output; raise EngineFailed if it crashes or never ends."""
        # Not ``self.process``: it is no failure that this process ends by itself.
        process = self._process = await self.start_process(*arguments, folder=self.folder / "game")
        try:
            async for line in process.lines():
                take(line)
        except EngineFailed as failed:
            if failed.code == "stall":
                raise
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(EXIT_S):
                    await process.wait()
            if process.returncode:
                failed = await process.last_words()
                if process.returncode == -signal.SIGSEGV:
                    cause = f"it does so where it can't load its lexicon, {self._lexicon_file}"
                    failed = EngineFailed("crash", f"{failed}; {cause}")
                raise failed from None
        finally:
            await process.kill()

    def evidence(self) -> str:
        """Return the end of its last output, and the game that it was given."""
        return f"{super().evidence()}\ntold:\n{self._told}"


def _commonest(tiles: TileDistribution) -> Rack:
    """Return the letters of the check of words, without those that are not ASCII."""
    plain = [n for n in range(1, len(tiles.counts)) if tiles.alphabet.tile_text(n).isascii()]
    return tuple(sorted(plain, key=lambda tile: -tiles.counts[tile])[:LETTERS_ASKED])


def _answer(
    view: View,
    text: str,
    heard: MoveReader,
    spare: Sequence[Listed] = (),
    *,
    simulated: bool = False,
) -> EngineChoice | str:
    """Return the first move that was not refused in this turn, else one of ``spare``."""
    read: list[tuple[Move | str, Listed]] = []
    for each in (*heard.moves, *spare):
        try:
            read.append((view.move(each.text), each))
        except NotationError:
            read.append((each.text, each))
    refused = view.refused_moves
    best, listed = next((pair for pair in read if pair[0] not in refused), read[0])
    if isinstance(best, str):
        return best
    candidates = tuple(
        Considered(move, score=each.score, win=each.win if simulated else None, equity=each.equity)
        for move, each in read[: len(heard.moves)]
        if not isinstance(move, str)
    )
    rack: Rack | None = None
    with contextlib.suppress(ValueError):
        rack = view.tiles(heard.rack) if heard.rack else None
    return EngineChoice(best, listed.score, text=text, candidates=candidates, rack=rack)


def _seconds(began_ms: int) -> str:
    return f"{(now_ms() - began_ms) / 1000:.1f} s"

"""A match: games in pairs between two seats, at one or several tables.

If both players are local and start afresh for each game, the two games of a pair have the same
draws with the seats swapped, so luck evens out. Every game is in the journal of the match's folder
from its first offer; a killed match resumes, and counts every game once.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import asdict
from pathlib import Path

import msgspec
import structlog

from bot.equipment import Equipment
from bot.registry import SeatSpec
from harness.arbiter.host import GameHost
from harness.arbiter.journal import Journal, JournalError, KeptGame
from harness.arbiter.lag import LagMeter
from harness.arbiter.records import Draws, new_game
from harness.arbiter.scorebook import Scorebook
from harness.arbiter.seat import Seat
from harness.figures import plain
from harness.seats.seat_factory import seating
from lexicons.cache import replacing
from lexicons.store import Lexicon
from protocol.parts import TimeControl

from .report import MatchFolder
from .results import GameResult, PlannedGame, game_record, game_result

log = structlog.get_logger(__name__)

NO_SHOWS = 2
"""Games in a row that a seat may miss before the match is given up."""

HOST_ERRORS = 3
"""Host failures of one game before the match is given up."""


MAX_NAME = 64
"""The protocol's limit."""


class MatchError(Exception):
    """The match can't go on; the message gives the reason. Finished games are on disk."""


class MatchConfig(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of a match; stored as ``match.json`` in its folder for resuming."""

    seats: tuple[str, str]
    names: tuple[str, str]
    games: int
    time: TimeControl
    lexicon: str
    lexicon_checksum: str
    seed: int | None
    paired: bool
    """Whether the two games of a pair have the same draws."""
    concurrency: int = 1
    transport: str = "websocket"
    leaves: str | None = None
    winprob: str | None = None
    threads: int = 1
    ponder: bool = False

    @property
    def equipment(self) -> Equipment:
        """The equipment of local seats."""
        return Equipment(self.lexicon, self.leaves, self.winprob, self.threads, self.ponder)


def told_apart(first: SeatSpec, second: SeatSpec) -> tuple[str, str]:
    """Return distinct names for the two seats of a match: their own, and how they differ.

    ``v1/bot.py:Balance`` and ``v2/bot.py:Balance?weight=3`` are ``Balance (v1)`` and
    ``Balance (v2, weight=3)``; two seats alike are ``static-1`` and ``static-2``.
    """
    names = plain(_marked(first, second)), plain(_marked(second, first))
    if names[0] != names[1] and max(map(len, names)) <= MAX_NAME:
        return names
    cut = plain(first.name)[: MAX_NAME - 2]
    return f"{cut}-1", f"{cut}-2"


def _marked(spec: SeatSpec, other: SeatSpec) -> str:
    """Return a seat's name, with what it has and the other seat of that name has not."""
    if spec.name != other.name:
        return spec.name
    places = zip(reversed(_place(spec)), reversed(_place(other)), strict=False)
    marks = [next((here for here, there in places if here != there), "")]
    marks += [f"{key}={value}" for key, value in spec.options if (key, value) not in other.options]
    shown = ", ".join(filter(None, marks))
    return f"{spec.name} ({shown})" if shown else spec.name


def _place(spec: SeatSpec) -> list[str]:
    """Split a file, a module, an address or a command into its parts."""
    module = spec.kind == "local" and "/" not in spec.target
    return re.split(r"[.:]" if module else r"[/\s]+|\.py:", spec.target)


def write_config(config: MatchConfig, folder: Path) -> None:
    """Write a match's configuration to its folder."""
    text = msgspec.json.format(msgspec.json.encode(config), indent=2)
    with replacing(folder / "match.json") as temporary:
        temporary.write_bytes(text + b"\n")


def read_config(folder: Path) -> MatchConfig:
    """Read a match's configuration; raise MatchError if it is missing or invalid."""
    path = folder / "match.json"
    try:
        return msgspec.json.decode(path.read_bytes(), type=MatchConfig)
    except FileNotFoundError:
        raise MatchError(f"{folder} holds no match: there is no {path.name} in it") from None
    except msgspec.DecodeError as error:
        raise MatchError(f"{path} can't be read: {error}") from None


class Match:
    """One match in its folder; ``finished`` takes each new result, including void games.

    ``notice`` takes a sentence when a process takes long.
    """

    def __init__(
        self,
        config: MatchConfig,
        lexicon: Lexicon,
        files: MatchFolder,
        finished: Callable[[GameResult], None],
        notice: Callable[[str], None] | None = None,
    ) -> None:
        self._config = config
        self._lexicon = lexicon
        self._files = files
        self._finished = finished
        self._notice = notice
        self._halves: dict[int, KeptGame] = {}
        """Unfinished games of the journal, by number."""
        self._absent = [0, 0]
        """Games in a row that each side has missed."""
        self._games = files.path / "games"
        self._games.mkdir(parents=True, exist_ok=True)

    async def play(self) -> None:
        """Play every game that the journal does not have yet.

        Raises:
            MatchError: the match can't go on.
            JournalError: the folder's journal can't be used.
            SeatError: a seat's text is invalid.
        """
        config = self._config
        players = seating(
            config.seats,
            config.names,
            config.equipment,
            self._lexicon,
            seed=config.seed,
            by_websocket=config.transport == "websocket",
            notice=self._notice,
            folder=self._files.path / "seats",
        )
        async with players as open_seat:
            with closing(Journal(self._files.path / "match.db")) as journal:
                self._recall(journal)
                games = self._todo()
                try:
                    async with LagMeter() as lag, asyncio.TaskGroup() as tables:
                        for _ in range(config.concurrency):
                            tables.create_task(self._table(games, open_seat, journal, lag))
                except* (MatchError, JournalError, OSError) as errors:
                    raise errors.exceptions[0] from None

    def _todo(self) -> Iterator[PlannedGame]:
        """Yield the games without a result; the sides take turns to move first."""
        paired = self._config.paired
        for at in range(self._config.games):
            if at + 1 not in self._files.counted:
                yield PlannedGame(at + 1, pair=at // 2 + 1 if paired else at + 1, first=at % 2)

    async def _table(
        self,
        games: Iterator[PlannedGame],
        open_seat: Callable[[int, int], Seat],
        journal: Journal,
        lag: LagMeter,
    ) -> None:
        """Play games one after another, each until it has a result that counts."""
        for planned in games:
            for _ in range(HOST_ERRORS):
                book = await self._open_book(journal, planned)
                first, second = (
                    open_seat(planned.side_of(seat), planned.number) for seat in (0, 1)
                )
                ended = await GameHost(book, (first, second), journal, lag).run()
                if self._settle(planned, book):
                    break
                log.warning("game void, played again", number=planned.number, reason=ended.message)
            else:
                raise MatchError(
                    f"game {planned.number} came to nothing {HOST_ERRORS} times: {ended.message}"
                )

    def _recall(self, journal: Journal) -> None:
        """Load the journal's games; void games are played again."""
        for kept in journal.finished():
            planned = PlannedGame(**kept.label)
            if planned.number not in self._files.counted:
                book = Scorebook.restored(kept.records, None, self._lexicon)
                if not game_result(book, planned).void:
                    self._keep(planned, book)
        self._halves = {kept.label["number"]: kept for kept in journal.unfinished()}

    async def _open_book(self, journal: Journal, planned: PlannedGame) -> Scorebook:
        half = self._halves.pop(planned.number, None)
        if half is not None:
            return Scorebook.restored(half.records, half.note, self._lexicon)
        config = self._config
        names = config.names[planned.first], config.names[1 - planned.first]
        opened = new_game(names, self._lexicon, config.time, self._draws(planned))
        await journal.create(opened, asdict(planned))
        return Scorebook(opened, self._lexicon)

    def _draws(self, planned: PlannedGame) -> Draws:
        if not self._config.paired or self._config.seed is None:
            return Draws.fresh()
        return Draws.seeded(self._config.seed, planned.pair)

    def _settle(self, planned: PlannedGame, book: Scorebook) -> bool:
        """Store a finished game and check attendance; return whether it counts."""
        counts = self._keep(planned, book)
        self._watch_absences(planned, book)
        return counts

    def _keep(self, planned: PlannedGame, book: Scorebook) -> bool:
        result = game_result(book, planned)
        number, (first, second) = planned.number, book.opened.players
        if book.evidence:  # a void game leaves nothing else
            self._faults(number).write_text("\n".join(book.evidence), encoding="utf-8")
        if not result.void:
            gcg = game_record(book, f"Game {number}, {first} against {second}")
            self._games.joinpath(f"{number:05d}.gcg").write_text(gcg, encoding="utf-8")
        self._files.append(result)
        self._finished(result)
        return not result.void

    def _faults(self, number: int) -> Path:
        return self._games / f"{number:05d}.faults.txt"

    def _watch_absences(self, planned: PlannedGame, book: Scorebook) -> None:
        assert book.ended is not None
        absent = {fault.seat for fault in book.ended.faults if fault.code == "no_show"}
        for seat in (0, 1):
            side = planned.side_of(seat)
            self._absent[side] = self._absent[side] + 1 if seat in absent else 0
            if self._absent[side] >= NO_SHOWS:
                faults = self._faults(planned.number)
                clue = f"; {faults} has its last words" if faults.exists() else ""
                raise MatchError(
                    f"{self._config.names[side]} did not come to {NO_SHOWS} games in a row: "
                    f"{book.ended.message}{clue}"
                )

"""A match: games in pairs between two seats, at one table or several, until they are all played.

The two games of a pair have the same draws with the seats swapped, where both players are local
and start afresh for each game; so luck evens out and fewer games say as much. Every game is in
the journal of the match's folder from its first offer; a match that was killed goes on with
``resume`` where it was, in the middle of a game if need be, and counts every game once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import msgspec
import structlog

from bot.equipment import Equipment
from harness.arbiter.host import GameHost
from harness.arbiter.journal import Journal, JournalError, KeptGame
from harness.arbiter.lag import LagMeter
from harness.arbiter.new_game import Draws, new_game
from harness.arbiter.scorebook import Scorebook
from harness.seats.seats import Seat
from lexicons.cache import replacing
from lexicons.store import Lexicon
from protocol.parts import TimeControl

from .results import GameResult
from .schedule import PlannedGame, pairs
from .summary import game_record, game_result

__all__ = ["Match", "MatchConfig", "MatchError", "read_config", "told_apart", "write_config"]

log = structlog.get_logger(__name__)

HOST_ERRORS = 3
"""Times that one game may fail by the host's own fault before the match is given up."""

NO_SHOWS = 2
"""Games in a row to which a seat does not come before the match is given up."""


class MatchError(Exception):
    """The match can't go on; the sentence says why. What was played is on disk."""


class MatchConfig(msgspec.Struct, frozen=True, kw_only=True):
    """What a match is; kept as ``match.json`` in its folder, so that it can be resumed."""

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
    """A leave table for local seats."""
    winprob: str | None = None
    """A table of win probabilities for local seats."""
    threads: int = 1
    """How many each local seat may search with."""
    ponder: bool = False
    """Whether local seats may use the time in which their opponent thinks."""

    @property
    def equipment(self) -> Equipment:
        """What local seats are given to play with."""
        return Equipment(self.lexicon, self.leaves, self.winprob, self.threads, self.ponder)


def told_apart(first: str, second: str) -> tuple[str, str]:
    """Name two seats of a match, so that they can be told apart if they are called the same."""
    return (f"{first}-1", f"{second}-2") if first == second else (first, second)


def write_config(config: MatchConfig, folder: Path) -> None:
    """Keep a match's configuration in its folder."""
    text = msgspec.json.format(msgspec.json.encode(config), indent=2)
    with replacing(folder / "match.json") as temporary:
        temporary.write_bytes(text + b"\n")


def read_config(folder: Path) -> MatchConfig:
    """Read a match's configuration from its folder.

    Raises:
        MatchError: there is none, or it can't be read.
    """
    path = folder / "match.json"
    try:
        return msgspec.json.decode(path.read_bytes(), type=MatchConfig)
    except FileNotFoundError:
        raise MatchError(f"{folder} holds no match: there is no {path.name} in it") from None
    except msgspec.DecodeError as error:
        raise MatchError(f"{path} can't be read: {error}") from None


class Match:
    """One match in its folder.

    Args:
        config: what is played.
        lexicon: the words.
        folder: where journal, results and games go.
        open_seat: makes the seat of a side (0 or 1) for the game of a number.
        finished: told of each result as it comes, those of void games too.
        known: results that were told of before, when the match is taken up again.
    """

    def __init__(
        self,
        config: MatchConfig,
        lexicon: Lexicon,
        folder: Path,
        open_seat: Callable[[int, int], Seat],
        finished: Callable[[GameResult], None] = lambda _result: None,
        known: Iterable[GameResult] = (),
    ) -> None:
        self._known = {result.number for result in known if not result.void}
        self._config = config
        self._lexicon = lexicon
        self._folder = folder
        self._open_seat = open_seat
        self._finished = finished
        self._absent = [0, 0]
        self._games = folder / "games"
        self._games.mkdir(parents=True, exist_ok=True)

    async def play(self) -> None:
        """Play every game that the journal does not have yet.

        Raises:
            MatchError: it can't go on.
            JournalError: the folder's journal can't be used.
        """
        journal = Journal(self._folder / "match.db")
        try:
            played = self._recall(journal.finished())
            halves = {kept.label["number"]: kept for kept in journal.unfinished()}
            schedule = pairs(self._config.games, shared=self._config.paired)
            todo = [game for game in schedule if game.number not in played | self._known]
            async with LagMeter() as lag:
                await self._play_all(todo, halves, journal, lag)
        finally:
            journal.close()

    def _recall(self, finished: Iterable[KeptGame]) -> set[int]:
        """Take over the results that the journal has; void games are to be played again."""
        numbers: set[int] = set()
        for kept in finished:
            book = Scorebook.restored(kept.records, None, self._lexicon)
            result = game_result(book, PlannedGame.from_label(kept.label))
            if not result.void and result.number not in numbers:
                numbers.add(result.number)
                if result.number not in self._known:
                    self._keep_evidence(book, result.number)
                    self._count(book, PlannedGame.from_label(kept.label))
        return numbers

    async def _play_all(
        self,
        todo: Sequence[PlannedGame],
        halves: dict[int, KeptGame],
        journal: Journal,
        lag: LagMeter,
    ) -> None:
        waiting = iter(todo)

        async def table() -> None:
            for planned in waiting:
                await self._play_one(planned, halves.get(planned.number), journal, lag)

        try:
            async with asyncio.TaskGroup() as tables:
                for _ in range(self._config.concurrency):
                    tables.create_task(table())
        except* (MatchError, JournalError, OSError) as errors:
            raise errors.exceptions[0] from None

    async def _play_one(
        self, planned: PlannedGame, half: KeptGame | None, journal: Journal, lag: LagMeter
    ) -> None:
        for _ in range(HOST_ERRORS):
            if half is None:
                book = await self._open(planned, journal)
            else:
                book = Scorebook.restored(half.records, half.note, self._lexicon)
                half = None
            number = planned.number
            seats = (
                self._open_seat(planned.side_of(0), number),
                self._open_seat(planned.side_of(1), number),
            )
            ended = await GameHost(book, seats, journal, lag).run()
            result = game_result(book, planned)
            self._keep_evidence(book, planned.number)
            if result.void:
                self._finished(result)
            else:
                self._count(book, planned)
            self._watch_absences(book, planned)
            if not result.void:
                return
            log.warning("game void, played again", number=planned.number, reason=ended.message)
        raise MatchError(
            f"game {planned.number} came to nothing {HOST_ERRORS} times: {ended.message}"
        )

    async def _open(self, planned: PlannedGame, journal: Journal) -> Scorebook:
        config = self._config
        names = config.names if planned.first == 0 else config.names[::-1]
        opened = new_game((names[0], names[1]), self._lexicon, config.time, self._draws(planned))
        await journal.create(opened, planned.label())
        return Scorebook(opened, self._lexicon)

    def _draws(self, planned: PlannedGame) -> Draws:
        if not self._config.paired or self._config.seed is None:
            return Draws.fresh()
        return Draws.seeded(self._config.seed, planned.pair)

    def _count(self, book: Scorebook, planned: PlannedGame) -> None:
        result = game_result(book, planned)
        first, second = book.opened.players
        gcg = game_record(book, f"Game {planned.number}, {first} against {second}")
        self._games.joinpath(f"{planned.number:05d}.gcg").write_text(gcg, encoding="utf-8")
        self._finished(result)

    def _keep_evidence(self, book: Scorebook, number: int) -> None:
        """Write down the last words of what failed; of a void game they are all there is."""
        if book.evidence:
            text = "\n".join(book.evidence)
            self._faults(number).write_text(text, encoding="utf-8")

    def _faults(self, number: int) -> Path:
        return self._games / f"{number:05d}.faults.txt"

    def _watch_absences(self, book: Scorebook, planned: PlannedGame) -> None:
        assert book.ended is not None
        absent = {f.seat for f in book.ended.faults if f.code == "no_show"}
        for seat in (0, 1):
            side = planned.side_of(seat)
            self._absent[side] = self._absent[side] + 1 if seat in absent else 0
            if self._absent[side] >= NO_SHOWS:
                name, faults = self._config.names[side], self._faults(planned.number)
                why = f"{book.ended.message}; {faults} has its last words"
                raise MatchError(
                    f"{name} did not come to {NO_SHOWS} games in a row: "
                    f"{why if faults.exists() else book.ended.message}"
                )

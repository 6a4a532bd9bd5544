"""A tournament: games between its seats, round by round, at one or several tables.

A match is a tournament of two. If neither player of a pairing can carry anything from game to game,
the two games of a pair have the same draws with the seats swapped, so luck evens out. Every
game is in the journal of the folder from its first offer. A tournament that was killed can be
resumed, and counts every game once.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import AsyncExitStack, closing, suppress
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path
from typing import Any, NoReturn, Protocol, TypeAlias

import structlog

from bot.equipment import tables_for
from bot.registry import SeatError
from bot.seat.runtime import software
from engine.rules.rule_sets import rules_in_play
from harness.arbiter.database import JournalError
from harness.arbiter.host import GameHost
from harness.arbiter.journal import Journal
from harness.arbiter.journal_reading import KeptGame, read_games
from harness.arbiter.lag import LagMeter
from harness.arbiter.records import Draws, Opened, new_game
from harness.arbiter.scorebook import Scorebook
from harness.arbiter.seat import Seat
from harness.figures import counted
from harness.seats.seat_factory import seating
from harness.seats.seats import ENDED, TURNED_AWAY, GuestSeat
from harness.workers import Cluster, WorkersError
from harness.writing import write_file
from lexicons.store import Lexicon

from .absences import NO_SHOWS
from .cluster import play_pair
from .config import MatchError, TournamentConfig
from .folder import MatchFolder, Missed
from .game_queue import GameQueue
from .pairings import Round
from .results import GameResult, PlannedGame, game_record, game_result, walkover

log = structlog.get_logger(__name__)

HOST_ERRORS = 3
"""Host failures of one game before the tournament is given up."""

LOOK_S = 1.0
"""Seconds between checks for new workers of a cluster, and tries to write to a full disk."""

_OpenSeat: TypeAlias = Callable[[int, int], Seat]
"""Makes the seat of an entrant, by index, for a game, by number."""


class Hall(Protocol):
    """Where games are played: on their own, or in the lobby of a server."""

    @property
    def journal(self) -> Journal:
        """The journal of the games."""
        ...

    async def host(self, book: Scorebook, seats: tuple[Seat, Seat]) -> None:
        """Play a game of the journal to its end."""
        ...


@dataclass(frozen=True)
class _Room:
    """A hall without spectators and guests."""

    journal: Journal
    lag: LagMeter

    async def host(self, book: Scorebook, seats: tuple[Seat, Seat]) -> None:
        await GameHost(book, seats, self.journal, self.lag).run()


class Tournament:
    """A match or tournament in its folder.

    ``finished`` is called with each new result, including void games; ``notice`` with a sentence
    when a process takes long. With a ``cluster``, its workers play the games. Users' bots and
    engines don't see the folder, where they could read what their opponents print, and not what
    else is ``hidden``.

    A ``directed`` tournament has guests, and doesn't offer the games of those who are gone. For
    ``enough``, ``hold``, ``away`` and ``paired`` see ``GameQueue``.
    """

    def __init__(
        self,
        config: TournamentConfig,
        lexicon: Lexicon,
        files: MatchFolder,
        finished: Callable[[GameResult], None],
        notice: Callable[[str], None] | None = None,
        enough: Callable[[], bool] = lambda: False,
        cluster: Cluster | None = None,
        *,
        hidden: tuple[Path, ...] = (),
        directed: bool = False,
        hold: Callable[[], bool] = lambda: False,
        away: Callable[[], Collection[int]] = tuple,
        paired: Callable[[Round | None], None] = lambda _round: None,
    ) -> None:
        self._config = config
        self._lexicon = lexicon
        self._files = files
        self._finished = finished
        self._notice = notice
        self._cluster = cluster
        self._hidden = (files.path, *hidden)
        self._directed = directed
        self.queue = GameQueue(
            config,
            files,
            enough,
            in_pairs=cluster is not None,
            directed=directed,
            hold=hold,
            away=away,
            paired=paired,
        )
        self.playing: dict[int, Scorebook] = {}
        """The games under way, by number."""
        self._all_begun = asyncio.Event()
        self._failing = False
        """Whether the last write to the folder failed, on a server."""
        self._games = files.path / "games"
        self._games.mkdir(parents=True, exist_ok=True)

    async def play(self, hall: Hall | None = None) -> None:
        """Play every game that has no result yet, by default in a room of its own.

        Raises:
            MatchError: the tournament can't go on.
            JournalError: the folder's journal can't be used.
            SeatError: a seat's text is invalid.
            WorkersError, OSError: the cluster, or a file, fails.
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
            hidden=self._hidden,
        )
        async with AsyncExitStack() as stack:
            open_seat = await stack.enter_async_context(players)
            if hall is None:
                journal = stack.enter_context(closing(Journal(self._files.path / "match.db")))
                hall = _Room(journal, await stack.enter_async_context(LagMeter()))
            recorded = {result.game for result in self._files.results}
            unfinished = {stored.label["number"]: stored for stored in hall.journal.unfinished()}
            for stored in chain(unfinished.values(), hall.journal.finished()):
                planned = PlannedGame(**stored.label)
                self.queue.schedule.check_known(planned, stored.opened.players)
                has_result = planned.number in self._files.counted or stored.game in recorded
                if stored.ended and not has_result:
                    book = _restored(stored, self._files, self._lexicon)
                    result = self._keep(planned, book)
                    if self._directed:
                        self._watch_absences(planned, book, result)
            self.queue.resume(unfinished)
            try:
                async with asyncio.TaskGroup() as tables:
                    async for _ in self._tables():
                        tables.create_task(self._table(open_seat, hall))
            except* (MatchError, JournalError, SeatError, WorkersError, OSError) as errors:
                raise errors.exceptions[0] from None

    async def _tables(self) -> AsyncIterator[int]:
        """Yield once for each table to open; on a cluster, again whenever workers join."""
        if self._cluster is None:
            for table in range(self._config.concurrency):
                yield table
            return
        opened = 0
        while not self._all_begun.is_set():
            for table in range(opened, self._cluster.at_once):
                opened += 1
                yield table
            with suppress(TimeoutError):
                await asyncio.wait_for(self._all_begun.wait(), LOOK_S)

    def play_again(self, number: int, game: str) -> None:
        """Have a game played again whose result, with this id, was annulled."""
        with suppress(OSError):  # usually nothing had failed, and there is none
            self._transcript(number).rename(self._transcript(number, game))
        self.queue.play_again(number)

    # --- one game -------------------------------------------------------------------------------

    async def _table(self, open_seat: _OpenSeat, hall: Hall) -> None:
        """Play games one after another, each until it has a result that counts."""
        while games := await self._written(self.queue.next):
            try:
                if self._cluster is not None and not self.queue.is_on(games):
                    await self._play_away(self._cluster, games, hall.journal)
                    continue
                for planned in games:
                    await self._play(planned, open_seat, hall)
            finally:
                for planned in games:
                    self.playing.pop(planned.number, None)
                self.queue.done(games)
        self._all_begun.set()

    async def _play_away(
        self, cluster: Cluster, games: list[PlannedGame], journal: Journal
    ) -> None:
        """Have a worker of the cluster play a pair; store its games as if played here."""
        books: dict[int, Scorebook] = {}
        for _ in range(HOST_ERRORS):
            pair = [(planned, self._set_up(planned)) for planned in games]
            played = await cluster.call(play_pair, self._config, software(), pair)
            for (planned, opened), records in zip(pair, played, strict=True):
                await journal.create(opened, asdict(planned), records[1:])
                book = Scorebook.restored(records, None, self._lexicon)
                books[planned.number] = book
                result = self._keep(planned, book)
                self._watch_absences(planned, book, result)
            games = [planned for planned in games if self.queue.is_due(planned)]
            if not games:
                return
        self._give_up(games[0], books[games[0].number])

    async def _play(self, planned: PlannedGame, open_seat: _OpenSeat, hall: Hall) -> None:
        failures, book = 0, None
        while await self.queue.may_play(planned):
            gone = self.queue.gone(planned)
            if any(gone) and not self.queue.is_on([planned]):  # else it goes on all the same
                a, b = (self.queue.schedule.config.names[entrant] for entrant in planned.players)
                missed = walkover(planned, self._set_up(planned).game, (a, b), gone)
                await self._written(self._store, missed)
                return
            if book is not None and failures == HOST_ERRORS:
                self._give_up(planned, book)
            if (unfinished := self.queue.unfinished.pop(planned.number, None)) is not None:
                book = _restored(unfinished, self._files, self._lexicon)
            else:
                opened = self._set_up(planned)
                await self._written(hall.journal.create, opened, asdict(planned))
                book = Scorebook(opened, self._lexicon)
            self.playing[planned.number] = book
            first, second = (self._seat(planned, seat, open_seat) for seat in (0, 1))
            await hall.host(book, (first, second))
            result: GameResult = await self._written(self._keep, planned, book)
            await self._written(self._watch_absences, planned, book, result)
            failures += not book.was_voided

    async def _written(self, write: Callable[..., Any], *args: Any) -> Any:
        """Do what writes to the folder, and return its result; on a server, once there is room."""
        while True:
            try:
                written = write(*args)
                written = await written if isinstance(written, Awaitable) else written
            except (JournalError, OSError) as error:
                if not self._directed:
                    raise
                if not self._failing:
                    why = getattr(error, "strerror", None) or str(error)
                    log.error("results can't be written", folder=str(self._files.path), reason=why)
                self._failing = True
                await asyncio.sleep(LOOK_S)
            else:
                if self._failing:
                    log.warning("results are written again", folder=str(self._files.path))
                self._failing = False
                return written

    def _seat(self, planned: PlannedGame, seat: int, open_seat: _OpenSeat) -> Seat:
        entrant, config = planned.entrant(seat), self.queue.schedule.config
        if config.is_guest(entrant):
            return GuestSeat(config.names[entrant])
        return open_seat(entrant, planned.number)

    def _set_up(self, planned: PlannedGame) -> Opened:
        config = self.queue.schedule.config
        names = config.names[planned.entrant(0)], config.names[planned.entrant(1)]
        name = None
        if config.seed is not None:
            what = f"game {planned.number} of {names} with seed {config.seed}"
            if times_void := self._files.voids[planned.number]:
                what += f", played again for the {times_void}. time"
            name = hashlib.sha256(what.encode()).hexdigest()[:16]
        opening = None if planned.opening is None else config.openings[planned.opening]
        draws = Draws.fresh()
        if planned.paired and config.seed is not None:
            draws = Draws.seeded(config.seed, planned.pair)
        rules = config.rules_in_play
        return new_game(names, self._lexicon, config.time, draws, name, opening, rules)

    def _keep(self, planned: PlannedGame, book: Scorebook) -> GameResult:
        """Store a finished game's result, GCG and transcript of faults; return the result.

        A void game has no GCG.
        """
        result = game_result(book, planned)
        number, (first, second) = planned.number, book.opened.players
        evidence = list(book.evidence)
        if not evidence and result.forfeit and result.outcome not in ("resign", "challenge"):
            assert book.ended is not None
            refused = (f"refused: {each.move}: {each.message}" for each in book.refusals)
            evidence = ["\n".join((book.ended.message, *refused, ""))]
        if evidence:
            transcript = self._transcript(number, result.game if result.void else None)
            write_file(transcript, "\n".join(evidence))
        if not result.void:
            gcg = game_record(book, f"Game {number}, {first} against {second}")
            write_file(self._games / f"{number:05d}.gcg", gcg)
        else:
            assert book.ended is not None
            if not (self._directed and result.outcome == "no_show"):
                log.warning("game void, played again", number=number, reason=book.ended.message)
        self._store(result)
        return result

    def _store(self, result: GameResult) -> None:
        nobody_came = self._directed and result.void and result.outcome == "no_show"
        if nobody_came and result.number not in self._files.missed:
            self._files.decide(Missed(result.number))  # first: else it would be played again
        self._files.append(result)
        self._finished(result)

    @staticmethod
    def _give_up(planned: PlannedGame, book: Scorebook) -> NoReturn:
        assert book.ended is not None
        raise MatchError(f"game {planned.number} failed {HOST_ERRORS} times: {book.ended.message}")

    def _transcript(self, number: int, void: str | None = None) -> Path:
        """Return the path of a transcript; the id of a ``void`` game tells it from its replay's."""
        name = f"{number:05d}" if void is None else f"{number:05d}.{void}"
        return self._games / f"{name}.faults.txt"

    def _watch_absences(self, planned: PlannedGame, book: Scorebook, result: GameResult) -> None:
        """Leave out further games of an entrant that has missed too many.

        Raises:
            MatchError: it is a match without a director, which can't go on.
        """
        assert book.ended is not None
        for seat, name in enumerate(book.opened.players):
            entrant, faults = planned.entrant(seat), result.sides[planned.side_of(seat)].faults
            if "no_show" in faults and self.queue.absences.missed_too_many(entrant, name):
                transcript = self._transcript(planned.number, result.game if result.void else None)
                clue = f"; {transcript} has its last words" if book.evidence else ""
                reason = _last_words(book, name) or book.ended.message.removeprefix(f"{name} ")
                why = f"{name} missed {NO_SHOWS} games in a row: {reason}{clue}"
                if self._config.is_match and not self._directed:
                    raise MatchError(why)
                self.queue.absences.begin(entrant, why)
                if not self._directed:
                    log.warning("entrant absent", name=name, reason=why)


def _last_words(book: Scorebook, name: str) -> str:
    """Return the line in which a seat's process or a remote bot said why it ends, or ``""``."""
    headings = [f"{name}, crash: {why}" for why in (ENDED, TURNED_AWAY)]
    for text in reversed(book.evidence):
        heading, words, *_ = text.splitlines()
        if heading in headings and not words.startswith("exit status: "):
            return words
    return ""


def measure_luck(
    config: TournamentConfig, lexicon: Lexicon, files: MatchFolder, tell: Callable[[str], None]
) -> None:
    """Measure the luck of all games that lack it, from the journal; about 50 ms per game.

    Raises:
        JournalError: the journal, or a game in it, can't be read.
        ValueError: a table of leaves or win probabilities can't be read.
    """
    lacking = {
        result.game: result
        for result in files.counting()
        if not result.void and result.game not in files.lucks
    }
    if not lacking:
        return
    from .luck import LuckMeter  # loads kernels, which a tournament otherwise does not need

    tell(f"measuring the luck of {counted(len(lacking), 'game')}")
    tables = tables_for(config.equipment, lexicon.distribution)
    meter = LuckMeter(lexicon, rules_in_play(config.rules_in_play), *tables)
    for stored in read_games(files.path / "match.db"):
        if (result := lacking.get(stored.game)) is not None:
            files.add_luck(result, meter.of(_restored(stored, files, lexicon).game))


def _restored(kept: KeptGame, files: MatchFolder, lexicon: Lexicon) -> Scorebook:
    try:
        return Scorebook.restored(kept.records, kept.note, lexicon)
    except ValueError as error:
        raise JournalError(
            f"{files.path / 'match.db'}: game {kept.game} can't be played from its records: "
            f"{error}; go on from a copy of the folder"
        ) from None

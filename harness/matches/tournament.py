"""A tournament: games between its seats, round by round, at one or several tables.

A match is a tournament of two. If neither player of a pairing can carry anything from game to game,
the two games of a pair have the same draws with the seats swapped, so luck evens out. Every
game is in the journal of the folder from its first offer. A tournament that was killed can be
resumed, and counts every game once.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, closing, suppress
from dataclasses import asdict, dataclass
from itertools import groupby
from pathlib import Path
from typing import NoReturn, Protocol, TypeAlias

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
from lexicons.store import Lexicon

from .absences import NO_SHOWS, Absences
from .cluster import play_pair
from .config import MatchError, TournamentConfig
from .folder import Corrected, MatchFolder, Missed
from .pairings import Round
from .results import GameResult, PlannedGame, game_record, game_result, walkover
from .schedule import Schedule

log = structlog.get_logger(__name__)

HOST_ERRORS = 3
"""Host failures of one game before the tournament is given up."""

LOOK_S = 1.0
"""Seconds between checks for new workers of a cluster."""


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
    when a process takes long. Once ``enough`` returns true, no further game begins. With a
    ``cluster``, its workers play the games.

    A ``directed`` tournament has guests. It goes round by round, waits at its end for corrections,
    and doesn't offer the games of entrants that are gone. While ``hold`` returns true, no game
    begins, but games under way continue; call ``look_again`` when that changes. ``paired`` is
    called with each round, and with None at the end.
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
        directed: bool = False,
        hold: Callable[[], bool] = lambda: False,
        paired: Callable[[Round | None], None] = lambda _round: None,
    ) -> None:
        self._config = config
        self._lexicon = lexicon
        self._files = files
        self._finished = finished
        self._notice = notice
        self._enough = enough
        self._cluster = cluster
        self._directed = directed
        self._hold = hold
        self._paired = paired
        self.schedule = Schedule(config, files)
        self.playing: dict[int, Scorebook] = {}
        """The games under way, by number."""
        self.planned: dict[int, PlannedGame] = {}
        """The games of a directed tournament's rounds so far, by number."""
        self.over = False
        """Whether no game is left to play; false again once a result is annulled."""
        self._again: list[list[PlannedGame]] = []
        """Units to play later: results annulled, players busy with another game, or on hold."""
        self._todo: Iterator[list[PlannedGame]] = iter(())
        """Units of work: single games, pairs on a cluster, or all games of a directed pairing."""
        self._units_under_way = 0
        """Units that are being played."""
        self._busy = Counter[int]()
        """Number of units that each entrant is playing."""
        self._changed = asyncio.Event()
        self._all_begun = asyncio.Event()
        self._unfinished: dict[int, KeptGame] = {}
        """Unfinished games of the journal, by number."""
        self._voids = Counter(result.number for result in files.counting() if result.void)
        """How often each game was void, by number."""
        self._absences = Absences(files, directed=directed)
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
        )
        async with AsyncExitStack() as stack:
            open_seat = await stack.enter_async_context(players)
            place = hall or await self._room(stack)
            self._recall(place.journal)
            if self._directed:
                self._plan_begun_rounds()
            try:
                async with asyncio.TaskGroup() as tables:
                    async for _ in self._tables():
                        tables.create_task(self._table(open_seat, place))
            except* (MatchError, JournalError, SeatError, WorkersError, OSError) as errors:
                raise errors.exceptions[0] from None

    async def _room(self, stack: AsyncExitStack) -> _Room:
        journal = stack.enter_context(closing(Journal(self._files.path / "match.db")))
        return _Room(journal, await stack.enter_async_context(LagMeter()))

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

    # --- which games are next -------------------------------------------------------------------

    async def _next(self) -> list[PlannedGame]:
        """Return the next games to play, or none at the end; wait for games that they depend on."""
        waits_for_rounds = self._directed or self.schedule.depends_on_results
        while not self._enough():
            if games := self._next_unit():
                self._units_under_way += 1
                self._busy.update(games[0].players)
                return games
            if self._hold() or (self._units_under_way and waits_for_rounds):
                await self._changed.wait()
            elif not self._next_round():
                if not self._directed:
                    break
                await self._changed.wait()
        self._all_begun.set()
        return []

    def _plan_begun_rounds(self) -> None:
        """Plan all rounds that had begun, since their games may be unfinished or be corrected."""
        last = max((*self._files.counted, *self._files.missed, *self._unfinished), default=0)
        units: list[list[PlannedGame]] = []
        while self.schedule.had_begun(last) and (planned := self.schedule.next_round()) is not None:
            units += self._units(planned)
        self._todo = iter(units)
        if units:
            self._paired(self.schedule.rounds[-1])

    def _next_unit(self) -> list[PlannedGame]:
        is_held = self._hold()
        for unit in self._again:
            if not self._are_at_play(unit) and (not is_held or self._is_on(unit)):
                self._again.remove(unit)
                self.over = False
                return unit
        for unit in self._todo:
            if is_held and not self._is_on(unit):
                if not all(self.has_result(each.number) for each in unit):
                    self._again.append(unit)
                continue
            games = [each for each in unit if self._is_due(each)]
            if games and self._are_at_play(games):
                self._again.append(games)
            elif games:
                return games
        return []

    def _is_on(self, games: Sequence[PlannedGame]) -> bool:
        """Return whether any of these games was unfinished when the tournament was resumed."""
        return any(each.number in self._unfinished for each in games)

    def has_result(self, number: int) -> bool:
        """Return whether a game has a result that counts, or was missed by both entrants."""
        return number in self._files.counted or number in self._files.missed

    def is_complete(self) -> bool:
        """Return whether a directed tournament has nothing left to play, also once no game begins.

        ``over`` is what the tables have found, and they look no more once it is enough.
        """
        done = all(map(self.has_result, self.planned))
        return done and self.schedule.is_at_its_end(self.absentees)

    def _are_at_play(self, games: Sequence[PlannedGame]) -> bool:
        """Return whether a player of a directed tournament is busy with another game."""
        return self._directed and any(self._busy[it] for game in games for it in game.players)

    def _next_round(self) -> bool:
        """Pair the next round; return whether there is one."""
        planned = self.schedule.next_round(self.absentees)
        if planned is not None:
            self.over = False
            self._todo = self._units(planned)
            self._paired(self.schedule.rounds[-1])
        elif not self.over:
            self.over = True
            self._paired(None)
        return planned is not None

    def _units(self, games: Iterator[PlannedGame]) -> Iterator[list[PlannedGame]]:
        if self._directed:  # one game at a time for each entrant
            planned = list(games)
            self.planned |= {each.number: each for each in planned}
            return (list(pairing) for _, pairing in groupby(planned, key=lambda it: it.players))
        if self._cluster is None:
            return ([planned] for planned in games)
        return (list(pair) for _, pair in groupby(games, key=lambda planned: planned.pair))

    def _is_due(self, planned: PlannedGame) -> bool:
        """Return whether a game is to be played; if directed, a side that is gone forfeits it."""
        if self.has_result(planned.number):
            return False
        gone = [self._is_gone(entrant) for entrant in planned.players]
        if self._directed and planned.number in self._unfinished:
            return True  # a game under way continues, whoever has withdrawn
        if any(gone) and self._directed:
            a, b = (self.schedule.config.names[entrant] for entrant in planned.players)
            self._store(walkover(planned, self._set_up(planned).game, (a, b), gone))
        return not any(gone)

    @property
    def absentees(self) -> dict[int, str]:
        """Why entrants that missed too many games play no more, by entrant."""
        return self._absences.reasons

    def _is_gone(self, entrant: int) -> bool:
        return entrant in self.absentees or (self._directed and entrant in self._files.withdrawn)

    def look_again(self) -> None:
        """Wake waiting tables to check whether a game may begin."""
        self._changed.set()
        self._changed.clear()

    # --- what is decided while it is on ---------------------------------------------------------

    def welcome_back(self, entrant: int) -> None:
        """Let an entrant that missed games play again from the next round on."""
        name = self.schedule.config.names[entrant]
        if entrant in self.absentees or self._absences.missed_in_a_row(entrant, name):
            self.take_back(entrant)

    def take_back(self, entrant: int) -> None:
        """Let an entrant that was absent, missed games or had withdrawn play again."""
        self._absences.end(entrant)
        self.look_again()

    def correct(self, correction: Corrected) -> None:
        """Correct a result, or annul it and have the game played again."""
        counted = correction.number in self._files.counted
        self._files.decide(correction)
        if correction.scores is None:
            self._voids[correction.number] += counted
            with suppress(OSError):  # usually nothing had failed, and there is none
                kept = self._transcript(correction.number)
                kept.rename(self._transcript(correction.number, correction.game))
            self._again.append([self.planned[correction.number]])
        self.look_again()

    # --- one game -------------------------------------------------------------------------------

    async def _table(self, open_seat: _OpenSeat, hall: Hall) -> None:
        """Play games one after another, each until it has a result that counts."""
        while games := await self._next():
            try:
                if self._cluster is not None and not self._is_on(games):
                    await self._play_away(self._cluster, games, hall.journal)
                    continue
                for planned in games:
                    await self._play(planned, open_seat, hall)
            finally:
                for planned in games:
                    self.playing.pop(planned.number, None)
                self._units_under_way -= 1
                self._busy.subtract(games[0].players)
                self.look_again()

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
            games = [planned for planned in games if self._is_due(planned)]
            if not games:
                return
        self._give_up(games[0], books[games[0].number])

    async def _play(self, planned: PlannedGame, open_seat: _OpenSeat, hall: Hall) -> None:
        failures = 0
        while failures < HOST_ERRORS:
            while self._hold() and not self._is_on([planned]):
                await self._changed.wait()
            if self._enough() or not self._is_due(planned):
                return
            self.playing[planned.number] = book = await self._open_book(hall.journal, planned)
            await hall.host(
                book, (self._seat(planned, 0, open_seat), self._seat(planned, 1, open_seat))
            )
            result = self._keep(planned, book)
            self._watch_absences(planned, book, result)
            failures += not book.was_voided
            if not self._is_due(planned):
                return
        self._give_up(planned, book)

    def _seat(self, planned: PlannedGame, seat: int, open_seat: _OpenSeat) -> Seat:
        entrant = planned.entrant(seat)
        if self.is_guest(entrant):
            return GuestSeat(self.schedule.config.names[entrant])
        return open_seat(entrant, planned.number)

    def is_guest(self, entrant: int) -> bool:
        """Return whether an entrant dials in."""
        return self.schedule.config.seats[entrant].startswith("guest:")

    def _recall(self, journal: Journal) -> None:
        """Load the journal's unfinished games; store finished games that have no result yet."""
        known = {result.game for result in self._files.results}
        for kept in journal.finished():
            planned = PlannedGame(**kept.label)
            if planned.number not in self._files.counted and kept.game not in known:
                book = _restored(kept, self._files, self._lexicon)
                result = self._keep(planned, book)
                if self._directed:
                    self._watch_absences(planned, book, result)
        self._unfinished = {kept.label["number"]: kept for kept in journal.unfinished()}

    async def _open_book(self, journal: Journal, planned: PlannedGame) -> Scorebook:
        unfinished = self._unfinished.pop(planned.number, None)
        if unfinished is not None:
            return _restored(unfinished, self._files, self._lexicon)
        opened = self._set_up(planned)
        await journal.create(opened, asdict(planned))
        return Scorebook(opened, self._lexicon)

    def _set_up(self, planned: PlannedGame) -> Opened:
        config = self.schedule.config
        names = config.names[planned.entrant(0)], config.names[planned.entrant(1)]
        name = None
        if config.seed is not None:
            what = f"game {planned.number} of {names} with seed {config.seed}"
            if again := self._voids[planned.number]:
                what += f", played again for the {again}. time"
            name = hashlib.sha256(what.encode()).hexdigest()[:16]
        opening = None if planned.opening is None else config.openings[planned.opening]
        draws, rules = self._draws(planned), config.rules_in_play
        return new_game(names, self._lexicon, config.time, draws, name, opening, rules)

    def _draws(self, planned: PlannedGame) -> Draws:
        if planned.paired and self._config.seed is not None:
            return Draws.seeded(self._config.seed, planned.pair)
        return Draws.fresh()

    def _keep(self, planned: PlannedGame, book: Scorebook) -> GameResult:
        """Store a finished game's result, GCG and transcript of faults; return the result.

        A void game has no GCG.
        """
        result = game_result(book, planned)
        number, (first, second) = planned.number, book.opened.players
        if book.evidence:
            transcript = self._transcript(number, result.game if result.void else None)
            transcript.write_text("\n".join(book.evidence), encoding="utf-8")
        if not result.void:
            gcg = game_record(book, f"Game {number}, {first} against {second}")
            self._games.joinpath(f"{number:05d}.gcg").write_text(gcg, encoding="utf-8")
        else:
            assert book.ended is not None
            if not (self._directed and result.outcome == "no_show"):
                log.warning("game void, played again", number=number, reason=book.ended.message)
        self._store(result)
        return result

    def _store(self, result: GameResult) -> None:
        self._voids[result.number] += result.void
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
            if "no_show" in faults and self._absences.missed_too_many(entrant, name):
                transcript = self._transcript(planned.number, result.game if result.void else None)
                clue = f"; {transcript} has its last words" if book.evidence else ""
                reason = _last_words(book, name) or book.ended.message
                why = f"{name} missed {NO_SHOWS} games in a row: {reason}{clue}"
                if self._config.is_match and not self._directed:
                    raise MatchError(why)
                self._absences.begin(entrant, why)
                if not self._directed:
                    log.warning("entrant absent", name=name, reason=why)


def _last_words(book: Scorebook, name: str) -> str:
    """Return the line in which a seat's process or a remote bot said why it ends, or ``""``."""
    headings = [f"{name}, crash: {why}" for why in (ENDED, TURNED_AWAY)]
    for text in reversed(book.evidence):
        heading, said, *_ = text.splitlines()
        if heading in headings and not said.startswith("exit status: "):
            return said
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
    for kept in read_games(files.path / "match.db"):
        if (result := lacking.get(kept.game)) is not None:
            files.add_luck(result, meter.of(_restored(kept, files, lexicon).game))


def _restored(kept: KeptGame, files: MatchFolder, lexicon: Lexicon) -> Scorebook:
    try:
        return Scorebook.restored(kept.records, kept.note, lexicon)
    except ValueError as error:
        raise JournalError(
            f"{files.path / 'match.db'}: game {kept.game} can't be played from its records: "
            f"{error}; go on from a copy of the folder"
        ) from None

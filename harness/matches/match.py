"""A match: games in pairs between two seats, at one or several tables.

If both players are local and start afresh for each game, the two games of a pair have the same
draws with the seats swapped, so luck evens out and fewer games suffice. Every game is in the
journal of the match's folder from its first offer; a killed match resumes, even in mid-game, and
counts every game once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import asdict
from functools import partial
from pathlib import Path

import msgspec

from bot.equipment import Equipment
from harness.arbiter.journal import Journal, KeptGame
from harness.arbiter.lag import LagMeter
from harness.arbiter.new_game import Draws, new_game
from harness.arbiter.scorebook import Scorebook
from harness.arbiter.seat import Seat
from lexicons.cache import replacing
from lexicons.store import Lexicon
from protocol.parts import TimeControl

from .results import GameResult
from .running import GameRunner, MatchError
from .schedule import PlannedGame, pairs
from .summary import game_record, game_result

__all__ = ["Match", "MatchConfig", "MatchError", "read_config", "told_apart", "write_config"]

NO_SHOWS = 2
"""Games in a row that a seat may miss before the match is given up."""


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
    """Search threads of each local seat."""
    ponder: bool = False
    """Whether local seats may search on their opponent's time."""

    @property
    def equipment(self) -> Equipment:
        """The equipment of local seats."""
        return Equipment(self.lexicon, self.leaves, self.winprob, self.threads, self.ponder)


def told_apart(first: str, second: str) -> tuple[str, str]:
    """Return distinct names for the two seats of a match."""
    return (f"{first}-1", f"{second}-2") if first == second else (first, second)


def write_config(config: MatchConfig, folder: Path) -> None:
    """Write a match's configuration to its folder."""
    text = msgspec.json.format(msgspec.json.encode(config), indent=2)
    with replacing(folder / "match.json") as temporary:
        temporary.write_bytes(text + b"\n")


def read_config(folder: Path) -> MatchConfig:
    """Read a match's configuration from its folder.

    Raises:
        MatchError: it is missing or invalid.
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
        config: the settings.
        lexicon: the words.
        folder: for journal, results and games.
        open_seat: makes the seat of a side (0 or 1) for a game by number.
        finished: called with each new result, including void games.
        known: results of earlier runs, not passed to ``finished`` again.
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
        self._config = config
        self._lexicon = lexicon
        self._folder = folder
        self._open_seat = open_seat
        self._finished = finished
        self._counted = {result.number for result in known if not result.void}
        self._halves: dict[int, KeptGame] = {}
        """Unfinished games of the journal, by number."""
        self._absent = [0, 0]
        """Games in a row that each side has missed."""
        self._games = folder / "games"
        self._games.mkdir(parents=True, exist_ok=True)

    async def play(self) -> None:
        """Play every game that the journal does not have yet.

        Raises:
            MatchError: the match can't go on.
            JournalError: the folder's journal can't be used.
        """
        config = self._config
        with closing(Journal(self._folder / "match.db")) as journal:
            self._recall(journal)
            schedule = pairs(config.games, shared=config.paired)
            todo = [game for game in schedule if game.number not in self._counted]
            async with LagMeter() as lag:
                open_book = partial(self._open_book, journal)
                runner = GameRunner(journal, lag, open_book, self._open_seat, self._settle)
                await runner.play_all(todo, config.concurrency)

    def _recall(self, journal: Journal) -> None:
        """Load the journal's games; void games are played again."""
        for kept in journal.finished():
            planned = PlannedGame(**kept.label)
            if planned.number not in self._counted:
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
            self._counted.add(number)
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

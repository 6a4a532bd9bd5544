"""The games that a server hosts: those that are on, and the latest that are over.

Hosting knows seats, not players: the lobby knows which player sits where, and what follows a game.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import structlog
from msgspec.structs import replace

from harness.arbiter.clock import LOCAL_READY_MS
from harness.arbiter.host import GameHost, KeepsThoughts
from harness.arbiter.journal import Journal
from harness.arbiter.journal_reading import KeptGame
from harness.arbiter.lag import LagMeter
from harness.arbiter.records import Draws, Ended, Opened, new_game, result_text
from harness.arbiter.rules_on_wire import rules_on_wire
from harness.arbiter.scorebook import Scorebook
from harness.arbiter.seat import Seat
from harness.game_kinds import MAIN
from harness.seats.seats import GuestSeat
from protocol.messages import GameList
from protocol.parts import ListedGame, TimeControl

from .tables import ServerTables, TableKind

log = structlog.get_logger(__name__)

TABLE = "table"
"""The key of a game's label that names its table, unless that is the main one."""
WORDS = "words"
"""The key of a game's label that says where its words are: a name, or a path."""
CASUAL = "casual"
"""The key of a game's label that marks a casual game; its value is true."""

MOST_LISTED = 500
"""Most games in a list; a message holds as many."""
KEPT_GAMES = 64
"""Finished games that can still be watched."""


@dataclass(eq=False)
class Hosting:
    """The games of one server."""

    tables: ServerTables
    journal: Journal
    lag: LagMeter
    """Measures how late the server's event loop is."""
    has_token: Callable[[str], bool] = lambda _name: False
    """Returns whether a name can be used only with its token."""
    log_line: Callable[[str], None] = lambda _sentence: None
    """Takes a sentence about each game that begins or ends, with names as players chose them."""
    ended: Callable[[Scorebook, Ended], None] = lambda _book, _ended: None
    """Takes each game that ends."""
    keeps: KeepsThoughts = lambda _game, _by, _guest, _size: True
    games: dict[str, GameHost] = field(default_factory=dict)
    """Those that are on."""
    set_aside: int = 0
    """Number of games of the journal that can't go on here."""
    _past: deque[GameHost] = field(default_factory=lambda: deque(maxlen=KEPT_GAMES))

    def restored(self) -> Iterator[tuple[Scorebook, dict[str, Any]]]:
        """Yield the games of the journal that go on, each with its label.

        A game that can't go on stays in the journal, for a server that can play it.
        """
        for stored in self.journal.unfinished(lambda error: self._put_aside(str(error))):
            book = self._restored(stored)
            if isinstance(book, Scorebook):
                yield book, stored.label
            else:
                self._put_aside(f"game {stored.game} can't go on: {book}")

    def _put_aside(self, why: str) -> None:
        self.set_aside += 1
        self.log_line(f"{why}; it is set aside, and stays in the journal")

    def _restored(self, kept: KeptGame) -> Scorebook | str:
        """Return a game as it stands, or why it can't go on."""
        opened = kept.opened
        try:
            sides = kept.label.get("sides")
            if sides is None:
                return "no server began it; tilewire match or tournament --resume may go on with it"
            if tuple(side["name"] for side in sides) != opened.players:
                names = ", ".join(opened.players)
                return f"its records name the players {names}, and its label names others"
            kind = self._kind(opened, kept.label)
            if kind is None:
                return f"no table has its lexicon {opened.lexicon} as it was when it began"
            bots = [side["name"] for side in sides if side["kind"] == "bot"]
            if lacking := [name for name in bots if name not in kind.bots]:
                return f"no bot is called {lacking[0]!r} here now"
            book = Scorebook.restored(kept.records, kept.note, kind.lexicon)
        except Exception as error:  # damage has any shape; the other games go on
            log.error("game not restored", game=kept.game, reason=repr(error))
            return f"its records can't be played ({error or type(error).__name__})"
        log.info("game restored", game=kept.game, turns=len(book.turns))
        self.log_line(f"game {kept.game} goes on: {' – '.join(opened.players)}")
        return book

    def _kind(self, opened: Opened, label: Mapping[str, Any]) -> TableKind | None:
        return self.tables.of_game(opened, str(label.get(WORDS, "")), label.get(TABLE, MAIN))

    def new_book(self, kind: TableKind, time: TimeControl, label: dict[str, Any]) -> Scorebook:
        """Return the book of a new game at a table, between the sides of a label.

        Also add to the label what the game needs to go on once the server has other tables.
        """
        first, second = (side["name"] for side in label["sides"])
        if any(side["kind"] == "bot" for side in label["sides"]):
            time = replace(time, ready_ms=max(time.ready_ms, LOCAL_READY_MS))
        if kind.name != MAIN:
            label[TABLE] = kind.name
        if kind.equipment is not None:
            label[WORDS] = kind.equipment.lexicon
        opening = None
        if kind.casual is not None:
            label[CASUAL], opening = True, kind.casual.opening
        rules, draws = rules_on_wire(kind.rules), Draws.fresh()
        opened = new_game((first, second), kind.lexicon, time, draws, None, opening, rules)
        return Scorebook(opened, kind.lexicon)

    def seats(self, opened: Opened, label: dict[str, Any]) -> tuple[Seat, Seat]:
        """Make seats for the sides of a label."""
        kind = self._kind(opened, label)
        assert kind is not None, "the game's words are here"
        first, second = (
            kind.bots[side["name"]]() if side["kind"] == "bot" else GuestSeat(side["name"])
            for side in label["sides"]
        )
        return first, second

    def open(
        self, book: Scorebook, seats: tuple[Seat, Seat], label: Mapping[str, Any] = {}
    ) -> GameHost:
        """Add a game to those that are on, and return its host; then call ``play``."""
        names = frozenset(seat.name for seat in seats if isinstance(seat, GuestSeat))
        unproven = frozenset(name for name in names if not self.has_token(name))
        host = GameHost(book, seats, self.journal, self.lag, names, unproven, keeps=self.keeps)
        host.is_casual = bool(label.get(CASUAL))
        self.games[host.game] = host
        return host

    async def play(
        self, host: GameHost, label: dict[str, Any], *, fresh: bool
    ) -> tuple[Ended, float]:
        """Play an open game to its end; return how it ended, and how many seconds that took.

        A ``fresh`` one is stored first.

        Raises:
            JournalError: the game can't be kept.
        """
        loop = asyncio.get_running_loop()
        try:
            if fresh:
                await self.journal.create(host.book.opened, label)
                self.log_line(f"game {host.game} begins: {' – '.join(host.book.opened.players)}")
            began = loop.time()
            ended = await host.run()
            took_s = loop.time() - began
            self.ended(host.book, ended)
            players = host.book.opened.players
            self.log_line(
                f"game {host.game} is over: {' – '.join(players)}, {result_text(players, ended)}"
            )
        finally:
            self._past.append(self.games.pop(host.game))
        return ended, took_s

    def find(self, game: str) -> GameHost | None:
        """Return a running or recently finished game."""
        past = (host for host in self._past if host.game == game and host.book.ended)
        return self.games.get(game) or next(past, None)

    def listed(self) -> GameList:
        """Return the list of running games."""
        games = tuple(
            ListedGame(
                game=host.game,
                players=host.book.opened.players,
                scores=host.book.scores,
                turns=len(host.book.turns),
                rules=host.book.opened.rules.name,
                lexicon=host.book.opened.lexicon,
            )
            for host in islice(self.games.values(), MOST_LISTED)
        )
        return GameList(games=games)

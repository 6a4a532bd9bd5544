"""A standing ladder: bots come, are paired as long as they are there, and are rated.

The journal has all that counts: a rated game's label names its table. What is kept here is derived
from it when the server starts, and grows with each game that ends. Ratings are computed in a
process of their own, soon after games have ended. That takes at most a tenth of the time, unless
ratings would then have to wait for more than a minute.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from random import SystemRandom
from typing import Any, NamedTuple, TypeAlias

import structlog

from harness.arbiter.clock import DAY_S
from harness.arbiter.database import Address, JournalError
from harness.arbiter.journal_reading import read_ended
from harness.arbiter.records import Ended
from harness.game_kinds import MAIN
from harness.matches.rating_list import RatingList
from lexicons.text import did_you_mean
from protocol.errors import PeerError
from protocol.messages import Seek
from protocol.parts import TimeControl

from .history import History, RatedGame
from .rating_process import RatingError, RatingTask, rate
from .settings import DEFAULT_TABLE, LABEL, LadderSettings
from .table import RatedTable

log = structlog.get_logger(__name__)

PAUSE_S = 1.0
REST_SHARE = 9
"""The pause after ratings, in times that they took; ``LONGEST_PAUSE_S`` at most."""
LONGEST_PAUSE_S = 60.0
MOST_SCORE = 1_000_000
"""A game of the journal with a higher score counts as damaged, since scores are summed."""

Compute: TypeAlias = Callable[[RatingTask], Awaitable[list[RatingList]]]


class Paired(NamedTuple):
    """A game that is to begin."""

    table: str
    is_rated: bool
    """False: both sides are one owner's, so it is a game beside the ladder."""
    kind: str
    """The name of the server's table whose rules and words are played."""
    time: TimeControl
    sides: tuple[dict[str, Any], dict[str, Any]]
    """By seat: ``kind`` and ``name``, as in a game's label."""


class Ladder:
    """The tables of a server, and who waits at them."""

    def __init__(
        self,
        settings: LadderSettings,
        server_time: TimeControl,
        may_be_rated: Callable[[str], bool] = lambda _name: True,
        owners: Callable[[str], frozenset[str]] = lambda _name: frozenset(),
        compute: Compute = rate,
        plays: Callable[[str, str], bool] = lambda _kind, _bot: True,
        monotonic: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = time.time,
    ) -> None:
        self.settings = settings
        self.tables: dict[str, RatedTable] = {}
        clocks = {name: table.time for name, table in settings.tables.items()}
        for table, clock in (clocks or {DEFAULT_TABLE: server_time}).items():
            kind = self.kind(table)
            anchors = {bot: rating for bot, rating in settings.anchors.items() if plays(kind, bot)}
            owners_of = (lambda _name: frozenset()) if settings.same_owner else owners
            self.tables[table] = RatedTable(table, clock, anchors, owners_of)
        self._monotonic = monotonic
        self.now = now
        self._may_be_rated = may_be_rated
        self._compute = compute
        self._wishes: dict[str, Seek] = {}
        """Seeks by the names of the players who wait."""
        self.held_back: Mapping[str, Seek] = {}
        """Seeks of players who wait elsewhere until their address may have another game."""
        self._loaded = False
        self._ended_meanwhile: list[RatedGame] = []
        """Games that ended while the journal was read."""
        self._already_read = set[str]()
        """Games in the history that was read for which ``over`` is still to be called."""
        self._resumed: list[Mapping[str, Any]] = []
        """Labels of games that go on while the journal is read."""
        self._games_on = Counter[tuple[str, str]]()
        """Number of rated games that are on, by table and player."""
        self._pause_s = PAUSE_S
        """The least pause after ratings; it doubles while they fail."""
        self._began = now()
        self._random = SystemRandom()
        self._first_table = 0
        self._changed = asyncio.Event()

    def kind(self, table: str) -> str:
        """Return what is played at a table of the ladder, by the name of the server's table."""
        listed_kind = self.settings.tables.get(table)
        return MAIN if listed_kind is None else listed_kind.table

    def change_time(self, time: TimeControl) -> None:
        """Use another clock of the server from now on, unless tables have their own clocks."""
        if not self.settings.tables:
            self.tables[DEFAULT_TABLE].time = time

    # --- who waits ------------------------------------------------------------------------------

    def __contains__(self, name: str) -> bool:
        return name in self._wishes

    def __iter__(self) -> Iterator[str]:
        return iter(self._wishes)

    def check(self, name: str, wish: Seek) -> None:
        """Check that a player may wait for rated games.

        Raises:
            PeerError: there is no such table, or its name belongs to nobody.
        """
        self.table_of(wish)
        if not self._may_be_rated(name):
            raise PeerError(
                "forbidden",
                "games of the ladder are rated, so a name has to be somebody's: log in with a "
                "token, or seek an opponent by name for a game that is not rated",
            )

    def table_of(self, wish: Seek) -> RatedTable:
        """Return the table at which a player wishes to play; PeerError if there is none."""
        name = wish.table or next(iter(self.tables))
        if name not in self.tables:
            choices = f"{did_you_mean(name, self.tables)}; there are {', '.join(self.tables)}"
            raise PeerError("unknown_table", f"the ladder has no table {name!r}{choices}")
        return self.tables[name]

    def put(self, name: str, wish: Seek) -> None:
        """Take a player's seek, in place of an earlier one."""
        self.pop(name)
        self._wishes[name] = wish
        if self._loaded:
            self.table_of(wish).come(name, self._monotonic())

    def pop(self, name: str) -> Seek | None:
        """Remove and return a player's seek, if there is one; the player waits no more."""
        wish = self._wishes.pop(name, None)
        for table in self.tables.values():
            table.remove(name)
        return wish

    def state(self, table: RatedTable, player: int) -> str:
        """Return what a player does at a table, as ``RatedTable.state``; one held back waits."""
        state, held = table.state(player), self.held_back.get(table.history.records[player].name)
        waits = held is not None and held.opponent is None and self.table_of(held) is table
        return "waits" if waits and state == "away" else state

    @property
    def waits(self) -> bool:
        """Whether somebody waits for an opponent."""
        return any(table.waits() for table in self.tables.values())

    # --- games ----------------------------------------------------------------------------------

    def pair(self, places: int) -> Iterator[Paired]:
        """Yield the games to begin now, at most as many as there are places.

        Tables take turns at coming first. Players of rated games stay present. A game is left out
        if one of its players has stopped waiting since an earlier game was yielded.
        """
        if not self._loaded or places < 1:
            return
        tables = list(self.tables.values())
        self._first_table = (self._first_table + 1) % len(tables)
        for table in tables[self._first_table :] + tables[: self._first_table]:
            made = table.pair(places, self._monotonic(), self._random)
            for match in made:
                names = [table.history.records[player].name for player in match]
                if not all(name in self._wishes or name in table.anchors for name in names):
                    continue
                is_rated = table.is_rated(match)
                for name in names:
                    if is_rated:
                        table.mark_busy(name)
                        self._games_on[table.name, name] += 1
                    else:
                        table.remove(name)
                sides = (self._side(names[0]), self._side(names[1]))
                yield Paired(table.name, is_rated, self.kind(table.name), table.time, sides)
            places -= len(made)

    def could_pair(self) -> bool:
        """Return whether a game would begin now if there were a place for it."""
        tables, now_s = self.tables.values() if self._loaded else (), self._monotonic()
        return any(table.pair(1, now_s, self._random) for table in tables)

    def take_wish(self, name: str) -> Seek | None:
        """Remove and return the seek of a player that has a game now."""
        return self._wishes.pop(name, None)

    def _side(self, name: str) -> dict[str, Any]:
        return {"kind": "bot" if name in self.settings.anchors else "guest", "name": name}

    def goes_on(self, label: Mapping[str, Any]) -> None:
        """Note, before ``run``, a rated game that the server resumes."""
        self._resumed.append(label)
        for side in label["sides"] if label[LABEL] in self.tables else ():
            self._games_on[label[LABEL], side["name"]] += 1

    def over(self, game: str, label: Mapping[str, Any], ended: Ended | None) -> None:
        """Note that a rated game is over; ``ended`` is None if it stopped without an end."""
        if label in self._resumed:
            self._resumed.remove(label)
        table = self.tables.get(label[LABEL])
        if table is None:
            return  # it is not in the configuration any more
        for side in label["sides"]:
            key = table.name, side["name"]
            self._games_on[key] -= 1
            if self._games_on[key] <= 0:  # else it has sought, and has another game
                del self._games_on[key]
                if side["name"] not in self._wishes:
                    table.remove(side["name"])
            if self._loaded and side["name"] in table.anchors:
                table.come(side["name"], self._monotonic())
        if ended is None:
            return
        over = rated_game(game, label, self.now(), ended)
        if game in self._already_read:
            self._already_read.discard(game)
        elif self._loaded:
            table.history.add(over)
            self._changed.set()
        else:
            self._ended_meanwhile.append(over)

    # --- history and ratings --------------------------------------------------------------------

    async def run(self, journal: Address, ready: Callable[[], None]) -> None:
        """Read the journal, call ``ready``, and keep ratings up to date, until cancelled."""
        pause_s = PAUSE_S
        while not self._loaded:
            try:
                self.begin_with(*await asyncio.to_thread(self.read, journal))
            except JournalError as error:  # its database may be back soon
                log.error("the ladder can't begin", reason=str(error), again_in_s=pause_s)
                await asyncio.sleep(pause_s)
                pause_s = min(2 * pause_s, LONGEST_PAUSE_S)
        ready()
        while True:
            began = self._monotonic()
            more = await self.rate()
            took_s = self._monotonic() - began
            await asyncio.sleep(min(self._pause_s + REST_SHARE * took_s, LONGEST_PAUSE_S))
            if not more:  # wait until midnight UTC: the day then gets ratings
                with suppress(TimeoutError):
                    async with asyncio.timeout(DAY_S - self.now() % DAY_S):
                        await self._changed.wait()

    def read(self, journal: Address) -> tuple[dict[str, History], set[str]]:
        """Read the games of a journal; also return which of them ended since this ladder began.

        Raises:
            JournalError: the journal can't be read.
        """
        histories = {name: History() for name in self.tables}
        late = set()
        for stored in read_ended(journal, LABEL):
            history = histories.get(stored.label[LABEL])
            if history is not None:
                try:
                    history.add(rated_game(stored.game, stored.label, stored.at, stored.ended))
                except Exception as error:  # damage has any shape; the other games count
                    log.error("rated game not read", game=stored.game, reason=repr(error))
            if stored.at >= self._began - 1:
                late.add(stored.game)
        return histories, late

    def begin_with(self, histories: Mapping[str, History], known: set[str]) -> None:
        """Take the journal's games, and begin to pair; ``known`` ended since this ladder began."""
        for name, history in histories.items():
            self.tables[name].begin_with(history)
        self._loaded = True
        self._already_read = known - {over.game for over in self._ended_meanwhile}
        for over in self._ended_meanwhile:
            if over.game not in known:
                self.tables[over.table].history.add(over)
        self._ended_meanwhile.clear()
        for name, wish in self._wishes.items():
            self.table_of(wish).come(name, self._monotonic())
        for label in self._resumed:
            if label[LABEL] in self.tables:
                for side in label["sides"]:
                    if side["name"] not in self._wishes:
                        self.tables[label[LABEL]].plays(side["name"])
        self._resumed.clear()

    async def rate(self) -> bool:
        """Rate each table that has new games; return whether there is more to do."""
        self._changed.clear()
        more = failed = False
        for table in self.tables.values():
            task = table.task(datetime.fromtimestamp(self.now(), UTC).date())
            if task is None:
                continue
            more = bool(task.days) or more
            try:
                lists = await self._compute(task)
            except (RatingError, OSError) as error:
                log.error("ratings were not computed", table=table.name, reason=str(error))
                failed = True
            else:
                table.take_ratings(task, lists, self.now())
        self._pause_s = min(2 * self._pause_s, LONGEST_PAUSE_S) if failed else PAUSE_S
        return more or failed


def rated_game(game: str, label: Mapping[str, Any], at: float, ended: Ended) -> RatedGame:
    """Return a game that is over, by its label.

    Raises:
        Exception: the journal is damaged.
    """
    datetime.fromtimestamp(at, UTC)
    if ended.winner not in (None, 0, 1):
        raise ValueError(f"seat {ended.winner} can't have won")
    if max(map(abs, ended.scores)) > MOST_SCORE:
        raise ValueError(f"no game ends {ended.scores[0]} – {ended.scores[1]}")
    first, second = label["sides"]
    bots = frozenset(side["name"] for side in label["sides"] if side["kind"] == "bot")
    return RatedGame(game, label[LABEL], (first["name"], second["name"]), bots, at, ended)

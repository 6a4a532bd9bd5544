"""Pairs of games that are played on the workers of a cluster.

An arbiter with a journal plays a pair like any other, with seats that a worker keeps for a while.
The worker returns the records of its games, for the journal of the tournament. What a seat learns
of an opponent's style stays within a pair, so that any worker plays a pair alike.
"""

from __future__ import annotations

import asyncio
import tempfile
import threading
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack, closing
from functools import cache, lru_cache
from pathlib import Path
from typing import TypeAlias

import structlog

from bot.seat.compilation import compile_kernels
from bot.seat.containment import containment
from bot.seat.runtime import log_to_stderr, software
from bot.seat_text import parse_seat
from engine.rules.rule_sets import rules_in_play
from harness.arbiter.host import GameHost
from harness.arbiter.journal import Journal
from harness.arbiter.journal_reading import read_games
from harness.arbiter.lag import LagMeter
from harness.arbiter.records import Opened, Record
from harness.arbiter.scorebook import Scorebook
from harness.arbiter.seat import Seat
from harness.seats.seat_factory import SeatMaker, seating
from lexicons.store import load_lexicon

from .config import MatchError, TournamentConfig
from .results import PlannedGame

log = structlog.get_logger(__name__)

IDLE_S = 30.0
"""Time that a worker keeps the processes of a tournament that sends no more pairs."""

MOST_TOURNAMENTS = 8
"""Tournaments whose words and seats a worker keeps; their processes end when idle in any case."""

Pair: TypeAlias = Sequence[tuple[PlannedGame, Opened]]
"""Games that are played one after another, as planned and as set up."""


def play_pair(config: TournamentConfig, version: str, pair: Pair) -> list[tuple[Record, ...]]:
    """Play a pair on a worker; return the records of each game.

    Raises:
        MatchError: the worker has another version of tilewire than ``version``, or other words.
        SeatError: a seat can't be opened there.
    """
    if version != software():
        raise MatchError(f"a worker of the cluster has {software()}, and this is {version}")
    with _making:
        _loop()  # two threads calling it at once would make two loops
        tables = _new_tables(config)
    return tables.play(pair)


class _Tables:
    """Where a worker plays the games of one tournament: its words and seats."""

    def __init__(self, config: TournamentConfig) -> None:
        log_to_stderr("warning")
        if config.contained and not containment().apart:  # bots could remember a pair's draws
            raise MatchError(
                f"bots are contained where this {config.kind} began, but not on a worker of the "
                f"cluster: {containment().why_not}"
            )
        self._config = config
        tiles = rules_in_play(config.rules_in_play).distribution
        self._lexicon = load_lexicon(config.lexicon, tiles)
        if self._lexicon.checksum != config.lexicon_checksum:
            raise MatchError(
                f"{config.lexicon} has other words on a worker than here; give both the same file"
            )
        self._seats = AsyncExitStack()
        self._opening = asyncio.Lock()
        self._opened: tuple[Callable[[int, int], Seat], LagMeter] | None = None
        self._journals = Path()
        """The folder of the pairs' journals, while there are seats."""
        self._pairs = self._on = 0

    def play(self, pair: Pair) -> list[tuple[Record, ...]]:
        """Play a pair, from any thread."""
        return asyncio.run_coroutine_threadsafe(self._play(pair), _loop()).result()

    async def _play(self, pair: Pair) -> list[tuple[Record, ...]]:
        self._pairs += 1
        self._on += 1
        try:
            async with self._opening:  # several threads may play pairs at once
                if self._opened is None:
                    self._opened = await self._open()
                open_seat, lag = self._opened
            with tempfile.TemporaryDirectory(dir=self._journals) as folder:
                path = Path(folder, "pair.db")
                with closing(Journal(path)) as journal:
                    for planned, opened in pair:
                        await journal.create(opened, {})
                        a, b = (
                            open_seat(planned.entrant(index), planned.number) for index in (0, 1)
                        )
                        book = Scorebook(opened, self._lexicon)
                        await GameHost(book, (a, b), journal, lag).run()
                records = {stored.game: stored.records for stored in read_games(path)}
            return [records[opened.game] for _, opened in pair]
        finally:
            self._on -= 1
            _loop().call_later(IDLE_S, self._rest, self._pairs)

    async def _open(self) -> tuple[Callable[[int, int], Seat], LagMeter]:
        config = self._config
        modules = set[str]()
        for seat, name in zip(config.seats, config.names, strict=True):
            modules |= await SeatMaker(parse_seat(seat), name, config.equipment).try_out()
        await asyncio.to_thread(compile_kernels, modules, lambda _: None, log.warning)
        folder = tempfile.TemporaryDirectory(prefix="tilewire-pairs-")
        self._journals = Path(self._seats.enter_context(folder))
        players = seating(
            config.seats,
            config.names,
            config.equipment,
            self._lexicon,
            seed=config.seed,
            hidden=(self._journals,),
        )
        lag = await self._seats.enter_async_context(LagMeter())
        return await self._seats.enter_async_context(players), lag

    def _rest(self, pairs: int) -> None:
        """End the processes, unless another pair has come since."""
        if pairs == self._pairs and not self._on:
            self._opened, seats = None, self._seats
            self._seats = AsyncExitStack()
            self._resting = _loop().create_task(seats.aclose())


@cache
def _loop() -> asyncio.AbstractEventLoop:
    """Return the event loop of all tournaments, which runs in a thread of its own."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="tables", daemon=True).start()
    return loop


_making = threading.Lock()

_new_tables = lru_cache(maxsize=MOST_TOURNAMENTS)(_Tables)

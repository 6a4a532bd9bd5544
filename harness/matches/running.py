"""Running the games of a schedule at several tables, each until it has a result that counts."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable

import structlog

from harness.arbiter.host import GameHost
from harness.arbiter.journal import Journal, JournalError
from harness.arbiter.lag import LagMeter
from harness.arbiter.scorebook import Scorebook
from harness.arbiter.seat import Seat

from .schedule import PlannedGame

__all__ = ["GameRunner", "MatchError"]

log = structlog.get_logger(__name__)

HOST_ERRORS = 3
"""Host failures of one game before the match is given up."""


class MatchError(Exception):
    """The match can't go on; the message gives the reason. Finished games are on disk."""


class GameRunner:
    """Plays planned games at the tables of this host.

    Args:
        journal: of the games.
        lag: how late this host's own loop runs.
        open_book: sets up a planned game, or restores it from the journal.
        open_seat: makes the seat of a side (0 or 1) for a game by number.
        settle: takes a finished game; returns whether it counts. If not, it is played again.
    """

    def __init__(
        self,
        journal: Journal,
        lag: LagMeter,
        open_book: Callable[[PlannedGame], Awaitable[Scorebook]],
        open_seat: Callable[[int, int], Seat],
        settle: Callable[[PlannedGame, Scorebook], bool],
    ) -> None:
        self._journal = journal
        self._lag = lag
        self._open_book = open_book
        self._open_seat = open_seat
        self._settle = settle

    async def play_all(self, games: Iterable[PlannedGame], tables: int) -> None:
        """Play games in order, one at a table at a time.

        Raises:
            MatchError: the match can't go on.
            JournalError: the journal can't be written.
            OSError: a file can't be written.
        """
        waiting = iter(games)

        async def table() -> None:
            for planned in waiting:
                await self._play(planned)

        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(tables):
                    group.create_task(table())
        except* (MatchError, JournalError, OSError) as errors:
            raise errors.exceptions[0] from None

    async def _play(self, planned: PlannedGame) -> None:
        number = planned.number
        for _ in range(HOST_ERRORS):
            book = await self._open_book(planned)
            first, second = (self._open_seat(planned.side_of(seat), number) for seat in (0, 1))
            ended = await GameHost(book, (first, second), self._journal, self._lag).run()
            if self._settle(planned, book):
                return
            log.warning("game void, played again", number=number, reason=ended.message)
        raise MatchError(f"game {number} came to nothing {HOST_ERRORS} times: {ended.message}")

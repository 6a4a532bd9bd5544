"""Old games leave a server's journal and stay as GCG, so that a journal of years stays small.

Dropped are the moves, and all else between a game's first and last record; who played, and how it
ended, stays. They are dropped only once the GCG is on disk. A game that was played with other words
than the server has stays as it is.

What was thought in games of players without a token may be dropped before, since anybody can fill
a journal with it.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import structlog

from harness.arbiter.clock import DAY_S
from harness.arbiter.database import JournalError
from harness.arbiter.journal import Journal
from harness.arbiter.journal_reading import KeptGame, read_older
from harness.arbiter.records import Thought
from harness.arbiter.scorebook import Scorebook
from harness.matches.results import game_record
from harness.writing import naming
from lexicons.cache import sync_folder

from .tables import ServerTables

log = structlog.get_logger(__name__)

AT_ONCE = 10
PAUSE_S = 0.5
"""Pause after ``AT_ONCE`` games, which leaves the cores to games that are on."""
EVERY_S = 3_600.0
"""Longest interval between passes; a quarter of the time that games are kept, if that is less."""


@dataclass(frozen=True)
class Retention:
    """How long a journal keeps moves, and where games go then."""

    keep_days: float | None
    """None: moves stay."""
    archive: Path
    """Folder with a folder for each month, such as ``2026-11``, that has a GCG for each game."""
    thoughts_days: float | None = None
    """The same for thoughts in games of players without a token; None: they stay as moves do."""

    async def run(
        self,
        journal: Journal,
        tables: ServerTables,
        has_token: Callable[[str], bool],
        now: Callable[[], float] = time.time,
    ) -> None:
        """Drop old games, and old thoughts, again and again, until cancelled.

        Each pass goes on from the last. Once a day a pass looks at all games again, for those that
        had not ended before.
        """
        moves = partial(self.drop, journal, tables)
        thoughts = partial(drop_thoughts, journal, has_token)
        drops: list[tuple[float, Callable[[float, str | None], Awaitable[str | None]]]] = [
            (days * DAY_S, drop)
            for days, drop in ((self.keep_days, moves), (self.thoughts_days, thoughts))
            if days is not None
        ]
        every_s = min(EVERY_S, *(keep_s / 4 for keep_s, _ in drops))
        after: list[str | None] = [None for _ in drops]
        anew = now() + DAY_S
        while True:
            if now() >= anew:
                after, anew = [None for _ in drops], now() + DAY_S
            try:
                for at, (keep_s, drop) in enumerate(drops):
                    after[at] = await drop(now() - keep_s, after[at])
            except (JournalError, OSError) as error:
                log.error("old games were not dropped", reason=str(error))
            await asyncio.sleep(every_s)

    async def drop(
        self, journal: Journal, tables: ServerTables, before: float, after: str | None
    ) -> str | None:
        """Drop the moves of finished games that began before a time, and ``after`` a game.

        Return the last game looked at, or ``after`` if there was none. Times are in seconds since
        1970.

        Raises:
            JournalError, OSError: the journal or the archive can't be read or written.
        """
        while old := await asyncio.to_thread(read_older, journal.address, before, AT_ONCE, after):
            written = await asyncio.to_thread(self._write, old, tables)
            await journal.drop_moves(written)
            after = old[-1].game
            if len(old) == AT_ONCE:
                await asyncio.sleep(PAUSE_S)
        return after

    def _write(self, games: Sequence[KeptGame], tables: ServerTables) -> list[str]:
        """Write games to the archive; return those that are there."""
        written, months = [], set[Path]()
        for kept in games:
            try:
                lexicon = tables.lexicon_of(kept.opened)
                if lexicon is None:
                    continue
                book = Scorebook.restored(kept.records, None, lexicon)
                text = game_record(book, " – ".join(kept.opened.players))
            except Exception as error:  # damage has any shape; the other games go on
                log.error("game not archived", game=kept.game, reason=repr(error))
                continue
            month = month_folder(self.archive, kept.created)
            months.add(month)
            # A Path would intern the file's name, which then stays in memory for good. After a stop
            # or on a full disk it is there with a ~, until it is written again.
            name = f"{month}/{kept.game}.gcg"
            with naming(name), open(f"{name}~", "w", encoding="utf-8") as file:  # noqa: PTH123
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            os.replace(f"{name}~", name)  # noqa: PTH105
            written.append(kept.game)
        if written:
            for folder in (*months, self.archive):
                sync_folder(folder)
        return written


async def drop_thoughts(
    journal: Journal, has_token: Callable[[str], bool], before: float, after: str | None
) -> str | None:
    """Drop what was thought in old games of players without a token; as ``Retention.drop``.

    Thoughts of a guest that has one stay in any case.
    """
    while old := await asyncio.to_thread(
        read_older, journal.address, before, AT_ONCE, after, having="thought"
    ):
        for kept in old:
            try:
                sides = kept.label.get("sides", ())
                names = [side["name"] for side in sides if side["kind"] == "guest"]
                guests = {name: has_token(name) for name in names}
            except (KeyError, TypeError, AttributeError) as error:  # a damaged label
                log.error("thoughts not dropped", game=kept.game, reason=repr(error))
                continue
            if all(guests.values()):
                continue
            players = kept.opened.players
            numbers = [
                number
                for number, record in enumerate(kept.records)
                if not isinstance(record, Thought) or guests.get(players[record.seat], False)
            ]
            if len(numbers) < len(kept.records):
                await journal.drop_thoughts(kept.game, numbers)
        after = old[-1].game
        if len(old) == AT_ONCE:
            await asyncio.sleep(PAUSE_S)
    return after


def month_folder(folder: Path, at: float) -> Path:
    """Return the folder of the month (UTC) of a time; it is made if it isn't there."""
    month = folder / f"{datetime.fromtimestamp(at, UTC):%Y-%m}"
    month.mkdir(parents=True, exist_ok=True)
    return month

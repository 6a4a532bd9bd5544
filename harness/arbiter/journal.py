"""The journal: every game's records are on disk before anybody is told of them.

One thread writes it. Records that arrive during a commit go into the next, so a busy host commits
many games at once. Others may read meanwhile, by ``journal_reading``; ``database`` is the interface
to the database.
"""

from __future__ import annotations

import asyncio
import json
import queue
import threading
import time
from collections.abc import Iterator, KeysView, Sequence
from contextlib import suppress
from typing import Any

import msgspec
import structlog

from protocol.parts import Style

from .database import Address, JournalError, Statement, Value, Work
from .journal_reading import Damaged, KeptGame, database_at, games_at, raise_damage, rows_at
from .lease import LeaseLost
from .records import ClockNote, Opened, Record

log = structlog.get_logger(__name__)

PROBE_S = 1.0
"""Interval at which a journal is tried that can't be written, or is asked for its trouble."""

_INSERT_RECORD = """
INSERT INTO records SELECT ?, coalesce(max(number) + 1, 0), ?, ? FROM records WHERE game = ?
"""

_DROP_BETWEEN = """
DELETE FROM records WHERE game = ? AND number > 0
AND number < (SELECT max(number) FROM records AS last WHERE last.game = ?)
"""

_NOTE_CLOCKS = """
INSERT INTO clock_notes VALUES (?, ?, ?, ?) ON CONFLICT (game) DO UPDATE
SET first = excluded.first, second = excluded.second, seq = excluded.seq
"""

_KEEP_STYLE = """
INSERT INTO styles VALUES (?, ?, 1, ?) ON CONFLICT (name) DO UPDATE
SET odds = excluded.odds, games = styles.games + 1, at = excluded.at
"""


class Journal:
    """A journal, open for reading and writing; created if missing.

    JournalError if it is no journal or of another version, if it is damaged or lacks what was
    acknowledged, or another host has it open. No game begins with less than ``reserve`` bytes free
    on its disk, so that running games have room to end.
    """

    def __init__(self, address: Address, reserve: int = 0) -> None:
        self.address = address
        database = database_at(address)
        self.name = database.name
        """Its name in messages."""
        self._styles: dict[str, Style] = {}
        self.commit_s = 0.0
        """Seconds that commits took since this start."""
        self._failure: JournalError | None = None
        """Why the last commit failed; None: it did not."""
        self._probed = 0.0
        self._queue: queue.SimpleQueue[tuple[Work, asyncio.Future[None] | None] | None]
        self._queue = queue.SimpleQueue()
        self._lost: asyncio.Future[str] | None = None
        self._store = database.open(reserve)
        self.notice = self._store.notice
        """A warning about the database for whoever runs this host; ``""``: none."""
        self._thread = threading.Thread(target=self._write, name="journal", daemon=True)
        self._thread.start()  # which prolongs a lease while this reads
        try:
            self._names: dict[str, str] = dict(self.rows("SELECT name, hash FROM names"))
            self._read_styles()
        except BaseException:
            self.close()
            raise

    def _read_styles(self) -> None:
        for name, odds in self.rows("SELECT name, odds FROM styles"):
            try:
                self._styles[name] = msgspec.json.decode(odds, type=Style)
            except msgspec.DecodeError as error:  # it is learned again
                log.error("style not read", journal=self.name, name=name, reason=str(error))

    @property
    def commits(self) -> int:
        """Number of commits in all, also before this start."""
        return self._store.commits

    @property
    def is_held(self) -> bool:
        """Whether no other host may have the journal by now."""
        return self._store.is_held

    # --- writing --------------------------------------------------------------------------------

    async def create(
        self, opened: Opened, label: dict[str, Any], rest: Sequence[Record] = ()
    ) -> None:
        """Store a game's label and first record in one transaction; raise as ``append``.

        For a game that was played elsewhere, ``rest`` has all its other records.
        """
        if why := self._lacks_room():
            raise JournalError(why)
        game, now = opened.game, time.time()
        label_text, is_open = json.dumps(label), int(not rest)
        await self._wait_for_commit(
            [
                ("INSERT INTO games VALUES (?, ?, ?, ?)", [(game, now, label_text, is_open)]),
                (_INSERT_RECORD, [(game, now, _encode(each), game) for each in (opened, *rest)]),
            ]
        )

    async def append(self, game: str, records: Sequence[Record], *, last: bool = False) -> None:
        """Append the next records to a game, durable on return; ``last``: the game ends with them.

        Raises:
            JournalError: they could not be written.
        """
        now = time.time()
        work: list[Statement] = [
            (_INSERT_RECORD, [(game, now, _encode(record), game) for record in records])
        ]
        if last:
            work.append(("UPDATE games SET open = 0 WHERE game = ?", [(game,)]))
            work.append(("DELETE FROM clock_notes WHERE game = ?", [(game,)]))
        await self._wait_for_commit(work)

    def note(self, note: ClockNote) -> None:
        """Note the running clocks; return without waiting for the commit."""
        self.change_soon((_NOTE_CLOCKS, (note.game, *note.clocks, note.seq)))

    def store_style(self, name: str, style: Style) -> None:
        """Store an opponent's style after a game, without waiting for the commit.

        It replaces the previous style, which it was learned from. If several games with one
        opponent run at once, the last to end wins.
        """
        self._styles[name] = style
        odds = msgspec.json.encode(style).decode()
        self.change_soon((_KEEP_STYLE, (name, odds, time.time())))

    async def change(self, *statements: tuple[str, tuple[Value, ...]]) -> None:
        """Change what the server itself keeps, by statements that succeed together or not at all.

        Raises:
            JournalError: it could not be written.
        """
        await self._wait_for_commit([(statement, [values]) for statement, values in statements])

    def change_soon(self, *statements: tuple[str, tuple[Value, ...]]) -> None:
        """Change what the server itself keeps, without waiting for the commit."""
        self._queue.put(([(statement, [values]) for statement, values in statements], None))

    async def claim_name(
        self, name: str, token_hash: str, *also: tuple[str, tuple[Value, ...]]
    ) -> None:
        """Claim a name for the holder of a token, unless it is claimed; ``also`` as ``change``."""
        statement = "INSERT INTO names VALUES (?, ?) ON CONFLICT DO NOTHING"
        await self.change((statement, (name, token_hash)), *also)
        self._names.setdefault(name, token_hash)

    def forget_name(self, name: str, *also: tuple[str, tuple[Value, ...]]) -> None:
        """Forget who claimed a name, without waiting for the commit."""
        self._names.pop(name, None)
        self.change_soon(("DELETE FROM names WHERE name = ?", (name,)), *also)

    async def drop_moves(self, games: Sequence[str]) -> None:
        """Drop all records of finished games but the first and the last; raise as ``append``."""
        between = _DROP_BETWEEN, [(game, game) for game in games]
        last = "UPDATE records SET number = 1 WHERE game = ? AND number > 1"
        await self._wait_for_commit([between, (last, [(game,) for game in games])])

    async def drop_thoughts(self, game: str, kept: Sequence[int]) -> None:
        """Drop the records of a finished game but those with the numbers ``kept``, in order.

        Their numbers are then without gaps again; raise as ``append``.
        """
        # Those kept have numbers below 0 for a moment, out of the others' way.
        keep = "UPDATE records SET number = ? WHERE game = ? AND number = ?"
        drop = "DELETE FROM records WHERE game = ? AND number >= 0"
        count = "UPDATE records SET number = -1 - number WHERE game = ?"
        numbers = [(-1 - new, game, number) for new, number in enumerate(kept)]
        await self._wait_for_commit([(keep, numbers), (drop, [(game,)]), (count, [(game,)])])

    async def _wait_for_commit(self, work: Work) -> None:
        if not self._thread.is_alive():
            raise JournalError(f"{self.name} is closed; nothing more can be written")
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queue.put((work, future))
        try:
            await future
        finally:
            del future  # its error leads to this frame

    def _lacks_room(self) -> str | None:
        try:
            return self._store.full()
        except OSError as error:
            return str(error)

    @property
    def has_room(self) -> bool:
        """Whether there is room for another game; if not, only what must be kept is."""
        return self._lacks_room() is None

    def trouble(self) -> str | None:
        """Return why nothing can be written now, or no game begun; None if all is well.

        This is the result of the last commit. A call may start an empty one, for later calls.
        """
        if (now := time.monotonic()) >= self._probed + PROBE_S:
            self._probed = now
            self._queue.put(([], None))
        return self._lacks_room() or (None if self._failure is None else str(self._failure))

    def lost(self) -> asyncio.Future[str]:
        """Return a future of why another host has the journal or may have it.

        Once it is done nothing more is written, and games stop here without a message.
        """
        self._lost = asyncio.get_running_loop().create_future()
        if isinstance(self._failure, LeaseLost):
            self._lost.set_result(str(self._failure))
        return self._lost

    def size(self) -> int:
        """Return the size of the journal in bytes."""
        return self._store.size()

    def _write(self) -> None:
        while True:
            batch = self._waiting()
            jobs = [job for job in batch if job is not None]
            failure = self._commit([statement for work, _ in jobs for statement in work])
            self._note_failure(failure and self._commit([]))  # or was it one game's own fault?
            for work, future in jobs:
                # One game's fault must not fail others: a failed batch is retried work by work.
                alone = self._commit(work) if failure and len(jobs) > 1 else failure
                if future is not None:
                    with suppress(RuntimeError):  # its loop is closed
                        future.get_loop().call_soon_threadsafe(_settle, future, alone)
            if None in batch:
                return

    def _waiting(self) -> list[tuple[Work, asyncio.Future[None] | None] | None]:
        """Wait for work and return all there is; return none once an empty commit is due."""
        try:
            batch = [self._queue.get(timeout=PROBE_S if self._failure else self._store.idle_s)]
        except queue.Empty:
            return []
        while not self._queue.empty():
            batch.append(self._queue.get())
        return batch

    def _commit(self, work: Work) -> JournalError | None:
        began = time.monotonic()
        try:
            self._store.commit(work)
        except LeaseLost as error:
            return error
        except Exception as error:  # any error is reported; the thread goes on
            return JournalError(f"{self.name} can't be written: {error}")
        self.commit_s += time.monotonic() - began
        return None

    def _note_failure(self, failure: JournalError | None) -> None:
        before, self._failure = self._failure, failure
        if isinstance(failure, LeaseLost) and self._lost is not None:
            with suppress(RuntimeError):  # its loop is closed
                self._lost.get_loop().call_soon_threadsafe(_report_loss, self._lost, str(failure))
        if failure is not None and before is None:
            log.error("journal can't be written", reason=str(failure))
        if failure is None and before is not None:
            log.warning("journal is written again", journal=self.name)

    def close(self) -> None:
        """Write pending records, and let other hosts have the journal."""
        self._queue.put(None)
        self._thread.join()
        self._store.close()

    # --- reading (at the start, before any game runs) -------------------------------------------

    def rows(self, question: str) -> list[tuple[Any, ...]]:
        """Return the rows of an SQL query."""
        return rows_at(self.address, question)

    def unfinished(self, damaged: Damaged = raise_damage) -> list[KeptGame]:
        """Return the games that were running when the host stopped, oldest first."""
        return list(games_at(self.address, "WHERE open = 1", damaged))

    def finished(self) -> Iterator[KeptGame]:
        """Yield finished games, oldest first; together they may be large."""
        return games_at(self.address, "WHERE open = 0", raise_damage)

    def claimed_names(self) -> KeysView[str]:
        """Return the names that are claimed."""
        return self._names.keys()

    def token_hash(self, name: str) -> str | None:
        """Return the hash of the token that claimed a name."""
        return self._names.get(name)

    def style_of(self, name: str) -> Style | None:
        """Return an opponent's last style; the caller keeps its odds away from certainty."""
        return self._styles.get(name)


def _encode(record: Record) -> str:
    return msgspec.json.encode(record).decode()


def _report_loss(lost: asyncio.Future[str], why: str) -> None:
    if not lost.done():
        lost.set_result(why)


def _settle(future: asyncio.Future[None], failure: JournalError | None) -> None:
    if future.done():
        return
    if failure is None:
        future.set_result(None)
    else:
        future.set_exception(failure)

"""The queue of requests for analysis: they take turns, a position each.

A visitor is a block of addresses. The processes start when the first request comes, and end when
none has come for a while.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter, deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Annotated, Any, Protocol

import structlog
from msgspec import Meta, Struct

from engine.rules.rules import Rules
from harness.analysis.task import Task
from harness.figures import counted, plain
from harness.game_kinds import MAIN
from harness.server.admission import Ledger, block_of
from harness.server.answers import board_and_tiles
from protocol.errors import PeerError
from protocol.intake import Bucket

IDLE_S = 300.0
"""Time without a request after which a process ends."""

GRACE_S = 120.0
"""Time beyond a task's own after which its process is ended: it hangs, or gets no core."""

log = structlog.get_logger(__name__)


class AnalysisSettings(Struct, frozen=True, kw_only=True):
    """The table ``[analysis]`` of a server's configuration."""

    workers: Annotated[int, Meta(ge=0, le=64)] = 1
    """Processes that analyse, each with one thread; 0: the page offers no analysis."""
    seconds: Annotated[float, Meta(ge=0.1, le=600)] = 10.0
    """Most time for a turn, unless a number of rollouts is asked for."""
    seconds_per_hour: Annotated[float, Meta(ge=1, le=36_000)] = 1_800.0
    """Most time of these processes that an address may take an hour; as much at once."""
    per_visitor: Annotated[int, Meta(ge=1, le=1_000)] = 3
    """Requests of an address at once."""
    waiting: Annotated[int, Meta(ge=1, le=10_000)] = 30
    """Requests at once, of all visitors; those at work count."""


class Analyse(Struct, frozen=True, kw_only=True, tag="analyse"):
    """Read a game or a position, and analyse each turn of it, or one."""

    id: Annotated[int, Meta(ge=0, le=2**31)]
    """The page's number for this request, which the answers have, too."""
    data: bytes
    """A GCG or a CGP, in base64."""
    line: Annotated[int, Meta(ge=0, le=10_000)] | None = None
    """The line of the score sheet before which to analyse, 0 of a CGP; null: every turn."""
    move: Annotated[str, Meta(max_length=100)] = ""
    """A move to compare with the best, in place of the played one."""
    seconds: Annotated[float, Meta(ge=0.1, le=600)] = 2.0
    """Time for a turn; no more than the server allows."""
    rollouts: Annotated[int, Meta(ge=2, le=20_000)] | None = None
    """In place of a time: the findings are then those of ``tilewire analyze`` with this number."""
    seed: Annotated[int, Meta(ge=0, le=2**62)] = 0


class Engine(Protocol):
    """What does tasks (``AnalysisProcess``)."""

    async def do(self, task: Task, told: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
        """Do a task; raise if it can't be done."""
        ...

    def stop(self) -> None:
        """End the current task early, with what is known by then."""
        ...

    async def kill(self) -> None:
        """End the process."""
        ...


@dataclass(eq=False)
class Job:
    """A request, until it is done.

    ``tell`` takes the kind of an answer and what it holds (``conversation.encode``).
    """

    asked: Analyse
    address: str
    tell: Callable[..., None]
    turns: deque[dict[str, Any]] | None = None
    """Turns of the sheet that are left; None before it was read."""
    table: str | None = None
    """The table whose words and rules count; None before the sheet was read."""
    engine: Engine | None = None
    """The process that works on it now."""
    is_over: bool = False

    def task(self, seconds: float, line: int | None = None) -> Task:
        """Return the task to read the sheet, or to analyse before a line of it."""
        asked = self.asked
        return Task(
            data=asked.data,
            line=line,
            move=asked.move,
            seconds=min(asked.seconds, seconds),
            rollouts=asked.rollouts,
            seed=asked.seed,
            table=self.table,
        )

    def end(self, kind: str, **known: Any) -> None:
        """Tell the last answer, unless it was told."""
        if not self.is_over:
            self.is_over = True
            self.tell(kind, **known)


@dataclass(eq=False)
class AnalysisQueue:
    """The requests of one server."""

    settings: AnalysisSettings
    start: Callable[[], Awaitable[Engine]]
    """Starts a process."""
    forbidden: Callable[[str, str, str], str]
    """Returns why a position (CGP) of a table may not be analysed for an address now; empty if it
    may."""
    rules_of: Callable[[str], Rules]
    """Returns the rules of a table."""
    clock: Callable[[], float] = time.monotonic
    _waiting: deque[Job] = field(default_factory=deque)
    _jobs: Counter[str] = field(default_factory=Counter)
    """Jobs that are not over, by block of addresses."""
    _working: int = 0
    _news: asyncio.Condition = field(default_factory=asyncio.Condition)
    _workers: list[asyncio.Task[None]] = field(default_factory=list)

    def __post_init__(self) -> None:
        most_s = self.settings.seconds_per_hour
        self._taken = Ledger(lambda: Bucket(most_s, most_s / 3_600))

    async def submit(self, job: Job) -> None:
        """Add a request to the queue; ``waiting`` answers tell it how many are ahead.

        Raises:
            PeerError: too much is asked for.
        """
        settings, block = self.settings, block_of(job.address)
        if self._jobs[block] >= settings.per_visitor:
            has = f"you have {counted(settings.per_visitor, 'request')} here"
            why = f"{has}, the most for one visitor; end one, or wait"
            raise PeerError("busy", why, retry="later")
        if sum(self._jobs.values()) >= settings.waiting:
            too_many = f"{counted(settings.waiting, 'request')} wait for the engine already"
            raise PeerError("busy", f"{too_many}; try again in a minute", retry="later")
        self._check_time(job)
        self._jobs[block] += 1
        while len(self._workers) < self.settings.workers:
            self._workers.append(asyncio.create_task(self._work()))
        async with self._news:
            self._waiting.append(job)
            self._news.notify()
        self._tell_places()

    def cancel(self, job: Job) -> None:
        """End a request."""
        job.end("done", stopped=True)
        if job.engine is not None:
            job.engine.stop()
        elif job in self._waiting:
            self._waiting.remove(job)
            self._forget(job)
            self._tell_places()

    async def close(self) -> None:
        """End all requests and processes."""
        for worker in self._workers:
            worker.cancel()
        await asyncio.gather(*self._workers, return_exceptions=True)

    def _check_time(self, job: Job) -> None:
        now, most_s = self.clock(), self.settings.seconds_per_hour
        bucket = self._taken.bucket(block_of(job.address), now)
        if bucket.owed(now) >= most_s:
            used = f"you have used the engine for {most_s / 60:.0f} minutes, the limit for an hour"
            raise PeerError("busy", f"{used}; come again later", retry="later")

    # --- the work -------------------------------------------------------------------------------

    async def _work(self) -> None:
        """Analyse a position of each request in turn, with a process of this worker's own."""
        engine: Engine | None = None
        try:
            while True:
                try:
                    async with asyncio.timeout(None if engine is None else IDLE_S), self._news:
                        await self._news.wait_for(lambda: self._waiting)
                        job = self._waiting.popleft()
                except TimeoutError:
                    assert engine is not None
                    await engine.kill()
                    engine = None
                    continue
                self._working += 1
                try:
                    engine = engine or await self.start()
                    await self._step(job, engine)
                except Exception as error:  # whatever it was, other requests go on
                    log.error("analysis failed", reason=plain(str(error) or repr(error)))
                    job.end("error", code="no_engine", message=self._why_failed(job, error))
                    if engine is not None:
                        await engine.kill()
                        engine = None
                finally:
                    self._working -= 1
                if not job.is_over and not job.turns:
                    job.end("done", stopped=False)
                if job.is_over:
                    self._forget(job)
                else:  # the other requests have a turn first
                    async with self._news:
                        self._waiting.append(job)
                        self._news.notify()
                self._tell_places()
        finally:
            if engine is not None:
                await engine.kill()

    def _why_failed(self, job: Job, error: Exception) -> str:
        """Return why a request failed, and what to do."""
        if not isinstance(error, TimeoutError):
            return "the engine failed; try again"
        if job.asked.rollouts is not None and job.turns is not None:
            most_s = job.task(self.settings.seconds).seconds + GRACE_S
            return f"the turn took longer than {most_s:.0f} s; ask for fewer rollouts"
        return "games keep this server's cores busy; try again"

    def _forget(self, job: Job) -> None:
        block = block_of(job.address)
        self._jobs[block] -= 1
        if not self._jobs[block]:
            del self._jobs[block]

    def _tell_places(self) -> None:
        """Tell each request that has had no turn how many come before it."""
        for place, job in enumerate(self._waiting):
            ahead = place + self._working - self.settings.workers + 1
            if job.turns is None and not job.is_over and ahead > 0:
                job.tell("waiting", ahead=ahead)

    async def _step(self, job: Job, engine: Engine) -> None:
        """Analyse the next position of a request."""
        if job.is_over:  # it was ended while the process started
            return
        job.engine = engine
        try:
            if job.turns is None:
                await self._read(job, engine)
            if job.turns and not job.is_over:
                await self._analyse(job, job.turns.popleft(), engine)
        except PeerError as error:
            job.end("error", code=error.code, message=error.reply.message)
        finally:
            job.engine = None

    async def _read(self, job: Job, engine: Engine) -> None:
        """Read the sheet of a request, or end it if there is nothing to analyse."""
        answer = await self._do(job, engine, job.task(self.settings.seconds))
        if "sheet" not in answer:
            job.end("error", code="bad_game", message=answer["refused"])
            return
        sheet, line = answer["sheet"], job.asked.line
        job.table = table = answer.get("table", MAIN)
        if line is None and not job.is_over:
            rules = self.rules_of(table)
            bonus = {"rack_size": rules.rack_size, "bingo_bonus": rules.bingo_bonus}
            job.tell("game", **sheet, **board_and_tiles(rules), **bonus)
        turns = [turn for turn in sheet["turns"] if line in (None, turn["line"])]
        if not turns:
            job.end("error", code="bad_game", message=f"no turn is before line {line}")
        job.turns = deque(turns)

    async def _analyse(self, job: Job, turn: dict[str, Any], engine: Engine) -> None:
        line = turn["line"]
        left_out = turn["left_out"] or self.forbidden(turn["cgp"], job.table or MAIN, job.address)
        if left_out:
            job.tell("left_out", line=line, why=left_out)
            return
        self._check_time(job)
        answer = await self._do(job, engine, job.task(self.settings.seconds, line))
        if job.is_over:
            return
        if "refused" in answer:
            job.tell("left_out", line=line, why=answer["refused"])
        else:
            job.tell("turn", **answer["findings"])

    async def _do(self, job: Job, engine: Engine, task: Task) -> dict[str, Any]:
        """Do a task, and charge its address for the time, whatever the result."""

        def told(so_far: dict[str, Any]) -> None:
            if job.asked.line is not None and not job.is_over:
                job.tell("so_far", line=task.line, **so_far)

        began = self.clock()
        try:
            async with asyncio.timeout(task.seconds + GRACE_S):
                return await engine.do(task, told)
        finally:
            now = self.clock()
            self._taken.bucket(block_of(job.address), now).spend(now - began, now)

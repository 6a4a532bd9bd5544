"""The queue of requests for analysis: they take turns, a position each.

Short requests have a line and a process of their own, so that nobody waits for a list of moves
while others analyse. A visitor is a block of addresses. The processes start when the first request
comes, and end when none has come for a while, unless the machine is the visitor's own.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter, deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Annotated, Any, Protocol, TypeAlias

import structlog
from msgspec import Meta, Struct

from engine.rules.rules import Rules
from harness.analysis.task import AnalysisTask
from harness.figures import counted, plain
from harness.game_kinds import MAIN
from harness.server.admission import Ledger, block_of
from harness.server.answers import board_and_tiles
from harness.server.play import NO_WORDS, tells_words
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
    """Processes that analyse, each with one thread; one more answers short requests. 0: the page
    offers no analysis."""
    seconds: Annotated[float, Meta(ge=0.1, le=600)] = 10.0
    """Most time for a turn, unless a number of rollouts is asked for."""
    seconds_per_hour: Annotated[float, Meta(ge=1, le=36_000)] = 1_800.0
    """Most time of these processes that an address may take an hour; as much at once."""
    per_visitor: Annotated[int, Meta(ge=1, le=1_000)] = 3
    """Requests of an address at once."""
    waiting: Annotated[int, Meta(ge=1, le=10_000)] = 30
    """Requests at once, of all visitors; those at work count."""


Line: TypeAlias = Annotated[int, Meta(ge=0, le=10_000)]
MoveText: TypeAlias = Annotated[str, Meta(max_length=100)]


class Request(Struct, frozen=True, kw_only=True):
    """What all requests have."""

    id: Annotated[int, Meta(ge=0, le=2**31)]
    """The page's number for this request, which the answers have, too."""
    table: str | None = None
    """The table whose words and rules apply; null: the one whose lexicon the game names."""


class Read(Request, frozen=True, kw_only=True, tag="read"):
    """Read a game or a position, even if nothing in it can be analysed."""

    data: bytes
    """A GCG or a CGP, in base64."""


class Moves(Request, frozen=True, kw_only=True, tag="moves"):
    """List the moves of a position, the highest equity first."""

    data: bytes
    line: Line = 0
    most: Annotated[int, Meta(ge=1, le=5_000)] = 300


class Words(Request, frozen=True, kw_only=True, tag="words"):
    """Look a word up at a table, by default the main one."""

    word: Annotated[str, Meta(min_length=1, max_length=100)]
    rack: Annotated[str, Meta(max_length=100)] = ""
    """Tiles for the anagrams and the leave, in place of those of the word."""


class Analyse(Request, frozen=True, kw_only=True, tag="analyse"):
    """Read a game or a position, and analyse each turn of it, or one."""

    data: bytes
    """A GCG or a CGP, in base64."""
    line: Line | None = None
    """The line of the score sheet before which to analyse, 0 of a CGP; null: every turn."""
    move: MoveText = ""
    """A move to compare with the best, in place of the played one."""
    moves: Annotated[tuple[MoveText, ...], Meta(max_length=30)] = ()
    """Of one line: moves to compare alone, legal or phonies."""
    seconds: Annotated[float, Meta(ge=0.1, le=600)] = 2.0
    """Time for a turn; no more than the server allows."""
    rollouts: Annotated[int, Meta(ge=2, le=20_000)] | None = None
    """In place of a time: the findings are then those of ``tilewire analyze`` with this number."""
    seed: Annotated[int, Meta(ge=0, le=2**62)] = 0


Asked: TypeAlias = Read | Moves | Words | Analyse


class TaskRunner(Protocol):
    """What does tasks (``AnalysisProcess``)."""

    async def do(
        self, task: AnalysisTask, told: Callable[[dict[str, Any]], None]
    ) -> dict[str, Any]:
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

    asked: Asked
    address: str
    tell: Callable[..., None]
    turns: deque[dict[str, Any]] | None = None
    """Turns of the sheet that are left; None before it was read."""
    table: str | None = None
    """The table whose words and rules count; None before the sheet was read."""
    engine: TaskRunner | None = None
    """The process that works on it now."""
    is_over: bool = False

    @property
    def is_short(self) -> bool:
        """Whether it is answered at once."""
        return not isinstance(self.asked, Analyse)

    @property
    def line(self) -> int | None:
        """The only line to analyse, if the request names one."""
        return self.asked.line if isinstance(self.asked, Analyse) else None

    def task(self, seconds: float, line: int | None = None, threads: int = 1) -> AnalysisTask:
        """Return the task to read the sheet, to analyse before a line of it, or to answer."""
        asked, names = self.asked, AnalysisTask.__struct_fields__
        same = {name: getattr(asked, name) for name in names if hasattr(asked, name)}
        same["table"] = self.table or asked.table
        if isinstance(asked, Analyse):
            same["line"], same["seconds"] = line, min(asked.seconds, seconds)
            same["believes"], same["threads"] = asked.line is not None, threads
        return AnalysisTask(**same)


@dataclass(eq=False)
class AnalysisQueue:
    """The requests of one server."""

    settings: AnalysisSettings
    start: Callable[[], Awaitable[TaskRunner]]
    """Starts a process."""
    forbidden: Callable[[str, str, str], str]
    """Returns why a position (CGP) of a table may not be analysed for an address now; empty if it
    may."""
    rules_of: Callable[[str], Rules]
    """Returns the rules of a table."""
    clock: Callable[[], float] = time.monotonic
    own_cores: Callable[[], int] | None = None
    """Returns how many cores games leave free, if the machine is the visitor's own: an analysis
    takes them all, and processes stay."""
    tells_words: Callable[[Rules], bool] = tells_words
    """Returns whether words are looked up for visitors under these rules."""
    _waiting: deque[Job] = field(default_factory=deque)
    _short: deque[Job] = field(default_factory=deque)
    """Short requests that wait; they come before any other."""
    _jobs: Counter[str] = field(default_factory=Counter)
    """Jobs that are not over, by block of addresses."""
    _working: int = 0
    _news: asyncio.Condition = field(default_factory=asyncio.Condition)
    _workers: list[asyncio.Task[None]] = field(default_factory=list)
    """The first is for short requests."""

    def __post_init__(self) -> None:
        most_s = self.settings.seconds_per_hour
        self._taken = Ledger(lambda: Bucket(most_s, most_s / 3_600))

    async def submit(self, job: Job) -> None:
        """Add a request to the queue; ``waiting`` answers tell it how many are ahead.

        Raises:
            PeerError: too much is asked for.
        """
        settings, block, asked = self.settings, block_of(job.address), job.asked
        rules = self.rules_of(asked.table or MAIN)
        if isinstance(asked, Words) and not self.tells_words(rules):
            raise PeerError("forbidden", NO_WORDS, retry="no")
        if self._jobs[block] >= settings.per_visitor:
            has = f"you have {counted(settings.per_visitor, 'request')} here"
            why = f"{has}, the most for one visitor; end one, or wait"
            raise PeerError("busy", why, retry="later")
        if sum(self._jobs.values()) >= settings.waiting:
            too_many = f"{counted(settings.waiting, 'request')} wait for the engine already"
            raise PeerError("busy", f"{too_many}; try again in a minute", retry="later")
        self._check_time(job)
        self._jobs[block] += 1
        if not self._workers:
            lines = [self._short, *[self._waiting] * settings.workers]
            self._workers = [asyncio.create_task(self._work(line)) for line in lines]
        async with self._news:
            self._line_of(job).append(job)
            self._news.notify_all()
        self._tell_places()

    def cancel(self, job: Job) -> None:
        """End a request."""
        self._end(job, "done", stopped=True)
        if job.engine is not None:
            job.engine.stop()
        elif job in (line := self._line_of(job)):
            line.remove(job)
            self._tell_places()

    async def close(self) -> None:
        """End all requests and processes."""
        for worker in self._workers:
            worker.cancel()
        await asyncio.gather(*self._workers, return_exceptions=True)

    def _line_of(self, job: Job) -> deque[Job]:
        return self._short if job.is_short else self._waiting

    def _end(self, job: Job, kind: str, **known: Any) -> None:
        """Tell the last answer to a request, unless it was told; it counts no longer."""
        if not job.is_over:
            job.is_over = True
            block = block_of(job.address)
            self._jobs[block] -= 1
            if not self._jobs[block]:
                del self._jobs[block]
            job.tell(kind, **known)

    def _check_time(self, job: Job) -> None:
        now, most_s = self.clock(), self.settings.seconds_per_hour
        bucket = self._taken.bucket(block_of(job.address), now)
        if bucket.owed(now) >= most_s:
            used = f"you have used the engine for {most_s / 60:.0f} minutes, the limit for an hour"
            raise PeerError("busy", f"{used}; come again later", retry="later")

    # --- the work -------------------------------------------------------------------------------

    async def _work(self, line: deque[Job]) -> None:
        """Take a step of each request of a line in turn, with a process of this worker's own."""
        engine: TaskRunner | None = None
        try:
            while True:
                stays = engine is None or self.own_cores is not None
                try:
                    async with asyncio.timeout(None if stays else IDLE_S), self._news:
                        await self._news.wait_for(lambda: line)
                        job = line.popleft()
                except TimeoutError:
                    assert engine is not None
                    await engine.kill()
                    engine = None
                    continue
                self._working += not job.is_short
                try:
                    engine = engine or await self.start()
                    await self._step(job, engine)
                except Exception as error:  # whatever it was, other requests go on
                    log.error("analysis failed", reason=plain(str(error) or repr(error)))
                    self._end(job, "error", code="no_engine", message=self._why_failed(job, error))
                    if engine is not None:
                        await engine.kill()
                        engine = None
                finally:
                    self._working -= not job.is_short
                if not job.is_over and not job.turns:
                    self._end(job, "done", stopped=False)
                if not job.is_over:  # the other requests have a turn first
                    async with self._news:
                        line.append(job)
                        self._news.notify_all()
                self._tell_places()
        finally:
            if engine is not None:
                await engine.kill()

    def _why_failed(self, job: Job, error: Exception) -> str:
        """Return why a request failed, and what to do."""
        if not isinstance(error, TimeoutError):
            return "the engine failed; try again"
        if job.turns is not None and getattr(job.asked, "rollouts", None) is not None:
            most_s = job.task(self.settings.seconds).seconds + GRACE_S
            return f"the turn took longer than {most_s:.0f} s; ask for fewer rollouts"
        return "games keep this server's cores busy; try again"

    def _tell_places(self) -> None:
        """Tell each request that has had no turn how many come before it."""
        for place, job in enumerate(self._waiting):
            ahead = place + self._working - self.settings.workers + 1
            if job.turns is None and not job.is_over and ahead > 0:
                job.tell("waiting", ahead=ahead)

    async def _step(self, job: Job, engine: TaskRunner) -> None:
        """Answer a short request, or analyse the next position of another."""
        if job.is_over:  # it was ended while the process started
            return
        job.engine = engine
        try:
            if job.turns is None:
                await self._begin(job, engine)
            if job.turns and not job.is_over:
                await self._analyse(job, job.turns.popleft(), engine)
        except PeerError as error:
            self._end(job, "error", code=error.code, message=error.reply.message)
        finally:
            job.engine = None

    async def _begin(self, job: Job, engine: TaskRunner) -> None:
        """Answer a short request; read the sheet of another, if there is anything to analyse."""
        answer = await self._do(job, engine, job.task(self.settings.seconds))
        job.table = table = answer.get("table", MAIN)
        if job.is_over:
            return
        if "refused" in answer:
            where = {name: answer[name] for name in ("part", "squares") if answer.get(name)}
            self._end(job, "error", code="bad_game", message=answer["refused"], **where)
        elif "words" in answer:
            job.tell("words", **answer["words"])
        elif "moves" in answer:
            if why := self.forbidden(answer["moves"]["cgp"], table, job.address):
                raise PeerError("forbidden", why, retry="later")
            job.tell("moves", **answer["moves"])
        else:
            self._open(job, answer["sheet"], self.rules_of(table))

    def _open(self, job: Job, sheet: dict[str, Any], rules: Rules) -> None:
        """Tell what was read, and list the turns to analyse."""
        turns, line, why = sheet["turns"], job.line, ""
        if line is not None:
            turns = [each for each in (*turns, sheet.get("final")) if each and each["line"] == line]
        if not turns:
            why = (
                "there are no turns to review" if line is None else f"no turn is before line {line}"
            )
        elif not line and all(turn["left_out"] for turn in turns):
            at, why = turns[0]["line"], turns[0]["left_out"]
            why = f"no turn can be reviewed; line {at}: {why}" if at else why
        if why and not job.is_short:
            self._end(job, "error", code="bad_game", message=why)
            return
        if line is None:
            bonus = {"rack_size": rules.rack_size, "bingo_bonus": rules.bingo_bonus}
            job.tell("game", **sheet, **board_and_tiles(rules), **bonus, table=job.table)
        job.turns = None if job.is_short else deque(turns)

    async def _analyse(self, job: Job, turn: dict[str, Any], engine: TaskRunner) -> None:
        line = turn["line"]
        left_out = turn["left_out"] or self.forbidden(turn["cgp"], job.table or MAIN, job.address)
        if left_out:
            job.tell("left_out", line=line, why=left_out)
            return
        self._check_time(job)
        threads = 1 if self.own_cores is None else max(1, self.own_cores())
        answer = await self._do(job, engine, job.task(self.settings.seconds, line, threads))
        if job.is_over:
            return
        if "refused" in answer:
            job.tell("left_out", line=line, why=answer["refused"])
        else:
            job.tell("turn", **answer["findings"])

    async def _do(self, job: Job, engine: TaskRunner, task: AnalysisTask) -> dict[str, Any]:
        """Do a task, and charge its address for the time, whatever the result."""

        def told(so_far: dict[str, Any]) -> None:
            if job.line is not None and not job.is_over:
                job.tell("so_far", line=task.line, **so_far)

        began = self.clock()
        try:
            async with asyncio.timeout(task.seconds + GRACE_S):
                return await engine.do(task, told)
        finally:
            now = self.clock()
            self._taken.bucket(block_of(job.address), now).spend(now - began, now)

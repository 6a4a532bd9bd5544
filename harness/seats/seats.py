"""Seats whose players speak the protocol over a channel (``harness.arbiter.seat``)."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import structlog

from bot.seat.runtime import NOTICE, software
from bot.seat.worker_handle import SeatProcess
from harness.arbiter.seat import Came, Gone, Report, Said
from protocol.channel import Channel, ChannelClosed, now_ms
from protocol.errors import PeerError
from protocol.link import Link
from protocol.messages import Error, GameOver, Goodbye, Hello, Message, NewGame, Ping, Welcome
from protocol.parts import Role

log = structlog.get_logger(__name__)

PING_EVERY_MS = 500
STEADY_MS = 5_000
"""After a connection that lasted longer than this, redial at once."""

LAST_WORDS_S = 0.5
"""Time for a user's player to end by itself after its game: its code may fail even then."""

STALL_MS = 5_000
"""How long a local process may leave pings unanswered before it counts as hung."""

ENDED = "its process ended"
"""What is told of a local process that ends during a game; the reason is for its author only."""

TURNED_AWAY = "it rejected the connection"
"""The same for a remote bot that rejects us before it was ever connected."""


class TaskSeat:
    """A seat run by one task, which makes and keeps the connection to its player."""

    is_ours = False

    def __init__(self, name: str) -> None:
        self.name = name
        self._report: Report = lambda _event: None
        self._task: asyncio.Task[None] | None = None

    def start(self, report: Report) -> None:
        """Begin, and report the seat's events from now on."""
        self._report = report
        self.restart()

    def restart(self) -> None:
        """Begin again after a failure."""
        self._task = asyncio.create_task(self._live())
        self._task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("seat failed", seat=self.name, exc_info=error)
            self._report(Gone(f"{type(error).__name__} in its seat", "host_error"))

    async def stop(self) -> None:
        """End the task."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.wait([task])

    async def _live(self) -> None:
        raise AssertionError("each kind of seat has a life of its own")


class _LinkSeat(TaskSeat):
    """A seat whose player is at the other end of a link, if connected."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._link: Link | None = None

    def send(self, message: Message) -> None:
        if self._link is not None:
            self._link.send(message)

    def refuse(self, error: PeerError) -> None:
        if self._link is not None:
            self._link.refuse(error)

    async def stop(self) -> None:
        if self._link is not None:
            await self._link.flush()
        await super().stop()
        self._link = None

    def report_message(self, message: Message, at_ms: int) -> None:
        round_trip_ms = self._link.channel.round_trip_ms if self._link else 0
        self._report(Said(message, at_ms, round_trip_ms))

    def _on_message(self, message: Message, at_ms: int) -> None:
        match message:
            case Error(code=code, message=text):
                log.warning("seat reports an error", seat=self.name, code=code, reason=text)
            case Goodbye():
                pass
            case _:
                self.report_message(message, at_ms)


class WorkerFailed(ChannelClosed):
    """A process failed to start; ``evidence`` is its output, not for players to see."""

    def __init__(self, reason: str, evidence: str) -> None:
        super().__init__(reason)
        self.evidence = evidence


@dataclass(eq=False)
class Worker:
    """A bot that was welcomed, in a process of ours or, if that is None, remote."""

    channel: Channel
    process: SeatProcess | None = None
    pool: list[Worker] | None = None
    """Where it waits for the next game; None: it serves one game."""

    @property
    def stderr_tail(self) -> str:
        """The end of its standard error."""
        return "" if self.process is None else self.process.stderr_tail

    @property
    def returncode(self) -> int | None:
        """Its exit status, once it has ended."""
        return None if self.process is None else self.process.returncode

    async def release(self) -> None:
        """Release it after a completed game: to be reused, or ended."""
        if self.pool is not None and self.returncode is None:
            self.pool.append(self)
            return
        with contextlib.suppress(ChannelClosed):  # else it would take the end for a lost connection
            await self.channel.send(Goodbye(code="over", message="the game is over"))
        await self.channel.close()  # it ends by itself, once its player has heard of the end
        if self.process is not None:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(LAST_WORDS_S):
                    await self.process.wait()
        await self.kill()

    async def kill(self) -> None:
        """Kill it and its descendants, and close the channel."""
        if self.process is not None:
            await self.process.kill()
        await self.channel.close()


class ProcessSeat(_LinkSeat):
    """A player in a process of this host."""

    is_ours = True

    def __init__(self, name: str, start_worker: Callable[[], Awaitable[Worker]]) -> None:
        super().__init__(name)
        self._start_worker = start_worker
        self._worker: Worker | None = None
        self._hangs = False
        self._clean = False

    async def stop(self) -> None:
        """Release the process."""
        await super().stop()
        if self._worker is not None and self._clean:
            await self._worker.release()
            self._worker = None
        await self._kill()

    def send(self, message: Message) -> None:
        """Send a message; a completed game makes the process reusable."""
        if isinstance(message, GameOver):
            is_complete = message.outcome in ("out", "zeroes", "challenge")
            self._clean = is_complete and self._link is not None
        super().send(message)

    async def _kill(self) -> None:
        worker, self._worker = self._worker, None
        if worker is not None:
            await worker.kill()

    async def _live(self) -> None:
        await self._kill()
        try:
            worker = self._worker = await self._start_worker()
        except OSError as error:  # no process can be started: the host's fault
            self._report(Gone(f"no process can be started: {error}", "host_error"))
            return
        except WorkerFailed as error:
            self._report(Gone(str(error), "crash", error.evidence))
            return
        link = self._link = Link(worker.channel, self._on_message, remembers=True)
        self._hangs = False
        self._report(Came())
        watch = asyncio.create_task(self._watch(link, worker))
        try:
            await link.run()
        finally:
            watch.cancel()
        await asyncio.sleep(0.05)  # lets the end of stderr and the exit status come in
        why, printed = last_words(worker.stderr_tail, self.name)
        parts = [why] if why else []
        parts += [f"exit status: {worker.returncode}", f"stderr:\n{printed or '(nothing)'}"]
        if link.recent:
            parts += ["last messages:", *link.recent]
        evidence = "\n".join(parts)
        await self._kill()
        self._link = None
        if self._hangs:
            self._report(Gone(f"no answer in {STALL_MS / 1_000:g} s", "stall", evidence))
        else:
            self._report(Gone(link.closing or ENDED, "crash", evidence))

    async def _watch(self, link: Link, worker: Worker) -> None:
        """Ping the process; kill it when it hangs."""
        number = unanswered = 0
        # Count pings, not time: the host itself may have been suspended with its processes.
        while unanswered < STALL_MS // PING_EVERY_MS:
            number += 1
            asked_ms = now_ms()
            link.send(Ping(id=number))
            await asyncio.sleep(PING_EVERY_MS / 1_000)
            unanswered = 0 if link.heard_ms >= asked_ms else unanswered + 1
        self._hangs = True
        await worker.kill()


def last_words(stderr: str, name: str) -> tuple[str, str]:
    """Return the reason a process gave for its end, or an empty text, and what it wrote before."""
    before, words, why = stderr.rpartition(f"{NOTICE}{name}: ")
    return (why.strip(), before.strip()) if words else ("", stderr.strip())


class NotWelcome(ChannelClosed):
    """The other side rejects us, and will do so again."""


class RemoteSeat(_LinkSeat):
    """A remote bot, redialled when the connection is lost; ``dial`` waits for its welcome.

    A bot that rejects us for good before it was ever connected has failed. ``notice`` takes a
    sentence about what is waited for; None: it is logged.
    """

    def __init__(
        self,
        name: str,
        dial: Callable[[], Awaitable[Channel]],
        notice: Callable[[str], None] | None = None,
    ) -> None:
        super().__init__(name)
        self._dial = dial
        self._notice = notice
        self._has_come = False

    async def _live(self) -> None:
        wait, shown = 0.1, ""
        while True:
            try:
                channel = await self._dial()
            except ChannelClosed as closed:
                if isinstance(closed, NotWelcome) and not self._has_come:
                    self._report(Gone(TURNED_AWAY, "crash", str(closed)))
                    return
                if (why := str(closed)) != shown:
                    shown = why
                    if self._notice is None:
                        log.warning("bot can't be reached", seat=self.name, reason=why)
                    else:
                        self._notice(f"waiting for {self.name}: {why}")
            else:
                began, shown, self._has_come = now_ms(), "", True
                self._link = Link(channel, self._on_message)
                self._report(Came())
                try:
                    why = await self._link.run()
                finally:
                    await channel.close()
                self._link = None
                self._report(Gone(why))
                if now_ms() - began > STEADY_MS:
                    wait = 0.1
                    continue
            await asyncio.sleep(wait)
            wait = min(wait * 2, 5)


async def greeted(channel: Channel, role: Role, name: str) -> Channel:
    """Say hello over a channel and return it once we are welcome; else close it.

    Raises:
        ChannelClosed: we are not welcome; NotWelcome if the same hello would be rejected again.
    """
    try:
        await channel.send(Hello(role=role, name=name, software=software()))
        async with asyncio.timeout(10):
            answer = (await channel.receive()).content
        if isinstance(answer, Welcome):
            return channel
        reason = answer.message if isinstance(answer, Error) else repr(answer)
        for_good = isinstance(answer, Error) and answer.retry in ("no", "corrected")
        kind = NotWelcome if for_good else ChannelClosed
        raise kind(f"{channel.peer} rejected our hello: {reason}")
    except TimeoutError:
        await channel.close()
        raise ChannelClosed(f"{channel.peer} does not answer") from None
    except BaseException:  # also on cancellation
        await channel.close()
        raise


class GuestSeat(_LinkSeat):
    """A player who dialled us; connections come and go, the newest counts."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._game = ""
        """The game as the connection knows it."""
        self._is_offered = False
        """Whether the connection was told the game; what happens before that is in the offer."""

    def start(self, report: Report) -> None:
        """Begin, and report the seat's events from now on."""
        self._report = report
        if self._link is not None:
            report(Came())

    def restart(self) -> None:
        """A guest restarts by itself."""

    def send(self, message: Message) -> None:
        """Tell the player, once its connection has been offered the game."""
        self._is_offered |= isinstance(message, NewGame | GameOver)
        if self._is_offered:
            super().send(message)

    def sit(self, link: Link, game: str, *, seen: int = -1) -> None:
        """Attach a connection of the player, who knows the game up to event ``seen``.

        What it says in the game comes here, and no longer from an older connection.
        """
        self._unbind()
        self._link, self._game, self._is_offered = link, game, False
        link.bind(game, self.report_message)
        self._report(Came(seen))

    def _unbind(self) -> None:
        if self._link is not None:
            self._link.unbind(self._game)
        self._link = None

    def is_on(self, link: Link) -> bool:
        """Check whether the player's current connection is this one."""
        return self._link is link

    def leave(self, link: Link, why: str) -> None:
        """Note the end of a connection; if it was the newest, the player is gone."""
        if self._link is link:
            self._unbind()
            self._report(Gone(why))

    async def stop(self) -> None:
        """End the game; the guest keeps the connection."""
        self._unbind()

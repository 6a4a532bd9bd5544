"""Two honest bots on a server that is attacked: their pings, and what their clocks are charged.

The control is the same attacker against a bare echo on another port, while the same bots play on
the same server: attacker, server and bots share the machine's cores.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from harness.lab.rows import Column, percent
from protocol.channel import ChannelClosed, now_ms
from protocol.messages import Message, NewGame, Ping, Played, Pong, Ready, YourTurn

from .attackers import ATTACKS, CLAIMED
from .client import Client, serving
from .memory import MB, own_memory

PINGS_PER_S = 500
"""Of each honest bot."""

THINK_S = 0.02
BACK_WITHIN_MS = 10.0
PATIENCE_S = 15.0
"""How long recovery may take before it is given up."""

SETTINGS = """
max_games = 4
[time]
initial_ms = 60000
[admission]
seeks_per_minute = 100000
"""
"""The defaults, but for seeks: the honest bots pass, so their games take a tenth of a second."""


@dataclass(frozen=True)
class Siege:
    """One attack and its control; times in milliseconds."""

    attack: Annotated[str, Column("attack")]
    p50_ms: Annotated[float, Column("ping p50", unit=" ms")]
    p99_ms: Annotated[float, Column("p99", unit=" ms")]
    control_p99_ms: Annotated[float, Column("control's", unit=" ms")]
    overcharge_ms: Annotated[int, Column("overcharge", unit=" ms")]
    """The most that a move was charged more than its bot took."""
    control_overcharge_ms: Annotated[int, Column("control's", unit=" ms")]
    moves: Annotated[int, Column("moves")]
    control_moves: Annotated[int, Column("control's")]
    cpu: Annotated[float, percent("server's CPU", decimals=0)]
    """Of one core."""
    control_cpu: Annotated[float, percent("control's", decimals=0)]
    grown_mb: Annotated[float, Column("memory", unit=" MB", sign=True)]
    """What the server's memory has grown by, with the attack over."""
    back_s: Annotated[float | None, Column("back after", unit=" s")]
    """From the end of the attack until strangers are let in and pings take what they did before."""
    held: Annotated[str, Column("held")]


@dataclass(eq=False)
class Honest:
    """A bot that pings and plays."""

    url: str
    name: str
    opponent: str
    pings: list[tuple[float, float | None]] = field(default_factory=list)
    """When sent, and the round trip in milliseconds; None while it is not answered."""
    overcharges: list[tuple[float, int]] = field(default_factory=list)
    _own_ms: dict[int, int] = field(default_factory=dict)
    """Milliseconds that it took for a move, by event number."""
    _tasks: asyncio.TaskGroup = field(init=False)
    """Of the present connection."""

    async def live(self) -> None:
        """Play and ping, over connections that may be lost."""
        while True:
            try:
                client = await Client.login(self.url, self.name)
                for game in client.welcome.games:
                    await client.resume(game, -1)
                await client.seek(self.opponent, games=10_000)
                await self._talk(client)
            except* ChannelClosed:
                await asyncio.sleep(0.1)

    async def _talk(self, client: Client) -> None:
        async with asyncio.TaskGroup() as self._tasks:
            self._tasks.create_task(self._ping(client))
            while True:
                await self._hear(client, await client.receive())

    async def _ping(self, client: Client) -> None:
        """Ping at a fixed rate, whether or not earlier ones are answered."""
        due = time.perf_counter()
        while True:
            due += 1 / PINGS_PER_S
            await asyncio.sleep(due - time.perf_counter())
            self.pings.append((time.perf_counter(), None))
            await client.channel.send(Ping(id=len(self.pings) - 1))

    async def _hear(self, client: Client, message: Message) -> None:
        match message:
            case Pong(id=number):
                sent, _ = self.pings[number]
                self.pings[number] = sent, (time.perf_counter() - sent) * 1_000
            case NewGame(game=game):
                self._own_ms.clear()
                await client.channel.send(Ready(game=game, nonce="00" * 16))
            case YourTurn():
                self._tasks.create_task(self._move(client, message, client.at_ms))
            case Played(seq=seq, think_ms=think_ms) if seq in self._own_ms:
                over_ms = think_ms - self._own_ms.pop(seq)
                self.overcharges.append((time.perf_counter(), over_ms))

    async def _move(self, client: Client, turn: YourTurn, at_ms: int) -> None:
        await asyncio.sleep(THINK_S)
        self._own_ms[turn.seq] = now_ms() - at_ms
        await client.play(turn)


@dataclass(frozen=True)
class Noticed:
    """What honest bots noticed in a while."""

    p50_ms: float
    p99_ms: float
    overcharge_ms: int
    moves: int


def seen(bots: tuple[Honest, ...], since: float, until: float) -> Noticed:
    """Summarize a period; a ping that is not answered yet took until now."""
    now = time.perf_counter()
    waited = [
        (now - sent) * 1_000 if ms is None else ms
        for bot in bots
        for sent, ms in bot.pings
        if since <= sent < until
    ]
    over = [ms for bot in bots for at, ms in bot.overcharges if since <= at < until]
    p50, p99 = np.quantile(waited or [PATIENCE_S * 1_000], (0.5, 0.99)).round(2).tolist()
    return Noticed(p50, p99, max(over, default=0), len(over))


@asynccontextmanager
async def alongside(*work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Do endless work beside a block, until the end of either; an error of one ends both."""
    try:
        async with asyncio.TaskGroup() as tasks:
            running = [tasks.create_task(part) for part in work]
            yield
            for task in running:
                task.cancel()
    except ExceptionGroup as errors:
        error: Exception = errors
        while isinstance(error, ExceptionGroup):
            error = error.exceptions[0]
        raise error from None


@asynccontextmanager
async def process(
    *arguments: str, stderr: int | None = None
) -> AsyncIterator[asyncio.subprocess.Process]:
    """Run Python with these arguments, its input and output piped; kill it at the end."""
    pipe = asyncio.subprocess.PIPE
    started = await asyncio.create_subprocess_exec(
        *(sys.executable, *arguments), stdin=pipe, stdout=pipe, stderr=stderr
    )
    try:
        yield started
    finally:
        with suppress(ProcessLookupError):
            started.kill()
        await started.wait()


async def echoing(stack: AsyncExitStack) -> tuple[int, int]:
    """Run a bare echo; return its port and process id."""
    echo = await stack.enter_async_context(process("-m", "harness.lab.bench.bare_servers", "echo"))
    assert echo.stdout is not None
    return int(await echo.stdout.readline()), echo.pid


def cpu_s(pid: int) -> float:
    """Return the processor time that a process has taken, all threads together, to the microsecond.

    The clock's id is made as by ``clock_getcpuclockid`` of the C library on Linux, since ``/proc``
    counts in hundredths of a second.
    """
    return time.clock_gettime(~pid << 3 | 2)


@dataclass(eq=False)
class Besieged:
    """A server, honest bots on it, and an echo beside it."""

    url: str
    pid: int
    echo_port: int
    addresses: int
    seconds: float
    bots: tuple[Honest, ...]

    async def besiege(self, name: str) -> Siege:
        """Attack the echo, then the server."""
        calm, _ = await self._during(None, 0)
        control, control_cpu = await self._during(name, self.echo_port)
        before = own_memory(self.pid)
        noticed, cpu = await self._during(name, int(self.url.rpartition(":")[2]))
        back_s = await self._back(calm)
        grown_mb = (own_memory(self.pid) - before) / MB
        p99_held = noticed.p99_ms <= max(10.0, 1.5 * control.p99_ms)
        charge_held = noticed.overcharge_ms <= max(10, 1.5 * control.overcharge_ms)
        held = p99_held and charge_held and back_s is not None and back_s <= 5
        return Siege(
            attack=f"{name}: {ATTACKS[name].what}",
            p50_ms=noticed.p50_ms,
            p99_ms=noticed.p99_ms,
            control_p99_ms=control.p99_ms,
            overcharge_ms=noticed.overcharge_ms,
            control_overcharge_ms=control.overcharge_ms,
            moves=noticed.moves,
            control_moves=control.moves,
            cpu=round(cpu, 3),
            control_cpu=round(control_cpu, 3),
            grown_mb=round(grown_mb, 1),
            back_s=back_s,
            held="yes" if held else "no",
        )

    async def _during(self, name: str | None, port: int) -> tuple[Noticed, float]:
        """Return what bots notice, attacked or in peace, and the server's share of a core."""
        async with AsyncExitStack() as stack:
            if name is not None:
                target = (name, str(port), str(self.addresses), self.url)
                await stack.enter_async_context(
                    process("-m", "harness.lab.bench.attackers", *target)
                )
                await asyncio.sleep(1.5)  # it starts, and connects
            since, busy_s = time.perf_counter(), cpu_s(self.pid)
            await asyncio.sleep(self.seconds if name else 1.0)
            until, busy_s = time.perf_counter(), cpu_s(self.pid) - busy_s
        if name is not None and port == self.echo_port:
            await asyncio.sleep(1)
        return seen(self.bots, since, until), busy_s / (until - since)

    async def _back(self, calm: Noticed) -> float | None:
        """Return the seconds until all is as before; None if it takes more than ``PATIENCE_S``."""
        ended = time.perf_counter()
        while (now := time.perf_counter()) < ended + PATIENCE_S:
            await asyncio.sleep(0.25)
            with suppress(ChannelClosed, TimeoutError):
                async with asyncio.timeout(5):
                    stranger = await Client.login(self.url, "stranger", "spectator")
                    await stranger.close()
                if seen(self.bots, now, now + 0.2).p50_ms <= max(BACK_WITHIN_MS, 2 * calm.p50_ms):
                    return round(now - ended, 1)
        return None


async def besiege(
    names: tuple[str, ...], seconds: float, addresses: int, tell: Callable[[Siege], None]
) -> None:
    """Try attacks one after another, each for some seconds; ``tell`` takes each outcome."""
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        served = await stack.enter_async_context(serving(folder, SETTINGS))
        owner = await Client.login(served.url, CLAIMED, token="t" * 43)
        await owner.close()
        bots = (Honest(served.url, "ann", "bob"), Honest(served.url, "bob", "ann"))
        await stack.enter_async_context(alongside(*(bot.live() for bot in bots)))
        await asyncio.sleep(1)
        port, _ = await echoing(stack)
        besieged = Besieged(served.url, served.pid, port, addresses, seconds, bots)
        for name in names:
            tell(await besieged.besiege(name))

"""Two honest bots on a server that is attacked: their pings, and what their clocks are charged.

The control is the same attacker against a bare echo on another port, while the same bots play on
the same server: attacker, server and bots share the machine's cores.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np
from load.attackers import ATTACKS, CLAIMED

from harness.figures import number
from harness.lab.bench.client import Client, Served, serving
from harness.lab.bench.load import alongside
from harness.lab.bench.memory import MB, own_memory
from protocol.channel import ChannelClosed, now_ms
from protocol.messages import Message, NewGame, Ping, Played, Pong, Ready, YourTurn

TESTS = Path(__file__).parents[1]
PINGS_PER_S = 500
"""Of each honest bot."""

THINK_S = 0.02
NEWCOMERS = 3
"""Pairs that come during an attack on places: all of them and the honest bots fill the server."""

START_S = 1.5
"""In which attackers start, and connect."""

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

HEAD = (
    *("attack", "ping p50", "p99", "control's p99", "overcharge", "control's", "moves"),
    *("control's", "server's CPU", "control's", "memory", "back after", "held"),
)
"""Overcharge: the most that a move was charged more than its bot took. CPU: of one core. Memory:
what the server's has grown by, with the attack over. Back: from the end of the attack until
strangers are let in and pings take what they did before."""


@dataclass(eq=False)
class Honest:
    """A bot that pings and plays."""

    url: str
    name: str
    opponent: str
    pings: list[tuple[float, float | None]] = field(default_factory=list)
    """When sent, and the round trip in milliseconds; None while it is not answered."""
    overcharges: list[tuple[float, int]] = field(default_factory=list)
    own_ms: dict[int, int] = field(default_factory=dict)
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
                async with asyncio.TaskGroup() as self._tasks:
                    self._tasks.create_task(self._ping(client))
                    while True:
                        await self.hear(client, await client.receive())
            except* ChannelClosed:
                await asyncio.sleep(0.1)

    async def _ping(self, client: Client) -> None:
        """Ping at a fixed rate, whether or not earlier ones are answered."""
        due = time.perf_counter()
        while True:
            due += 1 / PINGS_PER_S
            await asyncio.sleep(due - time.perf_counter())
            self.pings.append((time.perf_counter(), None))
            await client.channel.send(Ping(id=len(self.pings) - 1))

    async def hear(self, client: Client, message: Message) -> None:
        """Answer a message, and note what it says of times."""
        match message:
            case Pong(id=number):
                sent, _ = self.pings[number]
                self.pings[number] = sent, (time.perf_counter() - sent) * 1_000
            case NewGame(game=game):
                self.own_ms.clear()
                await client.channel.send(Ready(game=game, nonce="00" * 16))
            case YourTurn():
                self._tasks.create_task(self._move(client, message, client.at_ms))
            case Played(seq=seq, think_ms=think_ms) if seq in self.own_ms:
                over_ms = think_ms - self.own_ms.pop(seq)
                self.overcharges.append((time.perf_counter(), over_ms))

    async def _move(self, client: Client, turn: YourTurn, at_ms: int) -> None:
        move = await self.choose(turn)
        self.own_ms[turn.seq] = now_ms() - at_ms
        await client.play(turn, move)

    async def choose(self, turn: YourTurn) -> str:
        """Return a move, after a while: a pass."""
        await asyncio.sleep(THINK_S)
        return "-"


class Noticed(NamedTuple):
    """What honest bots noticed in a while."""

    p50_ms: float
    p99_ms: float
    overcharge_ms: int
    moves: int


def seen(bots: Iterable[Honest], since: float, until: float) -> Noticed:
    """Summarize a period; a ping that is not answered yet took until now."""
    now = time.perf_counter()
    waited, over = list[float](), list[int]()
    for bot in bots:
        waited += [
            (now - sent) * 1_000 if ms is None else ms
            for sent, ms in bot.pings
            if since <= sent < until
        ]
        over += [ms for at, ms in bot.overcharges if since <= at < until]
    p50, p99 = np.quantile(waited or [PATIENCE_S * 1_000], (0.5, 0.99)).round(2).tolist()
    return Noticed(p50, p99, max(over, default=0), len(over))


@asynccontextmanager
async def process(module: str, *arguments: str) -> AsyncIterator[asyncio.subprocess.Process]:
    """Run a module of the tests, its input and output piped; kill it at the end."""
    pipe = asyncio.subprocess.PIPE
    path = os.pathsep.join(map(str, (TESTS.parent, TESTS)))
    started = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", module, *arguments),
        stdin=pipe,
        stdout=pipe,
        env={**os.environ, "PYTHONPATH": path},
    )
    try:
        yield started
    finally:
        with suppress(ProcessLookupError):
            started.kill()
        await started.wait()


async def read_line(started: asyncio.subprocess.Process) -> str:
    """Return the next line that a process prints; raise ChannelClosed if it has ended."""
    assert started.stdout is not None
    line = await started.stdout.readline()
    if not line:
        raise ChannelClosed("a process of the measurement has ended")
    return line.decode()


def write_line(started: asyncio.subprocess.Process, line: str) -> None:
    """Write a line to the input of a process."""
    assert started.stdin is not None
    started.stdin.write(f"{line}\n".encode())


def cpu_s(pid: int) -> float:
    """Return the processor time that a process has taken, all threads together, to the microsecond.

    The clock's id is made as by ``clock_getcpuclockid`` of the C library on Linux, since ``/proc``
    counts in hundredths of a second.
    """
    return time.clock_gettime(~pid << 3 | 2)


def port_of(url: str) -> int:
    return int(url.rpartition(":")[2])


@dataclass(eq=False)
class Siege:
    """A server under attack, honest bots on it, and an echo beside it."""

    served: Served
    echo_port: int
    seconds: float
    bots: tuple[Honest, ...]
    leaves_places: bool = True
    """Whether newcomers found the places that they are to have."""

    async def attack(self, name: str) -> list[str]:
        """Attack the echo, then the server; return a row of the table."""
        calm, _ = await self._during(None, 0)
        control, control_cpu = await self._during(name, self.echo_port)
        before = own_memory(self.served.pid)
        noticed, cpu = await self._during(name, port_of(self.served.url))
        back_s = await self._back(calm)
        grown_mb = (own_memory(self.served.pid) - before) / MB
        p99_held = noticed.p99_ms <= max(10.0, 1.5 * control.p99_ms)
        charge_held = noticed.overcharge_ms <= max(10, 1.5 * control.overcharge_ms)
        held = p99_held and charge_held and back_s is not None and back_s <= 5
        held = held and self.leaves_places and noticed.moves > 0
        return [
            f"{name}: {ATTACKS[name].what}",
            *(f"{ms:.1f} ms" for ms in (noticed.p50_ms, noticed.p99_ms, control.p99_ms)),
            *(f"{ms} ms" for ms in (noticed.overcharge_ms, control.overcharge_ms)),
            *(str(moves) for moves in (noticed.moves, control.moves)),
            *(f"{100 * share:.0f} %" for share in (cpu, control_cpu)),
            number(grown_mb, sign=True, unit=" MB"),
            number(back_s, unit=" s"),
            "yes" if held else "no",
        ]

    async def _during(self, name: str | None, port: int) -> tuple[Noticed, float]:
        """Return what bots notice, attacked or in peace, and the server's share of a core."""
        async with AsyncExitStack() as stack:
            if name is not None:
                attackers = process("load.attackers", name, str(port), self.served.url)
                await stack.enter_async_context(attackers)
                await asyncio.sleep(START_S)
            since, busy_s = time.perf_counter(), cpu_s(self.served.pid)
            await asyncio.sleep(self.seconds if name else 1.0)
            until, busy_s = time.perf_counter(), cpu_s(self.served.pid) - busy_s
            is_for_places = name is not None and ATTACKS[name].takes_places
            if is_for_places and port != self.echo_port:
                self.leaves_places = await newcomers_play(self.served.url)
        if port == self.echo_port:
            await asyncio.sleep(1)
        return seen(self.bots, since, until), busy_s / (until - since)

    async def _back(self, calm: Noticed) -> float | None:
        """Return the seconds until all is as before; None if it takes more than ``PATIENCE_S``."""
        ended = time.perf_counter()
        while (now := time.perf_counter()) < ended + PATIENCE_S:
            await asyncio.sleep(0.25)
            with suppress(ChannelClosed, TimeoutError):
                async with asyncio.timeout(5):
                    stranger = await Client.login(self.served.url, "stranger", "spectator")
                    await stranger.close()
                if seen(self.bots, now, now + 0.2).p50_ms <= max(BACK_WITHIN_MS, 2 * calm.p50_ms):
                    return now - ended
        return None


async def newcomers_play(url: str) -> bool:
    """Have newcomers play, all at once; return whether all of them had a place."""
    players = [await Client.login(url, f"newcomer {number}") for number in range(2 * NEWCOMERS)]
    try:
        async with asyncio.timeout(PATIENCE_S):
            for number, player in enumerate(players):
                await player.seek(f"newcomer {number ^ 1}")
            await asyncio.gather(*(player.get_ready() for player in players))
            await asyncio.gather(*(player.pass_to_the_end() for player in players))
    except TimeoutError:
        return False
    finally:
        for player in players:
            await player.close()
    return True


async def attack(names: Iterable[str], seconds: float) -> list[list[str]]:
    """Try attacks one after another, each for some seconds; return a row of the table for each."""
    rows = []
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        served = await stack.enter_async_context(serving(folder, SETTINGS))
        owner = await Client.login(served.url, CLAIMED, token="t" * 43)
        await owner.close()
        bots = (Honest(served.url, "ann", "bob"), Honest(served.url, "bob", "ann"))
        await stack.enter_async_context(alongside(*(bot.live() for bot in bots)))
        await asyncio.sleep(1)
        echo = await stack.enter_async_context(process("load.bare_servers", "echo"))
        siege = Siege(served, int(await read_line(echo)), seconds, bots)
        for name in names:
            rows.append(await siege.attack(name))
            print(*rows[-1], sep="  ", file=sys.stderr)
    return rows

"""What two players on a server notice when hundreds of pages watch their game.

A round has three games, each between the same two bots on the same server: one that nobody
watches, one that all pages watch, and the control, one that nobody watches while a bare
``websockets`` server beside it pushes as many bytes to as many connections at each move. Server,
pages and players share the machine's cores.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from load.attack import Honest, cpu_s, port_of, process, read_line, seen, write_line
from load.watchers import JOINING

from engine.movegen.generator import Generator
from engine.notation.cgp import read_cgp
from engine.notation.move_text import format_move
from engine.rules.rules import standard_rules
from harness.figures import number
from harness.lab.bench.client import Client, serving
from harness.lab.bench.load import alongside
from lexicons.store import load_lexicon
from protocol.channel import ChannelClosed
from protocol.codec import JSON
from protocol.messages import GameOver, Message, Played, YourTurn

SETTINGS = """
max_games = 1
[time]
initial_ms = 3600000
[admission]
connections = {most}
connections_per_address = {most}
spectators = {most}
handshakes_per_s = {most}
share_per_address = {most}
seeks_per_minute = 100000
"""
"""``most`` is the limit of connections; all are from one address."""

THINK_S = 0.25
SETTLE_S = 1.0
"""Between the pages' arrival and the first move."""

KINDS = ("alone", "watched", "control")
HEAD = ("game", "ping p50", "p99", "overcharge", "moves", "CPU", "last page has a move after")
"""CPU: of one core, of the server, or in the control of the bare one. Last page: the median time
after the players have the move."""


class Watched(NamedTuple):
    """What the players of one game noticed."""

    p50_ms: float
    p99_ms: float
    overcharge_ms: int
    moves: int
    cpu: float
    last_ms: float | None


@dataclass(eq=False)
class Stage:
    """Where two players meet, and games wait for their first move until they are to begin."""

    generator: Generator
    offered: asyncio.Queue[str] = field(default_factory=asyncio.Queue)
    """Ids of games that wait."""
    may_move: asyncio.Event = field(default_factory=asyncio.Event)
    over: asyncio.Event = field(default_factory=asyncio.Event)
    played: Callable[[Played], None] = lambda _played: None
    """Called with each move."""


class Mover(Honest):
    """An honest bot that plays the static player's moves, when its game may go on."""

    def __init__(self, url: str, name: str, opponent: str, stage: Stage) -> None:
        super().__init__(url, name, opponent)
        self._stage = stage

    async def hear(self, client: Client, message: Message) -> None:
        await super().hear(client, message)
        if self.name < self.opponent:
            match message:
                case Played():
                    self._stage.played(message)
                case GameOver():
                    self._stage.may_move.clear()
                    self._stage.over.set()

    async def choose(self, turn: YourTurn) -> str:
        if turn.seq == 1:
            self._stage.offered.put_nowait(turn.game)
        await self._stage.may_move.wait()
        await asyncio.sleep(THINK_S)
        rules = self._stage.generator.rules
        best = self._stage.generator.best(read_cgp(turn.position, rules))
        return format_move(best[0].move, rules.distribution.alphabet)


async def watch(pages: int, rounds: int) -> list[list[str]]:
    """Play rounds of three games; return a row of the table for each kind of game."""
    games: dict[str, list[Watched]] = {kind: [] for kind in KINDS}
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        served = await stack.enter_async_context(serving(folder, SETTINGS.format(most=pages + 10)))
        bare = await stack.enter_async_context(process("load.bare_servers", "push"))
        watchers = await stack.enter_async_context(process("load.watchers", str(pages)))
        bare_port = int(await read_line(bare))
        stage = Stage(Generator(load_lexicon(), standard_rules()))
        bots = Mover(served.url, "ann", "bob", stage), Mover(served.url, "bob", "ann", stage)
        await stack.enter_async_context(alongside(*(bot.live() for bot in bots)))

        async def measure(kind: str) -> Watched:
            """Measure the offered game, watched or not."""
            game = await stage.offered.get()
            port, pid = port_of(served.url), served.pid
            if kind == "control":
                port, pid = bare_port, bare.pid
            if kind != "alone":
                write_line(watchers, f"watch {port} {game}")
                await read_line(watchers)
            await asyncio.sleep(SETTLE_S)
            times: list[float] = []

            def note(played: Played) -> None:
                times.append(time.perf_counter())
                if kind == "control":
                    write_line(bare, str(len(JSON.encode(played))))

            stage.played = note
            stage.over.clear()
            since, busy_s = time.perf_counter(), cpu_s(pid)
            stage.may_move.set()
            await stage.over.wait()
            until, busy_s = time.perf_counter(), cpu_s(pid) - busy_s
            last_ms = None
            if kind != "alone":
                write_line(watchers, "stop")
                gone, arrived = json.loads(await read_line(watchers))
                if gone:
                    raise ChannelClosed(f"{gone} of the watchers were cut off")
                late = [at - when for when, at in zip(times, arrived[JOINING:], strict=False)]
                last_ms = 1_000 * statistics.median(late)
            p50_ms, p99_ms, overcharge_ms, _ = seen(bots, since, until)
            cpu = busy_s / (until - since)
            return Watched(p50_ms, p99_ms, overcharge_ms, len(times), cpu, last_ms)

        for _ in range(rounds):
            for kind in KINDS:
                games[kind].append(await measure(kind))
                print(kind, *games[kind][-1], file=sys.stderr)
    return [_row(kind, some) for kind, some in games.items()]


def _row(kind: str, games: list[Watched]) -> list[str]:
    """Return medians of games of a kind; of overcharges the worst, of moves the sum."""
    p50_ms, p99_ms, overcharge_ms, moves, cpu, last_ms = zip(*games, strict=True)
    return [
        kind,
        *(f"{statistics.median(times):.1f} ms" for times in (p50_ms, p99_ms)),
        f"{max(overcharge_ms)} ms",
        str(sum(moves)),
        f"{100 * statistics.median(cpu):.1f} %",
        number(None if kind == "alone" else statistics.median(last_ms), unit=" ms"),
    ]

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
import tempfile
import time
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from engine.movegen.generator import Generator
from engine.notation.cgp import read_cgp
from engine.notation.move_text import format_move
from engine.rules.rule_sets import rules_in_play
from harness.lab.rows import Column, percent
from lexicons.store import Lexicon
from protocol.channel import ChannelClosed, now_ms
from protocol.codec import JSON
from protocol.messages import GameOver, Message, NewGame, Played, YourTurn

from .attack import Honest, alongside, cpu_s, process, seen
from .client import Client, serving
from .watchers import JOINING

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

SETTLE_S = 1.0
"""Between the pages' arrival and the first move."""

Kind = Literal["alone", "watched", "control"]
KINDS: tuple[Kind, ...] = ("alone", "watched", "control")


@dataclass(frozen=True)
class Watched:
    """What the players of one game noticed; times in milliseconds."""

    game: Annotated[Kind, Column("game")]
    p50_ms: Annotated[float, Column("ping p50", unit=" ms")]
    p99_ms: Annotated[float, Column("p99", unit=" ms")]
    overcharge_ms: Annotated[int, Column("overcharge", unit=" ms")]
    """The most that a move was charged more than its bot took."""
    moves: Annotated[int, Column("moves")]
    cpu: Annotated[float, percent("server's CPU", decimals=1)]
    """Of one core; the control's is that of the bare server."""
    last_ms: Annotated[float | None, Column("last page has a move after", unit=" ms")]
    """The median time after the players have it."""


class Mover(Honest):
    """An honest bot that plays the static player's moves, when its game may go on."""

    def __init__(self, url: str, name: str, opponent: str, game: Game) -> None:
        super().__init__(url, name, opponent)
        self._game = game

    async def _hear(self, client: Client, message: Message) -> None:
        await super()._hear(client, message)
        self._game.hear(message)

    async def _move(self, client: Client, turn: YourTurn, at_ms: int) -> None:
        move = await self._game.move(turn)
        self._own_ms[turn.seq] = now_ms() - at_ms
        await client.play(turn, move)


class Game:
    """The game under way, which waits for ``play`` before its first move."""

    def __init__(self, lexicon: Lexicon, think_s: float) -> None:
        self.offered: asyncio.Queue[str] = asyncio.Queue()
        """Ids of games that wait for their first move."""
        self.played: Callable[[Played], None] = lambda _played: None
        """Called with each move, once."""
        self._lexicon, self._think_s = lexicon, think_s
        self._may_move = asyncio.Event()
        self._over = asyncio.Event()
        self._id = ""
        self._seen = 0

    def hear(self, message: Message) -> None:
        """Take a message to one of the players."""
        match message:
            case NewGame(game=game, rules=rules) if game != self._id:
                self._id, self._seen = game, 0
                self._generator = Generator(self._lexicon, rules_in_play(rules))
                self._over.clear()
            case Played(seq=seq) if seq > self._seen:
                self._seen = seq
                self.played(message)
            case GameOver(game=game) if game == self._id:
                self._may_move.clear()
                self._over.set()

    async def play(self) -> None:
        """Let the offered game be played to its end."""
        self._may_move.set()
        await self._over.wait()

    async def move(self, turn: YourTurn) -> str:
        """Think for a while, and return the best move."""
        if turn.seq == 1:
            self.offered.put_nowait(turn.game)
        await self._may_move.wait()
        await asyncio.sleep(self._think_s)
        rules = self._generator.rules
        best = self._generator.best(read_cgp(turn.position, rules))
        return format_move(best[0].move, rules.distribution.alphabet)


@dataclass(eq=False)
class Arena:
    """A server with two players, its watchers, and a bare server beside it."""

    url: str
    pid: int
    bare_port: int
    bare_pid: int
    push: Callable[[int], None]
    """Makes the bare server push this many bytes to each of its connections."""
    watchers: asyncio.subprocess.Process
    bots: tuple[Mover, Mover]
    game: Game

    async def measure(self, kind: Kind) -> Watched:
        """Measure the offered game, watched or not."""
        game = await self.game.offered.get()
        port = {"alone": None, "watched": self.url.rpartition(":")[2], "control": self.bare_port}
        if kind != "alone":
            await self._order(f"watch {port[kind]} {game}")
        await asyncio.sleep(SETTLE_S)
        told: list[float] = []
        self.game.played = lambda played: self._note(told, kind, played)
        pid = self.bare_pid if kind == "control" else self.pid
        since, busy_s = time.perf_counter(), cpu_s(pid)
        await self.game.play()
        until, busy_s = time.perf_counter(), cpu_s(pid) - busy_s
        last_ms = None
        if kind != "alone":
            gone, times = json.loads(await self._order("stop"))
            if gone:
                raise ChannelClosed(f"{gone} of the watchers were cut off")
            arrived = times[JOINING:]
            late = [at - when for when, at in zip(told, arrived, strict=False)]
            last_ms = round(statistics.median(late) * 1_000, 1)
        noticed = seen(self.bots, since, until)
        return Watched(
            game=kind,
            p50_ms=noticed.p50_ms,
            p99_ms=noticed.p99_ms,
            overcharge_ms=noticed.overcharge_ms,
            moves=len(told),
            cpu=round(busy_s / (until - since), 3),
            last_ms=last_ms,
        )

    def _note(self, told: list[float], kind: Kind, played: Played) -> None:
        told.append(time.perf_counter())
        if kind == "control":
            self.push(len(JSON.encode(played)))

    async def _order(self, order: str) -> str:
        assert self.watchers.stdin is not None
        assert self.watchers.stdout is not None
        self.watchers.stdin.write(f"{order}\n".encode())
        answer = await self.watchers.stdout.readline()
        if not answer:
            raise ChannelClosed("the watchers ended")
        return answer.decode()


async def watch(
    lexicon: Lexicon, pages: int, rounds: int, think_s: float, tell: Callable[[Watched], None]
) -> None:
    """Play rounds of three games; ``tell`` takes the figures of each game.

    Raises:
        ChannelClosed: the server or the watchers ended.
    """
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        served = await stack.enter_async_context(serving(folder, SETTINGS.format(most=pages + 10)))
        bare = await stack.enter_async_context(
            process("-m", "harness.lab.bench.bare_servers", "push")
        )
        watchers = await stack.enter_async_context(
            process("-m", "harness.lab.bench.watchers", str(pages))
        )
        assert bare.stdin is not None
        assert bare.stdout is not None
        bare_port = int(await bare.stdout.readline())
        game = Game(lexicon, think_s)
        bots = Mover(served.url, "ann", "bob", game), Mover(served.url, "bob", "ann", game)
        await stack.enter_async_context(alongside(*(bot.live() for bot in bots)))
        order = bare.stdin.write
        arena = Arena(
            served.url,
            served.pid,
            bare_port,
            bare.pid,
            lambda size: order(f"{size}\n".encode()),
            watchers,
            bots,
            game,
        )
        for _ in range(rounds):
            for kind in KINDS:
                tell(await arena.measure(kind))


def medians(games: list[Watched]) -> list[Watched]:
    """Return medians by kind of game; of overcharges the worst, of moves the sum."""
    rows = []
    for kind in KINDS:
        some = [game for game in games if game.game == kind]
        late = [game.last_ms for game in some if game.last_ms is not None]
        rows.append(
            Watched(
                game=kind,
                p50_ms=statistics.median(game.p50_ms for game in some),
                p99_ms=statistics.median(game.p99_ms for game in some),
                overcharge_ms=max(game.overcharge_ms for game in some),
                moves=sum(game.moves for game in some),
                cpu=statistics.median(game.cpu for game in some),
                last_ms=statistics.median(late) if late else None,
            )
        )
    return rows

"""From the text of a seat to a playing seat, for the games of one match or server.

Built-in players are made anew for each game in a lasting process. A user's player gets a new
process for each game, forked from a warm one, so that no state is left over: a player that
remembered the first game of a pair would know the bag of the second.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
import secrets
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import structlog
from websockets.asyncio.server import Server
from websockets.http11 import Request

from bot.equipment import Equipment, Resources
from bot.player import View
from bot.registry import SeatError, SeatSpec
from bot.seat import containment
from bot.seat.compilation import EVERY_SEAT
from bot.seat.offers import Declined
from bot.seat.runtime import software
from bot.seat.worker_handle import START_S, ForkServer, SeatProcess, try_out
from bot.seat_text import parse_seat
from engine.rules.position import Position
from engine.rules.rule_sets import load_rules
from harness.arbiter.seat import Seat
from lexicons.store import Lexicon
from protocol.channel import Channel, ChannelClosed
from protocol.intake import trusting_gate
from protocol.messages import Hello, Welcome
from protocol.websocket import WebSocketChannel, dial, listen

from .engines import Context, engine_for
from .engines.engine_seat import EngineSeat
from .engines.process import EngineFailed
from .seats import ProcessSeat, RemoteSeat, Worker, WorkerFailed, greeted

log = structlog.get_logger(__name__)

MOST_KEPT = 1_000_000
"""Characters of a player's output that are kept per game."""

FORKS = sys.platform == "linux"
"""Whether a process with our libraries in it can be forked."""

_NOT_IN_FILES = r"[^\w.+() -]"


class Reception:
    """A loopback listener that admits expected worker processes, each by its token."""

    def __init__(self) -> None:
        self.url = ""
        self._expected: dict[str, asyncio.Future[Channel]] = {}
        self._server: Server | None = None

    async def __aenter__(self) -> Reception:
        self._server = await listen("127.0.0.1", 0, self._receive, gate=trusting_gate)
        self.url = f"ws://127.0.0.1:{next(iter(self._server.sockets)).getsockname()[1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._server is not None:
            self._server.close()
            await self._server.wait_closed()

    def expect(self) -> tuple[str, asyncio.Future[Channel]]:
        """Return a new token for a process, and the future of its channel."""
        token = secrets.token_urlsafe(32)
        self._expected[token] = asyncio.get_running_loop().create_future()
        return token, self._expected[token]

    def forget(self, token: str) -> None:
        """Expect a process no longer, if it has not come."""
        self._expected.pop(token, None)

    async def _receive(self, channel: WebSocketChannel, request: Request) -> None:
        token = request.headers.get("Authorization", "").removeprefix("Bearer ")
        future = self._expected.pop(token, None)
        if future is None or future.done():
            await channel.close(1008, "forbidden")
            return
        future.set_result(channel)
        await channel.ended()


@dataclass(eq=False)
class SeatMaker:
    """Makes the seats of one player, game by game, and starts its processes."""

    spec: SeatSpec
    name: str
    equipment: Equipment
    seed: int | None = None
    """For the player's random choices; None: new."""
    reception: Reception | None = None
    """Where its processes report by WebSocket if they can; None: talk over a pipe."""
    notice: Callable[[str], None] | None = None
    kept: Path | None = None
    """Where what its player prints is kept, a file a game, with its number; None: nowhere."""
    printed: Callable[[str], None] | None = None
    """Takes what its player prints, instead of the file."""
    hidden: tuple[Path, ...] = ()
    """Files and folders of the host's that users' bots and engines must not see: journals, tokens,
    keys."""
    _idle: tuple[list[Worker], list[Worker]] = field(default_factory=lambda: ([], []))
    """Processes that wait for a game, by whether its number is even or odd."""
    _forks: bool = field(default_factory=lambda: FORKS)
    _parent: ForkServer | None = None
    _warming: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def try_out(self) -> set[str]:
        """Return the modules whose kernels a player uses, with what they import.

        Built-in players without options are not tried.

        Raises:
            SeatError: a player can't be loaded or made, found before a game needs it.
        """
        if self.spec.kind != "local":
            return set()
        modules = {EVERY_SEAT}
        if self.spec.built_in:
            modules.add(self.spec.module)
        if self.spec.options or not self.spec.built_in:
            wrong, imported = await try_out(self.spec, self.equipment, self.hidden, self.notice)
            if wrong:
                raise SeatError(wrong)
            modules.update(imported)
        return modules

    def check(self, lexicon: Lexicon) -> None:
        """Raise SeatError if an engine's options are invalid, which a game would find too late."""
        if self.spec.kind == "engine":
            engine_for(self.spec, self._context(lexicon))

    async def start_once(self, lexicon: Lexicon) -> None:
        """Start an engine, and end it; raise SeatError, with its last words, if it can't play."""
        if self.spec.kind != "engine" or self.spec.dialect == "files":
            return
        context = self._context(lexicon)
        engine, empty = engine_for(self.spec, context), Position.empty(context.rules.layout)
        try:
            await engine.start(View.of(empty, context.rules, Resources(lexicon)))
        except (Declined, EngineFailed, OSError) as error:
            raise SeatError(f"{self.name} did not start: {error}\n{engine.evidence()}") from None
        finally:
            await engine.close()

    def open(self, lexicon: Lexicon, number: int = 0) -> Seat:
        """Make the seat for a game.

        Games of even and odd ``number``, the two of a pair, share no process of a user's player.
        """
        match self.spec.kind:
            case "engine":
                self._say_what_is_contained()
                make = partial(engine_for, self.spec, self._context(lexicon, number))
                return EngineSeat(self.name, make, lexicon)
            case "remote":
                return RemoteSeat(self.name, partial(open_remote, self.spec), self.notice)
            case "guest":
                raise SeatError(f"{self.spec.text!r} dials in; a server's lobby seats it")
            case "local":
                return ProcessSeat(self.name, partial(self.worker, number))

    def _context(self, lexicon: Lexicon, number: int = 0) -> Context:
        equipment = self.equipment
        rules = load_rules(equipment.rules)
        record = _keeping(self.kept, number)
        return Context(
            self.name, equipment.lexicon, lexicon, equipment.threads, rules, self.hidden, record
        )

    async def worker(self, number: int = 0) -> Worker:
        """Return a new or waiting process, or a remote bot, that has been welcomed.

        Raises:
            ChannelClosed: it failed to start, with its last words; or can't be reached.
            OSError: no process can be started.
        """
        if self.spec.kind == "remote":
            return Worker(await open_remote(self.spec))
        idle = self._idle[0 if self.spec.built_in else number % 2]
        while idle:
            worker = idle.pop()
            if worker.returncode is None:
                return worker
            await worker.kill()
        seed = None if self.seed is None else player_seed(self.seed, self.name)
        if not self.spec.built_in:
            await asyncio.to_thread(self._say_what_is_contained)
        parent = None if self.spec.built_in else await self._warm_parent()
        # It reaches our listener if it has this machine's network.
        is_apart = not self.spec.built_in and containment.containment().apart
        reception = self.reception if self.spec.has_network or not is_apart else None
        token, coming = (None, None) if reception is None else reception.expect()
        try:
            process = await SeatProcess.start(
                self.spec,
                self.equipment,
                name=self.name,
                seed=seed,
                connect=None if reception is None else reception.url,
                token=token,
                notice=self.notice,
                printed=self.printed or _keeping(self.kept, number),
                parent=parent,
                hidden=self.hidden,
            )
            channel = await self._welcome(process, coming)
        finally:
            if reception is not None and token is not None:
                reception.forget(token)
        # Without forks a user's player stays for games that are not of the same pair.
        lasts = self.spec.built_in or (parent is None and number > 0)
        return Worker(channel, process, idle if lasts else None)

    def _say_what_is_contained(self) -> None:
        here = containment.containment()
        if self.notice is not None and not here.is_whole:
            self.notice(str(here))

    async def _warm_parent(self) -> ForkServer | None:
        async with self._warming:
            if self._forks and (self._parent is None or self._parent.returncode is not None):
                if self._parent is not None:
                    await self._parent.kill()
                try:
                    self._parent = await ForkServer.warm(self.spec, self.equipment, self.notice)
                except OSError as error:
                    log.warning("no processes are forked", seat=self.name, reason=str(error))
                    self._forks = False
            return self._parent if self._forks else None

    async def _welcome(
        self, process: SeatProcess, coming: asyncio.Future[Channel] | None
    ) -> Channel:
        async def greet() -> Channel:
            channel = process.channel if coming is None else await coming
            hello = (await channel.receive()).content
            if not isinstance(hello, Hello):
                raise ChannelClosed(f"it said {hello!r} instead of hello")
            await channel.send(Welcome(name="tilewire", software=software()))
            return channel

        ended = asyncio.ensure_future(process.wait())
        greeted = asyncio.ensure_future(greet())
        try:
            async with asyncio.timeout(START_S):
                await asyncio.wait((ended, greeted), return_when=asyncio.FIRST_COMPLETED)
            if not greeted.done():
                raise ChannelClosed("the process ended before it said hello")
            return greeted.result()
        except (ChannelClosed, TimeoutError) as error:
            await process.kill()
            raise WorkerFailed(
                f"{self.name} did not start: {error or f'it sent nothing within {START_S:.0f} s'}",
                f"exit status: {process.returncode}\nstderr:\n{process.stderr_tail.strip()}",
            ) from None
        except BaseException:  # cancelled: the game ended before its player came
            await process.kill()
            raise
        finally:
            for task in (ended, greeted):
                task.cancel()

    async def close(self) -> None:
        """End the waiting processes."""
        for idle in self._idle:
            while idle:
                await idle.pop().kill()
        if self._parent is not None:
            await self._parent.kill()


def _keeping(path: Path | None, number: int) -> Callable[[str], None] | None:
    """Return what keeps what a player prints in a game in a file of that game, if there is any."""
    if path is None:
        return None
    file, left = path.with_suffix(f".{number:05d}.log"), MOST_KEPT

    def add(text: str) -> None:
        """Append a text, if the disk takes it."""
        nonlocal left
        if left <= 0:
            return
        left -= len(text)
        if left <= 0:
            text += "\n... (the rest of what it printed in this game is not kept)\n"
        with suppress(OSError):
            file.parent.mkdir(exist_ok=True)
            with file.open("a", encoding="utf-8") as opened:
                opened.write(text)

    return add


def log_file(name: str) -> str:
    """Return the name of a player's files for what it prints, without the game's number."""
    safe = re.sub(_NOT_IN_FILES, "_", name)[:48]  # of four bytes, in a name of 255
    code = "" if safe == name else f"-{hashlib.sha256(name.encode()).hexdigest()[:8]}"
    return f"{safe}{code}.log"


def player_seed(seed: int, name: str) -> int:
    """Derive a player's seed from the match's, which decides the bag and stays secret."""
    text = f"tilewire player {name} of seed {seed}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:7], "big")


@asynccontextmanager
async def seating(
    seats: Sequence[str],
    names: Sequence[str],
    equipment: Equipment,
    lexicon: Lexicon,
    *,
    seed: int | None,
    by_websocket: bool = False,
    notice: Callable[[str], None] | None = None,
    folder: Path | None = None,
    hidden: tuple[Path, ...] = (),
) -> AsyncIterator[Callable[[int, int], Seat]]:
    """Yield a function that makes the seat of one of ``seats``, by index, for a game by number.

    Workers use a WebSocket if ``by_websocket``, else a pipe. What players print is kept in
    ``folder``, if there is one. Users' bots and engines don't see what is ``hidden``. SeatError if
    a seat's text is invalid.
    """
    async with AsyncExitStack() as stack:
        reception = await stack.enter_async_context(Reception()) if by_websocket else None
        makers = [
            SeatMaker(
                parse_seat(text),
                name,
                equipment,
                seed,
                reception,
                notice,
                folder and folder / log_file(name),
                hidden=hidden,
            )
            for text, name in zip(seats, names, strict=True)
        ]
        for maker in makers:
            maker.check(lexicon)
            stack.push_async_callback(maker.close)
        yield lambda entrant, number: makers[entrant].open(lexicon, number)


async def open_remote(spec: SeatSpec) -> Channel:
    """Dial a remote bot, as the arbiter; ChannelClosed if it can't be reached or rejects us."""
    return await greeted(await dial(spec.target), "arbiter", "tilewire")

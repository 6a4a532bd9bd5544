"""From the text of a seat to a playing seat, for the games of one match.

Built-in players are made anew for each game in a lasting process; a user's player gets a new
process for each game, so that no state is left over.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from types import TracebackType

from bot.equipment import Equipment
from bot.registry import SeatSpec
from bot.seat.runtime import software
from bot.seat.worker_handle import SeatProcess
from bot.seat_text import parse_seat
from harness.arbiter.seat import Seat
from lexicons.store import Lexicon
from protocol.channel import Channel, ChannelClosed
from protocol.messages import Hello, Welcome
from protocol.websocket import WebSocketChannel, dial

from .engines import Context, engine_for
from .engines.engine_seat import EngineSeat
from .seats import ProcessSeat, RemoteSeat, Worker, WorkerFailed, welcomed
from .worker_listener import Reception

__all__ = ["Seating", "WorkerMaker", "open_remote", "seat_for"]

START_S = 60.0
"""How long a process may take to say hello, before compiling."""


@dataclass(eq=False)
class _SeatWorker:
    """A worker process and its channel; once released, it waits in the pool for the next game."""

    process: SeatProcess
    channel: Channel
    pool: list[Worker] | None = None

    @property
    def stderr_tail(self) -> str:
        return self.process.stderr_tail

    @property
    def returncode(self) -> int | None:
        return self.process.returncode

    async def release(self) -> None:
        if self.pool is not None and self.returncode is None:
            self.pool.append(self)
        else:
            await self.kill()

    async def kill(self) -> None:
        await self.process.kill()
        await self.channel.close()


@dataclass(eq=False)
class WorkerMaker:
    """Starts the worker processes of one seat.

    Args:
        spec: the seat.
        name: its name in the game.
        equipment: the player's equipment.
        seed: for the players' random choices; None: new.
        reception: where they report by WebSocket; None: talk over a pipe.
        reuse: whether a process serves several games.
        notice: takes a sentence when a process takes long.
    """

    spec: SeatSpec
    name: str
    equipment: Equipment
    seed: int | None = None
    reception: Reception | None = None
    reuse: bool = False
    notice: Callable[[str], None] | None = None
    _idle: list[Worker] = field(default_factory=list)

    async def make(self, number: int = 0) -> Worker:
        """Return a new or waiting process, already welcomed.

        Args:
            number: of the game, which varies the seed.

        Raises:
            ChannelClosed: it failed to start; the message has its last words.
        """
        while self._idle:
            worker = self._idle.pop()
            if worker.returncode is None:
                return worker
        seed = None if self.seed is None else player_seed(self.seed, self.name, number)
        token, coming = (None, None) if self.reception is None else self.reception.expect()
        process = await SeatProcess.start(
            self.spec,
            self.equipment,
            name=self.name,
            seed=seed,
            connect=None if self.reception is None else self.reception.url,
            token=token,
            notice=self.notice,
        )
        return await self._welcome(process, process.channel if coming is None else coming)

    async def _welcome(
        self, process: SeatProcess, coming: Channel | asyncio.Future[WebSocketChannel]
    ) -> Worker:
        ended = asyncio.ensure_future(process.wait())
        hello = asyncio.ensure_future(_hello(coming))
        try:
            async with asyncio.timeout(START_S):
                await asyncio.wait((ended, hello), return_when=asyncio.FIRST_COMPLETED)
            if not hello.done():
                raise ChannelClosed("the process ended before it said hello")
            channel = hello.result()
            await channel.send(Welcome(name="tilewire", software=software()))
        except (ChannelClosed, TimeoutError) as error:
            await process.kill()
            raise WorkerFailed(
                f"{self.name} did not come up: {error or f'nothing in {START_S:.0f} s'}",
                f"exit status: {process.returncode}\nstderr:\n{process.stderr_tail.strip()}",
            ) from None
        except BaseException:  # cancelled: the game ended before its player came
            await process.kill()
            raise
        finally:
            for task in (ended, hello):
                task.cancel()
        return _SeatWorker(process, channel, self._idle if self.reuse else None)

    async def close(self) -> None:
        """End the waiting processes."""
        while self._idle:
            await self._idle.pop().kill()


async def _hello(coming: Channel | asyncio.Future[WebSocketChannel]) -> Channel:
    if isinstance(coming, asyncio.Future):
        return await coming  # the reception has read the hello
    hello = (await coming.receive()).content
    if not isinstance(hello, Hello):
        raise ChannelClosed(f"it said {hello!r} instead of hello")
    return coming


class Seating:
    """The seats of a match; enter it before the first game.

    Args:
        seats: their texts.
        names: their names in the match.
        equipment: what the match is played with.
        lexicon: its words, loaded.
        seed: the match's, for the players' random choices; None: new.
        by_websocket: whether worker processes use a WebSocket, not a pipe.
        notice: takes a sentence when a process takes long.

    Raises:
        SeatError: a seat's text is invalid.
    """

    def __init__(
        self,
        seats: tuple[str, str],
        names: tuple[str, str],
        equipment: Equipment,
        lexicon: Lexicon,
        *,
        seed: int | None = None,
        by_websocket: bool = False,
        notice: Callable[[str], None] | None = None,
    ) -> None:
        self._names = names
        self._equipment = equipment
        self._lexicon = lexicon
        self._specs = parse_seat(seats[0]), parse_seat(seats[1])
        self._reception = Reception() if by_websocket else None
        self._makers = []
        for spec, name in zip(self._specs, names, strict=True):
            if spec.kind == "engine":  # check its options now, not in mid-match
                engine_for(spec, Context(name, equipment.lexicon, lexicon, equipment.threads))
            maker = WorkerMaker(
                spec, name, equipment, seed, self._reception, reuse=spec.built_in, notice=notice
            )
            self._makers.append(maker)

    async def __aenter__(self) -> Seating:
        if self._reception is not None:
            await self._reception.open()
        return self

    async def __aexit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        for maker in self._makers:
            await maker.close()
        if self._reception is not None:
            await self._reception.close()

    def open(self, side: int, number: int) -> Seat:
        """Make a side's seat for a numbered game."""
        return seat_for(
            self._specs[side],
            self._names[side],
            self._makers[side],
            self._equipment,
            self._lexicon,
            number,
        )


def player_seed(seed: int, name: str, number: int) -> int:
    """Derive a player's seed from the match's, which decides the bag and stays secret."""
    text = f"tilewire player {name} game {number} of seed {seed}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:7], "big")


def seat_for(
    spec: SeatSpec,
    name: str,
    maker: WorkerMaker | None,
    equipment: Equipment,
    lexicon: Lexicon,
    number: int = 0,
) -> Seat:
    """Make a seat for one game.

    Args:
        spec: the player.
        name: its name.
        maker: starts processes, for a local player.
        equipment: what the game is played with.
        lexicon: its words, loaded.
        number: of the game, which varies the seed.

    Raises:
        SeatError: an engine's options are invalid.
    """
    if spec.kind == "engine":
        context = Context(name, equipment.lexicon, lexicon, equipment.threads)
        return EngineSeat(name, partial(engine_for, spec, context), lexicon)
    if spec.kind == "remote" or maker is None:
        return RemoteSeat(name, partial(open_remote, spec))
    return ProcessSeat(name, partial(maker.make, number))


async def open_remote(spec: SeatSpec) -> Channel:
    """Dial a remote bot, as the arbiter of the games to come.

    Raises:
        ChannelClosed: it can't be reached, or rejects us.
    """
    channel = await dial(spec.target)
    try:
        await channel.send(Hello(role="arbiter", name="tilewire", software=software()))
        await welcomed(channel)
    except BaseException:  # also on cancellation
        await channel.close()
        raise
    return channel

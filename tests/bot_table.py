"""An arbiter for the tests of bots: it plays whole games with the real engine, on any channel."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from msgspec import UNSET, UnsetType

from bot.player import Player
from bot.seat.connection import BotRunner
from bot.seat.player_thread import Bot
from engine.movegen.generator import legal_moves
from engine.notation.cgp import write_cgp
from engine.notation.move_text import format_exchange_count, format_move, parse_move
from engine.rules.bag import Bag, DrawStream
from engine.rules.game import Game
from engine.rules.moves import Exchange
from engine.rules.moves import Move as EngineMove
from engine.rules.position import with_seat
from engine.rules.rules import IllegalMove, Rules
from lexicons.store import Lexicon
from protocol.channel import Arrival, Channel, ChannelClosed, now_ms
from protocol.codec import MSGPACK
from protocol.errors import PeerError
from protocol.messages import (
    GameOver,
    Hello,
    Info,
    Message,
    Move,
    NewGame,
    Ping,
    Played,
    Pong,
    Ready,
    Refused,
    Resign,
    Reveal,
    Started,
    Welcome,
    YourTurn,
)
from protocol.parts import Style
from protocol.session import ArbiterSession, FromArbiter

CLOCKS = (60_000, 60_000)
M = TypeVar("M")


class MemoryChannel:
    """One end of a channel without any I/O; what is sent is encoded all the same."""

    round_trip_ms = 0

    def __init__(self, peer: str) -> None:
        self.peer = peer
        self._inbox: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._other: MemoryChannel = self
        self.take: Callable[[Arrival], None] | None = None

    @classmethod
    def pair(cls) -> tuple[MemoryChannel, MemoryChannel]:
        one, two = cls("the bot"), cls("the arbiter")
        one._other, two._other = two, one
        return one, two

    @property
    def has_more(self) -> bool:
        return not self._inbox.empty()

    def send_now(self, message: Message) -> bool:
        frame = MSGPACK.encode(message)
        assert isinstance(frame, bytes)
        self._other._inbox.put_nowait(frame)
        return True

    def hand_over(self, take: Callable[[Arrival], None] | None) -> None:
        self.take = take

    async def send(self, message: Message) -> None:
        self.send_now(message)

    async def receive(self) -> Arrival:
        frame = await self._inbox.get()
        if frame is None:
            self._inbox.put_nowait(None)
            raise ChannelClosed(f"{self.peer} is gone")
        try:
            return Arrival(MSGPACK.decode(frame), now_ms())
        except PeerError as error:
            return Arrival(error, now_ms())

    async def close(self, code: int = 1000, reason: str = "") -> None:
        self._inbox.put_nowait(None)
        self._other._inbox.put_nowait(None)


class TestArbiter:
    """One game; the bot has seat ``you``, the other seat plays the highest score."""

    __test__ = False

    def __init__(
        self, lexicon: Lexicon, rules: Rules, *, you: int = 0, seed: int = 1, game: str = "g1"
    ) -> None:
        self.name = game
        self.you = you
        self.lexicon = lexicon
        self.rules = rules
        self.infos: list[Info] = []
        self.known_style: Style | None = None
        self.deadline_ms = 60_000
        self.history: list[Played] = []
        self.session = ArbiterSession(game)
        self.attempt = 1
        self._alphabet = rules.distribution.alphabet
        secret = random.Random(seed).randbytes(32)
        bag = Bag.shuffled(rules.distribution, DrawStream(secret, (b"", b"")))
        self.state = Game.start(rules, bag)
        self.channel: Channel = MemoryChannel("nobody")

    # --- talking --------------------------------------------------------------------------------

    async def say(self, message: FromArbiter) -> None:
        match message:
            case YourTurn():
                self.attempt = message.attempt
            case Refused():
                self.attempt = message.attempt + 1
            case Played():
                self.attempt = 1
        await self.channel.send(self.session.send(message))

    async def hear(self, kind: type[M]) -> M:
        """Wait for a message of a kind; ``info`` messages before it are kept."""
        while True:
            content = (await self.channel.receive()).content
            if isinstance(content, Info | Move | Ready | Resign | Reveal):
                self.session.receive(content, self.seq, self.attempt)
            if isinstance(content, kind):
                return content
            assert isinstance(content, Info), f"{content!r} where {kind.__name__} was due"
            self.infos.append(content)

    async def in_step(self) -> None:
        """Wait until the bot has heard all that was said to it."""
        await self.channel.send(Ping(id=99))
        await self.hear(Pong)

    async def greet(
        self, channel: Channel, games: tuple[str, ...] = (), secret: str | UnsetType = UNSET
    ) -> Hello:
        self.channel = channel
        self.session = ArbiterSession(self.name)
        hello = await self.hear(Hello)
        await self.channel.send(Welcome(name="host", games=games, secret=secret))
        return hello

    # --- the game -------------------------------------------------------------------------------

    @property
    def seq(self) -> int:
        return len(self.history) + 1

    def offer(self, *, seq: int = 0, seen: int = 0) -> NewGame:
        return NewGame(
            game=self.name,
            seq=seq,
            players=("one", "two"),
            you=self.you,
            lexicon=self.lexicon.name,
            lexicon_checksum=self.lexicon.checksum,
            clocks=CLOCKS if seq else None,
            rack=self.rack if seq else None,
            history=tuple(turn for turn in self.history if turn.seq > seen),
            known_style=self.known_style,
        )

    @property
    def rack(self) -> str:
        return self._alphabet.text(self.state.position.racks[self.you])

    def question(self, attempt: int = 1) -> YourTurn:
        own = self.state.position.racks[self.you]
        shown = self.state.position.without_racks().with_rack(self.you, own)
        return YourTurn(
            game=self.name,
            seq=self.seq,
            position=write_cgp(shown, self.rules),
            rack=self.rack,
            bag=len(self.state.bag),
            clocks=CLOCKS,
            deadline_ms=self.deadline_ms,
            attempt=attempt,
        )

    def refusal(self, move: Move, code: str = "not_a_word", after_ms: int = 0) -> Refused:
        return Refused(
            game=self.name,
            seq=move.seq,
            attempt=move.attempt,
            code=code,
            message="no",
            attempts_left=2,
            deadline_ms=self.deadline_ms - after_ms,
        )

    async def begin(self) -> Ready:
        await self.say(self.offer())
        ready = await self.hear(Ready)
        bag = len(self.state.bag)
        await self.say(Started(game=self.name, seq=0, bag=bag, clocks=CLOCKS, rack=self.rack))
        return ready

    async def take_up(self, seq: int) -> None:
        """Go on with the game, with a bot that has come back."""
        await self.say(self.offer(seq=seq))
        await self.hear(Ready)

    async def ask(self) -> Move:
        await self.say(self.question())
        return await self.hear(Move)

    def make(self, move: EngineMove) -> Played:
        """Make a move; give what the bot is told of it."""
        seat = self.state.position.on_turn
        self.state = self.state.play(move, self.lexicon.graph.contains)
        made = self.state.turns[-1]
        own = seat == self.you
        text = format_move(made.move, self._alphabet)
        if isinstance(made.move, Exchange) and not own:
            text = format_exchange_count(len(made.move.tiles))
        scores = self.history[-1].scores if self.history else (0, 0)
        played = Played(
            game=self.name,
            seq=self.seq,
            seat=seat,
            move=text,
            score=made.score,
            scores=with_seat(scores, seat, made.total),
            bag=len(self.state.bag),
            clocks=CLOCKS,
            rack=self.rack if own else None,
        )
        self.history.append(played)
        return played

    def read(self, text: str) -> EngineMove:
        return parse_move(text, self.state.position.board, self._alphabet)

    async def turn(self) -> None:
        """Let one turn be taken, by the bot or by the other seat."""
        if self.state.position.on_turn == self.you:
            move = await self.ask()
            try:
                await self.say(self.make(self.read(move.move)))
            except IllegalMove as error:
                raise AssertionError(f"the bot played {move.move}: {error}") from None
        else:
            best = legal_moves(self.state.position, self.lexicon, self.rules)[0]
            await self.say(self.make(best.move))

    async def end(self) -> None:
        over = self.state.over
        await self.say(
            GameOver(
                game=self.name,
                seq=self.seq,
                outcome=over.reason if over else "resign",
                winner=None,
                scores=self.state.position.scores,
                message="over",
            )
        )

    async def play_out(self, until: Callable[[], bool] = lambda: False) -> None:
        """Play from here to the end, or until something holds."""
        while self.state.over is None and not until():
            await self.turn()
        if self.state.over is not None:
            await self.end()


def a_bot(*args: Any, **kwargs: Any) -> BotRunner:
    return BotRunner(Bot(*args, **kwargs))


@asynccontextmanager
async def seated(runner: BotRunner, table: TestArbiter) -> AsyncIterator[asyncio.Task[str]]:
    """Let a bot say hello to an arbiter; on leaving, the conversation is over."""
    ours, its = MemoryChannel.pair()
    talk = asyncio.create_task(runner.converse(its))
    await table.greet(ours)
    try:
        async with asyncio.timeout(300):
            yield talk
    finally:
        talk.cancel()
        await asyncio.gather(talk, return_exceptions=True)


@asynccontextmanager
async def begun(
    table: TestArbiter, make: Callable[[], Player], **given: Any
) -> AsyncIterator[BotRunner]:
    """Begin a game of a table with a bot."""
    runner = a_bot("b", make, **given)
    async with seated(runner, table):
        await table.begin()
        yield runner


async def caught_up(runner: BotRunner, table: TestArbiter) -> None:
    """Wait until the bot has taken in what was sent, and its player too."""
    await table.in_step()
    await asyncio.wrap_future(runner.games.on[table.name].player.thread.submit(lambda: None))

"""Bots that come, play, misbehave and leave: the public of a server that is watched for hours.

Each has a name, a token and a strength of its own. Chance decides what it does next; most of that
is honest, so that games end by the rules too.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import InitVar, dataclass, field, replace
from random import Random

from engine.movegen.generator import Generator
from engine.notation.cgp import read_cgp
from engine.notation.move_text import format_move
from engine.rules.rules import Rules, standard_rules
from lexicons.alphabet import BLANK
from lexicons.store import Lexicon
from protocol.channel import ChannelClosed
from protocol.errors import PeerError
from protocol.messages import (
    Decline,
    Error,
    GameOver,
    Goodbye,
    Info,
    Message,
    Move,
    NewGame,
    Ping,
    Ready,
    Refused,
    Resign,
    YourTurn,
)

from .client import Client

AWAY_S = 3.0
"""How long it stays away, at most."""
QUIET_S = 10.0
"""How long it stays without hearing anything: after it declines a game, its seek is over."""
ODD = 0.01
"""How often it does something odd when a game is offered, or a move asked for."""
MOST_GAMES = 40
"""In one stay."""


@dataclass(eq=False)
class Visitor:
    """A bot at a server, or on its way to it.

    Args:
        url: the server's.
        name: its own.
        token: proof of its name, for as long as the server's journal is kept.
        strength: how many of a position's moves it looks at; 0: it always passes.
        chance: decides what it does.
        lexicon: the words it knows.
    """

    url: str
    name: str
    token: str
    strength: int
    chance: Random
    lexicon: InitVar[Lexicon]
    deeds: Counter[str] = field(default_factory=Counter)
    """What it has done, by kind."""
    outcomes: Counter[str] = field(default_factory=Counter)
    """How its games ended."""
    _rules: Rules = field(default_factory=standard_rules)

    def __post_init__(self, lexicon: Lexicon) -> None:
        self._generator = Generator(lexicon, self._rules)

    async def live(self) -> None:
        """Come and go until cancelled."""
        while True:
            with suppress(ChannelClosed, PeerError, TimeoutError):
                await self._stay()
            await asyncio.sleep(self.chance.uniform(0, AWAY_S))

    async def _stay(self) -> None:
        client = await Client.login(self.url, self.name, token=self.token)
        self.deeds["came"] += 1
        try:
            for game in client.welcome.games:
                await client.resume(game, -1)
            games = len(client.welcome.games)  # it seeks others when it comes again
            if not games:
                games = self.chance.randint(1, MOST_GAMES)
                await client.seek(None, games)
            while games > 0:
                async with asyncio.timeout(QUIET_S):
                    message = await client.receive()
                await self._hear(client, message)
                games -= isinstance(message, GameOver)
                if isinstance(message, Goodbye):
                    return
        finally:
            await client.close()

    async def _hear(self, client: Client, message: Message) -> None:
        match message:
            case NewGame(game=game):
                await self._answer_offer(client, game)
            case YourTurn() as turn:
                await self._answer_turn(client, turn)
            case Refused(game=game, seq=seq, attempt=attempt):
                if self.chance.randrange(2):
                    again = Move(game=game, seq=seq, move="-", attempt=attempt + 1)
                    await client.channel.send(again)
            case GameOver(outcome=outcome):
                self.outcomes[outcome] += 1
            case Error(code=code):
                self.deeds[f"error {code}"] += 1

    async def _answer_offer(self, client: Client, game: str) -> None:
        if self.chance.random() < ODD:
            deed = self.chance.choice(("silent offer", "decline", "leave"))
            self.deeds[deed] += 1
            if deed == "decline":
                await client.channel.send(Decline(game=game, code="busy", message="not now"))
            elif deed == "leave":
                raise ChannelClosed("it leaves")
            return
        await client.channel.send(Ready(game=game, nonce="00" * 16))

    async def _answer_turn(self, client: Client, turn: YourTurn) -> None:
        if self.chance.random() < ODD:
            deed = self.chance.choice(tuple(_DEEDS))
            self.deeds[deed] += 1
            await _DEEDS[deed](client, turn)
            return
        await client.play(turn, self._choose(turn), turn.attempt)

    def _choose(self, turn: YourTurn) -> str:
        """Return the best of some of the moves that need no blank."""
        if not self.strength or turn.attempt > 1:
            return "-"
        position = read_cgp(turn.position, self._rules)
        plain = tuple(tile for tile in position.racks[0] if tile != BLANK)
        moves = self._generator.legal_moves(replace(position, racks=(plain, ())))
        if not moves:
            return "-"
        best = min(self.chance.sample(range(len(moves)), min(self.strength, len(moves))))
        return format_move(moves[best].move, self._rules.distribution.alphabet)


async def _play_illegally(client: Client, turn: YourTurn) -> None:
    for attempt in range(turn.attempt, 4):
        await client.play(turn, "8D QQQQ", attempt)


async def _resign(client: Client, turn: YourTurn) -> None:
    await client.channel.send(Resign(game=turn.game, seq=turn.seq))


async def _lose_on_time(client: Client, turn: YourTurn) -> None:
    pass


async def _leave(client: Client, turn: YourTurn) -> None:
    raise ChannelClosed("it leaves in mid-game")


async def _chatter(client: Client, turn: YourTurn) -> None:
    for number in range(50):
        await client.channel.send(Info(game=turn.game, seq=turn.seq, text="thinking"))
        await client.channel.send(Ping(id=number))
    await client.play(turn, attempt=turn.attempt)


async def _repeat(client: Client, turn: YourTurn) -> None:
    for _ in range(3):
        await client.play(turn, attempt=turn.attempt)


async def _talk_nonsense(client: Client, turn: YourTurn) -> None:
    for number in range(25):  # more than a connection may send
        await client.channel.send(Resign(game="no such game", seq=number))


_DEEDS: dict[str, Callable[[Client, YourTurn], Awaitable[None]]] = {
    "illegal": _play_illegally,
    "resign": _resign,
    "time": _lose_on_time,
    "leave": _leave,
    "chatter": _chatter,
    "repeat": _repeat,
    "nonsense": _talk_nonsense,
}
"""What it does in place of a move."""

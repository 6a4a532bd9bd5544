"""Bots that come, play, misbehave and leave: the public of a server that is watched for hours.

Each has a name, a token and a strength of its own. Chance decides what it does next; most of that
is honest, so that games end by the rules too.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import suppress
from dataclasses import InitVar, dataclass, field, replace
from random import Random

from engine.movegen.generator import Generator
from engine.notation.cgp import read_cgp
from engine.notation.move_text import format_move
from engine.rules.rules import standard_rules
from harness.lab.bench.client import Client
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

AWAY_S = 3.0
"""How long it stays away, at most."""
QUIET_S = 10.0
"""How long it stays without hearing anything: after it declines a game, its seek is over."""
ODD = 0.01
"""How often it does something odd when a game is offered, or a move asked for."""
MOST_GAMES = 40
"""In one stay."""

AT_OFFERS = ("silent offer", "decline", "leave")
AT_TURNS = ("illegal", "resign", "time", "leave", "chatter", "repeat", "nonsense")
"""What it does in place of getting ready, and of a move."""


@dataclass(eq=False)
class Visitor:
    """A bot at a server, or on its way to it."""

    url: str
    name: str
    token: str
    strength: int
    """How many of a position's moves it looks at; 0: it always passes."""
    chance: Random
    lexicon: InitVar[Lexicon]
    deeds: Counter[str] = field(default_factory=Counter)
    """What it has done, by kind."""
    outcomes: Counter[str] = field(default_factory=Counter)
    """How its games ended."""

    def __post_init__(self, lexicon: Lexicon) -> None:
        self._generator = Generator(lexicon, standard_rules())

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
        send = client.channel.send
        match message:
            case NewGame(game=game):
                deed = self._odd_deed(AT_OFFERS)
                if deed == "leave":
                    raise ChannelClosed("it leaves")
                if deed == "decline":
                    await send(Decline(game=game, code="busy", message="not now"))
                if deed is None:
                    await send(Ready(game=game, nonce="00" * 16))
            case YourTurn() as turn:
                await self._answer_turn(client, turn)
            case Refused(game=game, seq=seq, attempt=attempt):
                if self.chance.randrange(2):
                    await send(Move(game=game, seq=seq, move="-", attempt=attempt + 1))
            case GameOver(outcome=outcome):
                self.outcomes[outcome] += 1
            case Error(code=code):
                self.deeds[f"error {code}"] += 1

    def _odd_deed(self, deeds: tuple[str, ...]) -> str | None:
        """Return what it does that it should not; mostly nothing."""
        if self.chance.random() >= ODD:
            return None
        deed = self.chance.choice(deeds)
        self.deeds[deed] += 1
        return deed

    async def _answer_turn(self, client: Client, turn: YourTurn) -> None:
        send, attempt = client.channel.send, turn.attempt
        match self._odd_deed(AT_TURNS):
            case None:
                await client.play(turn, self._choose(turn), attempt)
            case "illegal":
                for number in range(attempt, 4):
                    await client.play(turn, "8D QQQQ", number)
            case "resign":
                await send(Resign(game=turn.game, seq=turn.seq))
            case "leave":
                raise ChannelClosed("it leaves in mid-game")
            case "chatter":
                for number in range(50):
                    await send(Info(game=turn.game, seq=turn.seq, text="thinking"))
                    await send(Ping(id=number))
                await client.play(turn, attempt=attempt)
            case "repeat":
                for _ in range(3):
                    await client.play(turn, attempt=attempt)
            case "nonsense":
                for number in range(25):  # more than a connection may send
                    await send(Resign(game="no such game", seq=number))

    def _choose(self, turn: YourTurn) -> str:
        """Return the best of some of the moves that need no blank."""
        if not self.strength or turn.attempt > 1:
            return "-"
        rules = self._generator.rules
        position = read_cgp(turn.position, rules)
        plain = tuple(tile for tile in position.racks[0] if tile != BLANK)
        moves = self._generator.legal_moves(replace(position, racks=(plain, ())))
        if not moves:
            return "-"
        best = min(self.chance.sample(range(len(moves)), min(self.strength, len(moves))))
        return format_move(moves[best].move, rules.distribution.alphabet)

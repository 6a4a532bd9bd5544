"""Seats in the test's own process: they pass, or wait for the test to say what they do."""

from __future__ import annotations

import asyncio

from harness.arbiter.seat import Came, Report, Said, SeatEvent
from protocol.channel import now_ms
from protocol.errors import PeerError
from protocol.messages import Info, Message, Move, NewGame, Ready, YourTurn
from protocol.parts import Belief


class Passer:
    """A seat that passes, and may say what it believes."""

    is_ours = False

    def __init__(self, name: str = "passes", belief: Belief | None = None) -> None:
        self.name = name
        self.heard: list[Message] = []
        self.belief = belief
        self._report: Report = lambda _event: None

    def start(self, report: Report) -> None:
        self._report = report
        report(Came())

    def send(self, message: Message) -> None:
        self.heard.append(message)
        match message:
            case NewGame(game=game):
                self.say(Ready(game=game))
            case YourTurn(game=game, seq=seq):
                if self.belief is not None:
                    self.say(Info(game=game, seq=seq, belief=self.belief))
                self.say(Move(game=game, seq=seq, move="-"))

    def restart(self) -> None:
        """Do nothing: it never fails."""

    def refuse(self, error: PeerError) -> None:
        """Do nothing: its messages are valid."""

    async def stop(self) -> None:
        """Do nothing: it holds no resources."""

    def say(self, message: Message) -> None:
        event: SeatEvent = Said(message, now_ms(), 0)
        self._report(event)


class Waiter(Passer):
    """A seat that does nothing by itself, once it is ready."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.turns: asyncio.Queue[YourTurn] = asyncio.Queue()

    def send(self, message: Message) -> None:
        if isinstance(message, YourTurn):
            self.turns.put_nowait(message)
        else:
            super().send(message)

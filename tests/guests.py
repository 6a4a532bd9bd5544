"""Guests of a server, which pass in all turns; they leave and come back."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from harness.lab.bench.client import Client
from protocol.channel import ChannelClosed
from protocol.messages import GameOver, Goodbye, NewGame, Ready, Seek, YourTurn


class Guest:
    """A player that dials in, as simple as the first version of the protocol allows."""

    def __init__(self, url: str, name: str, token: str | None = None) -> None:
        self.name = name
        self._token = token
        self.ends: list[GameOver] = []
        self.goodbye: Goodbye | None = None
        self.moves = asyncio.Event()
        """While this is not set, it thinks."""
        self.thinks = asyncio.Event()
        self.moves.set()
        self._url = url
        self._task: asyncio.Task[None] | None = None

    async def come(self) -> None:
        """Log in, and play what is offered from now on."""
        await self.leave()
        client = await Client.login(self._url, self.name, token=self._token)
        for game in client.welcome.games:
            await client.resume(game, -1)
        await client.channel.send(Seek(games=100))
        self._task = asyncio.create_task(self._play(client))

    async def leave(self) -> None:
        """Lose the connection."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    async def _play(self, client: Client) -> None:
        try:
            while True:
                match await client.receive():
                    case NewGame(game=game):
                        await client.channel.send(Ready(game=game, nonce="00" * 16))
                    case YourTurn() as turn:
                        self.thinks.set()
                        await self.moves.wait()
                        await client.play(turn)
                    case GameOver() as over:
                        self.ends.append(over)
                    case Goodbye() as goodbye:
                        self.goodbye = goodbye
        except ChannelClosed:
            pass  # the test has it come again
        finally:
            await client.close()

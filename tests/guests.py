"""Players who dial in to a server: guests who pass in all turns, and ann and bob."""

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


async def ann_and_bob(url: str, bobs: str | None = None) -> tuple[Client, Client]:
    """Have ann and bob log in, bob perhaps at another address, and seek each other."""
    ann, bob = await Client.login(url, "ann"), await Client.login(bobs or url, "bob")
    await ann.seek("bob")
    await bob.seek("ann")
    return ann, bob


async def two_at_a_table(url: str, bobs: str | None = None) -> tuple[Client, Client, str]:
    """Have ann and bob begin a game; return their connections and the game."""
    ann, bob = await ann_and_bob(url, bobs)
    game, _ = await asyncio.gather(ann.get_ready(), bob.get_ready())
    return ann, bob, game


async def on_turn(a: Client, b: Client) -> tuple[Client, Client, YourTurn]:
    """Return the player to move, the other, and the turn."""
    asked = {asyncio.create_task(c.expect(YourTurn)): (c, o) for c, o in ((a, b), (b, a))}
    done, waiting = await asyncio.wait(asked, return_when=asyncio.FIRST_COMPLETED)
    for task in waiting:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    task = done.pop()
    return *asked[task], task.result()

"""A bare client for measurements: a channel, a session, and arrival times."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple, TypeVar

from msgspec import UNSET, UnsetType

from harness.writing import write_file
from protocol.channel import ChannelClosed
from protocol.errors import PeerError
from protocol.messages import (
    GameOver,
    Hello,
    Message,
    Move,
    NewGame,
    Ready,
    Resume,
    Seek,
    Welcome,
    YourTurn,
)
from protocol.parts import Role
from protocol.websocket import WebSocketChannel, dial

M = TypeVar("M", bound=Message)


class Client:
    """One connection to a server."""

    def __init__(self, channel: WebSocketChannel, welcome: Welcome) -> None:
        self.channel = channel
        self.welcome = welcome
        self.at_ms = 0

    @classmethod
    async def login(
        cls,
        url: str,
        name: str,
        role: Role = "player",
        *,
        token: str | None = None,
        secret: str | UnsetType = UNSET,
    ) -> Client:
        """Connect and say hello."""
        channel = await dial(url, token=token)
        await channel.send(Hello(role=role, name=name, secret=secret))
        client = cls(channel, Welcome(name="?"))
        client.welcome = await client.expect(Welcome)
        return client

    async def receive(self) -> Message:
        """Wait for the next message; raise PeerError if it is invalid."""
        content, self.at_ms = await self.channel.receive()
        if isinstance(content, PeerError):
            raise content
        return content

    async def expect(self, kind: type[M]) -> M:
        """Wait for a message of a kind, skipping others."""
        while True:
            message = await self.receive()
            if isinstance(message, kind):
                return message

    async def seek(self, opponent: str | None, games: int = 1) -> None:
        """Ask for games, against anyone if nobody is named."""
        await self.channel.send(Seek(opponent=opponent, games=games))

    async def get_ready(self) -> str:
        """Accept the next offer; return the game's id."""
        offer = await self.expect(NewGame)
        await self.channel.send(Ready(game=offer.game, nonce="00" * 16))
        return offer.game

    async def resume(self, game: str, seen: int) -> None:
        """Ask to resume a game after event number ``seen``."""
        await self.channel.send(Resume(game=game, seen=seen))

    async def play(self, turn: YourTurn, move: str = "-", attempt: int = 1) -> None:
        """Answer a turn, by default with a pass."""
        await self.channel.send(Move(game=turn.game, seq=turn.seq, move=move, attempt=attempt))

    async def pass_to_the_end(self) -> GameOver:
        """Get ready and always pass until a game is over."""
        while True:
            match await self.receive():
                case NewGame(game=game):
                    await self.channel.send(Ready(game=game, nonce="00" * 16))
                case YourTurn() as turn:
                    await self.play(turn)
                case GameOver() as over:
                    return over

    async def close(self) -> None:
        """Close the connection."""
        await self.channel.close()


TILEWIRE = ("-c", "from tilewire import main; main()")
"""Python's arguments to run ``tilewire``."""


class Served(NamedTuple):
    """A server in a process of its own."""

    url: str
    pid: int


@asynccontextmanager
async def serving(
    folder: Path, settings: str, hear: Callable[[str], object] = lambda _line: None
) -> AsyncIterator[Served]:
    """Run ``tilewire serve`` with ``settings`` as the content of its configuration file.

    ``hear`` takes each line that the server prints once it is up.

    Raises:
        ChannelClosed: it does not come up.
    """
    config = folder / "serve.toml"
    write_file(config, settings)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, *TILEWIRE),
        *("serve", "--config", str(config), "--port", "0", "--db", str(folder / "serve.db")),
        *("--drain", "0s"),
        stderr=asyncio.subprocess.PIPE,
    )

    async def hear_all(stream: asyncio.StreamReader) -> None:
        async for line in stream:
            hear(line.decode(errors="replace").rstrip())

    assert process.stderr is not None
    output_lines: list[str] = []
    try:
        async for line in process.stderr:
            output_lines.append(line.decode(errors="replace").strip())
            if " serving on " in output_lines[-1]:
                break
        else:
            raise ChannelClosed(f"the server did not come up: {' '.join(output_lines)}")
        hearing = asyncio.create_task(hear_all(process.stderr))
        # Such as "… serving on ws://127.0.0.1:8765, page http://127.0.0.1:8765/, …".
        url = output_lines[-1].split(" serving on ")[1].split(",")[0]
        yield Served(url, process.pid)
        process.terminate()
        await hearing
    finally:
        if process.returncode is None:
            process.terminate()
            await process.wait()

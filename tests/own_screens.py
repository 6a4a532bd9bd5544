"""A screen of one's own that a test serves, and a game on it whose seats do as they are told."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from match_samples import game, match_config
from passing_seats import Waiter
from tables import words
from websockets.asyncio.client import connect
from websockets.typing import Origin, Subprotocol

from harness.arbiter.records import Draws, new_game
from harness.arbiter.scorebook import Scorebook
from harness.matches.folder import MatchFolder
from harness.matches.tournament import Tournament
from harness.server.own_screen import OwnScreen
from harness.server.web import OwnSight
from protocol.codec import JSON
from protocol.messages import Hello, Message, Watch, Welcome

LIVE, LATER = OwnSight(live=True), OwnSight(live=False, why="as this test wants it")


@dataclass
class Shown:
    """A screen that listens, and what its terminal says."""

    screen: OwnScreen
    said: list[str] = field(default_factory=list)
    cookie: str = ""

    async def ask(self, request: str, **headers: str) -> tuple[int, dict[str, str], str]:
        """Send a request as the page would, unless ``headers`` have others; give the answer."""
        host = self.screen.url.removeprefix("http://")
        sent = {"Host": host, "Origin": self.screen.url, "Cookie": self.cookie} | headers
        reader, writer = await asyncio.open_connection("127.0.0.1", int(host.split(":")[1]))
        lines = [f"{name.replace('_', '-')}: {text}" for name, text in sent.items() if text]
        writer.write("\r\n".join([f"{request} HTTP/1.1", *lines, "", ""]).encode())
        head, _, body = (await reader.read()).decode().partition("\r\n\r\n")
        writer.close()
        status, *rest = head.split("\r\n")
        return int(status.split()[1]), dict(line.split(": ", 1) for line in rest), body

    async def enter(self, code: str | None = None) -> int:
        """Type a code into the page, by default the right one; give the status."""
        code = self.screen.code.lower() if code is None else code
        status, headers, _ = await self.ask("POST /api/enter", X_Tilewire_Code=code)
        self.cookie = headers.get("Set-Cookie", "").partition(";")[0]
        return status

    async def json(self, path: str) -> Any:
        status, _, body = await self.ask(f"GET {path}")
        assert status == 200, body
        return json.loads(body)

    @asynccontextmanager
    async def watching(self, watched: str) -> AsyncIterator[Any]:
        """Follow a game as the page does; yield what gives the next message."""
        socket = await self.dial()

        async def hear() -> Message:
            async with asyncio.timeout(30):
                return JSON.decode(await socket.recv())

        await socket.send(JSON.encode(Hello(role="spectator", name="page")))
        assert isinstance(await hear(), Welcome)
        await socket.send(JSON.encode(Watch(game=watched)))
        yield hear
        await socket.close()

    async def dial(self, origin: str | None = "") -> Any:
        return await connect(
            self.screen.url.replace("http", "ws"),
            origin=None if origin is None else Origin(origin or self.screen.url),
            additional_headers={"Cookie": self.cookie} if self.cookie else None,
            subprotocols=[Subprotocol("tilewire.v1.json")],
            proxy=None,
        )

    async def begin(self, name: str = "g1") -> tuple[Waiter, Waiter, asyncio.Task[None]]:
        """Begin a game of two seats that do as they are told."""
        time = match_config().time
        opened = new_game(("ann", "bob"), words(), time, Draws.seeded(7, 1), name)
        await self.screen.journal.create(opened, {})
        seats = Waiter("ann"), Waiter("bob")
        playing = asyncio.create_task(self.screen.host(Scorebook(opened, words()), seats))
        return *seats, playing


@asynccontextmanager
async def shown(folder: Path, sight: OwnSight = LIVE) -> AsyncIterator[Shown]:
    names = "static", "monte carlo"
    config, said = match_config(names=names, lexicon_checksum=words().checksum), list[str]()
    with MatchFolder(folder) as files:
        files.append(game(1, (400, 390)))
        tournament = Tournament(config, words(), files, lambda _result: None)
        async with OwnScreen(tournament, files, words(), sight, said.append).listening() as screen:
            yield Shown(screen, said)

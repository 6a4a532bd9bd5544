"""A tournament on a server in this process, and a director who is logged in."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from guests import Guest
from match_samples import match_config

from harness.arbiter.journal import Journal
from harness.lab.bench.client import Client
from harness.matches.folder import MatchFolder
from harness.matches.pairings import Round
from harness.server.direction import Plan
from harness.server.server import MatchServer
from harness.server.tables import ServerTables, TableKind
from harness.server.tokens import Gatekeeper, KnownTokens, hash_token
from lexicons.store import load_lexicon
from protocol.messages import Direct, Error, Ping, Pong, StandingList, Standings
from protocol.parts import TimeControl


class Event:
    """A server with a tournament, and a director."""

    def __init__(self, url: str, folder: Path, director: Client) -> None:
        self.url = url
        self.folder = folder
        self.director = director
        self._guests: list[Guest] = []

    async def until(self, holds: Callable[[StandingList], object]) -> StandingList:
        """Ask how the tournament stands until that holds."""
        while True:
            listed = await self.ask(Standings())
            assert isinstance(listed, StandingList)
            if holds(listed):
                return listed
            await asyncio.sleep(0.02)

    async def ask(self, message: Standings | Direct) -> StandingList | Error:
        """Return the answer to a message; what was told before is skipped."""
        await self.director.channel.send(message)
        await self.director.channel.send(Ping(id=1))
        answer: StandingList | Error | None = None
        while not isinstance(told := await self.director.receive(), Pong):
            if isinstance(told, Error) or not isinstance(answer, Error):
                assert isinstance(told, StandingList | Error)
                answer = told
        assert answer is not None
        return answer

    async def direct(self, **act: Any) -> StandingList:
        """Direct, which must not be refused."""
        answer = await self.ask(Direct(**act))
        assert isinstance(answer, StandingList), answer
        return answer

    async def guests(self, *names: str) -> list[Guest]:
        """Have guests come."""
        guests = [Guest(self.url, name) for name in names]
        for guest in guests:
            await guest.come()
        self._guests += guests
        return guests

    async def refusal(self, **act: Any) -> Error:
        """Direct, which must be refused."""
        answer = await self.ask(Direct(**act))
        assert isinstance(answer, Error), answer
        return answer

    async def leave(self) -> None:
        """Have all guests leave."""
        for guest in self._guests:
            await guest.leave()

    def rounds(self) -> list[Round]:
        """Read which rounds were paired."""
        with MatchFolder(self.folder) as files:
            return [it for it in files.decisions if isinstance(it, Round)]


HANNAH = {"hannah": hash_token("h")}


@asynccontextmanager
async def event(
    folder: Path,
    *names: str,
    open_: bool = False,
    wait_s: float = 600,
    ready_ms: int = 20_000,
    drain_s: float = 0,
    admins: KnownTokens | None = None,
    directors: Mapping[str, str] = HANNAH,
    entrants: Mapping[str, str] | None = None,
    **terms: Any,
) -> AsyncIterator[Event]:
    """Serve a Swiss of single games, whose entrants have ``ready_ms`` to come to a game."""
    lexicon = load_lexicon()
    config = match_config(
        seats=tuple(f"guest:{name}" for name in names),
        names=names,
        games=terms.pop("games", 1),
        time=TimeControl(initial_ms=60_000, ready_ms=ready_ms),
        lexicon_checksum=lexicon.checksum,
        seed=None,
        format=terms.pop("format", "swiss"),
        concurrency=4,
        **terms,
    )
    with MatchFolder(folder) as files:
        journal = Journal(folder / "match.db")
        plan = Plan(
            config=config,
            files=files,
            directors=lambda: directors,
            is_open=open_,
            wait_s=wait_s,
            notice=print,
        )
        server = MatchServer(
            ServerTables(TableKind(lexicon=lexicon)),
            journal,
            Gatekeeper(journal, entrants=entrants),
            drain_s=drain_s,
            plan=plan,
            max_games=4,
            admins=admins,
        )
        await server.start()
        url = f"ws://127.0.0.1:{server.port}"
        there = Event(url, folder, await Client.login(url, "hannah", "director", token="h"))
        try:
            yield there
        finally:
            await there.director.close()
            await server.stop()
            await there.leave()
            journal.close()

"""A journal for what is tested without a server, a bot to lend, and clients that hang up."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from bot_table import MemoryChannel
from passing_seats import Passer
from tables import words

from harness.arbiter.journal import Journal
from harness.lab.bench.client import Client
from harness.seats.seats import Worker
from harness.server.tables import ServerTables, TableKind
from protocol.messages import Welcome
from protocol.websocket import WebSocketChannel


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    with closing(Journal(tmp_path / "games.db")) as journal:
        yield journal


@pytest.fixture
def lending() -> dict[str, Any]:
    """Options of a server that plays with a bot, and lends it where it says nothing: ``house``."""

    async def lend(_name: str) -> Worker:
        return Worker(MemoryChannel.pair()[0])

    kind = TableKind(lexicon=words(), bots={"house": lambda: Passer("house")})
    return {"offered": ServerTables(kind), "open_bot": lend}


@pytest.fixture
async def clients_hang_up(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[None]:
    """Close the connections that a test has left open, once their server is gone."""
    clients, create = list[Client](), Client.__init__

    def note(self: Client, channel: WebSocketChannel, welcome: Welcome) -> None:
        clients.append(self)
        create(self, channel, welcome)

    monkeypatch.setattr(Client, "__init__", note)
    yield
    for client in clients:
        await client.close()

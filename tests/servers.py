"""A server in the test's own process."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from functools import partial
from typing import Any, cast

import pytest
import tables
from websockets.asyncio.client import connect
from websockets.typing import Subprotocol

from harness.arbiter.database import Address
from harness.arbiter.journal import Journal
from harness.lab.bench.client import Client
from harness.server.server import MatchServer
from harness.server.tables import ServerTables
from harness.server.tokens import Gatekeeper, KnownTokens
from protocol.channel import ChannelClosed
from protocol.intake import trusting_gate
from protocol.messages import Hello, Welcome
from protocol.metered import ClientEnd
from protocol.parts import Role
from protocol.websocket import WebSocketChannel


@asynccontextmanager
async def served(
    address: Address,
    *,
    offered: ServerTables | None = None,
    known: KnownTokens | None = None,
    **options: Any,
) -> AsyncIterator[MatchServer]:
    """Run a server on a journal; close both in the end, also after an error.

    ``offered`` are its tables, by default one; ``known`` are the tokens of its players.
    """
    with closing(Journal(address)) as journal:
        keeper = Gatekeeper(journal, known)
        server = MatchServer(offered or tables.tables(), journal, keeper, drain_s=0, **options)
        await server.start()
        try:
            yield server
        finally:
            await server.stop()


def url_of(server: MatchServer) -> str:
    """Return the address that players dial."""
    return f"ws://127.0.0.1:{server.port}"


async def turned_away(
    url: str, name: str, role: Role = "player", *, why: str = "forbidden", **known: Any
) -> None:
    """Try to log in; the server has to refuse that, and say why."""
    with pytest.raises(ChannelClosed, match=why):
        await Client.login(url, name, role, **known)


async def login_from(address: str, url: str, name: str, role: Role = "player") -> Client:
    """Log in from an address of loopback."""
    connection = await connect(
        url,
        create_connection=cast("Any", partial(ClientEnd, visit=trusting_gate(url))),
        subprotocols=[Subprotocol("tilewire.v1.msgpack")],
        compression=None,
        proxy=None,
        local_addr=(address, 0),
    )
    assert isinstance(connection, ClientEnd)
    client = Client(WebSocketChannel(connection, url), Welcome(name="?"))
    await client.channel.send(Hello(role=role, name=name))
    client.welcome = await client.expect(Welcome)
    return client

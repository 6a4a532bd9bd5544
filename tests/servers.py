"""A server in the test's own process."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from typing import Any

import tables

from harness.arbiter.database import Address
from harness.arbiter.journal import Journal
from harness.server.server import MatchServer
from harness.server.tables import Tables
from harness.server.tokens import Gatekeeper, KnownTokens


@asynccontextmanager
async def served(
    address: Address,
    *,
    offered: Tables | None = None,
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

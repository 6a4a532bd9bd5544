"""A real server with a real journal, which knows no bots."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tables import tables

from harness.arbiter.journal import Journal
from harness.server.server import MatchServer
from harness.server.tokens import Gatekeeper, hash_token


@pytest.fixture
async def url(tmp_path: Path) -> AsyncIterator[str]:
    """The address of a server on which one name is claimed."""
    journal = Journal(tmp_path / "serve.db")
    await journal.claim_name("claimed", hash_token("the right one"))
    keeper = Gatekeeper(journal, None)
    server = MatchServer(tables(), journal, keeper, max_games=8, drain_s=0)
    await server.start()
    yield f"ws://127.0.0.1:{server.port}"
    await server.stop()
    journal.close()

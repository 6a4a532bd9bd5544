"""A real server with a real journal, which knows no bots."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from servers import served, url_of

from harness.server.tokens import hash_token


@pytest.fixture
async def url(tmp_path: Path) -> AsyncIterator[str]:
    """The address of a server on which one name is claimed."""
    async with served(tmp_path / "serve.db", max_games=8) as server:
        await server.journal.claim_name("claimed", hash_token("the right one"))
        yield url_of(server)

"""What several of these tests need."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio
from e2e.browsing import Opened, chromium, launched, opened
from e2e.processes import Server, serving

if TYPE_CHECKING:
    from playwright.async_api import Browser

FIXTURES = Path(__file__).parents[1] / "fixtures" / "tls"


@pytest.fixture
def certificate() -> tuple[Path, Path]:
    """A certificate for this machine that vouches for itself, and its key."""
    return FIXTURES / "localhost.pem", FIXTURES / "localhost.key"


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server for whoever needs one that is up; a name claimed there is not to be had again."""
    with serving(tmp_path_factory.mktemp("serving"), "--drain", "0s") as server:
        yield server


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    """The system's Chromium, for the tests of a module."""
    pytest.importorskip(
        "playwright.async_api", reason="playwright is not here; install it: pip install playwright"
    )
    if chromium() is None:
        pytest.skip("no Chromium is here; install it with: apt-get install chromium")
    async with launched() as browser:
        yield browser


@pytest_asyncio.fixture(loop_scope="module")
async def shown(browser: Browser) -> AsyncIterator[Opened]:
    """A page in a window of its own; the browser complains of nothing on it."""
    shown = await opened(browser)
    yield shown
    assert shown.said == []
    await shown.page.close()

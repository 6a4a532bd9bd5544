"""What several of these tests need."""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio
from e2e.browsing import BROWSERS

if TYPE_CHECKING:
    from playwright.async_api import Browser

FIXTURES = Path(__file__).parents[1] / "fixtures" / "tls"


@pytest.fixture
def certificate() -> tuple[Path, Path]:
    """A certificate for this machine that vouches for itself, and its key."""
    return FIXTURES / "localhost.pem", FIXTURES / "localhost.key"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    """The system's Chromium, for the tests of a module."""
    api = pytest.importorskip(
        "playwright.async_api", reason="playwright is not here; install it: pip install playwright"
    )
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        pytest.skip("no Chromium is here; install it with: apt-get install chromium")
    async with api.async_playwright() as playwright:
        sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = await playwright.chromium.launch(executable_path=path, args=sandbox)
        yield browser
        await browser.close()

"""Pages in a browser: what they say and ask for, and who they keep out."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from websockets.datastructures import Headers

from harness.page import Page as PageFiles

if TYPE_CHECKING:
    from playwright.async_api import Browser, Download, Page, Route

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
AXE = Path(__file__).parents[1] / "page" / "node_modules" / "axe-core" / "axe.min.js"

FILES = PageFiles.read()
ADDRESS = "http://localhost"
"""Of a page that ``serve`` answers; no server is there."""

SERIOUS_FAULTS = """
async options => (await axe.run(options)).violations
    .filter(fault => ["serious", "critical"].includes(fault.impact))
    .map(fault => [fault.id, fault.nodes.slice(0, 3).map(node => node.html)])
"""
"""Picked in the page: all that axe-core reports is long, and slow to carry out of it."""

PATIENCE_MS = 120_000
"""How long a page may take for anything: beside tests that come first it has little of a core."""

NARROWEST, PHONE, DESK = 320, 375, 1_280


def chromium() -> str | None:
    """Return where the system's Chromium is."""
    return next(filter(None, map(shutil.which, BROWSERS)), None)


async def serve(answers: Mapping[str, Any], route: Route) -> None:
    """Answer with a file of the page, or in JSON what is told by how a path ends."""
    path = route.request.url.removeprefix(ADDRESS)
    for ending, told in answers.items():
        if path.endswith(ending):
            await route.fulfill(json=told)
            return
    answer = FILES.answer(path, Headers(Accept="text/html"))
    assert answer is not None, path
    await route.fulfill(
        body=answer.text, content_type=answer.content_type, headers=dict(answer.headers)
    )


async def kept(page: Page, key: str) -> Any:
    """Return what the browser keeps."""
    return json.loads(await page.evaluate(f"localStorage['tilewire.{key}']"))


async def saved(page: Page, button: str) -> str:
    """Press a button; return the file that comes."""
    async with page.expect_download() as coming:
        await page.get_by_role("button", name=button).press("Enter")
    download: Download = await coming.value
    return await asyncio.to_thread(Path(await download.path()).read_text, encoding="utf-8")


@asynccontextmanager
async def launched() -> AsyncIterator[Browser]:
    """Run the system's Chromium."""
    from playwright.async_api import async_playwright

    async with async_playwright() as playwright:
        sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = await playwright.chromium.launch(executable_path=chromium(), args=sandbox)
        yield browser
        await browser.close()


@dataclass
class Opened:
    """A page that is open, what it said, and what it asked for."""

    page: Page
    said: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    async def go(self, url: str) -> None:
        await self.page.goto(url)

    async def shows(self, text: str) -> None:
        """Wait until the page says which turn it shows."""
        await self.page.locator(".where", has_text=text).wait_for()


async def opened(browser: Browser, width: int = DESK, **options: Any) -> Opened:
    """Open an empty page."""
    page = await browser.new_page(viewport={"width": width, "height": 800}, **options)
    page.set_default_timeout(PATIENCE_MS)
    shown = Opened(page)
    page.on("console", lambda message: shown.said.append(message.text))
    page.on("pageerror", lambda error: shown.said.append(str(error)))
    page.on("dialog", lambda dialog: shown.said.append(dialog.message))
    page.on("request", lambda request: shown.asked.append(request.url))
    page.on("websocket", lambda socket: shown.asked.append(socket.url))
    return shown


async def find_faults(page: Page) -> None:
    """Fail if axe-core finds a serious fault; in the dark only colours are different.

    It passes where axe-core is not; ``test_nobody_is_kept_out`` says how to get it.
    """
    if not AXE.exists():
        return
    await page.evaluate(AXE.read_text(encoding="utf-8"))
    for scheme in ("light", "dark"):
        await page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
        options: dict[str, list[str]] = {"resultTypes": ["violations"]}
        if scheme == "dark":
            options["runOnly"] = ["color-contrast"]
        faults = await page.evaluate(SERIOUS_FAULTS, options)
        assert faults == [], f"{scheme}: {faults}"


TOO_WIDE = """[...document.querySelectorAll(".scroll")]
    .filter((each) => each.checkVisibility() && each.scrollWidth > each.clientWidth + 1)
    .map((each) => [each.ariaLabel, each.scrollWidth, each.clientWidth])"""
"""Tables that one has to scroll sideways."""


async def check_layout(shown: Opened, *widths: int) -> None:
    """Fail if a view is wider than the window, has a serious fault, or the browser complained.

    From a phone's width on no table may be too wide for its place either.
    """
    for width in widths:
        await shown.page.set_viewport_size({"width": width, "height": 800})
        assert await shown.page.evaluate("document.documentElement.scrollWidth") <= width
        assert width < PHONE or await shown.page.evaluate(TOO_WIDE) == []
    await find_faults(shown.page)
    assert shown.said == []

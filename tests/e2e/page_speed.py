"""How many bytes the page's first view takes, and how soon it can be used.

    PYTHONPATH=.:tests .venv/bin/python -m e2e.page_speed

Each view is opened in new windows with nothing in their cache. It can be used when what it shows is
there and the browser has been idle once since. The processor time of the window's main thread until
then is the same on a busy machine.
"""

from __future__ import annotations

import asyncio
import statistics
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from e2e.browsing import launched
from e2e.test_page import Running

if TYPE_CHECKING:
    from playwright.async_api import Browser

OPENED = 7
"""Windows; medians are printed."""

WATCHED = """(() => {
  window.usable = new Promise((resolve) => {
    new MutationObserver((_, observer) => {
      if (!document.querySelector(".cards, .rounds")) return;
      observer.disconnect();
      requestIdleCallback(() => resolve(performance.now()));
    }).observe(document, { subtree: true, childList: true });
  });
})()"""

TOLD = """async () => ({
  usable: await window.usable,
  files: performance.getEntries().filter((each) => "transferSize" in each).length,
  bytes: performance.getEntries().reduce((sum, each) => sum + (each.transferSize ?? 0), 0),
})"""


async def measure() -> None:
    """Open views of a server with a past game and one that is on; print what each took."""
    with tempfile.TemporaryDirectory() as folder:
        running = Running(Path(folder) / "games.db")
        await running.start()
        past = await running.play_a_game()
        game = await running.begin()
        for _ in range(10):
            await running.play()
        views = {
            "the list": "",
            "a game that is on": f"#/game/{game}",
            "a past game": f"#/game/{past}",
        }
        async with launched() as browser:
            for name, address in views.items():
                rows = [await _open(browser, running.url(address)) for _ in range(OPENED)]
                told = {key: statistics.median(row[key] for row in rows) for key in rows[0]}
                print(
                    f"{name}: {told['bytes']:,.0f} bytes in {told['files']:.0f} files, can be used "
                    f"after {told['usable']:.0f} ms, {told['cpu']:.0f} ms of processor time"
                )
        await running.stop()


async def _open(browser: Browser, url: str) -> dict[str, float]:
    context = await browser.new_context()
    page = await context.new_page()
    await page.add_init_script(WATCHED)
    devtools = await context.new_cdp_session(page)
    await devtools.send("Performance.enable", {"timeDomain": "threadTicks"})
    await page.goto(url)
    told: dict[str, float] = await page.evaluate(TOLD)
    metrics = (await devtools.send("Performance.getMetrics"))["metrics"]
    told["cpu"] = next(each["value"] for each in metrics if each["name"] == "TaskDuration") * 1_000
    await context.close()
    return told


if __name__ == "__main__":
    asyncio.run(measure())

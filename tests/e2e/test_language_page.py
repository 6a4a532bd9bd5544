"""The page in Polish: no English is left on it, and the switch is kept."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio
from e2e.analysing import analysing
from e2e.browsing import DESK, PHONE, Opened, check_layout, opened

from harness.lab.bench.client import Client

if TYPE_CHECKING:
    from playwright.async_api import Browser

pytestmark = pytest.mark.asyncio(loop_scope="module")

GAME = Path(__file__).parents[1] / "fixtures" / "games" / "static_greedy.gcg"
LINES = 9
"""Of the game: three turns, so that their analysis takes little time."""

ENGLISH = """async () => {
  const script = document.querySelector("script").src;
  const read = async (name) => Object.values(await import(script.replace("app.js", name)))[0];
  const plain = (value) => typeof value === "string" ? [value]
    : value && typeof value === "object" ? Object.values(value).flatMap(plain) : [];
  const both = await Promise.all(["en", "pl"].map(async (tag) => {
    const areas = ["", "_casual", "_direct", "_home", "_puzzles", "_screen", "_study"];
    const files = areas.map((area) => read(`texts_${tag}${area}.js`));
    return (await Promise.all(files)).flatMap(plain);
  }));
  const [english, polish] = both.map((texts) => new Set(texts));
  const isEnglish = (text) => /[A-Z ]/.test(text) && english.has(text) && !polish.has(text)
    || /(^|[^\\p{L}])(the|of|are|is|and|with|your|can't|this|not|no)([^\\p{L}]|$)/u.test(text);
  const names = ["aria-label", "title", "placeholder", "alt"];
  const said = [...document.body.querySelectorAll("*")].flatMap((each) =>
    each.closest("script, noscript, .language") ? [] : [
      ...names.map((name) => each.getAttribute(name)),
      ...[...each.childNodes].filter(({ nodeType }) => nodeType === 3).map(({ data }) => data)]);
  return [document.title, ...said].map((text) => text?.trim() ?? "").filter(isEnglish);
}"""
"""Texts of the page, and names of its parts, that are sentences of English; words may be names."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def url(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[str]:
    async with analysing(tmp_path_factory.mktemp("language") / "games.db") as address:
        yield address


async def check_polish(shown: Opened) -> None:
    """Fail if something on the page is English, too wide, or a serious fault."""
    page = shown.page
    assert await page.evaluate(ENGLISH) == []
    assert await page.evaluate("document.documentElement.lang") == "pl"
    await check_layout(shown, PHONE, DESK)


async def test_the_language_is_the_browser_s_until_it_is_chosen(url: str, browser: Browser) -> None:
    shown = await opened(browser, locale="pl-PL")
    page = shown.page
    for view in ("", "games", "drill", "play", "review", "nothing", "direct", "puzzles"):
        await shown.go(f"{url}#/{view}")
        await page.locator("main h1").first.wait_for()
        await check_polish(shown)
    await page.locator("main a[href^='#/puzzles/']").first.click()
    for name in ("Podpowiedź", "Pokaż rozwiązanie"):
        await page.get_by_role("button", name=name).press("Enter")
    await page.get_by_text("Najlepsza gra obu stron").wait_for()
    await check_polish(shown)
    await page.get_by_role("button", name="English").press("Enter")
    await page.get_by_role("link", name="Games", exact=True).wait_for()
    await page.reload()
    await page.get_by_role("button", name="Polski").press("Enter")
    await page.get_by_role("link", name="Partie", exact=True).wait_for()
    await page.close()


async def test_a_game_in_polish(url: str, browser: Browser) -> None:
    polish = await opened(browser, locale="pl-PL")
    page = polish.page
    ann = await Client.login(url.replace("http", "ws"), "ann")
    await ann.seek(None)
    await polish.go(f"{url}#/play")
    await page.locator("#name").fill("ola")
    await page.get_by_role("button", name="Zacznij", exact=True).press("Enter")
    game = await ann.get_ready()
    passing = asyncio.create_task(ann.pass_to_the_end())
    await page.locator(".status", has_text="Twój ruch.").wait_for()
    await page.evaluate("document.querySelector('play-view').playing.move('8G QQQ')")
    await page.get_by_text(re.compile("płytek QQQ? nie ma na stojaku [A-Z?]")).first.wait_for()
    await check_polish(polish)
    await page.get_by_role("button", name="Poddaj się").press("Enter")
    await page.get_by_role("button", name="Na pewno poddać?").press("Enter")
    await page.locator(".status", has_text="Przegrywasz, 0 do 0 (poddanie).").wait_for()
    assert (await passing).game == game
    await ann.close()
    await page.get_by_role("link", name="Partia tura po turze").click()
    await page.locator("game-view .status", has_text="ann wygrywa").wait_for()
    await check_polish(polish)
    await page.close()


async def test_a_review_and_a_study_in_polish(url: str, browser: Browser) -> None:
    shown = await opened(browser, locale="pl-PL")
    page = shown.page
    await shown.go(f"{url}#/review")
    text = "\n".join([*GAME.read_text("utf-8").splitlines()[:LINES], "rubbish"])
    await page.get_by_label("Partia jako GCG").fill(text)
    await page.get_by_role("button", name="Analizuj", exact=True).press("Enter")
    await page.get_by_text("'rubbish' nie zaczyna się od").wait_for()
    await page.locator(".status", has_text="Przeanalizowano 3 tury").wait_for()
    await page.get_by_text("Najlepszy jest").first.wait_for()
    await check_polish(shown)
    await shown.go(f"{url}#/study/review/mine/2")
    await page.locator("tr[data-move]").first.wait_for()
    await page.get_by_role("button", name="Symuluj", exact=True).press("Enter")
    await page.locator(".verdict").wait_for()
    await check_polish(shown)
    await page.close()

"""The page of a report, in a browser: it asks for nothing, fits a phone, and shows the games."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from e2e.browsing import DESK, PHONE, Opened, find_faults, opened
from event_samples import HOSTILE, write_event

from harness.matches.event_report.event import read_event
from harness.matches.event_report.formats import as_html

if TYPE_CHECKING:
    from playwright.async_api import Browser

pytestmark = pytest.mark.asyncio(loop_scope="module")

NAMES = ("static", "greedy", HOSTILE, "W" * 64)


def report(folder: Path, names: Sequence[str], **terms: Any) -> Path:
    write_event(folder / "event", names, games=1, **terms)
    file = folder / "report.html"
    file.write_text(as_html(read_event(folder / "event")), encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return report(tmp_path_factory.mktemp("page"), NAMES)


@pytest.fixture(scope="module")
def begun_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report of a game that began in a position."""
    opening = f"{'/'.join(['3HOUSE7', *['15'] * 14])} AEIQ/ 20/5 1"
    return report(tmp_path_factory.mktemp("begun"), NAMES[:2], openings=(opening,))


async def shown_at(browser: Browser, file: Path, width: int = DESK, **options: Any) -> Opened:
    shown = await opened(browser, width, **options)
    await shown.go(file.as_uri())
    return shown


async def test_it_is_quiet_asks_for_nothing_and_fits(browser: Browser, page_file: Path) -> None:
    shown = await shown_at(browser, page_file)
    for width in (PHONE, DESK):
        await shown.page.set_viewport_size({"width": width, "height": 800})
        assert await shown.page.evaluate("document.documentElement.scrollWidth") <= width
        for part in await shown.page.locator("svg, .scroll, #board").all():
            box = await part.bounding_box()
            assert box is not None
            assert 0 <= box["x"] <= box["x"] + box["width"] <= width
    await find_faults(shown.page)
    assert shown.said == []
    assert shown.asked == [page_file.as_uri()]
    sizes = "[...document.querySelectorAll('td, th, p, dd')].map(e => getComputedStyle(e).fontSize)"
    assert all(float(size.removesuffix("px")) >= 12 for size in await shown.page.evaluate(sizes))
    await shown.page.close()


async def test_games_are_clicked_through_turn_by_turn(browser: Browser, page_file: Path) -> None:
    page = (await shown_at(browser, page_file)).page
    games = json.loads(await page.locator("#data").text_content() or "")["games"]
    game = games[1]
    await page.locator("#later").click()
    assert (await page.locator("#players").inner_text()).startswith("2: ")
    last = len(game["t"])
    assert await page.locator("#where").inner_text() == f"turn {last} of {last}"
    assert (await page.locator("#racks").inner_text()).endswith("0 in the bag")
    await page.locator("#first").click()
    assert await page.locator("#board .tile").count() == 0
    assert game["t"][0][0] in await page.locator("#racks").inner_text()
    tiles = 0
    for number, (_, move, score, *_) in enumerate(game["t"], start=1):
        await page.locator("#forward").click()
        laid = 0 if move.startswith("-") else len(move.split()[1].replace(".", ""))
        tiles += laid
        assert await page.locator("#board .tile").count() == tiles
        assert await page.locator("#board .fresh").count() == laid
        row = page.locator("#sheet tbody tr").nth(number - 1)
        assert await row.get_attribute("aria-current") == "true"
        assert await row.locator("td").nth(2).inner_text() == f"{score:+d}".replace("-", "−")
    assert await page.locator("#forward").is_disabled()
    await page.locator("#sheet button").first.click()
    assert await page.locator("#where").inner_text() == f"turn 1 of {last}"
    await page.locator("#game").select_option(index=5)
    assert (await page.locator("#players").inner_text()).startswith("6: ")
    assert await page.locator("#later").is_disabled()
    await page.close()


async def test_a_game_that_began_in_a_position_is_shown_from_there(
    browser: Browser, begun_file: Path
) -> None:
    page = (await shown_at(browser, begun_file)).page
    game = json.loads(await page.locator("#data").text_content() or "")["games"][0]
    assert (await page.locator("#racks").inner_text()).endswith("0 in the bag")
    await page.locator("#first").click()
    tiles = await page.locator("#board .tile").all_inner_texts()
    assert [tile[0] for tile in tiles] == [*"HOUSE"]
    racks = await page.locator("#racks").inner_text()
    assert "static 20, " in racks
    assert "greedy 5, " in racks
    assert racks.endswith("81 in the bag")
    total = page.locator("#sheet tbody tr").first.locator("td").nth(3)
    assert await total.inner_text() == str(20 + game["t"][0][2])
    await page.close()


async def test_all_but_boards_is_there_without_javascript(
    browser: Browser, page_file: Path
) -> None:
    shown = await shown_at(browser, page_file, java_script_enabled=False)
    assert await shown.page.locator("#standings tbody tr").count() == len(NAMES)
    assert await shown.page.locator("svg").count() > len(NAMES)
    assert await shown.page.get_by_text("The boards need JavaScript").is_visible()
    assert not await shown.page.locator("#viewer").is_visible()
    scripted = await shown_at(browser, page_file)
    assert await scripted.page.locator("#unscripted").count() == 0
    await scripted.page.close()
    await shown.page.close()


async def test_it_is_printed_without_what_is_for_the_mouse(
    browser: Browser, page_file: Path
) -> None:
    page = (await shown_at(browser, page_file, 718)).page  # A4 within its margins
    await page.emulate_media(media="print")
    assert await page.locator(".controls:visible, nav:visible").count() == 0
    assert await page.locator("#board").is_visible()
    for table in await page.locator("table:visible").all():
        box = await table.bounding_box()
        assert box is not None
        assert box["x"] + box["width"] <= 718 + 1, "no table is cut"
    assert (await page.pdf(format="A4")).startswith(b"%PDF-")
    await page.close()

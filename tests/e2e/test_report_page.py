"""The page of a report, in a browser: it asks for nothing, fits a phone, and shows the games."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from e2e.browsing import PATIENCE_MS, chromium
from event_samples import HOSTILE, write_event

from harness.matches.event_report.event import read_event
from harness.matches.event_report.formats import as_html

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

NAMES = ("static", "greedy", HOSTILE, "W" * 64)


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("page")
    write_event(folder / "event", NAMES, games=1)
    file = folder / "report.html"
    file.write_text(as_html(read_event(folder / "event")), encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def begun_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report of a game that began in a position."""
    folder = tmp_path_factory.mktemp("begun")
    opening = f"{'/'.join(['3HOUSE7', *['15'] * 14])} AEIQ/ 20/5 1"
    write_event(folder / "event", NAMES[:2], games=1, openings=(opening,))
    file = folder / "report.html"
    file.write_text(as_html(read_event(folder / "event")), encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def browser(page_file: Path, begun_file: Path) -> Iterator[Browser]:
    """Start Chromium, after the journals were written: its thread then has an event loop."""
    assert page_file.exists()
    assert begun_file.exists()
    api = pytest.importorskip(
        "playwright.sync_api", reason="playwright is not here; install it: pip install playwright"
    )
    path = chromium()
    if path is None:
        pytest.skip("no Chromium is here; install it with: apt-get install chromium")
    with api.sync_playwright() as playwright:
        sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=path, args=sandbox)
        yield browser
        browser.close()


@dataclass
class Open:
    """A page that is open, what it said, and what it asked for."""

    page: Page
    said: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)


def opened(browser: Browser, file: Path, width: int = 1_280, javascript: bool = True) -> Open:
    page = browser.new_page(
        viewport={"width": width, "height": 800}, java_script_enabled=javascript
    )
    page.set_default_timeout(PATIENCE_MS)
    shown = Open(page)
    page.on("console", lambda message: shown.said.append(message.text))
    page.on("pageerror", lambda error: shown.said.append(str(error)))
    page.on("dialog", lambda dialog: shown.said.append(dialog.message))
    page.on("request", lambda request: shown.asked.append(request.url))
    page.goto(file.as_uri())
    return shown


@pytest.mark.parametrize("width", [375, 1_280])
def test_it_is_quiet_asks_for_nothing_and_fits(
    browser: Browser, page_file: Path, width: int
) -> None:
    shown = opened(browser, page_file, width)
    assert shown.said == []
    assert shown.asked == [page_file.as_uri()]
    assert shown.page.evaluate("document.documentElement.scrollWidth") <= width
    for part in shown.page.locator("svg, .scroll, #board").all():
        box = part.bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
    sizes = "[...document.querySelectorAll('td, th, p, dd')].map(e => getComputedStyle(e).fontSize)"
    assert all(float(size.removesuffix("px")) >= 12 for size in shown.page.evaluate(sizes))
    shown.page.close()


def test_games_are_clicked_through_turn_by_turn(browser: Browser, page_file: Path) -> None:
    page = opened(browser, page_file).page
    games = json.loads(page.locator("#data").text_content() or "")["games"]
    game = games[1]
    page.locator("#later").click()
    assert page.locator("#players").inner_text().startswith("2: ")
    last = len(game["t"])
    assert page.locator("#where").inner_text() == f"turn {last} of {last}"
    assert page.locator("#racks").inner_text().endswith("0 in the bag")
    page.locator("#first").click()
    assert page.locator("#board .tile").count() == 0
    assert game["t"][0][0] in page.locator("#racks").inner_text()
    tiles = 0
    for number, (_, move, score, *_) in enumerate(game["t"], start=1):
        page.locator("#forward").click()
        laid = 0 if move.startswith("-") else len(move.split()[1].replace(".", ""))
        tiles += laid
        assert page.locator("#board .tile").count() == tiles
        assert page.locator("#board .fresh").count() == laid
        row = page.locator("#sheet tbody tr").nth(number - 1)
        assert row.get_attribute("aria-current") == "true"
        assert row.locator("td").nth(2).inner_text() == f"{score:+d}".replace("-", "−")
    assert page.locator("#forward").is_disabled()
    page.locator("#sheet button").first.click()
    assert page.locator("#where").inner_text() == f"turn 1 of {last}"
    page.locator("#game").select_option(index=5)
    assert page.locator("#players").inner_text().startswith("6: ")
    assert page.locator("#later").is_disabled()
    page.close()


def test_a_game_that_began_in_a_position_is_shown_from_there(
    browser: Browser, begun_file: Path
) -> None:
    page = opened(browser, begun_file).page
    game = json.loads(page.locator("#data").text_content() or "")["games"][0]
    assert page.locator("#racks").inner_text().endswith("0 in the bag")
    page.locator("#first").click()
    assert page.locator("#board .tile").all_inner_texts() == [
        "H\n4",
        "O\n1",
        "U\n1",
        "S\n1",
        "E\n1",
    ]
    racks = page.locator("#racks").inner_text()
    assert "static 20, " in racks
    assert "greedy 5, " in racks
    assert racks.endswith("81 in the bag")
    total = page.locator("#sheet tbody tr").first.locator("td").nth(3)
    assert total.inner_text() == str(20 + game["t"][0][2])
    page.close()


def test_all_but_boards_is_there_without_javascript(browser: Browser, page_file: Path) -> None:
    shown = opened(browser, page_file, javascript=False)
    assert shown.page.locator("#standings tbody tr").count() == len(NAMES)
    assert shown.page.locator("svg").count() > len(NAMES)
    assert shown.page.get_by_text("The boards need JavaScript").is_visible()
    assert not shown.page.locator("#viewer").is_visible()
    assert opened(browser, page_file).page.locator("#unscripted").count() == 0
    shown.page.close()


def test_it_is_printed_without_what_is_for_the_mouse(browser: Browser, page_file: Path) -> None:
    page = opened(browser, page_file, width=718).page  # A4 within its margins
    page.emulate_media(media="print")
    assert page.locator(".controls:visible, nav:visible").count() == 0
    assert page.locator("#board").is_visible()
    for table in page.locator("table:visible").all():
        box = table.bounding_box()
        assert box is not None
        assert box["x"] + box["width"] <= 718 + 1, "no table is cut"
    assert page.pdf(format="A4").startswith(b"%PDF-")
    page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_in_light_and_dark(browser: Browser, page_file: Path, scheme: str) -> None:
    page = browser.new_page(color_scheme="dark" if scheme == "dark" else "light")
    page.set_default_timeout(PATIENCE_MS)
    page.goto(page_file.as_uri())
    contrast = """() => {
      const light = (text) => {
        const parts = text.match(/[\\d.]+/g).slice(0, 3).map((part) => part / 255)
          .map((part) => part <= .03928 ? part / 12.92 : ((part + .055) / 1.055) ** 2.4);
        return .2126 * parts[0] + .7152 * parts[1] + .0722 * parts[2];
      };
      const behind = (element) => {
        for (let at = element; at; at = at.parentElement) {
          const colour = getComputedStyle(at).backgroundColor;
          if (!colour.startsWith("rgba")) return colour;
        }
        return "rgb(255, 255, 255)";
      };
      const ratios = [...document.querySelectorAll(
        "p, th, td, a, summary, dt, figcaption, svg text, #board > div"
      )].filter((element) => element.textContent).map((element) => {
        const style = getComputedStyle(element);
        const colour = element instanceof SVGElement ? style.fill : style.color;
        const [one, other] = [light(colour), light(behind(element))];
        return (Math.max(one, other) + .05) / (Math.min(one, other) + .05);
      });
      return Math.min(...ratios);
    }"""
    assert page.evaluate(contrast) >= 4.5, "as WCAG has it for text"
    page.close()

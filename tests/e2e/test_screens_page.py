"""What is seen of the page at once, on screens of all sizes; its keys, colours and copies."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio
from e2e.browsing import DESK, Opened, find_faults, opened
from e2e.test_page import STANDINGS, Running

from engine.notation.cgp import read_cgp
from engine.rules.rules import standard_rules

if TYPE_CHECKING:
    from playwright.async_api import Browser, Locator, Page, Route

pytestmark = pytest.mark.asyncio(loop_scope="module")

PLAYED = 9
"""Turns of the game that is on."""
THUMB = 44
"""Least height and width of what a thumb presses, in CSS pixels."""
DARK, LIGHT = "rgb(20, 23, 26)", "rgb(255, 255, 255)"
GROUND = "getComputedStyle(document.body).backgroundColor"

PRESSED = """[...document.querySelectorAll("button, select, :is(nav, .links, .ply) a, .home")]
  .filter((each) => each.checkVisibility()).map((each) => {
    const { width, height } = (each.closest(".ply")?.parentElement ?? each).getBoundingClientRect();
    return [each.textContent, width, height];
  })"""
"""What is pressed on the page, and how large it is; in a sheet all of a turn's place is pressed."""


class Watched(Running):
    """A server with a game that is over, and one that is on."""

    past = live = ""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def running(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Watched]:
    server = Watched(tmp_path_factory.mktemp("screens") / "games.db")
    await server.start()
    server.past = await server.begin()
    for turn in range(PLAYED + 6):
        await server.play(None if turn < PLAYED else "-")
    await server.finish()
    server.live = await server.begin()
    for _ in range(PLAYED):
        await server.play()
    yield server
    for player in server.players:
        await player.close()
    await server.stop()


async def watch(browser: Browser, url: str, width: int, height: int, **options: Any) -> Opened:
    """Open a game in a window of that size."""
    shown = await opened(browser, width, **options)
    await shown.page.set_viewport_size({"width": width, "height": height})
    await shown.go(url)
    await shown.page.locator("tile-board .tile").first.wait_for()
    return shown


async def is_seen(page: Page, place: Locator) -> bool:
    """Whether all of something is in the window, without scrolling."""
    box, size = await place.bounding_box(), page.viewport_size
    assert box is not None
    assert size is not None
    return (
        box["x"] >= 0
        and box["y"] >= 0
        and box["x"] + box["width"] <= size["width"]
        and box["y"] + box["height"] <= size["height"]
    )


@pytest.mark.parametrize(("width", "height"), [(DESK, 800), (1_920, 1_080)])
async def test_all_that_matters_of_a_game_is_seen_at_once(
    running: Watched, browser: Browser, width: int, height: int
) -> None:
    for game, last in ((running.past, PLAYED + 6), (running.live, PLAYED)):
        shown = await watch(browser, running.url(f"#/game/{game}"), width, height)
        page = shown.page
        await page.get_by_role("button", name="Graphs").wait_for()
        places = [page.locator("tile-board"), page.get_by_role("button", name="CGP")]
        places += [
            page.locator(f".{name}").nth(seat) for name in ("score", "clock") for seat in (0, 1)
        ]
        places += [page.locator(".rounds a").nth(turn) for turn in (last - 2, last - 1)]
        if game == running.past:
            places += [page.locator(".rack").nth(seat) for seat in (0, 1)]
            places += [page.get_by_role("link", name="The game as GCG")]
        for place in places:
            assert await is_seen(page, place), str(place)
        board = await page.locator("tile-board").bounding_box()
        assert board is not None
        assert board["height"] >= 0.85 * height, "it takes the height that there is"
        assert await page.locator(".rounds tbody tr").count() == (last + 1) // 2, "a row a round"
        await page.get_by_role("button", name="Graphs").press("Enter")
        assert await is_seen(page, page.locator("turn-graph svg").first)
        assert shown.said == []
        await page.close()


async def test_with_everything_twice_as_large_the_board_is_seen_whole(
    running: Watched, browser: Browser
) -> None:
    shown = await watch(browser, running.url(f"#/game/{running.live}"), DESK // 2, 400)
    page = shown.page
    assert await is_seen(page, page.locator(".score").nth(1))
    await page.locator("tile-board").scroll_into_view_if_needed()
    assert await is_seen(page, page.locator("tile-board"))
    assert await page.evaluate("document.documentElement.scrollWidth") <= DESK // 2
    await page.close()


async def test_a_thumb_meets_what_it_presses(running: Watched, browser: Browser) -> None:
    url = running.url(f"#/game/{running.past}")
    shown = await watch(browser, url, 390, 844, has_touch=True, is_mobile=True)
    page = shown.page
    await page.get_by_role("link", name="The game as GCG").wait_for()
    small = [each for each in await page.evaluate(PRESSED) if min(each[1:]) < THUMB]
    assert small == []
    tops = "[...document.querySelectorAll('.controls button')].map((it) => it.offsetTop)"
    assert len(set(await page.evaluate(tops))) == 1, "the steps are in one row"
    for place in (page.locator("tile-board"), page.get_by_role("button", name="One turn back")):
        assert await is_seen(page, place)
    assert await page.evaluate("document.documentElement.scrollWidth") <= 390
    turn = page.locator(".rounds td").nth(3)
    await turn.scroll_into_view_if_needed()  # a tap while the page scrolls may only end that
    await turn.tap()
    await shown.shows("turn 4 of")
    await find_faults(page)
    await page.close()


async def test_a_question_mark_shows_the_keys_of_the_view(
    running: Watched, browser: Browser
) -> None:
    shown = await watch(browser, running.url(f"#/game/{running.past}/5"), DESK, 800)
    page = shown.page
    await page.locator(".rounds a").first.focus()
    await page.keyboard.press("?")
    dialog = page.get_by_role("dialog", name="Keys")
    await dialog.get_by_text("One turn back or forward.").wait_for()
    await find_faults(page)
    await page.keyboard.press("ArrowLeft")
    await page.keyboard.press("Escape")
    await dialog.wait_for(state="hidden")
    assert await page.locator(".where").inner_text() == f"turn 5 of {PLAYED + 6}", "it stays"
    await page.keyboard.press("Enter")
    await shown.shows("turn 1 of")
    await page.get_by_role("button", name="Keys of this view").click()
    await dialog.get_by_role("button", name="Close").click()
    await shown.go(running.url("#/ladder"))
    await page.get_by_role("heading", name="Ladder").wait_for()  # its keys, not the game's
    await page.keyboard.press("?")
    await dialog.get_by_text("no keys of its own").wait_for()
    await page.close()


async def test_colours_are_chosen_and_kept(running: Watched, browser: Browser) -> None:
    context = await browser.new_context(color_scheme="light")
    page, other = await context.new_page(), await context.new_page()
    for each in (page, other):
        await each.goto(running.url("#/games"))
        assert await each.evaluate(GROUND) == LIGHT
    await page.get_by_label("Colours").select_option("Dark")
    assert await page.evaluate(GROUND) == DARK
    await other.locator("html[style*=dark]").wait_for()
    assert await other.evaluate(GROUND) == DARK
    await page.reload()
    assert await page.evaluate(GROUND) == DARK
    assert await page.get_by_label("Colours").input_value() == "dark"
    await page.emulate_media(color_scheme="dark")
    await page.get_by_label("Colours").select_option("Light")
    assert await page.evaluate(GROUND) == LIGHT
    await page.get_by_label("Colours").select_option("")
    assert await page.evaluate(GROUND) == DARK
    await context.close()
    bare = await browser.new_page()
    await bare.add_init_script(
        "Object.defineProperty(window, 'localStorage', { get() { throw new Error('none') } })"
    )
    await bare.goto(running.url("#/games"))
    await bare.get_by_label("Colours").select_option("Dark")
    assert await bare.evaluate(GROUND) == DARK, "also where nothing is kept"
    await bare.close()


async def test_a_game_a_position_and_a_link_are_copied(running: Watched, browser: Browser) -> None:
    rights = ["clipboard-read", "clipboard-write"]
    shown = await watch(
        browser, running.url(f"#/game/{running.past}/5"), DESK, 800, permissions=rights
    )
    page = shown.page
    copies = page.get_by_role("group", name="Copy")
    copied: dict[str, str] = {}
    for name in ("GCG", "CGP", "Link"):
        await copies.get_by_role("button", name=name).press("Enter")
        await copies.get_by_text("Copied.").wait_for()
        copied[name] = await page.evaluate("navigator.clipboard.readText()")
        await page.evaluate("navigator.clipboard.writeText('')")
    async with asyncio.timeout(30):
        answer = await page.request.get(running.url(f"api/games/{running.past}.gcg"))
    assert copied["GCG"] == await answer.text()
    position = read_cgp(copied["CGP"], standard_rules())
    assert position is not None
    assert copied["Link"] == running.url(f"#/game/{running.past}/5")
    await page.close()
    shown = await opened(browser)
    page = shown.page
    await page.add_init_script(
        "Object.defineProperty(navigator, 'clipboard', { value: undefined })"
    )
    await shown.go(running.url(f"#/game/{running.live}"))
    assert await page.get_by_role("button", name="GCG").count() == 0, "the game is on"
    await page.get_by_role("button", name="CGP").click()
    await page.get_by_text("The text is selected here").wait_for()
    selected = await page.evaluate("getSelection().toString()")
    assert " / " in selected, "racks are hidden"
    await page.close()


async def test_standings_have_byes_rounds_and_games_or_say_that_there_are_none(
    running: Watched, shown: Opened
) -> None:
    page = shown.page
    await shown.go(running.url("#/standings"))
    await page.get_by_text("no tournament is played on this server").wait_for()

    async def tell(route: Route) -> None:
        rows = [STANDINGS["rows"][0] | {"byes": 1}]
        await route.fulfill(json=STANDINGS | {"round": 3, "rows": rows})

    await page.route("**/api/standings**", tell)
    await shown.go("about:blank")
    await shown.go(running.url("#/standings/2"))
    await page.get_by_role("columnheader", name="Byes").wait_for()
    await page.get_by_text("half a point a game").wait_for()
    assert await page.locator("a[href='#/game/g']").count() == 1
    assert await page.locator("a[href^='#/standings/']").count() == 3
    shown.said.clear()  # of standings that there are none

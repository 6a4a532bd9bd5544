"""The study on the page: a position set up, looked at, played on, kept and sent on, and a game."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio
from e2e.analysing import analysing
from e2e.browsing import Opened, find_faults, opened, saved
from guests import ann_and_bob

from harness.lab.puzzles import read_files
from harness.page import FOLDER

if TYPE_CHECKING:
    from playwright.async_api import Browser, Page, Route, WebSocketRoute

pytestmark = pytest.mark.asyncio(loop_scope="module")

PHONE = 390
GAME = Path(__file__).parents[1] / "fixtures" / "games" / "static_greedy.gcg"
CATS = "15/15/15/15/15/15/15/7CATS4/15/15/15/15/15/15/15 EGILNVW/ 0/0 0"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def url(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[str]:
    async with analysing(tmp_path_factory.mktemp("study") / "games.db", "super") as address:
        yield address


async def press(page: Page, name: str) -> None:
    await page.get_by_role("button", name=name, exact=True).press("Enter")


async def linked(page: Page) -> str:
    await press(page, "Copy link")
    return await page.get_by_label("The link to this position").input_value()


async def rack(page: Page, seat: int, tiles: str) -> None:
    await page.locator(f"[data-rack='{seat}']").fill(tiles)


async def tiles_of(page: Page) -> list[str]:
    return await page.locator("tile-board .tile").all_inner_texts()


async def listed(page: Page) -> list[str]:
    """Wait for the list of moves; return those that it shows."""
    await page.locator("tr[data-move]").first.wait_for()
    return await page.locator("tr[data-move] th").all_inner_texts()


async def paste(page: Page, text: str) -> None:
    """Open a text; there is no study yet."""
    await page.get_by_label("A game as GCG").fill(text)
    await press(page, "Open")


async def simulated(page: Page) -> None:
    """Wait until the simulation that began by itself is over."""
    await page.get_by_text("), up to ").wait_for()


async def drag(page: Page, tile: str, to: str) -> None:
    await page.locator(tile).hover()
    await page.mouse.down()
    await page.locator(to).hover()
    await page.mouse.up()


@dataclass
class Between:
    """Stands between a page and the server: notes what is asked for, and may answer itself."""

    answers: dict[str, dict[str, Any]] = field(default_factory=dict)
    """By the kind of a request; others are passed on."""
    asked: list[str] = field(default_factory=list)

    def connect(self, page: WebSocketRoute) -> None:
        server = page.connect_to_server()

        def hear(text: str | bytes) -> None:
            told = json.loads(text)
            self.asked.append(told["type"])
            if answer := self.answers.get(told["type"]):
                page.send(json.dumps({"id": told["id"], **answer}))
            else:
                server.send(text)

        page.on_message(hear)


async def elsewhere(browser: Browser, url: str, **options: Any) -> Page:
    """Open an address in another context, where the browser keeps nothing yet."""
    shown = await opened(browser, **options)
    await shown.go(url)
    return shown.page


@pytest_asyncio.fixture(loop_scope="module")
async def page(url: str, shown: Opened) -> Page:
    """A page where a study may begin."""
    await shown.go(f"{url}#/study")
    return shown.page


async def test_a_whole_study_by_keyboard(
    url: str, page: Page, shown: Opened, browser: Browser
) -> None:
    await press(page, "Empty board")
    await page.keyboard.type("WO")
    await page.keyboard.press("Shift+R")
    await page.keyboard.type("DXS")
    for key in ("ArrowLeft", "Backspace", "ArrowLeft", "Delete", "s"):
        await page.keyboard.press(key)
    await rack(page, 0, "egilnvw")
    await press(page, "Set up the board")
    assert any("WEL(D)ING" in move for move in await listed(page))
    await simulated(page)
    assert await page.locator("tr[data-move] .figure").count() > 4
    await page.get_by_label("Filter").fill("k5 ing >30")
    assert await listed(page) == ["K5 WEL(D)ING"]
    await page.get_by_label("Filter").fill("")
    for name in ("Compare K5 WEL(D)ING", "Compare I7 V(O)W"):
        await page.get_by_role("checkbox", name=name, exact=True).press("Space")
    await press(page, "Compare the ticked")
    figures = page.locator("tr[data-move]:not(.busy) .figure")
    await figures.nth(4).wait_for(state="detached")  # the first simulation's are there till then
    await figures.nth(3).wait_for()
    await simulated(page)
    await page.get_by_text("The best is ").wait_for()
    await press(page, "Longer: 8 s")
    await page.get_by_text("up to 8 seconds").wait_for()
    assert await page.locator("tr[data-move]:not(.busy) .figure").count() == 4
    await press(page, "Simulate")
    await page.get_by_text("up to 4 seconds").wait_for()
    assert await page.locator("tr[data-move] .figure").count() > 4
    first = page.locator("tr[data-move] button").first
    await first.press("Enter")
    assert await page.locator("move-entry .placed").count() > 1, "it is seen first"
    await first.press("Enter")
    assert await page.evaluate("document.activeElement.role") == "gridcell"

    await rack(page, 1, "AEINRST")
    await listed(page)
    await page.locator("move-entry [role=gridcell][tabindex='0']").focus()
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("ArrowRight")
    await page.keyboard.press("Control+ArrowLeft")
    await (
        page.get_by_role("button", name="Start", exact=True)
        .and_(page.locator("[aria-current]"))
        .wait_for()
    )
    await page.keyboard.press("Control+End")
    await press(page, "One move on")
    await page.get_by_label("Move", exact=True).fill("11K GAIN")
    await page.keyboard.press("Enter")
    await page.locator("study-line button", has_text="11K (G)AIN").wait_for()
    await press(page, "One move back")
    await page.get_by_label("Move", exact=True).fill("-AE")
    await page.keyboard.press("Enter")
    await page.locator("study-line [aria-current]", has_text="exchanges AE").wait_for()
    await page.get_by_label("Note", exact=True).fill("Why not?\n~ Indeed.")
    await page.get_by_role("button", name="One move back").focus()
    await page.keyboard.press("Control+z")
    assert await page.get_by_label("Note", exact=True).input_value() == ""
    await page.keyboard.press("Control+Shift+z")
    assert await page.get_by_label("Note", exact=True).input_value() == "Why not?\n~ Indeed."
    text, link = await saved(page, "Save as GCG"), await linked(page)
    assert "#note ~1 Second: -AE +0 INRST" in text
    tiles = await tiles_of(page)
    await find_faults(page)
    await page.reload()
    await page.locator("study-line button", has_text="exchanges AE").wait_for()
    assert await saved(page, "Save as GCG") == text, "the browser kept it"
    assert {asked.split("/")[2] for asked in shown.asked if "://" in asked} == {url.split("/")[2]}
    await check_elsewhere(browser, link, text, tiles)


async def check_elsewhere(browser: Browser, link: str, text: str, tiles: list[str]) -> None:
    """Open a study by its link in another browser."""
    other = await elsewhere(browser, link)
    await other.locator("study-line [aria-current]", has_text="exchanges AE").wait_for()
    assert await tiles_of(other) == tiles
    assert await saved(other, "Save as GCG") == text


async def test_a_study_by_touch(url: str, browser: Browser) -> None:
    options: dict[str, Any] = {"width": PHONE, "has_touch": True, "is_mobile": True}
    page = await elsewhere(browser, f"{url}#/study", **options)
    await page.get_by_role("button", name="Empty board").tap()
    assert await page.evaluate("scrollY") == 0
    for tile in ("C, 2 left", "A, 9 left", "blank, 2 left"):
        await page.get_by_role("button", name=tile).tap()
    await page.get_by_role("button", name="T", exact=True).tap()
    await rack(page, 0, "EGILNVW")
    await page.get_by_role("button", name="Set up the board").tap()
    await listed(page)
    await simulated(page)
    for nth in (0, 1):
        await page.locator("tr[data-move] button").nth(nth).tap()
        await page.locator("moves-list .controls button", has_text="Play ").tap()
        await page.get_by_role("button", name="One move back").tap()
    assert await page.locator("study-line .variation button").count() == 1
    await page.locator("move-entry [data-at='112']").tap()
    await page.get_by_text("is a word").wait_for()
    assert await page.evaluate("document.documentElement.scrollWidth") <= PHONE
    await find_faults(page)


async def test_a_game_is_entered_with_a_phony_and_reviewed(page: Page) -> None:
    await press(page, "Enter a game")
    await page.get_by_label("Name of player 1").fill("Ann Berg")
    await rack(page, 0, "ADEORSW")
    for move in "8D WORDS", "H8 (S)QX":
        await page.get_by_label("Move", exact=True).fill(move)
        await page.keyboard.press("Enter")
    await page.get_by_text("SQX is not a word").wait_for()
    await page.get_by_label("Clock of Second").fill("21:03")
    await page.keyboard.press("Enter")
    await page.get_by_label("Then").select_option(label="a phony: it comes off")
    await press(page, "Add")
    await rack(page, 0, "ABCDEFGH")
    await page.get_by_label("Move", exact=True).fill("-A")
    await page.keyboard.press("Enter")
    await page.get_by_text("8 tiles on a rack; it holds 7.").nth(1).wait_for()
    await rack(page, 0, "AEGILNV")
    for move in "-GV", "8D (WORDS)X", "8D (WORDS)", "-":
        await page.get_by_label("Move", exact=True).fill(move)
        await page.keyboard.press("Enter")
    text = await saved(page, "Save as GCG")
    events = [line for line in text.splitlines() if line[0] == ">"]
    assert events[:4] == [
        ">Ann_Berg: ADEORSW 8D WORDS +26 26",
        ">Second: QX H8 .QX +19 19",
        ">Second: QX -- -19 0",
        ">Ann_Berg: AEGILNV -GV +0 26",
    ]
    assert "#note ~clock 21:03" in text
    await press(page, "Review this game")
    await page.get_by_text("turns analysed").wait_for()
    assert await page.evaluate("location.hash") == "#/review/mine"
    await page.get_by_role("link", name="Turn 4", exact=True).press("Enter")
    tells = page.locator("turn-review h3", has_text="What the last play tells")
    await press(page, "What the last play tells of the other rack")
    await tells.wait_for()
    await page.locator("turn-review").get_by_role("link", name="Study").press("Enter")
    await page.locator("study-line [aria-current]", has_text="3. ").wait_for()
    assert await saved(page, "Save as GCG") == text


async def test_what_cant_be_is_said_and_nothing_is_lost(url: str, shown: Opened) -> None:
    page = shown.page
    refuse = "Storage.prototype.setItem = () => { throw new Error('full'); };"
    await page.add_init_script(refuse)
    await shown.go(f"{url}#/study/9.AAAA")
    await page.locator(".banner", has_text="another version").wait_for()
    await shown.go(f"{url}#/study")
    await page.set_viewport_size({"width": PHONE, "height": 844})
    await paste(page, "#player1 a\n>a: CAT 8X")
    await page.locator(".banner", has_text="can't be opened").wait_for()
    assert await page.get_by_label("A game as GCG").input_value() == "#player1 a\n>a: CAT 8X"
    await paste(page, CATS.replace("15/15/15 EGI", "9ZZ4/15/15 EGI"))
    await page.locator(".banner", has_text="keeps nothing").wait_for()
    assert await page.locator("board-setup .fault").count() == 2
    await page.get_by_text("2 of Z on the board").wait_for()
    apart = page.get_by_text("The words are apart: the tiles from 13J on touch no others.")
    assert "listed" not in await apart.inner_text()
    assert await apart.evaluate("it => it.getBoundingClientRect().top < innerHeight")
    assert "apart" in (await page.locator("[data-at='189']").get_attribute("title") or "")
    await page.locator("board-setup [data-at='189']").click()
    await page.keyboard.press("Delete")
    await page.locator("board-setup [data-at='190']").focus()
    await page.keyboard.press("Delete")
    await page.locator(".faults").wait_for(state="hidden")
    await listed(page)
    await page.context.set_offline(True)
    await page.evaluate("document.querySelector('study-view').analysis.lost()")
    await press(page, "Set up the board")
    await page.locator("tr[data-move] button").first.dblclick()
    await rack(page, 1, "AEINRST")
    await page.get_by_text("connection to the server is lost").wait_for()
    assert ">First: " in await saved(page, "Save as GCG")
    await page.context.set_offline(False)
    await press(page, "Try again")
    await listed(page)
    shown.said.clear()  # of the lost connection


async def test_a_game_of_a_file_opens_at_its_turn(url: str, shown: Opened) -> None:
    page = shown.page
    data = base64.b64encode(GAME.read_bytes()).decode()

    async def about(route: Route) -> None:
        answer = await route.fetch()
        await route.fulfill(response=answer, json=await answer.json() | {"study_file": True})

    await page.route("**/api/games", about)
    told = {"data": data, "name": GAME.name, "turn": 4, "lexicon": "scowl"}
    await page.route("**/api/study", lambda route: route.fulfill(json=told))
    await shown.go(f"{url}#/study")
    await page.locator("study-line [aria-current]", has_text="3. ").wait_for()
    await listed(page)
    await page.get_by_text("What the last play tells").wait_for()
    await page.keyboard.press("End")
    await page.get_by_text("The game is over here").wait_for()
    await page.keyboard.press("Home")
    await page.locator("tile-board .tile").first.wait_for(state="detached")
    await press(page, "Pass")
    await press(page, "Pass: sure?")
    await page.reload()
    await page.locator("study-line .variation [aria-current]").wait_for()


async def later(page: Page, ms: int) -> None:
    """Let time pass for the page, and the moves be listed."""
    await page.clock.run_for(ms)
    await listed(page)


async def begun(page: Page, url: str, **answers: dict[str, Any]) -> Between:
    """Open a position; no time passes for the page by itself."""
    between = Between(answers)
    await page.route_web_socket("**/*", between.connect)
    await page.clock.install(time=0)
    await page.goto(f"{url}#/study")
    await page.clock.pause_at(60_000)
    await paste(page, CATS)
    await page.locator("tile-board .tile").first.wait_for()
    return between


async def test_a_simulation_begins_by_itself_and_stays_stopped(url: str, shown: Opened) -> None:
    answers = {
        "analyse": {"type": "waiting", "ahead": 3},
        "cancel": {"type": "done", "stopped": True},
    }
    page, between = shown.page, await begun(shown.page, url, **answers)
    waits = page.get_by_text("3 requests ahead")
    await later(page, 100)
    assert await waits.count() == 0
    await page.clock.run_for(1_000)
    await waits.wait_for()
    await press(page, "Set up the board")
    await page.keyboard.type("EEE")  # two positions are only passed by
    await later(page, 100)
    await page.clock.run_for(1_000)
    await waits.wait_for()
    assert between.asked.count("analyse") == 2
    assert between.asked.count("moves") == 2
    await press(page, "Stop")
    await page.get_by_text("Stopped.").wait_for()
    await press(page, "Undo")
    await later(page, 100)
    await press(page, "Redo")
    await later(page, 5_000)
    await page.get_by_text("Stopped.").wait_for()
    assert between.asked.count("analyse") == 2
    await press(page, "Simulate")
    await waits.wait_for()
    figures = dict.fromkeys(("win", "win_error", "equity", "equity_error"), 0.5)
    best = {"move": "K5 WEL.ING", "score": 30, "leave": "V", "static": 30.0, **figures}
    between.answers["analyse"] = {"type": "estimate", "rollouts": 7, "candidates": [best]}
    await press(page, "Stop")
    await press(page, "Simulate")
    await page.get_by_text("7 rollouts so far.").wait_for()
    await press(page, "Stop")
    await page.get_by_text("Stopped. 7 rollouts so far.").wait_for()
    await page.get_by_role("button", name="Longer: 8 s").wait_for()


async def test_words_and_rules_are_chosen(page: Page, browser: Browser) -> None:
    await press(page, "Empty board")
    await page.get_by_label("Words and rules").select_option("scowl, super rules")
    await page.locator("board-setup [data-at='440']").wait_for()
    await page.keyboard.type("CATS")
    await rack(page, 0, "EGILNVW")
    await listed(page)
    text, link = await saved(page, "Save as GCG"), await linked(page)
    assert "~study 1 study 0 super" in text
    other = await elsewhere(browser, link)
    await other.locator("[data-at='440']").wait_for()
    assert await saved(other, "Save as GCG") == text
    await press(other, "New or open …")
    await other.get_by_label("A game as GCG").fill(f"#lexicon NWL99\n{GAME.read_text('utf-8')}")
    await press(other, "Open")
    await other.locator(".banner", has_text="NWL99").wait_for()
    assert await other.locator("[data-at='440']").count() == 0


async def test_tiles_are_laid_with_the_mouse(page: Page) -> None:
    square = page.locator("board-setup [data-at='97']")
    for way in ("across", "down", "across"):  # an empty study is one to set up
        await square.click()
        assert way in (await square.get_attribute("class") or "")
    await press(page, "Set up the board")
    await rack(page, 0, "AAA")
    await page.locator("move-entry [data-at='97']").click()
    await page.keyboard.type("AA")
    await press(page, "Set up the board")
    assert len(await tiles_of(page)) == 2, "what was laid stays"
    await press(page, "Set up the board")
    await page.locator("move-entry [data-at='99']").click()
    await page.keyboard.type("A")
    assert len(await tiles_of(page)) == 3
    await page.get_by_label("Move", exact=True).fill("h7 (a)a")
    await page.keyboard.press("Enter")
    await page.locator("study-line [aria-current]", has_text="H7 (A)A").wait_for()
    assert len(await tiles_of(page)) == 3, "a loose tile comes back"
    await press(page, "Empty board")
    await drag(page, "[data-tile='A']", "[data-at='112']")
    await drag(page, "[data-at='112']", "[data-at='113']")
    await drag(page, "[data-tile='T']", "[data-at='112']")
    assert [tile[0] for tile in await tiles_of(page)] == ["T", "A"]
    await drag(page, "[data-at='113']", "[data-rack='0']")
    await drag(page, "[data-at='112']", ".palette")
    assert await tiles_of(page) == []
    assert await page.locator("[data-rack='0']").input_value() == "A"
    await page.locator("[data-rack='0']").click()
    await page.keyboard.type("bc")
    score = page.get_by_label("Score", exact=True).first
    await score.fill("095")
    await score.blur()
    assert await score.input_value() == "95"
    assert await page.locator("[data-rack='0']").input_value() == "BC", "typing replaces"


async def test_a_game_that_is_over_leads_to_the_study(url: str, page: Page) -> None:
    players = await ann_and_bob(url.replace("http", "ws"))
    await asyncio.gather(*(player.pass_to_the_end() for player in players))
    for player in players:
        await player.close()
    await page.goto(f"{url}#/games")
    await page.get_by_role("link", name="ann").first.click()
    await page.locator(".to-study").click()
    await page.locator("study-line [aria-current]", has_text="6. ").wait_for()


async def test_a_wrong_move_of_a_puzzle_is_played_out(url: str, shown: Opened) -> None:
    page = shown.page
    await page.set_viewport_size({"width": PHONE, "height": 844})
    puzzles = read_files(FOLDER)
    endgame = next(each for each in puzzles if "-" not in (each["static"], *each["replies"]))
    preendgame = next(each for each in puzzles if each["kind"] == "preendgame")
    for puzzle in (endgame, preendgame):
        await shown.go(f"{url}#/puzzles/{puzzle['id']}")
        entry = page.locator("move-entry")
        await entry.locator("tile-board").wait_for()
        await entry.evaluate("(entry, move) => entry.send(move)", puzzle["static"])
        await press(page, "Why not?")
        await page.get_by_text("playing it out").wait_for(state="hidden")
        steps = await page.locator(".proof .step").all_inner_texts()
        assert len(steps) > 1
        assert [step.split(":")[0] for step in steps[:2]] == ["You", "Opponent"]
        await press(page, "Show me")
        await page.get_by_role("button", name="Next puzzle").wait_for()
        await page.locator(".choices").first.get_by_role("button").nth(1).press("Enter")
        await page.get_by_text("playing it out").wait_for(state="hidden")
        assert await page.get_by_text("can't be played out").count() == 0
    await page.get_by_role("link", name="Look at it in the study").press("Enter")
    await page.locator("study-view tile-board").first.wait_for()

"""Puzzles on the page, and the drill of one's own mistakes; no server is needed."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio
from e2e.browsing import AXE, PHONE, Opened, find_faults, opened
from websockets.datastructures import Headers

from harness.lab.puzzles import INDEX, read_files
from harness.page import FOLDER, Page

if TYPE_CHECKING:
    from playwright.async_api import Browser, Route

pytestmark = pytest.mark.asyncio(loop_scope="module")

PAGE = Page.read()
ADDRESS = "http://localhost"
NOTHING = {"tournament": False, "ladder": False, "on": [], "past": [], "before": None}

MISTAKE = {
    "position": "15/15/15/15/15/15/15/3HOUSE7/15/15/15/15/15/15/15 AEINST?/ 20/3 0",
    "played": "9C AT",
    "best": "9G AE",
    "lost_win": 0.25,
    "lost_points": 31.5,
    "game": "g1",
    "turn": 3,
    "when": "2026-11-23T12:00:00Z",
}
PREENDGAME = {
    "id": "one",
    "kind": "preendgame",
    "position": MISTAKE["position"],
    "best": "9G AE",
    "static": "9C AT",
    "bag": [["E", 3], ["S", 1]],
    "lines": [[[["9G AE", 12], ["-", 0]], 5], [[["9G AE", 12], ["8C ......", 3], ["-", 0]], 9]],
    "moves": [["WW", "9G AE,9C EA"], ["WL", "9C AT"], ["?L", "9C AN"], ["LL", "-"]],
}
BOXES = """async ([mistake]) => {
  const script = document.querySelector("script").src;
  const boxes = await import(script.replace("app.js", "boxes.js"));
  const { DAYS, answered, due, forget, nextDue } = boxes;
  localStorage.clear();
  localStorage["tilewire.mistakes"] = JSON.stringify([mistake]);
  const day = 24 * 60 * 60 * 1000, waits = [];
  let now = 1e12;
  for (let times = 0; times < 6; times += 1) {
    answered(mistake, true, now);
    waits.push((nextDue(now) - now) / day);
    now = nextDue(now);
  }
  answered(mistake, false, now);
  const again = due(now).length;
  forget(mistake);
  const left = due(now).length;
  localStorage.clear();
  return { waits, again, left, days: DAYS };
}"""


@pytest_asyncio.fixture(loop_scope="module")
async def shown(browser: Browser) -> AsyncIterator[Opened]:
    shown = await opened(browser, PHONE)
    await shown.page.route("**/*", serve)
    yield shown
    assert shown.said == []
    assert await shown.page.evaluate("document.documentElement.scrollWidth") <= PHONE
    await shown.page.close()


async def serve(route: Route) -> None:
    path = route.request.url.removeprefix(ADDRESS)
    if path.endswith("/preendgames.json"):
        await route.fulfill(json={"one": PREENDGAME})
        return
    if path.endswith("/puzzles.json"):
        index = json.loads((FOLDER / INDEX).read_text("utf-8"))
        index["puzzles"].append({"id": "one", "kind": "preendgame"})
        await route.fulfill(json=index)
        return
    if path == "/api/games":
        await route.fulfill(json=NOTHING)
        return
    answer = PAGE.answer(path, Headers(Accept="text/html"))
    assert answer is not None, path
    await route.fulfill(
        body=answer.text, content_type=answer.content_type, headers=dict(answer.headers)
    )


async def answer(shown: Opened, move: str) -> None:
    await shown.page.locator("move-entry").evaluate("(entry, move) => entry.send(move)", move)


async def test_all_puzzles_are_listed_and_an_endgame_is_graded(shown: Opened) -> None:
    page, puzzles = shown.page, read_files(FOLDER)
    puzzle = next(each for each in puzzles if "-" not in (each["best"], each["static"]))
    await shown.go(f"{ADDRESS}/#/puzzles")
    await page.get_by_text("0 of").first.wait_for()
    assert await page.locator(".numbers a").count() == len(puzzles) + 1
    await keep_out_nobody(shown)
    await page.locator(f".numbers a[href='#/puzzles/{puzzle['id']}']").press("Enter")
    await page.get_by_role("button", name="Hint").click()
    await page.get_by_text("The best move lays").wait_for()
    await answer(shown, "1A QQQ")
    await page.get_by_text("is not valid").wait_for()
    await answer(shown, puzzle["static"])
    loss = puzzle["loss"]
    said = page.locator(".graded")
    await said.get_by_text(f" loses {loss} point").wait_for()
    result = f"wins by {puzzle['spread']}" if puzzle["spread"] > 0 else "by"
    assert result in await said.inner_text()
    steps = page.locator(".proof .step")
    assert await steps.count() == len(puzzle["line"])
    last = len(puzzle["line"])
    await steps.last.click()
    await page.get_by_text(f"move {last} of {last}").wait_for()
    await keep_out_nobody(shown)
    await page.get_by_role("button", name="Try again").click()
    await answer(shown, puzzle["best"])
    await said.get_by_text("Right.").wait_for()
    assert await kept(shown, "puzzles") == {puzzle["id"]: "missed"}, "the solution was shown"
    await page.get_by_role("button", name="Next puzzle").click()
    await page.locator("move-entry").wait_for()
    assert puzzle["id"] not in await page.evaluate("location.hash")
    await shown.go(f"{ADDRESS}/#/puzzles/nosuch")
    await page.get_by_text("There is no such puzzle").wait_for()


async def test_a_preendgame_is_graded_by_the_tile_in_the_bag(shown: Opened) -> None:
    page = shown.page
    await shown.go(f"{ADDRESS}/#/puzzles/one")
    await answer(shown, "9C AT")
    said = page.locator(".graded")
    await said.get_by_text(
        "9C AT loses 25.0 % of the games: 9G AE wins with 4 of 4 tiles, this with 3."
    ).wait_for()
    rows = [row.split() for row in await said.locator("tbody tr").all_inner_texts()]
    assert rows == [["E", "×3", "wins", "wins"], ["S", "wins", "loses"]]
    assert await page.locator(".proof .step").count() == 2
    await page.locator(".choices").get_by_role("button", name="S", exact=True).click()
    assert await page.locator(".proof .step").count() == 3
    await page.get_by_role("button", name="Try again").click()
    await answer(shown, "9C AN")
    await said.get_by_text("at least 25.0 %").wait_for()
    await page.get_by_role("button", name="Try again").click()
    await answer(shown, "-")
    await said.get_by_text("A pass loses 100.0 % of the games: 9G AE wins with 4 of 4").wait_for()
    rows = [row.split() for row in await said.locator("tbody tr").all_inner_texts()]
    assert rows == [["E", "×3", "wins", "loses"], ["S", "wins", "loses"]]
    await page.get_by_role("button", name="Try again").click()
    await answer(shown, "9C EA")
    await said.get_by_text("Right. 9C EA wins with 4 of 4").wait_for()
    heads = await said.locator("thead th").all_inner_texts()
    assert heads == ["In the bag", "9G AE", "9C EA"]
    await page.reload()
    await answer(shown, "9G AE")
    await said.get_by_text("Right.").wait_for()
    assert await kept(shown, "puzzles") == {"one": "solved"}


async def test_a_mistake_comes_up_until_it_is_answered_right(shown: Opened) -> None:
    page = shown.page
    await shown.go(f"{ADDRESS}/#/drill")
    await page.get_by_text("No mistake is kept").wait_for()
    told = await page.evaluate(BOXES, [MISTAKE])
    assert told == {"waits": [1, 3, 7, 21, 21, 21], "again": 1, "left": 0, "days": [0, 1, 3, 7, 21]}
    await page.evaluate("kept => localStorage['tilewire.mistakes'] = kept", json.dumps([MISTAKE]))
    await page.reload()
    await page.get_by_text("You made a mistake here").wait_for()
    await answer(shown, str(MISTAKE["played"]))
    await page.get_by_text("it loses 25.0 % of the chance to win, 31.5 points").wait_for()
    await keep_out_nobody(shown)
    await page.get_by_role("button", name="Next").click()
    await page.locator("[data-at='126']").click()
    await page.keyboard.type("AE")
    await page.keyboard.press("Enter")
    await page.get_by_text("9G AE is the best move").wait_for()
    await page.get_by_role("button", name="Next").click()
    await page.get_by_text("The next mistake comes up").wait_for()


async def test_a_mistake_of_another_board_comes_up_on_it(shown: Opened) -> None:
    page = shown.page
    await shown.go(f"{ADDRESS}/#/drill")
    plain = [1] * 441
    tiles = [{"tile": tile, "count": 9, "points": 1} for tile in "?AEINST"]
    big = {"layout": {"columns": 21, "letter": plain, "word": plain, "start": 220}, "tiles": tiles}
    position = "/".join(["21"] * 21) + " AEINST?/ 0/0 0"
    others = [MISTAKE, MISTAKE | {"position": position, "kind": "21 ?AEINST"}]
    await page.evaluate(
        "([mistakes, equipments]) => { localStorage['tilewire.mistakes'] = mistakes; "
        "localStorage['tilewire.equipments'] = equipments; }",
        [json.dumps(others), json.dumps({"21 ?AEINST": big})],
    )
    await page.reload()
    squares = page.locator("[data-at]")
    await page.get_by_text("You made a mistake here").wait_for()
    assert await squares.count() == 225
    await page.locator("[data-at='126']").click()
    await page.keyboard.type("AE")
    await page.keyboard.press("Enter")
    await page.get_by_role("button", name="Next").click()
    await page.get_by_text("You made a mistake here").wait_for()
    assert await squares.count() == 441
    assert await page.locator(".placed").count() == 0, "no tile stays from the one before"
    assert await page.locator("[data-at='220']").evaluate("it => it === document.activeElement")


async def test_moves_as_good_as_the_best_are_right(shown: Opened) -> None:
    page = shown.page
    empty = "/".join(["15"] * 15) + " AAPTVWW/ 0/0 0"
    opening = MISTAKE | {"position": empty, "played": "8H TAP", "best": "8G PAWA"}
    exchange = MISTAKE | {"played": "-", "best": "-AEI"}
    await shown.go(f"{ADDRESS}/#/drill")
    for mistake, move, said in (
        (opening, "8G PAWA", "Right. 8G PAWA is the best move"),
        (opening, "H7 PAWA", "Right. H7 PAWA is the best move"),
        (opening, "8E PAWA", "Right. The review could not tell 8E PAWA from 8G PAWA"),
        (opening, "H5 PAWA", "Right. The review could not tell H5 PAWA from 8G PAWA"),
        (opening, "8D PAWA", "Not the best. The best move is 8G PAWA"),
        (exchange, "-IEA", "Right. An exchange of IEA is the best move"),
        (MISTAKE, "8H ....E", "Not the best"),
    ):
        kept = json.dumps([mistake | {"rivals": ["8E PAWA", "8F PAWA"]}])
        await page.evaluate(
            "kept => { localStorage.clear(); localStorage['tilewire.mistakes'] = kept; }", kept
        )
        await page.reload()
        await answer(shown, move)
        assert said in await page.locator(".graded").inner_text()


async def keep_out_nobody(shown: Opened) -> None:
    if AXE.exists():  # test_page.py says how to get it
        await find_faults(shown.page)


async def kept(shown: Opened, key: str) -> Any:
    return json.loads(await shown.page.evaluate(f"localStorage['tilewire.{key}']"))

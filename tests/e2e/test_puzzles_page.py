"""Puzzles on the page, and the drill of one's own mistakes; no server is needed."""

from __future__ import annotations

import json
import re
import string
from collections.abc import AsyncIterator
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio
from e2e.browsing import ADDRESS, DESK, PHONE, Opened, find_faults, kept, opened, saved, serve

from harness.lab.puzzles import FILES, INDEX, THEMES, read_files
from harness.page import FOLDER

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.async_api import Browser, Page

pytestmark = pytest.mark.asyncio(loop_scope="module")

PLAYED = 6
"""Puzzles that are played badly, half of each kind."""

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
LISTED = {"id": "one", "kind": "preendgame", "rank": 2, "position": MISTAKE["position"]}
PREENDGAME = {
    "best": "9G AE",
    "bag": [["E", 3], ["S", 1]],
    "lines": [[[["9G AE", 12], ["-", 0]], 5], [[["9G AE", 12], ["8C ......", 3], ["-", 0]], 9]],
    "moves": [["WW", "9G AE,9C EA"], ["WL", "9C AT"], ["?L", "9C AN"], ["LL", "-"]],
}
INDEXED = json.loads((FOLDER / INDEX).read_text("utf-8"))
INDEXED["puzzles"].append(LISTED)
PREENDGAMES = json.loads((FOLDER / FILES["preendgame"]).read_text("utf-8"))
ANSWERS: dict[str, Any] = {
    "/preendgames.json": PREENDGAMES | {"one": PREENDGAME},
    "/puzzles.json": INDEXED,
    "/api/games": {"tournament": False, "ladder": False, "on": [], "past": [], "before": None},
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
    await shown.page.route("**/*", partial(serve, ANSWERS))
    yield shown
    assert shown.said == []
    assert await shown.page.evaluate("document.documentElement.scrollWidth") <= PHONE
    await shown.page.close()


async def answer(shown: Opened, move: str) -> None:
    await shown.page.locator("move-entry").evaluate("(entry, move) => entry.send(move)", move)


def spellings(move: str, board: dict[int, str]) -> set[str]:
    """Return how a move may be written on the page."""
    square, word = move.split(" ")
    across = square[0].isdigit()
    row = int(square.strip(string.ascii_uppercase)) - 1
    at = row * 15 + ord(square.strip(string.digits)) - ord("A")
    there = [board.get(at + index * (1 if across else 15), "") for index in range(len(word))]
    letters = [new if new != "." else old for new, old in zip(word, there, strict=True)]
    bracketed = [new if new != "." else f"({old})" for new, old in zip(word, there, strict=True)]
    plain, full = "".join(letters), "".join(bracketed).replace(")(", "")
    return {f"{square} {each}" for each in (word, plain, full)} | {full} - {plain}


def board_of(puzzle: dict[str, Any]) -> dict[int, str]:
    board, at = {}, 0
    for part in re.findall(r"\d+|[^/]", puzzle["position"].split(" ")[0]):
        if part.isdigit():
            at += int(part)
        else:
            board[at] = part
            at += 1
    return board


async def all_of(page: Page) -> str:
    """Return all that is in the page: text, attributes, fields, and what the browser keeps."""
    return str(
        await page.evaluate(
            "[document.documentElement.outerHTML, document.title, location.href, "
            "...[...document.querySelectorAll('input, select')].map(({ value }) => value), "
            "JSON.stringify([{ ...localStorage }, { ...sessionStorage }])].join('\\n')"
        )
    )


async def test_puzzles_played_badly_give_nothing_away_before_one_asks(
    shown: Opened, tmp_path: Path
) -> None:
    page, puzzles = shown.page, read_files(FOLDER)
    hidden = {*FILES.values(), THEMES}
    kinds = [[each for each in puzzles if each["kind"] == kind] for kind in FILES]
    played = [puzzle for kind in kinds for puzzle in kind[::9][: PLAYED // 2]]
    for puzzle in played:
        shown.asked.clear()
        await shown.go(f"{ADDRESS}/#/puzzles/{puzzle['id']}")
        await page.locator("move-entry tile-board").wait_for()
        assert hidden.isdisjoint(url.rpartition("/")[2] for url in shown.asked), "not asked for yet"
        board = board_of(puzzle)
        secret = spellings(puzzle["best"], board)
        *_, worst = (move for *_, some in puzzle["moves"] for move in some.split(","))
        tried = [move for move in (puzzle["static"], worst) if move != "-"]
        for move in tried:
            before = await all_of(page)
            await answer(shown, move)
            await page.locator(".graded .wrong").wait_for()
            text = await all_of(page)
            for each in secret.difference(*(spellings(wrong, board) for wrong in tried)):
                assert each not in text, (puzzle["id"], each)
            assert before != text
        if puzzle["kind"] == "endgame":
            assert f"by {abs(puzzle['spread'])}" not in text
        await page.get_by_role("button", name="Show me").press("Enter")
        await page.get_by_role("button", name="Next puzzle").wait_for()
        text = await all_of(page)
        assert any(each in text for each in secret), "the test knows how it is written"
    assert await kept(page, "puzzles") == {each["id"]: "missed" for each in played}
    await carried(shown, tmp_path)


async def carried(shown: Opened, path: Path) -> None:
    """Take the progress to another browser by a file; what is better there stays."""
    results = await kept(shown.page, "puzzles")
    await shown.page.evaluate(
        "mistake => localStorage['tilewire.mistakes'] = JSON.stringify([mistake])", MISTAKE
    )
    await shown.go(f"{ADDRESS}/#/puzzles")
    file = path / "progress.json"
    file.write_text(await saved(shown.page, "Save to a file"), encoding="utf-8")
    browser = shown.page.context.browser
    assert browser is not None
    other = await opened(browser, DESK)
    await other.page.route("**/*", partial(serve, ANSWERS))
    await other.go(f"{ADDRESS}/#/puzzles")
    await other.page.get_by_text("0 of").first.wait_for()
    solved = next(iter(results))
    await other.page.evaluate(
        "kept => localStorage['tilewire.puzzles'] = kept", json.dumps({solved: "solved"})
    )
    for text, said in (
        ("no JSON", "is no file of progress"),
        ('{"tilewire": "puzzles", "puzzles": null}', "is no file of progress"),
        ('{"tilewire": "puzzles", "form": 9, "puzzles": {}}', "a later tilewire"),
        (
            '{"tilewire": "puzzles", "form": 1, "lexicon": "other", "puzzles": {"x": "solved"}, '
            '"mistakes": [3, {"position": ""}], "drill": {"a": 1}, "equipments": {"b": {}}}',
            "1 result of them is of puzzles that are not here. The puzzles of that file are with",
        ),
    ):
        wrong = path / "wrong.json"
        wrong.write_text(text)
        await other.page.locator("#progress").set_input_files(wrong)
        await other.page.get_by_text(said).wait_for()
    await other.page.locator("#progress").set_input_files(file)
    await other.page.get_by_text(
        f"results of {PLAYED} puzzles, and 1 mistake of your own"
    ).wait_for()
    assert await kept(other.page, "puzzles") == results | {solved: "solved", "x": "solved"}
    assert await other.page.locator(".numbers .missed").count() == PLAYED - 1
    await other.page.get_by_role("link", name="From your own games: 1 mistake due").press("Enter")
    await other.page.get_by_text("Which move is better").wait_for()
    assert other.said == []
    await other.page.close()


async def test_an_endgame_is_tried_until_it_is_solved(shown: Opened) -> None:
    page, puzzles = shown.page, read_files(FOLDER)
    puzzle = next(each for each in puzzles if "-" not in (each["best"], each["static"]))
    await shown.go(f"{ADDRESS}/#/puzzles")
    await page.get_by_text("0 of").first.wait_for()
    assert await page.locator(".numbers a").count() == len(puzzles) + 1
    await find_faults(page)
    await page.locator(f".numbers a[href='#/puzzles/{puzzle['id']}']").press("Enter")
    await answer(shown, "1A QQQ")
    await page.get_by_text("is not valid").wait_for()
    await answer(shown, puzzle["static"])
    said = page.locator(".graded")
    await said.get_by_text("Try another move, or ask.").wait_for()
    assert await kept(page, "puzzles") == {puzzle["id"]: "tried"}
    await find_faults(page)
    await page.get_by_role("button", name="Why not?").click()
    await page.get_by_role("heading", name="How it goes on after").wait_for()
    assert await page.locator(".proof .step").count() == 2, "the opponent's best answer is told"
    await page.get_by_text("can't be played out here").wait_for()
    await find_faults(page)
    await page.get_by_role("button", name="Go on trying").click()
    await page.get_by_role("button", name="Hint").click()
    await page.get_by_text("The best move lays").wait_for()
    await answer(shown, puzzle["best"])
    await said.get_by_text("Right.").wait_for()
    steps = page.locator(".proof .step")
    assert await steps.count() == len(puzzle["line"])
    last = len(puzzle["line"])
    await steps.last.click()
    await page.get_by_text(f"move {last} of {last}").wait_for()
    await find_faults(page)
    assert await kept(page, "puzzles") == {puzzle["id"]: "helped"}
    await page.get_by_role("button", name="Next puzzle").click()
    await page.locator("move-entry").wait_for()
    assert puzzle["id"] not in await page.evaluate("location.hash")


async def test_themes_are_chosen_and_what_can_not_be_had_is_said(shown: Opened) -> None:
    page = shown.page
    themes = json.loads((FOLDER / THEMES).read_text("utf-8"))
    await shown.go(f"{ADDRESS}/#/puzzles")
    await page.get_by_label("Show").select_option("setup")
    # The theme's file is read.
    await page.locator(".numbers a").nth(len(themes["setup"])).wait_for(state="detached")
    hrefs = await page.locator(".numbers a").evaluate_all("all => all.map(({ hash }) => hash)")
    assert {each.rpartition("/")[2] for each in hrefs} == set(themes["setup"])
    await page.get_by_role("button", name="Next puzzle: ").press("Enter")
    await page.locator("move-entry").wait_for()
    assert await page.evaluate("location.hash") in hrefs
    await shown.go(f"{ADDRESS}/#/puzzles/nosuch")
    await page.get_by_text("There is no such puzzle").wait_for()
    await page.get_by_role("button", name="Next puzzle: easy").press("Enter")
    await page.locator("move-entry").wait_for()
    await page.route("**/endgames.json", lambda route: route.fulfill(status=503))
    await answer(shown, "-")
    await page.get_by_text("can't be read now").wait_for()
    await page.unroute("**/endgames.json")
    await answer(shown, "-")
    await page.locator(".wrong").wait_for()
    shown.said.clear()  # of the answer that failed


async def test_a_browser_that_keeps_nothing_is_told(browser: Browser) -> None:
    shown = await opened(browser, PHONE)
    await shown.page.route("**/*", partial(serve, ANSWERS))
    await shown.page.add_init_script(
        "Storage.prototype.setItem = () => { throw new DOMException('no', 'QuotaExceededError'); }"
    )
    await shown.go(f"{ADDRESS}/#/puzzles/one")
    await answer(shown, "9C AT")
    await shown.page.get_by_text("This browser keeps nothing").wait_for()
    await answer(shown, "9G AE")
    await shown.page.get_by_text("Right.").wait_for()
    await shown.page.get_by_role("link", name="To the puzzles").click()
    await shown.page.locator(".numbers .helped").wait_for()
    await shown.page.get_by_text("This browser keeps nothing").wait_for()
    await shown.page.close()


async def test_a_preendgame_is_shown_by_the_tile_in_the_bag(shown: Opened) -> None:
    page = shown.page
    await shown.go(f"{ADDRESS}/#/puzzles/one")
    await answer(shown, "9C AT")
    said = page.locator(".graded")
    await said.get_by_text("9C AT is some way from the best.").wait_for()
    await answer(shown, "-")
    await said.get_by_text("A pass is far from the best. 2 moves tried.").wait_for()
    await page.get_by_role("button", name="Why not?").click()
    await said.get_by_text("A pass wins with none of 4 tiles.").wait_for()
    assert await page.locator(".choices button").all_inner_texts() == ["E: loses", "S: loses"]
    await page.get_by_role("button", name="Show me").click()
    await said.get_by_text("9G AE wins with 4 of 4 tiles.").wait_for()
    rows = [row.split() for row in await said.locator("tbody tr").all_inner_texts()]
    assert rows == [["E", "×3", "wins", "loses"], ["S", "wins", "loses"]]
    assert await page.locator(".proof .step").count() == 2
    await page.locator(".choices").get_by_role("button", name="S: wins").click()
    assert await page.locator(".proof .step").count() == 3
    await page.locator(".choices").get_by_role("button", name="9C AT").click()
    assert await page.locator(".choices button[aria-pressed=true]").all_inner_texts() == [
        "9C AT",
        "S: loses",
    ]
    await page.reload()
    await answer(shown, "9C EA")
    await said.get_by_text("Right. 9C EA wins with 4 of 4").wait_for()
    heads = await said.locator("thead th").all_inner_texts()
    assert heads == ["In the bag", "9G AE", "9C EA"]
    assert await kept(page, "puzzles") == {"one": "solved"}


async def test_a_mistake_comes_up_until_it_is_answered_right(shown: Opened) -> None:
    page = shown.page
    await shown.go(f"{ADDRESS}/#/drill")
    await page.get_by_text("No mistake is kept").wait_for()
    told = await page.evaluate(BOXES, [MISTAKE])
    assert told == {"waits": [1, 3, 7, 21, 21, 21], "again": 1, "left": 0, "days": [0, 1, 3, 7, 21]}
    await page.evaluate("kept => localStorage['tilewire.mistakes'] = kept", json.dumps([MISTAKE]))
    await page.reload()
    await page.get_by_text("which lost 25.0 % of the chance to win, 31.5 points").wait_for()
    await answer(shown, str(MISTAKE["played"]))
    await page.get_by_text("You played this in the game, too").wait_for()
    await answer(shown, "8H ....E")
    await page.get_by_text("Not the best. 2 moves tried").wait_for()
    assert "9G AE" not in await page.locator("drill-view").inner_text(), "until one asks"
    await find_faults(page)
    await page.get_by_role("button", name="Show me").click()
    await page.get_by_text("The best move is 9G AE").wait_for()
    for wrong in (True, False):  # right after a wrong one it comes up again
        await page.get_by_role("button", name="Next").click()
        if wrong:
            await answer(shown, str(MISTAKE["played"]))
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
    await page.get_by_text("Which move is better").wait_for()
    assert await squares.count() == 225
    await page.locator("[data-at='126']").click()
    await page.keyboard.type("AE")
    await page.keyboard.press("Enter")
    await page.get_by_role("button", name="Next").click()
    await squares.nth(440).wait_for()
    assert await page.locator(".placed").count() == 0, "no tile stays from the one before"
    assert await page.locator("[data-at='220']").evaluate("it => it === document.activeElement")


async def test_moves_as_good_as_the_best_are_right(shown: Opened) -> None:
    page = shown.page
    empty = "/".join(["15"] * 15) + " AAPTVWW/ 0/0 0"
    opening = MISTAKE | {"position": empty, "played": "8H TAP", "best": "8G PAWA"}
    exchange = MISTAKE | {"played": "-", "best": "-AEI"}
    await shown.go(f"{ADDRESS}/#/drill")
    for mistake, move, said in (
        (opening, "H7 PAWA", "Right. H7 PAWA is the best move"),
        (opening, "H5 PAWA", "Right. The review could not tell H5 PAWA from 8G PAWA"),
        (opening, "8D PAWA", "Not the best. Try another move"),
        (exchange, "-IEA", "Right. An exchange of IEA is the best move"),
    ):
        kept = json.dumps([mistake | {"rivals": ["8E PAWA", "8F PAWA"]}])
        await page.evaluate(
            "kept => { localStorage.clear(); localStorage['tilewire.mistakes'] = kept; }", kept
        )
        await page.reload()
        await answer(shown, move)
        assert said in await page.locator(".graded").inner_text()

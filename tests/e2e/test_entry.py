"""The board that a move is made on: what tiles score, and how they are laid."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

import pytest
import pytest_asyncio
from e2e.browsing import PHONE, Opened, find_faults, opened
from positions import game_positions, legal_moves_of

from engine.notation.cgp import write_cgp
from engine.notation.move_text import format_move
from engine.rules.moves import Place
from engine.rules.rules import score_play, standard_rules
from harness.page import FOLDER, TYPES
from harness.server.answers import board_and_tiles
from lexicons.store import load_lexicon

if TYPE_CHECKING:
    from playwright.async_api import Browser, Route

pytestmark = pytest.mark.asyncio(loop_scope="module")

RULES = standard_rules()
KNOWN = json.loads(json.dumps(board_and_tiles(RULES)))
BOARD, TILES = KNOWN["board"], KNOWN["tiles"]
TURKISH = [
    {"tile": tile, "blanked": blanked, "count": 2, "points": points}
    for tile, blanked, points in (("?", "?", 0), ("I", "ı", 2), ("İ", "i", 1), ("K", "k", 1))
]
EMPTY = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>entry</title>
<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">
<link rel="stylesheet" href="/page.css"></head><body><main><h1>entry</h1></main></body></html>"""

SHOW = """async ([layout, tiles, cgp, rack]) => {
  const { MoveEntry } = await import("/entry.js");
  const { readOpening } = await import("/notation.js");
  document.querySelector("move-entry")?.remove();
  const entry = new MoveEntry();
  globalThis.played = [];
  document.querySelector("main").append(entry);
  entry.show({ layout, tiles }, { board: readOpening(cgp).board, rack });
  entry.addEventListener("play", ({ detail }) => played.push(detail.move));
}"""

LEFT = """(left) => {
  const entry = document.querySelector("move-entry");
  entry.show(entry.draft.equipment, { ...entry.asked, exchangesLeft: left });
}"""

COUNTED = """async () => {
  const { Game } = await import("/game.js");
  const { readOpening } = await import("/notation.js");
  const moves = ["-ABC", "-3", "-", "-2", "8D CAB", "-1", "--"];
  const left = (limit, seat) => Game.prototype.exchangesLeft.call({
    offer: { rules: { exchange_limit: limit } },
    plays: moves.map((move, at) => ({ move, seat: at % 2 })),
    opening: readOpening("15/15 AB/ 0/0 1 passes 1; exchanges 1/0;") }, seat);
  return [left(4, 0), left(2, 1), left(undefined, 0)];
}"""
"""Exchanges left after one at the opening and some moves."""

PLAY = """async ([layout, tiles]) => {
  const { PlayView } = await import("/play_view.js");
  const { Game } = await import("/game.js");
  PlayView.prototype.load = () => {};
  const view = new PlayView(), clocks = [60000, 60000];
  const offer = {
    seq: 1, players: ["me", "bot"], opening: null, history: [], time: { initial_ms: 60000 }, clocks,
    rules: { rack_size: 7, bingo_bonus: 50, exchange_minimum: 7 } };
  const told = { offer, board: layout, tiles, turns: null, over: null };
  const game = new Game(told, performance.now());
  globalThis.played = (seat, move) => {
    const seq = game.last + 1;
    game.played({ seq, seat, move, score: 1, scores: [1, 1], bag: 80, clocks }, 0);
    view.playing.isOnTurn = seat === 1;
    view.show();
  };
  globalThis.holds = (rack) => {
    view.playing.rack = rack;
    view.show();
  };
  document.querySelector("main").replaceChildren(view);
  view.settings = { tables: [], words: true, bots: [] };
  view.playing = {
    phase: "playing", id: "g", login: { name: "me" }, game, rack: "DOGSEER", seat: 0,
    challengeLeft: () => 0, close() {} };
  played(0, "8G CAT");
}"""
"""A person's game that goes on when ``played`` and ``holds`` are called; no server is there."""

WORDS = """async ([layout, tiles, placed]) => {
  const { placementOf } = await import("/scoring.js");
  return placementOf({ layout, tiles }, new Map(), new Map(placed)).words
    .map(({ word, tiles }) => [word, tiles]);
}"""
"""The words of a first move, for people and as the server is asked about them."""

DIFFERENT = """async ([layout, tiles, positions]) => {
  const { placementOf } = await import("/scoring.js");
  const { readMove, readOpening } = await import("/notation.js");
  return positions.flatMap(({ cgp, moves }) => {
    const { board } = readOpening(cgp);
    return moves.flatMap(([text, score, words]) => {
      const placed = new Map(readMove(text, 15).squares.filter(([, tile]) => tile !== "."));
      const got = placementOf({ layout, tiles }, board, placed);
      const made = got.words?.map(({ word }) => word.toUpperCase()).join();
      const isAlike = got.move === text || placed.size === 1;
      const isSame = isAlike && got.score === score && made === words;
      return isSame ? [] : [[cgp, text, score, words, got]];
    });
  });
}"""

TROUBLES = """async ([layout, tiles, cases]) => {
  const { placementOf } = await import("/scoring.js");
  const { readOpening } = await import("/notation.js");
  return cases.map(([cgp, placed]) =>
    placementOf({ layout, tiles }, readOpening(cgp).board, new Map(placed)));
}"""


@pytest_asyncio.fixture(loop_scope="module")
async def shown(browser: Browser) -> AsyncIterator[Opened]:
    """A page with the modules, and no server."""
    shown = await opened(browser, PHONE, has_touch=True)
    await shown.page.route("**/*", serve)
    await shown.go("http://entry.test/")
    yield shown
    assert shown.said == []
    await shown.page.close()


async def serve(route: Route) -> None:
    file = FOLDER / route.request.url.rpartition("/")[2]
    if file == FOLDER:
        await route.fulfill(body=EMPTY, content_type=TYPES[".html"])
    elif file.exists():
        await route.fulfill(body=file.read_text("utf-8"), content_type=TYPES[file.suffix])
    else:
        await route.fulfill(status=404)


async def show(shown: Opened, tiles: list[dict[str, Any]], cgp: str, rack: str) -> None:
    await shown.page.evaluate(SHOW, [BOARD, tiles, cgp, rack])


def row(text: str) -> str:
    """Return an empty board with this in its eighth row."""
    return "/".join(["15"] * 7 + [text] + ["15"] * 7) + " / 0/0 0"


async def test_placements_score_as_the_engine_says(shown: Opened) -> None:
    alphabet, lexicon = RULES.distribution.alphabet, load_lexicon()
    told = []
    for position in game_positions(lexicon, RULES, seed=5, count=6, blanks=1):
        places, _ = legal_moves_of(position, lexicon, RULES).by_kind()
        moves = []
        for move in places[:: max(1, len(places) // 60)]:
            assert isinstance(move, Place)
            play = score_play(position.board, move, RULES)
            words = ",".join(alphabet.text(word).upper() for word in play.words)
            moves.append((format_move(move, alphabet), play.score, words))
        told.append({"cgp": write_cgp(position, RULES), "moves": moves})
    assert sum(len(each["moves"]) for each in told) > 250
    assert await shown.page.evaluate(DIFFERENT, [BOARD, TILES, told]) == []


async def test_what_is_no_move_is_said(shown: Opened) -> None:
    cases: list[tuple[str, list[tuple[int, str]], str]] = [
        (row("15"), [], "tiles"),
        (row("15"), [(112, "A")], "two"),
        (row("15"), [(0, "A"), (1, "B")], "star"),
        (row("7AB6"), [(0, "A"), (1, "B")], "touch"),
        (row("7AB6"), [(114, "A"), (116, "B")], "gap"),
        (row("7AB6"), [(114, "A"), (130, "B")], "one line"),
        (row("7AB6"), [(119, "A"), (120, "B")], "one line"),
    ]
    said = await shown.page.evaluate(
        TROUBLES, [BOARD, TILES, [(cgp, placed) for cgp, placed, _ in cases]]
    )
    for sentence, (*_, expected) in zip(said, cases, strict=True):
        assert expected in sentence


async def test_a_move_is_typed(shown: Opened) -> None:
    page = shown.page
    await show(shown, TILES, row("7HoUSE3"), "?AEIQUZ")
    square, formed = page.locator("[data-at='83']"), page.locator(".formed")
    await square.click()
    await square.click()
    await page.keyboard.type("qu")
    assert await formed.inner_text() == "12 points: QUo"
    assert "QUo" in await page.locator("[aria-live=polite]").inner_text()
    await page.keyboard.press("Shift+K")
    here = "document.activeElement.ariaLabel"
    assert await page.evaluate(here) == "10I, empty, down"
    await page.keyboard.press("Enter")
    await page.keyboard.press("Backspace")
    assert await page.evaluate(here) == "9I, letter ×2, down"
    await page.keyboard.press("x")
    assert "no X left" not in await page.locator("[aria-live=polite]").inner_text(), "the blank"
    await page.keyboard.press("Escape")
    await page.keyboard.press("ArrowRight")
    assert await page.evaluate(here) == "10I, empty, across", "it turns first"
    await page.keyboard.press("ArrowRight")
    assert await page.evaluate(here) == "10J, letter ×3, across"
    await page.get_by_role("button", name="Exchange").click()
    await page.keyboard.type("au")
    await page.get_by_role("button", name="Exchange 2").press("Enter")
    await page.get_by_role("button", name="Cancel").click()
    passing = page.get_by_role("button", name="Pass")
    place = await passing.bounding_box()
    await passing.click()
    sure = page.get_by_role("button", name="Pass: sure?")
    assert await sure.bounding_box() == place, "it stays under the pointer"
    await sure.click()
    assert await page.evaluate("played") == ["I6 QU.k", "-AU", "-"]


async def test_words_are_asked_for_again_when_the_opponent_has_played(shown: Opened) -> None:
    page, asked = shown.page, list[str]()

    async def words(route: Route) -> None:
        asked.append(parse_qs(urlsplit(route.request.url).query)["words"][0])
        await route.fulfill(json={"words": {word: len(word) < 5 for word in asked[-1].split(",")}})

    await page.route("**/api/words*", words)
    await page.evaluate(PLAY, [BOARD, TILES])
    await page.locator("[data-at='69']").click()
    await page.keyboard.press("Space")
    async with page.expect_response("**/api/words*"):
        await page.keyboard.type("DOGS")
    assert asked == ["DOGS,CATS"]
    await page.evaluate("played(1, '5F QXZV')")
    await page.get_by_text("QXZVD (not a word)").wait_for()
    assert asked == ["DOGS,CATS", "DOGS,QXZVD,CATS"]
    await page.unroute("**/api/words*")


async def test_a_tile_that_is_dragged_or_a_blank_outlives_the_opponents_move(shown: Opened) -> None:
    page, hand, square = shown.page, shown.page.locator("[data-held]"), "[data-at='%d']"
    await page.evaluate(PLAY, [BOARD, TILES])
    for at, move in (
        (93, "1A IT"),
        (51, "-"),
    ):  # rack and board are drawn anew; or the turn is ours
        await hand.last.hover()
        await page.mouse.down()
        await page.locator(square % at).hover()
        await page.evaluate("move => played(1, move)", move)
        await page.mouse.up()
        await page.locator(f"{square % at}.placed", has_text="R").wait_for()
        await page.keyboard.press("Escape")
    await page.evaluate("holds('DOGSEE?')")
    await page.locator(square % 93).click()
    await hand.last.click()
    await page.evaluate("holds('ABCDEFG')")
    await page.get_by_role("button", name="X", exact=True).click()
    assert await page.locator(".placed").count() == 0, "it is on the rack no more"


async def test_who_has_no_exchange_left_is_told_so(shown: Opened) -> None:
    page = shown.page
    await show(shown, TILES, row("7HoUSE3"), "?AEIQUZ")
    await page.evaluate(LEFT, 1)
    await page.get_by_role("button", name="Exchange (1 left)", exact=True).click()
    await page.get_by_role("button", name="Cancel").click()
    await page.evaluate(LEFT, 0)
    spent = page.get_by_role("button", name="Exchange (0 left)", exact=True)
    assert await spent.get_attribute("aria-disabled") == "true"
    await spent.press("Enter")
    assert "no exchange" in await page.locator(".formed").inner_text()
    assert "no exchange" in await page.locator("[aria-live=polite]").inner_text()
    assert await page.get_by_role("button", name="Cancel").count() == 0
    assert await page.evaluate(COUNTED) == [2, 0, None]


async def test_a_move_is_dragged_and_tapped(shown: Opened) -> None:
    page = shown.page
    await show(shown, TILES, row("7HoUSE3"), "?AEIQUZ")
    held, square = "[data-held='{}']", "[data-at='{}']"
    formed = page.locator(".formed")
    await page.drag_and_drop(held.format(6), square.format(127))
    await page.drag_and_drop(square.format(127), square.format(128))
    assert await formed.inner_text() == "20 points: oZ"
    await page.drag_and_drop(square.format(128), held.format(0))
    assert (await page.locator(".hand").inner_text()).split()[0] == "Z"
    await page.drag_and_drop(held.format(1), square.format(117))
    await page.get_by_role("button", name="D", exact=True).click()
    assert await formed.inner_text() == "7 points: HoUSEd"
    await page.locator(square.format(117)).tap()  # back to the rack, the cursor stays
    await page.locator(held.format(4)).tap()
    assert await formed.inner_text() == "8 points: HoUSEI"
    await page.get_by_role("button", name="Recall").tap()
    assert await page.get_by_role("button", name="Play", exact=True).is_disabled()
    assert await page.evaluate("document.documentElement.scrollWidth") <= PHONE


async def test_a_letter_that_names_the_blank_lays_no_other_tile(shown: Opened) -> None:
    page = shown.page
    for rack, letter in (("?ACEIQU", "c"), ("?AEIQUZ", "s")):
        await show(shown, TILES, row("7HOUSE3"), rack)
        await page.locator("[data-at='195']").click()
        await page.drag_and_drop("[data-held='0']", "[data-at='117']")
        await page.keyboard.press(letter)
        assert await page.locator("tile-board .placed").count() == 1
        assert letter.upper() in await page.locator("[data-at='117']").inner_text()
        assert "left on your rack" not in await page.locator("[aria-live=polite]").inner_text()


async def test_enter_plays_after_a_click_on_a_button(shown: Opened) -> None:
    page = shown.page
    await show(shown, TILES, row("7HOUSE3"), "?AEIQUZ")
    exchange = page.get_by_role("button", name="Exchange", exact=True)
    for how in (exchange.click, partial(exchange.press, "Enter"), partial(exchange.press, "Space")):
        await how()
        await page.keyboard.type("az")
        await page.keyboard.press("Enter")
        await page.get_by_role("button", name="Cancel").click()
    await exchange.click()
    await page.locator("[data-held='3']").click()
    await page.keyboard.press("Enter")
    await page.get_by_role("button", name="Cancel").press("Enter")
    await page.locator("[data-at='128']").click()
    await page.get_by_role("button", name="Shuffle").click()
    await page.keyboard.type("ai")
    await page.keyboard.press("Enter")
    await page.keyboard.press("Escape")
    await page.get_by_role("button", name="A, 1 point").click()
    await page.get_by_role("button", name="I, 1 point").click()
    await page.keyboard.press("Enter")
    await page.drag_and_drop("[data-at='131']", "[data-at='132']")
    await page.drag_and_drop("[data-at='130']", "[data-at='131']")
    await page.keyboard.press("Enter")
    moves = await page.evaluate("played")
    assert moves == ["-AZ", "-AZ", "-AZ", "-I", "9I AI", "9K AI", "9L AI"]


async def test_what_was_on_the_rack_can_still_be_read(shown: Opened) -> None:
    await show(shown, TILES, row("15"), "AEIQUZ?")
    await shown.page.locator("[data-at='112']").click()
    await shown.page.keyboard.type("QUAZ")  # with points of two digits
    await find_faults(shown.page)


async def test_a_blank_is_written_as_its_rules_write_it(shown: Opened) -> None:
    page = shown.page
    for rack, keys, move in (("Kİ", "ki", "8H Kİ"), ("?K", "ki", "8H Ki"), ("?K", "kI", "8H Kı")):
        await show(shown, TURKISH, row("15"), rack)
        await page.locator("[data-at='112']").click()
        for key in keys:
            await page.keyboard.press(key)
        await page.keyboard.press("Enter")
        assert await page.evaluate("played") == [move], (rack, keys)
        capital = {"i": "İ", "ı": "I"}.get(move[-1], move[-1])
        assert await page.locator("[data-at='113'] > span").first.inner_text() == capital
    await show(shown, TURKISH, row("15"), "?K")
    await page.locator("[data-at='112']").click()
    await page.keyboard.press("k")
    await page.locator("[data-held='0']").click()
    await page.locator(".picker").get_by_role("button", name="I", exact=True).click()
    await page.locator("[data-at='112']").focus()
    await page.keyboard.press("Enter")
    assert await page.evaluate("played") == ["8H Kı"]
    made = await page.evaluate(WORDS, [BOARD, TURKISH, [(112, "K"), (113, "i"), (114, "ı")]])
    assert made == [["Kiı", "KİI"]]

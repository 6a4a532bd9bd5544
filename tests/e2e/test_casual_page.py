"""Casual games on the page: hints, taking back, playing on, and one's own games found again."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio
from e2e.analysing import Counted
from e2e.browsing import DESK, check_layout, opened
from e2e.test_play_page import Lay, Person, Running, by_keyboard, by_touch

from bot.equipment import Equipment
from harness.game_kinds import MAIN, GameKind

if TYPE_CHECKING:
    from playwright.async_api import Browser, Locator

pytestmark = pytest.mark.asyncio(loop_scope="module")

PHONE = 390
COUNT_NOTES = """() => {
  const { start } = OscillatorNode.prototype;
  window.notes = 0;
  OscillatorNode.prototype.start = function (at) { window.notes += 1; start.call(this, at); };
}"""
NO_STORAGE = """for (const name of ["localStorage", "sessionStorage"])
  Object.defineProperty(window, name, { get() { throw new Error("it is not allowed"); } });"""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def running(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Running]:
    bots = {name: name for name in ("static", "bluff", "greedy", "vanilla")}
    kinds = {MAIN: GameKind(equipment=Equipment())}
    path = tmp_path_factory.mktemp("casual") / "games.db"
    running = Running(path, bots, analyst=lambda _kinds: Counted.start(kinds, idle=False))
    await running.start()
    yield running
    await running.stop()


class Visitor(Person):
    """Who plays casual games, by touch or by keyboard."""

    def button(self, name: str) -> Locator:
        return self.page.get_by_role("button", name=name, exact=True)

    async def press(self, what: str | Locator) -> None:
        """Press a button, by its name, or a link."""
        place = self.button(what) if isinstance(what, str) else what
        await (place.press("Enter") if self.lay is by_keyboard else place.tap())

    async def come(self) -> None:
        await self.shown.go(f"http://127.0.0.1:{self.running.port}/#/play")

    async def play_on(self) -> None:
        """Play what scores most, and wait for the answer."""
        turns = len(self.book.turns)
        await self.move()
        await self.page.locator(".rounds a").nth(turns + 1).wait_for(state="attached")
        await self.asked()


async def visitor(
    running: Running, browser: Browser, name: str, lay: Lay = by_touch, **options: Any
) -> Visitor:
    """Have somebody come, with a phone or a keyboard."""
    shown = await opened(
        browser, DESK if lay is by_keyboard else PHONE, has_touch=lay is by_touch, **options
    )
    come = Visitor(running, shown, name, lay)
    await come.come()
    return come


@pytest.mark.parametrize(("name", "lay"), [("kay", by_keyboard), ("tess", by_touch)])
async def test_a_casual_game(running: Running, browser: Browser, name: str, lay: Lay) -> None:
    ann = await visitor(running, browser, name, lay)
    page = ann.page
    await page.locator(".opponents [data-bot]").first.wait_for()
    bots = await page.locator(".opponents [data-bot] bdi").all_inner_texts()
    assert bots == ["vanilla", "greedy", "static", "bluff"], "the weakest first"
    assert await page.locator("#radio-static").is_checked(), "no bluff where none is challenged"
    assert "37 %" in await page.locator("[data-bot=greedy] b").inner_text()
    await page.get_by_label("Your name").fill(ann.name)
    await page.get_by_label("greedy").check()
    await page.get_by_label("Clock").select_option("10:00")
    await ann.press("Start")
    await ann.asked()
    assert ann.book.opened.time.initial_ms == 600_000
    seat = ann.seat
    for _ in range(2):
        await ann.play_on()
    await take_hint(ann)
    await step_back(ann)
    await take_back(ann)
    await check_layout(ann.shown, DESK if lay is by_keyboard else PHONE)
    await ann.play_on()
    unfinished = ann.book.opened.game
    ann = await find_again(ann, browser)
    assert ann.book.opened.game == unfinished
    await ann.resign()
    await ann.press("Again, seats swapped")
    await ann.page.locator(".status", has_text="You lose").wait_for(state="detached")
    await ann.asked()
    assert ann.seat == 1 - seat, "what was played on from a turn does not count"
    assert ann.book.opened.opening is None
    await ann.play_on()
    await ann.resign()
    await play_from_a_turn(ann)
    assert ann.shown.said == []
    await ann.page.context.close()


async def take_hint(ann: Visitor) -> None:
    await ann.press("Hint")
    await ann.page.locator(".formed", has_text="The best move").wait_for()
    await ann.button("The move").press("Enter")  # what is said of the hint may move it
    await ann.page.locator(".placed, .hand .marked").first.wait_for()
    exchanges = not await ann.page.locator(".placed").count()  # the best of one rack in a hundred
    await ann.press("Cancel" if exchanges else "Recall")
    await ann.page.locator(".formed", has_text="Best: ").wait_for()


async def step_back(ann: Visitor) -> None:
    page, book = ann.page, ann.book
    turns = len(book.turns)
    tiles = page.locator(".past tile-board .tile")
    await ann.press("One turn back")
    await page.get_by_text(f"After turn {turns - 1} of {turns}").wait_for()
    assert 0 < await tiles.count() < await page.locator("move-entry tile-board .tile").count()
    await ann.press("Back to the game")
    await page.locator("move-entry tile-board").wait_for()
    await page.locator("main").focus()
    await page.keyboard.press("Control+ArrowLeft")
    await page.get_by_text(f"After turn {turns - 1} of {turns}").wait_for()
    await ann.press("Back to the game")
    await page.locator("move-entry tile-board").wait_for()


async def take_back(ann: Visitor) -> None:
    book, seat = ann.book, ann.seat
    before = [turn for turn in book.turns if turn.seat == seat][-1]
    await ann.press("Take back")
    await ann.page.get_by_text(f"after turn {before.seq - 1} of the game before").wait_for()
    await ann.asked()
    again = ann.book
    assert again.opened.game != book.opened.game
    assert again.opening is not None
    assert again.opened.players[0] == ann.name, "who takes back is to move"
    text = again.rules.distribution.alphabet.text
    assert sorted(text(again.opening.racks[0])) == sorted(before.rack)
    assert again.opening.racks[1] == (), "the bot's tiles are drawn anew"


async def find_again(ann: Visitor, browser: Browser) -> Visitor:
    """Close the window and open another: the game is offered there."""
    state = await ann.page.context.storage_state()
    await ann.page.context.close()
    ann = await visitor(ann.running, browser, ann.name, ann.lay, storage_state=state)
    await ann.press(ann.page.get_by_role("button", name="Go on against greedy"))
    await ann.asked()
    assert await ann.button("Take back").is_visible(), "the server knows that it is casual"
    return ann


async def play_from_a_turn(ann: Visitor) -> None:
    """From a turn of the game that is over, as the other side."""
    page = ann.page
    await ann.press(page.get_by_role("link", name="turn by turn"))
    await page.locator("game-view .where", has_text="of").wait_for()
    await ann.press("To the beginning")
    await ann.press("Play on from here")
    await page.get_by_text("goes on from your position: 0 to 0").wait_for()
    rows = page.locator(".own-games tbody tr")
    assert "0 – 2 – 0" in await rows.first.inner_text(), "none that was taken back"
    await page.get_by_label("You play").select_option("the other player")
    await page.get_by_label("vanilla").check()
    await ann.press("Start")
    await ann.asked()
    assert ann.seat == 1
    assert ann.book.opened.opening is not None
    await ann.resign()


async def test_sounds_are_made_once_they_are_wished_for(running: Running, browser: Browser) -> None:
    ann = await visitor(running, browser, "ann")
    await ann.page.evaluate(COUNT_NOTES)
    await ann.page.get_by_label("Your name").fill(ann.name)
    await ann.page.get_by_label("greedy").check()
    await ann.press("Start")
    await ann.asked()
    await ann.play_on()
    assert await ann.page.evaluate("window.notes") == 0
    await ann.press("Sounds")
    assert await ann.page.evaluate("window.notes") == 1
    await ann.play_on()
    assert await ann.page.evaluate("window.notes") == 3, "a note a move"
    await ann.resign()
    assert await ann.page.evaluate("window.notes") == 6
    await ann.page.reload()
    assert await ann.button("Sounds").get_attribute("aria-pressed") == "true", "it is kept"
    assert ann.shown.said == []
    await ann.page.context.close()


async def test_a_browser_without_storage_and_a_bot_that_is_gone(
    running: Running, browser: Browser
) -> None:
    shown = await opened(browser, PHONE, has_touch=True)
    eve = Visitor(running, shown, "\u202e\u05d0eve", by_touch)
    await shown.page.add_init_script(NO_STORAGE)
    await eve.come()
    await shown.page.get_by_label("Your name").fill("\u05d0\u05d1\u05d2")
    await shown.page.get_by_label("vanilla").check()
    await eve.press("Start")
    await eve.asked()
    await eve.resign()
    del running.server.tables.main.bots["vanilla"]
    await eve.press("Again, seats swapped")
    await shown.page.locator(".banner:visible", has_text="a bot of this server").wait_for()
    await shown.page.get_by_label("greedy").check()
    assert await shown.page.get_by_label("Your name").input_value() == "\u05d0\u05d1\u05d2"
    await shown.page.context.close()


async def test_with_everything_or_the_text_twice_as_large_one_can_play(
    running: Running, browser: Browser
) -> None:
    ivy = await visitor(running, browser, "ivy")
    page = ivy.page
    await page.get_by_label("greedy").check()
    await page.get_by_label("Your name").fill("ivy")
    await ivy.press("Start")
    await ivy.asked()
    tile, play = page.locator(".hand button").first, ivy.button("Play")
    for width, height, size in ((DESK // 2, 400, "100%"), (PHONE, 844, "200%")):
        await page.set_viewport_size({"width": width, "height": height})
        await page.evaluate("size => { document.documentElement.style.fontSize = size; }", size)
        assert await page.evaluate("document.documentElement.scrollWidth") <= width
        for place in (page.locator("[data-at='224']"), tile, play, ivy.button("Resign")):
            await place.scroll_into_view_if_needed()
            box = await place.bounding_box()
            assert box
            assert 0 <= box["x"] <= box["x"] + box["width"] <= width
    await page.set_viewport_size({"width": DESK // 2, "height": 400})
    await page.evaluate("document.documentElement.style.fontSize = ''")
    last = page.locator("move-entry [data-at='224']")
    await last.evaluate("it => it.scrollIntoView({ block: 'end' })")
    for place in (page.locator("move-entry [data-at='0']"), last, tile, play):
        box = await place.bounding_box()
        assert box
        assert 0 <= box["y"] <= box["y"] + box["height"] <= 401, "board and rack are seen at once"
    await ivy.resign()
    await page.close()

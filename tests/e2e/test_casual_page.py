"""Casual games on the page: hints, taking back, playing on, and one's own games found again."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio
from e2e.analysing import Counted
from e2e.browsing import AXE, DESK, Opened, find_faults, opened
from e2e.test_play_page import by_keyboard, by_touch, squares_of
from positions import legal_moves_of

from bot.equipment import Equipment
from engine.rules.moves import Direction, Place
from harness.arbiter.journal import Journal
from harness.arbiter.scorebook import Scorebook
from harness.cli.serving import House, offered, read_bots
from harness.game_kinds import MAIN, GameKind
from harness.server.server import MatchServer
from harness.server.tokens import Gatekeeper
from lexicons.store import load_lexicon
from protocol.parts import TimeControl

if TYPE_CHECKING:
    from playwright.async_api import Browser, Locator, Page

pytestmark = pytest.mark.asyncio(loop_scope="module")

PHONE = 390
NO_STORAGE = """for (const name of ["localStorage", "sessionStorage"])
  Object.defineProperty(window, name, { get() { throw new Error("it is not allowed"); } });"""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[MatchServer]:
    specs = read_bots({name: name for name in ("static", "bluff", "greedy", "vanilla")})
    house, kinds = House(specs, Equipment()), {MAIN: GameKind(equipment=Equipment())}
    with closing(Journal(tmp_path_factory.mktemp("casual") / "games.db")) as journal:
        server = MatchServer(
            house.tables,
            journal,
            Gatekeeper(journal),
            max_games=4,
            drain_s=0,
            time=TimeControl(initial_ms=1_200_000, ready_ms=600_000),
            offered=offered(specs),
            analyst=lambda _kinds: Counted.start(kinds, idle=False),
        )
        await server.start()
        yield server
        await server.stop()
        await house.close()


@dataclass
class Visitor:
    """Who plays casual games, by keyboard or by touch."""

    server: MatchServer
    shown: Opened
    name: str
    by_touch: bool = False

    @property
    def page(self) -> Page:
        return self.shown.page

    @property
    def book(self) -> Scorebook:
        games = self.server._hosting.games.values()
        return next(host.book for host in games if self.name in host.guests)

    @property
    def seat(self) -> int:
        return self.book.opened.players.index(self.name)

    def button(self, name: str) -> Locator:
        return self.page.get_by_role("button", name=name, exact=True)

    async def press(self, name: str) -> None:
        await (self.button(name).tap() if self.by_touch else self.button(name).press("Enter"))

    async def come(self) -> None:
        await self.shown.go(f"http://127.0.0.1:{self.server.port}/#/play")

    async def asked(self) -> None:
        await self.page.locator(".status", has_text="Your turn").wait_for()

    async def move(self) -> None:
        """Play what scores most, and wait for the answer."""
        book = self.book
        assert book.game is not None
        turns = len(book.turns)
        move = legal_moves_of(book.game.position, load_lexicon(), book.rules)[0]
        assert isinstance(move, Place), "some word fits"
        lay = by_touch if self.by_touch else by_keyboard
        await lay(self.page, squares_of(move, book), move.direction is Direction.ACROSS)
        play = self.page.get_by_role("button", name="Play for")
        await (play.tap() if self.by_touch else self.page.keyboard.press("Enter"))
        await self.page.locator(".rounds a").nth(turns + 1).wait_for(state="attached")
        await self.asked()

    async def resign(self) -> None:
        for name in ("Resign", "Resign: sure?"):  # two taps would be a double one
            await self.button(name).click()
        await self.page.get_by_text("You lose").wait_for()


@pytest.mark.parametrize(("name", "touch"), [("kay", False), ("tess", True)])
async def test_a_casual_game(server: MatchServer, browser: Browser, name: str, touch: bool) -> None:
    width = PHONE if touch else DESK
    ann = Visitor(server, await opened(browser, width, has_touch=touch), name, touch)
    await ann.come()
    page = ann.page
    await page.locator(".opponents [data-bot]").first.wait_for()
    bots = await page.locator(".opponents [data-bot] bdi").all_inner_texts()
    assert bots == ["vanilla", "greedy", "static", "bluff"], "the weakest first"
    assert await page.locator("#radio-static").is_checked(), "no bluff where none is challenged"
    assert "37 %" in await page.locator("[data-bot=greedy] b").inner_text()
    await page.get_by_label("Your name").fill(name)
    await page.get_by_label("greedy").check()
    await page.get_by_label("Clock").select_option("10:00")
    await ann.press("Start")
    await ann.asked()
    assert ann.book.opened.time.initial_ms == 600_000
    seat = ann.seat
    for _ in range(2):
        await ann.move()
    await take_hint(ann)
    await step_back(ann)
    await take_back(ann)
    if AXE.exists():
        await find_faults(page)
        assert await page.evaluate("document.documentElement.scrollWidth") <= width
    await ann.move()
    unfinished = ann.book.opened.game
    ann = await find_again(ann, browser, width)
    assert ann.book.opened.game == unfinished
    await ann.resign()
    await ann.press("Again, seats swapped")
    await ann.asked()
    assert ann.seat == 1 - seat, "what was played on from a turn does not count"
    assert ann.book.opened.opening is None
    await ann.move()
    await ann.resign()
    await play_on(ann)
    assert ann.shown.said == []
    await ann.page.context.close()


async def take_hint(ann: Visitor) -> None:
    await ann.press("Hint")
    await ann.page.locator(".formed", has_text="The best move lays").wait_for()
    await ann.press("The move")
    await ann.page.locator(".placed").first.wait_for()
    await ann.press("Recall")
    await ann.page.locator(".formed", has_text="Best: ").wait_for()


async def step_back(ann: Visitor) -> None:
    page, book = ann.page, ann.book
    turns = len(book.turns)
    tiles = page.locator(".past tile-board .tile")
    if ann.by_touch:
        await ann.press("One turn back")
    else:
        await page.locator("main").focus()
        await page.keyboard.press("Control+ArrowLeft")
    await page.get_by_text(f"After turn {turns - 1} of {turns}").wait_for()
    assert 0 < await tiles.count() < await page.locator("move-entry tile-board .tile").count()
    await ann.press("Back to the game")
    assert await page.locator("move-entry tile-board").is_visible()


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


async def find_again(ann: Visitor, browser: Browser, width: int) -> Visitor:
    """Close the window and open another: the game is offered there."""
    state = await ann.page.context.storage_state()
    await ann.page.context.close()
    shown = await opened(browser, width, has_touch=ann.by_touch, storage_state=state)
    ann = Visitor(ann.server, shown, ann.name, ann.by_touch)
    await ann.come()
    go_on = ann.page.get_by_role("button", name="Go on against greedy")
    await (go_on.tap() if ann.by_touch else go_on.press("Enter"))
    await ann.asked()
    assert await ann.button("Take back").is_visible(), "the server knows that it is casual"
    return ann


async def play_on(ann: Visitor) -> None:
    """From a turn of the game that is over, as the other side."""
    page = ann.page
    link = page.get_by_role("link", name="turn by turn")
    await (link.tap() if ann.by_touch else link.press("Enter"))
    await page.locator(".where", has_text="of").wait_for()
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


async def test_a_browser_without_storage_and_a_bot_that_is_gone(
    server: MatchServer, browser: Browser
) -> None:
    shown = await opened(browser, PHONE)
    eve = Visitor(server, shown, "\u202e\u05d0eve")
    await shown.page.add_init_script(NO_STORAGE)
    await eve.come()
    await shown.page.get_by_label("Your name").fill("\u05d0\u05d1\u05d2")
    await shown.page.get_by_label("vanilla").check()
    await eve.press("Start")
    await eve.asked()
    await eve.resign()
    del server.tables.main.bots["vanilla"]
    await eve.press("Again, seats swapped")
    await shown.page.locator(".banner:visible", has_text="a bot of this server").wait_for()
    await shown.page.get_by_label("greedy").check()
    assert await shown.page.get_by_label("Your name").input_value() == "\u05d0\u05d1\u05d2"
    await shown.page.context.close()


async def test_with_everything_or_the_text_twice_as_large_one_can_play(
    server: MatchServer, browser: Browser
) -> None:
    ivy = Visitor(server, await opened(browser), "ivy")
    page = ivy.page
    await ivy.come()
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

"""A person's games on the page, against greedy: by keyboard, by mouse, by touch."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import permutations
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest
import pytest_asyncio
from e2e.browsing import AXE, PHONE, Opened, find_faults, opened
from positions import game_positions, legal_moves_of

from bot.equipment import Equipment
from engine.notation.cgp import write_cgp
from engine.rules.moves import Direction, Place
from engine.rules.position import Position
from engine.rules.rules import IllegalMove, Rules, check_move, score_play, standard_rules
from harness.arbiter.host import GameHost
from harness.arbiter.journal import Journal
from harness.arbiter.records import new_game
from harness.arbiter.scorebook import Scorebook
from harness.cli.serving import HouseBots, read_bots
from harness.server import hosting
from harness.server.play import Offered
from harness.server.server import MatchServer
from harness.server.tokens import Gatekeeper
from lexicons.alphabet import EMPTY
from lexicons.store import load_lexicon
from protocol.channel import now_ms
from protocol.parts import TimeControl

if TYPE_CHECKING:
    from playwright.async_api import Browser, Page

pytestmark = pytest.mark.asyncio(loop_scope="module")

OUTAGE_S = 5
PATIENCE_MS = 60_000

SHOWN = """() => {
  const { playing } = document.querySelector("play-view");
  return {
    moves: document.querySelectorAll(".sheet tbody tr").length,
    scores: [...document.querySelectorAll(".score")].map((each) => Number(each.textContent)),
    board: [...document.querySelectorAll("tile-board [data-at]")].map((cell) =>
      cell.matches(".tile:not(.placed)") ? cell.firstElementChild.textContent : "."),
    clocks: playing.game.clocksAt(performance.now()),
  };
}"""

ASKED = re.compile("Your turn|You win|You lose|A tie")
"""What the page says when the person is to move, or the game is over."""


LOST = re.compile("WebSocket connection|ERR_(EMPTY_RESPONSE|CONNECTION|SOCKET)")
"""What the browser itself says of a line that fails."""


class Proxy:
    """What lies between the page and the server, and can fail."""

    def __init__(self) -> None:
        self.target = self.port = 0
        self.is_cut = self.is_mute = False
        self._tasks: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._carry, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        self._server.close()
        self.cut()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def cut(self) -> None:
        """End all connections, and let none in until ``is_cut`` is false again."""
        self.is_cut = True
        for task in self._tasks:
            task.cancel()

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(self._both(reader, writer))
        self._tasks.add(task)
        with contextlib.suppress(asyncio.CancelledError, OSError):
            await task
        self._tasks.discard(task)
        writer.close()

    async def _both(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.is_cut:
            return
        onward, outward = await asyncio.open_connection("127.0.0.1", self.target)
        try:
            await asyncio.gather(
                self._pump(reader, outward, mutable=True), self._pump(onward, writer)
            )
        finally:
            outward.close()

    async def _pump(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, mutable: bool = False
    ) -> None:
        while data := await reader.read(1 << 16):
            if not (mutable and self.is_mute):
                writer.write(data)
                await writer.drain()
        writer.close()


@dataclass
class Running:
    """A server that lends greedy, behind a line that can fail."""

    path: Path
    proxy: Proxy = field(default_factory=Proxy)
    port: int = 0

    async def start(self) -> None:
        self.bots = HouseBots(read_bots({"greedy": "greedy"}), Equipment(), load_lexicon())
        self.journal = Journal(self.path)
        self.server = MatchServer(
            load_lexicon(),
            self.journal,
            Gatekeeper(self.journal),
            self.bots.seats,
            self.bots.lend,
            port=self.port,
            drain_s=0,
            time=TimeControl(initial_ms=1_200_000, ready_ms=600_000),
            offered=Offered({"greedy": "plays the highest score"}),
        )
        await self.server.start()
        self.port = self.proxy.target = self.server.port

    async def stop(self) -> None:
        await self.server.stop()
        await self.bots.close()
        self.journal.close()

    @property
    def host(self) -> GameHost:
        """The game that is on, or was on last."""
        for host in self.server._hosting.games.values():
            self._host = host
        return self._host


@dataclass
class Person:
    """Who sits before a page."""

    running: Running
    shown: Opened
    name: str

    @property
    def page(self) -> Page:
        return self.shown.page

    @property
    def seat(self) -> int:
        return self.running.host.book.opened.players.index(self.name)

    async def begin(self) -> None:
        await self.shown.go(f"http://127.0.0.1:{self.running.proxy.port}/#/play")
        await self.page.get_by_label("Your name").fill(self.name)
        await self.page.get_by_label("greedy").check()
        await self.page.get_by_role("button", name="Start").press("Enter")

    async def asked(self) -> bool:
        """Wait for the person's turn; return False once the game is over."""
        await self.page.locator(".status", has_text=ASKED).wait_for(timeout=PATIENCE_MS)
        return "Your turn" in await self.page.locator(".status").inner_text()

    async def check(self) -> None:
        """Check that the page shows the game as the server has it."""
        book = self.running.host.book
        assert book.game is not None
        text = book.rules.distribution.alphabet.tile_text
        shown: dict[str, Any] = await self.page.evaluate(SHOWN)
        after = book.clocks(now_ms())
        assert shown["moves"] == len(book.turns)
        assert shown["scores"] == list(book.ended.scores if book.ended else book.scores)
        squares = book.game.position.board.squares
        assert shown["board"] == [text(tile) if tile != EMPTY else "." for tile in squares]
        for seat, left_ms in enumerate(shown["clocks"]):
            if seat == book.on_turn:
                assert after[seat] <= left_ms <= self.began_ms(), "the turn is charged"
            else:
                assert left_ms == after[seat]

    def began_ms(self) -> int:
        """Return what the person's clock showed when its turn began."""
        book = self.running.host.book
        return book._clocks[self.seat].remaining_ms

    async def move(self, lay: Lay, disturb: Disturb | None = None) -> None:
        """Play the move that scores most, if there is a placement, after a disturbance."""
        book = self.running.host.book
        assert book.game is not None
        move = legal_moves_of(book.game.position, load_lexicon(), book.rules)[0]
        if not isinstance(move, Place):
            for name in ("Pass", "Pass: sure?"):
                await self.page.get_by_role("button", name=name, exact=True).click()
            return
        await lay(self.page, squares_of(move, book), move.direction is Direction.ACROSS)
        score = score_play(book.game.position.board, move, book.rules).score
        button = self.page.get_by_role("button", name=f"Play for {score}", exact=True)
        await button.wait_for()
        if disturb is not None and await disturb():
            return
        if lay is by_keyboard:
            await self.page.keyboard.press("Enter")
        else:
            await button.click()

    # --- what may come between laying a move and playing it; True: it is played ------------------

    async def look(self) -> bool:
        """Look for what would keep people out."""
        if AXE.exists():  # tests/e2e/test_page.py says how to get it
            await find_faults(self.page)
        return False

    async def reload(self) -> bool:
        """Load the page again, and so begin the turn again."""
        await self.page.reload()
        assert await self.asked()
        await self.check()
        return True

    async def lose_line(self) -> bool:
        """Play the move into a dead line; it is taken when the line is back."""
        proxy, book = self.running.proxy, self.running.host.book
        turns = len(book.turns)
        proxy.is_mute = True
        await self.page.keyboard.press("Enter")
        await self.page.locator(".status", has_text="on its way").wait_for()
        left_ms = book.clocks(now_ms())[self.seat]
        proxy.cut()
        proxy.is_mute = False
        await self.page.get_by_text("The connection to the server is lost").wait_for()
        await asyncio.sleep(OUTAGE_S)
        proxy.is_cut = False
        await self.page.get_by_role("button", name="Try now").click()
        assert await self.asked()
        assert book.turns[turns].seat == self.seat, "the move is taken, once"
        assert book.turns[turns].clocks[self.seat] <= left_ms - 1_000 * OUTAGE_S
        return True

    async def restart_server(self) -> bool:
        """Have the server start again; the tiles stay where they are laid."""
        await self.running.stop()
        await self.page.get_by_text("The connection to the server is lost").wait_for()
        await self.running.start()
        await self.page.get_by_role("button", name="Try now").click()
        assert await self.asked()
        await self.check()
        return False

    async def try_phony(self) -> None:
        """Play what is no word: that is said before and after, and the tiles stay."""
        book = self.running.host.book
        assert book.game is not None
        phony = find_phony(book.game.position, book.rules)
        await by_touch(self.page, squares_of(phony, book), across=True)
        await self.page.get_by_text("(not a word)").first.wait_for()
        await self.page.get_by_role("button", name="Play for").tap()
        await self.page.locator(".banner", has_text="2 more such moves lose").wait_for()
        assert await self.page.locator("tile-board .placed").count() == len(phony.placed)
        await self.page.get_by_role("button", name="Recall").tap()


def squares_of(move: Place, book: Scorebook) -> list[tuple[int, str]]:
    """Return the tiles that a placement lays, as texts, each with its square's number."""
    assert book.game is not None
    text = book.rules.distribution.alphabet.tile_text
    squares = book.game.position.board.squares_of(move)
    return [(15 * row + column, text(tile)) for row, column, tile in squares if tile]


def find_phony(position: Position, rules: Rules) -> Place:
    """Find a placement that is against nothing but the lexicon: a word's tiles in another order."""
    for move in legal_moves_of(position, load_lexicon(), rules):
        assert isinstance(move, Place), "some order of some word is no word"
        for placed in permutations(move.placed):
            tiles = iter(placed)
            phony = replace(move, tiles=tuple(tile and next(tiles) for tile in move.tiles))
            try:
                check_move(position, phony, rules, load_lexicon().graph.contains, bag=86)
            except IllegalMove as illegal:
                if illegal.code == "not_a_word":
                    return phony
    raise AssertionError("there is always a move")


async def by_keyboard(page: Page, tiles: list[tuple[int, str]], across: bool) -> None:
    """Go to the first square by arrow keys, and type."""
    await page.keyboard.press("ArrowRight")  # puts the keyboard on the board, wherever it is
    cursor = await page.evaluate("document.querySelector('move-entry').draft.cursor")
    is_across, (row, column) = cursor["across"], divmod(cursor["at"], 15)
    to_row, to_column = divmod(tiles[0][0], 15)
    keys: list[str] = []
    for way, steps, (less, more) in (
        (True, to_column - column, ("ArrowLeft", "ArrowRight")),
        (False, to_row - row, ("ArrowUp", "ArrowDown")),
    ):
        if steps:
            turns = is_across is not way  # the first press turns
            keys += [more if steps > 0 else less] * (abs(steps) + turns)
            is_across = way
    if is_across is not across:
        keys.append("Space")
    keys += [f"Shift+{tile.upper()}" if tile.islower() else tile.lower() for _, tile in tiles]
    for key in keys:
        await page.keyboard.press(key)


async def by_mouse(page: Page, tiles: list[tuple[int, str]], across: bool) -> None:
    """Drag each tile from the rack to its square."""
    for at, tile in tiles:
        await page.drag_and_drop(held(tile), f"[data-at='{at}']")
        await name_blank(page, tile)


async def by_touch(page: Page, tiles: list[tuple[int, str]], across: bool) -> None:
    """Tap each tile, then its square."""
    for at, tile in tiles:
        await page.locator(held(tile)).tap()
        await page.locator(f"[data-at='{at}']").tap()
        await name_blank(page, tile)


def held(tile: str) -> str:
    """Return the selector of a tile on the rack that is not laid yet."""
    name = "blank" if tile.islower() else tile
    return f".hand .tile:not(.gone)[aria-label^='{name},'] >> nth=0"


async def name_blank(page: Page, tile: str) -> None:
    if tile.islower():
        await page.locator("dialog").get_by_role("button", name=tile.upper(), exact=True).click()


Disturb: TypeAlias = Callable[[], Awaitable[bool]]
Lay: TypeAlias = Callable[["Page", list[tuple[int, str]], bool], Awaitable[None]]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def running(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Running]:
    running = Running(tmp_path_factory.mktemp("play") / "games.db")
    await running.start()
    await running.proxy.start()
    yield running
    await running.proxy.stop()
    await running.stop()


async def play(person: Person, lay: Lay) -> int:
    """Play a game to its end; return the number of the person's turns."""
    turns = 0
    while await person.asked():
        turns += 1
        await person.move(lay)
    await person.check()
    assert [line for line in person.shown.said if not LOST.search(line)] == []
    return turns


async def test_a_game_by_keyboard_with_a_reload_an_outage_and_a_restart(
    running: Running, browser: Browser
) -> None:
    person = Person(running, await opened(browser), "kay")
    page = person.page
    await person.begin()
    for disturb in (person.look, person.reload, person.lose_line, person.restart_server):
        assert await person.asked()
        await person.check()
        await person.move(by_keyboard, disturb)
    assert await play(person, by_keyboard) > 2
    await page.close()


@pytest.fixture
def late(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have games begin in a late position, and so end soon."""
    rules = standard_rules()
    position = game_positions(load_lexicon(), rules, seed=3, count=10)[6]
    opening = write_cgp(replace(position, racks=((), ()), scores=(250, 240)), rules)
    monkeypatch.setattr(hosting, "new_game", partial(new_game, opening=opening))


@pytest.mark.usefixtures("late")
async def test_a_game_by_mouse_and_again_with_seats_swapped(
    running: Running, browser: Browser
) -> None:
    person = Person(running, await opened(browser), "mo")
    page = person.page
    await person.begin()
    assert await play(person, by_mouse) >= 2
    seat = person.seat
    await page.get_by_role("button", name="Again").click()
    assert await person.asked()
    assert person.seat == 1 - seat
    await page.get_by_role("button", name="Resign").click()
    await page.get_by_role("button", name="Resign: sure?").click()
    await page.get_by_text("You lose").wait_for()
    await page.close()


@pytest.mark.usefixtures("late")
async def test_a_game_by_touch_and_in_a_second_window(running: Running, browser: Browser) -> None:
    person = Person(running, await opened(browser, PHONE, has_touch=True), "tess")
    page = person.page
    await person.begin()
    assert await person.asked()
    other = Person(running, await opened(browser, PHONE), "tess")
    await other.begin()
    await page.get_by_text("You are playing in another window").wait_for()
    assert await other.asked()
    await other.check()
    await page.get_by_role("button", name="Play here").tap()
    assert await person.asked()
    await person.check()
    await other.page.get_by_text("You are playing in another window").wait_for()
    await other.page.close()
    await person.try_phony()
    left_ms = running.host.book.clocks(now_ms())[person.seat]
    running.host.give(person.seat, 30_000 - left_ms, "the clock is to warn")
    await person.move(by_touch)
    await page.get_by_role("alert").get_by_text("Less than a minute").wait_for(state="attached")
    await play(person, by_touch)
    assert await page.evaluate("document.documentElement.scrollWidth") <= PHONE
    await page.close()

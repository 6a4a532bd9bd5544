"""Persons' games on the page: a whole one by keyboard, others by touch; challenges."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import permutations
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest
import pytest_asyncio
from e2e.browsing import PHONE, TOO_WIDE, Opened, find_faults, opened
from e2e.hosts import Line
from positions import legal_moves_of

from bot.equipment import Equipment
from engine.rules.moves import Direction, Place
from engine.rules.position import Position
from engine.rules.rules import IllegalMove, Rules, check_move, score_play
from harness.arbiter import scorebook
from harness.arbiter.host import GameHost
from harness.arbiter.journal import Journal
from harness.arbiter.scorebook import Scorebook
from harness.cli.serving import House, offered, read_bots
from harness.server.server import MatchServer
from harness.server.tables import ServerTables
from harness.server.tokens import Gatekeeper
from lexicons.alphabet import EMPTY
from lexicons.store import load_lexicon
from protocol.channel import now_ms
from protocol.parts import TimeControl

if TYPE_CHECKING:
    from playwright.async_api import Browser, Page

pytestmark = pytest.mark.asyncio(loop_scope="module")

BLUFF = "bluff?rate=1"
OUTAGE_S = 2
PLAYED_BEFORE = 3
"""Turns that a person has played before the line is lost: the game is in its middle."""

SHOWN = """() => {
  const { playing } = document.querySelector("play-view");
  return {
    moves: document.querySelectorAll(".rounds a").length,
    scores: [...document.querySelectorAll(".score")].map((each) => Number(each.textContent)),
    board: [...document.querySelectorAll("tile-board [data-at]")].map((cell) =>
      cell.matches(".tile:not(.placed)") ? cell.firstElementChild.textContent : "."),
    clocks: playing.game.clocksAt(performance.now()),
  };
}"""

HELD = """(sought) => document.querySelector("move-entry").draft.held
  .findIndex(({ tile, at }) => at === null && tile === sought)"""
"""The place on the rack of a tile that is not laid."""

TRY_NOW = """() => [...document.querySelectorAll("button")]
  .find((each) => each.textContent === "Try now")?.click()"""
"""Has the page connect at once, unless it has done so by itself."""

CHECKED = """async () => {
  const { game, seat, witness } = document.querySelector("play-view").playing;
  const script = document.querySelector("script").src;
  const { checkDraws } = await import(script.replace("app.js", "draws.js"));
  const changes = [
    {}, { wasFirst: false }, { hasChanged: true }, { commitment: "00" }, { nonce: "00" },
    { racks: { 0: "QQQ" } }, { racks: { [game.last]: "QQQ" } }];
  const given = [...changes.map((change) => ({ ...witness, ...change })), null];
  const found = given.map((each) => checkDraws(each, game, seat));
  for (const text of ["no move", "-3", "-ABC"]) {
    const over = { ...game.over, moves: [text, ...game.over.moves.slice(1)] };
    found.push(checkDraws(witness, Object.create(game, { over: { value: over } }), seat));
  }
  return Promise.all(found);
}"""
"""What is found of the draws as they were, and as they might have been."""

ASKED = re.compile("Your turn|You win|You lose|A tie")
"""What the page says when the person is to move, or the game is over."""


LOST = re.compile("WebSocket connection|ERR_(EMPTY_RESPONSE|CONNECTION|SOCKET)")
"""What the browser itself says of a line that fails."""


@dataclass
class Running:
    """A server that lends bots, at two tables unless it analyses: at one plays are challenged."""

    path: Path
    bots: dict[str, str] = field(default_factory=lambda: {"greedy": "greedy", "bluff": BLUFF})
    analyst: Any = None
    port: int = 0
    hosts: dict[str, GameHost] = field(default_factory=dict)
    """The last game that each player was seen in."""

    async def start(self) -> None:
        seats = read_bots(self.bots)
        self.house = House(seats, Equipment())
        main = self.house.tables.main
        double = replace(main, name="double", rules=replace(main.rules, challenge="double"))
        self.journal = Journal(self.path)
        self.server = MatchServer(
            ServerTables(main, [] if self.analyst else [double]),
            self.journal,
            Gatekeeper(self.journal),
            self.house.lend,
            port=self.port,
            max_games=4,  # a game each, on any machine
            drain_s=0,
            time=TimeControl(initial_ms=1_200_000, ready_ms=600_000),
            offered=offered(seats),
            analyst=self.analyst,
        )
        await self.server.start()
        self.port = self.server.port

    async def stop(self) -> None:
        await self.server.stop()
        await self.house.close()
        self.journal.close()

    def host(self, player: str) -> GameHost:
        """Return the game of a player that is on, or was on last."""
        for host in self.server._hosting.games.values():
            self.hosts |= dict.fromkeys(host.book.opened.players, host)
        return self.hosts[player]


class Restart:
    """A restart of the server that some persons wait for, each at its turn."""

    def __init__(self, running: Running, persons: int) -> None:
        self._running, self._together = running, asyncio.Barrier(persons)

    async def happen(self, lost: Callable[[], Awaitable[None]]) -> None:
        """Stop the server once all are there, and start it when ``lost`` has shown to each."""
        async with self._together as place:
            if not place:
                await self._running.stop()
        await lost()
        async with self._together as place:
            if not place:
                await self._running.start()
        await self._together.wait()


@dataclass
class Person:
    """Who sits before a page."""

    running: Running
    shown: Opened
    name: str
    lay: Lay
    line: Line | None = None
    """What lies between the page and the server, and can fail."""
    turns: int = 0
    """That were played."""

    @property
    def page(self) -> Page:
        return self.shown.page

    @property
    def book(self) -> Scorebook:
        return self.running.host(self.name).book

    @property
    def seat(self) -> int:
        return self.book.opened.players.index(self.name)

    async def begin(self, opponent: str = "greedy", table: str = "main") -> None:
        if self.line is None:
            self.line = Line(self.running.port)
            await self.line.open()
        await self.shown.go(f"http://127.0.0.1:{self.line.port}/#/play")
        await self.page.get_by_label("Your name").fill(self.name)
        await self.page.get_by_label("Table").select_option(table)
        await self.page.get_by_role("radio", name=opponent).check()
        await self.page.get_by_role("button", name="Start").press("Enter")

    async def asked(self) -> bool:
        """Wait for the person's turn; return False once the game is over."""
        await self.page.locator(".status", has_text=ASKED).wait_for()
        return "Your turn" in await self.page.locator(".status").inner_text()

    async def check(self) -> None:
        """Check that the page shows the game as the server has it."""
        book = self.book
        assert book.game is not None
        text = book.rules.distribution.alphabet.tile_text
        shown: dict[str, Any] = await self.page.evaluate(SHOWN)
        after = book.clocks(now_ms())
        assert shown["moves"] == len(book.turns)
        assert shown["scores"] == list(book.ended.scores if book.ended else book.scores)
        squares = book.game.position.board.squares
        assert shown["board"] == [text(tile).upper() if tile != EMPTY else "." for tile in squares]
        for seat, left_ms in enumerate(shown["clocks"]):
            if seat == book.on_turn:
                assert after[seat] <= left_ms <= self.began_ms(), "the turn is charged"
            else:
                assert left_ms == after[seat]

    def began_ms(self) -> int:
        """Return what the person's clock showed when its turn began."""
        return self.book._clocks[self.seat].remaining_ms

    async def move(self, disturb: Disturb | None = None) -> None:
        """Play the move that scores most, if there is a placement, after a disturbance."""
        book = self.book
        self.turns += 1
        assert book.game is not None
        move = legal_moves_of(book.game.position, load_lexicon(), book.rules)[0]
        if not isinstance(move, Place):
            await self.skip()
            return
        score = score_play(book.game.position.board, move, book.rules).score
        await self.lay(self.page, squares_of(move, book), move.direction is Direction.ACROSS)
        await self.page.get_by_role("button", name=f"Play for {score}", exact=True).wait_for()
        if disturb is None or not await disturb():
            await self.send()

    async def skip(self) -> None:
        """Pass."""
        for name in ("Pass", "Pass: sure?"):
            await self.page.get_by_role("button", name=name, exact=True).click()

    async def answer(self, name: str) -> None:
        """Play until a play may be challenged, and click what is said of it.

        Whoever only passed would end the game, if the bot had nothing to play for three turns.
        """
        button = self.page.get_by_role("button", name=name, exact=True)
        assert await self.asked()
        while not await button.is_visible():
            await self.move()
            assert await self.asked()
        passing = self.page.get_by_role("button", name="Pass", exact=True)
        assert not await passing.is_visible(), "one question at a time"
        await button.click()
        await passing.wait_for()

    async def send(self) -> None:
        """Play what is laid."""
        if self.lay is by_keyboard:
            await self.page.keyboard.press("Enter")
        else:
            await self.page.get_by_role("button", name="Play for").tap()

    async def leave(self) -> None:
        """Close the page."""
        await self.page.close()
        if self.line is not None:
            self.line.close()

    async def resign(self) -> None:
        """Give the game up."""
        for name in ("Resign", "Resign: sure?"):
            await self.page.get_by_role("button", name=name, exact=True).click()
        await self.page.get_by_text("You lose").wait_for()

    async def play(self, disturbances: Sequence[Disturb], *, to_the_end: bool = False) -> None:
        """Play until all has happened, and then to the end, or resign.

        The page shows the game as it is after each disturbance.
        """
        rest = iter(disturbances)
        while await self.asked():
            disturb = next(rest, None)
            if disturb is not None:
                await self.check()
            if disturb is None and not to_the_end:
                await self.resign()
            else:
                await self.move(disturb)
        assert next(rest, None) is None, "the game ended before all had happened"
        if to_the_end:  # nobody is told of the clock of who resigns
            await self.check()
        await self.page.get_by_text("Draws checked: nobody chose the tiles").wait_for()
        assert [line for line in self.shown.said if not LOST.search(line)] == []

    async def nothing(self) -> bool:
        return False

    # --- what may come between laying a move and playing it; True: it is played ------------------

    async def look(self) -> bool:
        """Look for what would keep people out."""
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
        line, book = self.line, self.book
        assert line is not None
        turns = len(book.turns)
        line.is_mute = True
        await self.send()
        await self.page.locator(".status", has_text="on its way").wait_for()
        left_ms = book.clocks(now_ms())[self.seat]
        line.cut()
        line.is_mute = False
        await self.page.get_by_text("The connection to the server is lost").wait_for()
        await asyncio.sleep(OUTAGE_S)
        line.is_cut = False
        await self.page.evaluate(TRY_NOW)
        # Until the move has arrived it is still the person's turn.
        await self.page.locator(".rounds a").nth(turns).wait_for(state="attached")
        assert await self.asked()
        assert book.turns[turns].seat == self.seat, "the move is taken, once"
        assert book.turns[turns].clocks[self.seat] <= left_ms - 1_000 * OUTAGE_S
        return True

    async def see(self, restart: Restart) -> bool:
        """Have the server start again; the tiles stay where they are laid."""
        await restart.happen(self.page.get_by_text("The connection to the server is lost").wait_for)
        await self.page.evaluate(TRY_NOW)
        assert await self.asked()
        await self.check()
        return False

    async def run_short(self) -> bool:
        """Have little time left when the move is played; the page says so."""
        left_ms = self.book.clocks(now_ms())[self.seat]
        self.running.host(self.name).grant(self.seat, 30_000 - left_ms, "the clock is to warn")
        await self.send()
        alert = self.page.get_by_role("alert").get_by_text("Less than a minute")
        await alert.wait_for(state="attached")
        return True

    async def try_phony(self) -> None:
        """Play what is no word: it is not sent; if nobody could say so, it is refused."""
        book = self.book
        assert book.game is not None
        phony = find_phony(book.game.position, book.rules)
        await self.lay(self.page, squares_of(phony, book), True)
        await self.page.get_by_text("(not a word)").first.wait_for()
        assert await self.page.locator("[aria-disabled=true]", has_text="Play for").count() == 1
        await self.page.keyboard.press("Enter")
        await self.page.get_by_role("button", name="Recall").tap()
        assert not await self.page.locator(".banner", has_text="more such moves").is_visible()
        await self.page.route("**/api/words*", lambda route: route.fulfill(json={"words": {}}))
        await self.lay(self.page, squares_of(phony, book), True)
        await self.page.get_by_role("button", name="Play for").tap()
        await self.page.unroute("**/api/words*")
        await self.page.locator(".banner", has_text="2 more such moves lose").wait_for()
        await self.check()
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


async def by_touch(page: Page, tiles: list[tuple[int, str]], across: bool) -> None:
    """Tap each tile, then its square."""
    for at, tile in tiles:
        index = await page.evaluate(HELD, "?" if tile.islower() else tile)
        held = page.locator(f"[data-held='{index}']")
        await held.tap()
        await page.locator(f".marked[data-held='{index}']").wait_for()
        await page.locator(f"tile-board [data-at='{at}']").tap()
        await name_blank(page, tile)
        await page.locator(f".gone[data-held='{index}']").wait_for()


async def name_blank(page: Page, tile: str) -> None:
    if tile.islower():
        await page.locator("dialog").get_by_role("button", name=tile.upper(), exact=True).click()


Disturb: TypeAlias = Callable[[], Awaitable[bool]]
Lay: TypeAlias = Callable[["Page", list[tuple[int, str]], bool], Awaitable[None]]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def running(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Running]:
    running = Running(tmp_path_factory.mktemp("play") / "games.db")
    await running.start()
    yield running
    await running.stop()


async def test_games_by_keyboard_and_touch(running: Running, browser: Browser) -> None:
    """Each with a reload, a lost line and a restart of the server, which both of them see."""
    kay = Person(running, await opened(browser), "kay", by_keyboard)
    tess = Person(running, await opened(browser, PHONE, has_touch=True), "tess", by_touch)
    restart = Restart(running, 2)
    async with asyncio.TaskGroup() as games:
        games.create_task(play_with_keys(kay, restart))
        games.create_task(play_on_a_phone(tess, restart, browser))
    for person in (kay, tess):
        assert person.turns > PLAYED_BEFORE
        await person.leave()


def troubles(person: Person, restart: Restart) -> list[Disturb]:
    """Return what happens in a game: nothing at first, then all that can."""
    quiet = [person.nothing] * PLAYED_BEFORE
    return [*quiet, person.reload, person.lose_line, partial(person.see, restart)]


async def play_with_keys(person: Person, restart: Restart) -> None:
    await person.begin()
    _, *others = troubles(person, restart)
    await person.play([person.look, *others], to_the_end=True)
    assert not await person.page.get_by_role("link", name="Review").count(), "it is not analysed"
    assert await person.page.evaluate(CHECKED) == [
        *("proven", "partly", "changed", "secret", "nonce", "dealt", "dealt", "unseen"),
        *["dealt"] * 3,
    ]


async def play_on_a_phone(person: Person, restart: Restart, browser: Browser) -> None:
    """Play in two windows for a while; lay what is no word; run short of time."""
    page, elsewhere = person.page, person.page.get_by_text("You are playing in another window")
    await person.begin()
    assert await person.asked()
    stranger = replace(person, shown=await opened(browser))
    await stranger.begin()
    await stranger.page.locator(".banner:visible", has_text="'tess' is in use").wait_for()
    await stranger.page.close()
    state = await page.context.storage_state()
    other = replace(person, shown=await opened(browser, PHONE, storage_state=state))
    await other.begin()
    await elsewhere.wait_for()
    assert await other.asked()
    await other.check()
    await page.get_by_role("button", name="Play here").tap()
    assert await person.asked()
    await person.check()
    assert not await elsewhere.count()
    await other.page.get_by_text("You are playing in another window").wait_for()
    await other.page.close()
    await person.try_phony()
    await person.play([*troubles(person, restart), person.run_short])
    assert await page.evaluate("document.documentElement.scrollWidth") <= PHONE
    await page.locator("[data-at='0']").tap()
    assert await page.locator("tile-board .across").count() == 0, "nothing is laid any more"


async def test_phonies_are_challenged_off_and_accepted(
    running: Running, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scorebook, "CHALLENGE_MS", 600_000)  # on any machine
    cal = Person(running, await opened(browser, PHONE), "cal", by_keyboard)
    sent: list[str] = []

    def hear(message: str | bytes) -> None:
        sent.append(json.loads(message)["type"])

    cal.page.on("websocket", lambda line: line.on("framesent", hear))
    await cal.begin("bluff", "double")
    await cal.answer("Challenge")
    await cal.page.locator(".status", has_text="The play comes off. Your turn.").wait_for()
    won, book = cal.book.turns[-1], cal.book
    assert (won.move, won.challenge, won.seat) == ("--", "won", 1 - cal.seat)
    assert book.scores[1 - cal.seat] == 0
    await cal.check()
    await cal.answer("Accept")
    play = book.turns[-1]
    assert play.score > 0
    await cal.check()
    assert await cal.page.evaluate(TOO_WIDE) == [], "no list scrolls sideways"
    await cal.move()
    assert await cal.asked()
    assert book.turns[play.seq - 1].move == play.move, "it stands"
    assert sent.count("challenge") == sent.count("accept") == 1
    await cal.leave()


async def test_a_name_that_can_be_none_is_asked_again(running: Running, browser: Browser) -> None:
    shown = await opened(browser)
    eve = Person(running, shown, "eve\u200d", by_keyboard)  # with a joiner, as emojis have it
    await eve.begin()
    await shown.page.get_by_text("name").first.wait_for()
    await shown.page.locator(".banner:visible").wait_for()
    name = shown.page.get_by_label("Your name")
    assert await shown.page.title() == "Play – tilewire"
    assert await name.is_visible(), "another can be given"
    chosen, table = shown.page.locator("[name=opponent]:checked"), shown.page.get_by_label("Table")
    for who in ("anyone", "somebody by name:", "bluff"):
        await shown.page.get_by_label(who).check()
        before = await chosen.input_value()
        for kind in ("double", "main"):
            await table.select_option(kind)
            assert await chosen.input_value() == before, "another table, and the same opponent"
    await shown.page.get_by_label("greedy").check()
    await name.fill(" ")
    await shown.page.get_by_role("button", name="Start").press("Enter")
    assert not await name.evaluate("field => field.validity.valid")
    await name.fill("eve")
    await shown.page.get_by_role("button", name="Start").press("Enter")
    assert await eve.asked()
    await eve.leave()


async def test_a_part_of_the_page_that_can_not_be_loaded_says_so(
    running: Running, shown: Opened
) -> None:
    await shown.page.route("**/play_view.js", lambda route: route.fulfill(json={"words": {}}))
    await shown.go(f"http://127.0.0.1:{running.port}/#/play")
    await shown.page.get_by_role("button", name="Reload the page").wait_for()
    assert "can't be loaded" in await shown.page.locator("h1").inner_text()
    shown.said.clear()  # of the part


async def test_one_click_on_the_first_view_begins_a_game(running: Running, shown: Opened) -> None:
    page = shown.page
    await shown.go(f"http://127.0.0.1:{running.port}/#/")
    await page.get_by_role("button", name="Play greedy").press("Enter")
    await page.get_by_role("button", name="Resign").wait_for()
    name = json.loads(await page.evaluate("localStorage['tilewire.name']"))
    assert re.fullmatch(r"guest-\d{4}", name)
    assert await page.locator(".who bdi").all_inner_texts() in ([name, "greedy"], ["greedy", name])

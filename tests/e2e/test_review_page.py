"""The review on the page: a game that is dropped, turn by turn, and other moves that are tried."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio
from e2e.analysing import analysing
from e2e.browsing import DESK, NARROWEST, PHONE, Opened, find_faults, kept, saved

from engine.notation.gcg import read_gcg
from engine.notation.replaying import replay
from engine.rules.rules import standard_rules
from harness.server.answers import board_and_tiles

if TYPE_CHECKING:
    from playwright.async_api import Locator, Page, Route, WebSocketRoute

pytestmark = pytest.mark.asyncio(loop_scope="module")

GAME = Path(__file__).parents[1] / "fixtures" / "games" / "static_greedy.gcg"
TURNS = 12
"""Of the game; the others would take their time."""
HEAD = 6
"""Lines before the first turn."""
HOSTILE = "<img src=x onerror=alert(1)>"
CUT_OFF = """[...document.querySelectorAll(".turns .scroll, .more .scroll")]
    .filter((box) => box.scrollWidth > box.clientWidth).map((box) => box.ariaLabel)"""
SLOW_MS = 120_000
"""For what an analysing process does, on a machine that may be busy."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def url(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[str]:
    async with analysing(tmp_path_factory.mktemp("review") / "games.db") as address:
        yield address


async def has_focus(place: Locator) -> bool:
    return bool(await place.evaluate("it => it === document.activeElement"))


async def paste(page: Page, text: str) -> None:
    await page.get_by_label("A game as GCG").fill(text)
    await page.get_by_role("button", name="Review", exact=True).press("Enter")


async def test_a_game_is_reviewed_and_other_moves_are_tried(url: str, shown: Opened) -> None:
    page = shown.page
    await shown.go(f"{url}#/review")
    text = "\n".join(GAME.read_text(encoding="utf-8").splitlines()[: HEAD + TURNS])
    await paste(page, text.replace("8D OWARI +18 18", "8D OW1RI +18 18"))
    banner = page.locator(".banner", has_text="This can't be reviewed: line 7: ")
    await banner.wait_for(timeout=SLOW_MS)
    assert "8D OW1RI +18 18" in await page.get_by_label("A game as GCG").input_value()
    named = text.replace("#player2 greedy greedy", f"#player2 greedy {HOSTILE}")
    named = named.replace(".ROWLIEr +78 186", ".ROWLIEr +80 188")
    await paste(page, named)
    await page.get_by_text(f"{TURNS} turns analysed").wait_for(timeout=SLOW_MS)
    assert await page.evaluate("location.hash") == "#/review/mine"
    means = await page.locator(".totals tbody tr").all_inner_texts()
    assert [mean.count(" ± ") for mean in means] == [2, 2], "chance and points, with their errors"
    costliest = page.locator(".turns tbody tr").first
    assert await costliest.locator("a").inner_text() == "10", "the costliest comes first"
    assert await costliest.get_attribute("class") == "blunder"
    await page.get_by_role("button", name="Costliest first").press("Enter")
    lines = await page.locator(".turns tbody a").all_inner_texts()
    assert lines == [str(line) for line in range(1, TURNS + 1)]

    await page.get_by_role("link", name="Turn 10", exact=True).press("Enter")
    await page.get_by_role("heading", name=f"Turn 10: {HOSTILE}").wait_for()
    assert await page.evaluate("location.hash") == "#/review/mine/10"
    assert await page.locator("turn-review .tile").count() > 30
    await page.locator("turn-review .considered tr", has_text="played").wait_for()
    await page.get_by_role("button", name="Best", exact=True).press("Enter")
    await page.locator("turn-review .fresh").first.wait_for()
    await page.get_by_role("button", name="Try a move").press("Enter")
    await page.locator("move-entry [role=gridcell]").first.click()
    entry = page.locator("move-entry")
    await entry.get_by_role("button", name="Exchange").press("Enter")
    await page.keyboard.press("U")
    await entry.get_by_role("button", name="Analyse").click()
    row = page.locator(".tries tr", has_text="exchanges U")
    await row.locator("td:nth-child(3)").filter(has_text=" ± ").wait_for(timeout=SLOW_MS)

    await keep_and_save(page)
    for width in (DESK, 960, NARROWEST, PHONE):
        await page.set_viewport_size({"width": width, "height": 700})
        assert await page.evaluate("document.documentElement.scrollWidth") <= width
        assert await page.evaluate(CUT_OFF) == [], f"at {width} px no table is wider than its box"
        assert await page.locator(".turns th", has_text="Best").is_visible()
    assert await page.locator("main img").count() == 0
    await find_faults(page)
    await page.reload()
    await page.get_by_role("heading", name="Turn 10:").wait_for(timeout=SLOW_MS)


async def keep_and_save(page: Page) -> None:
    """Keep the mistakes of the review, and save it."""
    await page.get_by_label("mistakes of").select_option(label=HOSTILE)
    await page.get_by_text("kept in this browser").wait_for()
    keys = "position played best rivals lost_win lost_points game turn when kind last"
    assert " ".join((await kept(page, "mistakes"))[0]) == keys
    noted = read_gcg(await saved(page, "Save as GCG with notes"))
    assert replay(noted, standard_rules()).final.scores == (277, 246)
    assert all(event.note for event in noted.events[:TURNS])
    html = await saved(page, "Save as HTML")
    assert html.count("<tile-board") == TURNS
    assert "<script" not in html

    assert "Chance lost" in await page.locator(".turns th").all_inner_texts()
    assert "<img" not in html
    assert HOSTILE.replace("<", "&lt;").replace(">", "&gt;") in html

    assert await page.locator(".turns small").inner_text() == "(+80; by the rules +78)"


async def test_a_position_is_dropped(url: str, shown: Opened) -> None:
    page = shown.page
    cgp = (GAME.parents[1] / "cgp" / "midgame.cgp").read_text()
    await shown.go(f"{url}#/review")
    await page.get_by_text("Drop a game").wait_for()
    await page.evaluate(DROP, [0, cgp])
    await page.locator(".considered tbody tr").first.wait_for(timeout=SLOW_MS)
    assert await page.locator(".turns").count() == 0, "there is one position"


async def test_of_a_rack_that_is_not_recorded_no_other_move_is_tried(
    url: str, shown: Opened
) -> None:
    page = shown.page
    await shown.go(f"{url}#/review")
    sheet = (GAME.parents[1] / "gcg" / "partial_racks.gcg").read_text()
    await paste(page, "\n".join(sheet.splitlines()[:4]))
    await page.get_by_text("1 turn analysed").wait_for(timeout=SLOW_MS)
    choices = await page.locator(".choices button").all_inner_texts()
    assert choices == ["Played"]
    assert await page.locator("turn-review .fresh").count() == len("WORDS")


async def test_what_is_not_there_is_a_sentence_and_a_way_on(url: str, shown: Opened) -> None:
    for address in ("#/review/0123456789abcdef", "#/review/mine/7"):
        await shown.go("about:blank")
        await shown.go(f"{url}{address}")
        await shown.page.locator(".banner").filter(has_text=".").wait_for()
        await shown.page.get_by_label("A game as GCG").wait_for()
        await shown.page.get_by_role("link", name="To the games").wait_for()

    held: asyncio.Queue[Route] = asyncio.Queue()
    await shown.page.route("**/review_view.js", held.put)
    await shown.go("about:blank")
    await shown.go(f"{url}#/review")
    late = await held.get()
    await shown.page.get_by_role("link", name="Puzzles").click()
    await shown.page.get_by_role("heading", name="Puzzles").wait_for()
    await late.continue_()
    await shown.page.evaluate(LOADED)
    assert await shown.page.get_by_role("heading", name="Puzzles").is_visible()
    shown.said.clear()  # of a game that is not there


LOADED = """() => import(
  document.querySelector("script").src.replace("app.js", "review_view.js")).then(() => {})"""


def found(*moves: str, **verdict: Any) -> dict[str, Any]:
    """What is told of a turn, the first move the best; each wins 10 % less than the one before."""
    told = {"best": moves[0], "known": True, "rivals": [], "ahead_of_next": None}
    told |= {"ahead_of_rival": None, "ahead_of_played": None, "reasons": None}
    candidates = [
        {"move": move, "win": 0.6 - at / 10, "equity": 9.0, "behind": lead(move) if at else None}
        for at, move in enumerate(moves)
    ]
    return {
        **{"cgp": "15 AB/ 10/4 0", "exact": False, "plies": 2, "rollouts": 50},
        "candidates": candidates,
        "verdict": told | {"phony": None, "not_compared": None} | verdict,
    }


def in_cases() -> dict[str, Any]:
    """What is told of a turn with one tile in the bag, the second move played; a tie isn't sure."""
    told = analysed(2, 0.1, pre_endgame=None, plies=None)
    for each in told["candidates"]:
        each["proven"] = False
    wins, loses = ({"wins": n, "draws": 0.0, "losses": 1 - n, "proven": True} for n in (1.0, 0.0))
    tie = {"wins": 0.0, "draws": 1.0, "losses": 0.0, "proven": False}
    by_bag = [
        {"bag": bag, "weight": weight, "best": best, "played": loses}
        for bag, weight, best in (("?", 0.25, wins), ("E", 0.75, tie))
    ]
    counts = {"cases": 2, "moves": 1234, "compared": 40, "proven": 39}
    late = {"model": "perfect", "settled": False, "by_bag": by_bag, **counts}
    return told | {"pre_endgame": late}


def lead(move: str, win: float | None = 0.1, error: float = 0.01) -> dict[str, Any]:
    told = {"move": move, "win": win, "win_error": error, "points": 8.0, "points_error": error}
    is_level = win == error == 0
    return told | {"width": 2, "clear": True, "by_points": is_level, "level": is_level}


@dataclass
class Analyst:
    """The server's side of a conversation about analysis."""

    asked: asyncio.Queue[dict[str, Any]] = field(default_factory=asyncio.Queue)

    def connect(self, socket: WebSocketRoute) -> None:
        self.socket = socket
        socket.on_message(lambda text: self.asked.put_nowait(json.loads(text)))

    async def hear(self, **wanted: Any) -> int:
        """Wait for a request; return its number."""
        told = await asyncio.wait_for(self.asked.get(), SLOW_MS / 1_000)
        assert {key: told.get(key) for key in wanted} == wanted
        return int(told["id"])

    def say(self, type: str, id: int, **known: Any) -> None:
        self.socket.send(json.dumps({"type": type, "id": id, **known}))

    async def tell_game(self, **changes: Any) -> int:
        """Wait to be asked for a game, and tell what was read."""
        id = await self.hear(type="analyse")
        self.say("game", id, **SHEET | changes)
        return id

    def tell_all(self, id: int) -> None:
        """Analyse each turn of the game: the second is the costliest."""
        for line, cost, proven in ((1, 0.0, None), (2, 0.3, True), (3, 0.1, False)):
            self.say("turn", id, **analysed(line, cost, proven))
        self.say("done", id, stopped=False)


AT_START = "/".join(["15"] * 15) + " WINGOTE/ 0/0 0"
LATER = "/".join(["15"] * 7 + ["3WING8"] + ["15"] * 7) + " ADEORST/ 0/16 0"
SHEET = {
    **{"title": "", "players": ["ann", "bob"], "notice": "", "gcg": "#player1 ann ann"},
    **{"scores": [0, 0], **board_and_tiles(standard_rules())},
    "rack_size": 7,
    "bingo_bonus": 50,
    "turns": [
        {"line": 1, "seq": 1, "seat": 0, "cgp": AT_START, "rack": "WINGOTE", "played": "8D WING"},
        {"line": 2, "seq": 3, "seat": 1, "cgp": LATER, "rack": "ADEORST", "played": "9G OR"},
        {"line": 3, "seq": 4, "seat": 0, "cgp": LATER, "rack": "ADEORST", "played": "9G OR"},
    ],
}
"""What is read of a game of three turns, the first of which was challenged in vain."""


def analysed(line: int, cost: float, proven: bool | None = None, **changes: Any) -> dict[str, Any]:
    """What is told of a turn of that game; the second candidate was played."""
    moves = ("8D WINO", "8D WING") if line == 1 else ("9G ADO", "9G OR")
    grade = "large" if cost > 0.2 else "good"
    told = found(*moves, ahead_of_next=lead(moves[1]), reasons=[], grade=grade, proven=proven)
    told["verdict"]["ahead_of_played"] = lead(moves[1], cost, 0.01 if cost else 0)
    for each in told["candidates"]:
        each |= {"score": 9, "leave": "", "static": 9.0}
    told |= {"nodes": 0, "seconds": 1.0, "compared": 0, "replies": None, "line": line}
    return told | {"cgp": AT_START if line == 1 else LATER} | changes


async def in_review(shown: Opened, url: str) -> Analyst:
    """Open a review whose analysis is written here."""
    analyst = Analyst()
    await shown.page.route_web_socket("**/*", analyst.connect)
    await shown.go(f"{url}#/review")
    await paste(shown.page, "a game")
    return analyst


async def test_who_lays_tiles_keeps_the_turn_when_the_review_ends(url: str, shown: Opened) -> None:
    page, analyst = shown.page, await in_review(shown, url)
    id = await analyst.tell_game(rack_size=4, bingo_bonus=100)
    await page.get_by_role("grid", name="Board after 0 turns, 0 tiles").wait_for()
    await page.locator("[data-at='112']").click()
    await page.keyboard.type("WING")
    assert "116 points with the bingo bonus" in await page.locator(".formed").inner_text()
    analyst.tell_all(id)
    await page.get_by_text("3 turns analysed").wait_for()
    assert await page.locator("turn-review h2").inner_text() == "Turn 1: ann"
    assert await page.locator(".placed").count() == 4
    assert await page.evaluate("document.activeElement.matches('[data-at]')")
    points = page.locator(".turns td:nth-child(5)")
    assert await points.all_inner_texts() == ["8.0", "8.0?", "8.0"]
    whose, mistakes = page.get_by_label("mistakes of"), page.get_by_text(" kept in this")
    for name, played in (("bob", ["9G OR"]), ("ann", []), ("bob", ["9G OR"])):
        await whose.select_option(label=name)
        assert [each["played"] for each in await kept(page, "mistakes")] == played
    assert "1 mistake kept in this browser." in await mistakes.inner_text()
    assert (await kept(page, "mistakes"))[0]["turn"] == 3, "of the game, not of the score sheet"
    [played_with] = (await kept(page, "equipments")).values()
    assert (played_with["rackSize"], played_with["bingo"]) == (4, 100), "the drill scores as it was"

    await whose.select_option(label="nobody")
    await page.evaluate("""localStorage["tilewire.name"] = '"bob"'""")
    await page.reload()
    analyst.tell_all(await analyst.tell_game())
    await page.get_by_role("heading", name="Turn 2: bob").wait_for()
    assert await whose.input_value() == ""
    assert await kept(page, "mistakes") == []


async def test_a_mistake_is_a_chance_lost_and_leads_to_the_drill(url: str, shown: Opened) -> None:
    page, analyst = shown.page, await in_review(shown, url)
    analyst.tell_all(await analyst.tell_game())
    await page.get_by_text("3 turns analysed").wait_for()
    graph, turns = page.locator("turn-graph svg"), page.locator(".turns tbody tr")
    rows = [await row.locator("td").all_inner_texts() for row in await turns.all()]
    assert [(row[2], row[3]) for row in rows] == [
        *(("30.0 % ± 2.0", "8.0"), ("10.0 % ± 2.0", "8.0?"), ("0.0 %", "8.0"))
    ]
    assert await page.locator(".blunder").count() == 1, "8 points are no chance to win"
    await turns.last.locator("a").click()
    said = page.locator("turn-review .verdict")
    await said.filter(has_text="8D WING was played: it cost 8.0 points.").wait_for()
    assert (await page.locator(".compared tr", has_text="cost").inner_text()).endswith("8.0 points")
    box, table = await graph.bounding_box(), await turns.first.bounding_box()
    assert box
    assert table
    assert box["y"] < table["y"]
    await graph.click(position={"x": box["width"] * 0.66, "y": 30})
    await page.get_by_role("heading", name="Turn 2: bob").wait_for()
    await page.get_by_label("mistakes of").select_option(label="bob")
    await page.get_by_role("link", name="Go through them").click()
    await page.get_by_text("The last move was 8D WING.").wait_for()
    assert await page.locator(".fresh").count() == len("WING")
    await page.get_by_text("89: 82 in the bag, 7 on your opponent's rack.").wait_for()
    await page.locator("move-entry").evaluate("entry => entry.send('9G OR')")
    await page.get_by_role("button", name="Show me").click()
    await page.get_by_text("The best move is on the board.").wait_for()
    assert await page.locator(".fresh > span:first-child").all_inner_texts() == [*"ADO"]
    nav = page.locator("nav").get_by_role("link", name="Drill")
    assert await nav.get_attribute("aria-current") == "page"


async def test_with_which_tile_in_the_bag_a_move_wins(url: str, shown: Opened) -> None:
    page, analyst = shown.page, await in_review(shown, url)
    id = await analyst.tell_game()
    analyst.say("turn", id, **in_cases())
    analyst.say("done", id, stopped=False)
    await page.get_by_role("link", name="Turn 2").click()
    table = page.get_by_role("region", name="By the tile in the bag").locator("tbody")
    await table.locator("tr").nth(1).wait_for()
    rows = await table.locator("tr").all_inner_texts()
    assert [row.split("\t") for row in rows] == [
        ["?", "25.0 %", "wins", "loses"],
        ["E", "75.0 %", "ties, not proven", "loses"],
    ]
    for width in (DESK, PHONE, NARROWEST):
        await page.set_viewport_size({"width": width, "height": 800})
        assert await page.evaluate(CUT_OFF) == []
    await find_faults(page)


async def test_the_keyboard_stays_where_it_is(url: str, shown: Opened) -> None:
    page, analyst = shown.page, await in_review(shown, url)
    id = await analyst.tell_game()
    turns = page.locator(".turns .scroll")
    await turns.focus()
    analyst.tell_all(id)
    await page.get_by_text("3 turns analysed").wait_for()
    assert await has_focus(turns), "the list is drawn anew as turns come in"
    forward = page.get_by_role("button", name="The next turn in the list")
    longer = page.get_by_role("button", name="Look")
    for line in (3, 1):
        await forward.press("Enter")
        await page.get_by_role("heading", name=f"Turn {line}: ann").wait_for()
        assert await has_focus(forward)
    await longer.press("Enter")
    assert await longer.inner_text() == "Looking longer …"
    assert await has_focus(longer)
    id = await analyst.hear(type="analyse", line=1)
    await page.get_by_role("link", name="Turn 3", exact=True).press("Enter")
    await page.get_by_role("heading", name="Turn 3: ann").wait_for()
    assert await longer.inner_text() == "Look longer", "it is another turn"
    await page.get_by_role("link", name="Turn 1", exact=True).press("Enter")
    await page.get_by_role("heading", name="Turn 1: ann").wait_for()
    await longer.focus()
    analyst.say("turn", id, **analysed(1, 0.0, rollouts=777))
    analyst.say("done", id, stopped=False)
    await page.get_by_text("777 rollouts").wait_for()
    assert await longer.inner_text() == "Look longer"
    assert await has_focus(longer)


async def test_a_review_that_fails_can_be_tried_again(url: str, shown: Opened) -> None:
    analyst = Analyst()
    page, again = shown.page, shown.page.get_by_role("button", name="Try again")
    await page.route_web_socket("**/*", analyst.connect)
    await page.route("**/api/games*", lambda route: route.abort())
    await shown.go(f"{url}#/")
    await page.get_by_text(
        "The server does not answer. This page tries again by itself."
    ).wait_for()
    await page.unroute("**/api/games*")
    await page.route("**/api/games/g1.gcg", lambda route: route.abort())
    await shown.go(f"{url}#/review/g1")
    await again.wait_for()
    assert await page.locator(".banner").inner_text() == "The server does not answer. Try again"
    await page.unroute("**/api/games/g1.gcg")
    await page.route("**/api/games/g1.gcg", lambda route: route.fulfill(body="a game"))
    await again.press("Enter")
    await analyst.hear(type="analyse")
    assert await page.locator(".banner:visible").count() == 0
    await analyst.socket.close()
    await again.press("Enter")
    analyst.tell_all(await analyst.tell_game())
    await page.get_by_text("3 turns analysed").wait_for()
    assert await page.evaluate("location.hash") == "#/review/g1"

    await page.get_by_role("link", name="Turn 1", exact=True).press("Enter")
    await page.get_by_role("heading", name="Turn 1: ann").wait_for()
    await page.locator("[data-at='112']").click()
    await page.keyboard.type("WING")
    await page.keyboard.press("Enter")
    tried = page.locator(".tries tbody tr")
    await tried.filter(has_text="One moment").get_by_role("button", name="Stop").press("Enter")
    id = await analyst.hear(type="analyse", line=1, move="8H WING")
    await analyst.hear(type="cancel", id=id)
    analyst.say("done", id, stopped=True)
    await tried.filter(has_text="stopped").wait_for()
    assert "One moment" not in await tried.inner_text()
    await page.get_by_role("button", name="Look longer").press("Enter")
    await analyst.hear(type="analyse", line=1)
    await analyst.socket.close()
    lost = page.get_by_text("The connection to the server is lost.", exact=True)
    await lost.wait_for()
    shown.said.clear()  # of what was not answered


DROP = """([size, text]) => {
  const dataTransfer = new DataTransfer();
  if (size) dataTransfer.items.add(new File(["x".repeat(size)], "game.gcg"));
  if (text) dataTransfer.setData("text/plain", text);
  const drop = new DragEvent("drop", { dataTransfer, cancelable: true });
  document.querySelector("review-view").dispatchEvent(drop);
}"""


async def test_what_is_dropped_by_chance_ends_no_review(url: str, shown: Opened) -> None:
    analyst = await in_review(shown, url)
    page, done = shown.page, shown.page.get_by_text("3 turns analysed")
    analyst.tell_all(await analyst.tell_game())
    await done.wait_for()
    await page.locator(".turns a").first.drag_to(page.locator("turn-review .heading"))
    await page.evaluate(DROP, [0, "a word"])
    await page.evaluate(DROP, [100_001, ""])
    await page.locator(".banner", has_text="too large").wait_for()
    assert await done.is_visible()
    assert analyst.asked.empty()
    await page.evaluate(DROP, [10, ""])
    await analyst.tell_game()
    assert await page.locator(".banner:visible").count() == 0

    await page.goto(f"{url}#/review")
    await page.get_by_label("A game as GCG").fill("half of a game")
    await page.evaluate(DROP, [100_001, ""])
    await page.locator(".banner", has_text="too large").wait_for()
    assert await page.get_by_label("A game as GCG").input_value() == "half of a game"
    await page.evaluate(DROP, [0, "a game"])
    await analyst.tell_game()

"""The page of a server in a browser: a game is watched, stepped through, and looked at later."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio
from e2e.browsing import (
    AXE,
    DESK,
    NARROWEST,
    PHONE,
    TOO_WIDE,
    Opened,
    check_layout,
    find_faults,
    opened,
)
from msgspec import to_builtins
from positions import legal_moves_of
from tables import tables

from engine.notation.move_text import format_move
from harness.arbiter.host import GameHost
from harness.arbiter.journal import Journal
from harness.lab.bench.client import Client
from harness.server.server import MatchServer
from harness.server.tokens import Gatekeeper
from lexicons.alphabet import EMPTY
from lexicons.store import load_lexicon
from protocol.channel import now_ms
from protocol.messages import GameOver, Info, Played, Started, YourTurn
from protocol.parts import OUTCOMES, Belief, Candidate, LeaveChance, Search, TimeControl

if TYPE_CHECKING:
    from playwright.async_api import Browser, Route

pytestmark = pytest.mark.asyncio(loop_scope="module")

HOSTILE = "<img src=x onerror=alert(1)>&amp;"
PAYLOADS = (
    HOSTILE,
    "<svg onload=alert(1)>",
    "</script><script>alert(1)</script>",
    "\"'><input autofocus onfocus=alert(1)>",
    "'-alert(1)-'",
    "javascript:alert(1)",
    "{{constructor.constructor('alert(1)')()}}",
    "${alert(1)}",
    "<math><mtext><style><img src onerror=alert(1)>",
    "&lt;b&gt;&#60;",
)
FIRST_VIEW_BYTES = 150_000
PLACEMENTS, LATE, TURNS = 6, 3, 12
"""Turns of the watched game: placements, then passes; a page comes after turn ``LATE``."""

STANDINGS: dict[str, Any] = {
    "round": 2,
    "rounds": 3,
    "paused": True,
    "over": False,
    "rows": [{"name": HOSTILE, "points": 1.5, "spread": -7, "games": 2, "presence": "away"}],
    "games": [
        {"number": 3, "players": ["ann", HOSTILE], "scores": [4, 9], "game": "g", "outcome": None}
    ],
    "arranged": [{"round": 2, "names": [HOSTILE], "half": True}],
}

ROW = {
    "rank": 1,
    "name": HOSTILE,
    "kind": "bot",
    "rating": 1523.4,
    "error": 31.2,
    "provisional": True,
    "games": 1200,
    "met": 5,
    "largest_share": 0.671,
    "points": 700.5,
    "last": "2026-11-23T12:00:00+00:00",
    "state": "waits",
}
LADDER = {
    "table": "blitz",
    "tables": ["main", "blitz"],
    "time": {"initial_ms": 60_000, "increment_ms": 1_000},
    "games": 1200,
    "rated_games": 1200,
    "rated_at": "2026-11-23T12:00:00+00:00",
    "bots": [ROW],
    "persons": [ROW | {"name": "ann", "rank": None}],
}
MEETING = {"name": "ann", "games": 3, "wins": 1, "losses": 2, "ties": 0, "spread": -40}
PLAYER = ROW | {
    "wins": 700,
    "losses": 499,
    "ties": 1,
    "over_time": [
        {"day": "2026-11-22", "rating": 1490.0, "error": 60.0},
        {"day": "2026-11-23", "rating": 1523.4, "error": 31.2},
    ],
    "opponents": [MEETING],
    "forfeits": {"time": 2},
    "faults": {"time": 2, "not_a_word": 1},
}
RATED = {
    "number": 7,
    "game": "g",
    "ended": "2026-11-23T12:00:00+00:00",
    "players": [HOSTILE, "ann"],
    "scores": [400, 380],
    "outcome": "out",
    "turns": 22,
}
TOLD: dict[str, Any] = {
    "api/standings": STANDINGS,
    "api/ladder?table=blitz": LADDER,
    "api/ladder/players/*": PLAYER,
    "api/ladder/games?*": {"table": "blitz", "games": [RATED], "before": None},
}
VIEWS = {
    "#/games": "Past games",
    "#/standings": "Ranking",
    "#/ladder/blitz": "People",
    "#/ladder/blitz/some%2Fone": "Last rated games",
}
"""Views that ``TOLD`` is enough for, and a heading of each."""


PAYLOAD_TABLE = {
    "bots": [{"name": text, "about": text} for text in PAYLOADS],
    "time": {"initial_ms": 60_000, "increment_ms": 0},
    "rules": PAYLOADS[1],
    "lexicon": PAYLOADS[0],
    "words": True,
}
PAYLOAD_ANSWERS: dict[str, Any] = {
    "api/games": {
        "tournament": False,
        "analysis": True,
        "on": [],
        "past": [
            {"game": text, "players": [text, text], "scores": [0, 0], "turns": 0, "message": text}
            for text in PAYLOADS
        ],
        "before": None,
    },
    "api/play": {
        "opponent": None,
        "token": False,
        "name": None,
        **PAYLOAD_TABLE,
        "tables": [{"name": text, **PAYLOAD_TABLE} for text in PAYLOADS],
    },
    "api/standings": STANDINGS
    | {
        "rows": [STANDINGS["rows"][0] | {"name": text, "presence": text} for text in PAYLOADS],
        "games": [STANDINGS["games"][0] | {"outcome": text} for text in PAYLOADS],
    },
    "api/ladder?*": LADDER
    | {
        "tables": PAYLOADS,
        "bots": [ROW | {"name": text, "state": text} for text in PAYLOADS],
    },
    "api/ladder/players/*": PLAYER
    | {"name": PAYLOADS[0], "opponents": [MEETING | {"name": text} for text in PAYLOADS]},
    "api/ladder/games?*": {"games": [RATED | {"outcome": text} for text in PAYLOADS]},
}
PAYLOAD_VIEWS = {
    "#/games": (".games bdi", "game-list"),
    "#/game/payloads/3": (".said", "game-view"),
    "#/standings": ("tbody bdi", "standing-list"),
    "#/ladder/x": ("tbody bdi", "ladder-list"),
    "#/ladder/x/y": ("tbody bdi", "ladder-player"),
    "#/play": (".opponents bdi", "play-view"),
}
"""By address: where the last payload is seen, and the element of the view."""
MARKUP = """[...document.querySelectorAll("main *")].flatMap((each) => [
  ..."script img iframe math video body style".split(" ").filter((name) => name === each.localName),
  ...each.getAttributeNames().filter((name) => name.startsWith("on") || name === "srcdoc"),
  ...(each.localName === "a" && each.protocol !== "http:" ? [each.href] : []),
])"""
"""What in a page would be there only if a text was taken for markup."""

ENDINGS = """async () => {
  const script = document.querySelector("script").src;
  return (await import(script.replace("app.js", "texts.js"))).texts.endings;
}"""

SHOWN = """() => ({
  board: [...document.querySelectorAll("tile-board [role=cell]")].map((cell) =>
    cell.classList.contains("tile") ? cell.firstElementChild.textContent : "."),
  scores: [...document.querySelectorAll(".score")].map((each) => Number(each.textContent)),
  moves: document.querySelectorAll(".rounds a").length,
  toMove: [...document.querySelectorAll(".side")].findIndex((each) => each.matches(".turn")),
  waits: document.querySelector(".side:not(.turn) .clock").textContent,
})"""


@dataclass
class Running:
    """A server that can be stopped and started again, with what it had."""

    path: Path
    port: int = 0
    players: list[Client] = field(default_factory=list)

    async def start(self) -> None:
        self.journal = Journal(self.path)
        keeper = Gatekeeper(self.journal, None)
        self.server = MatchServer(
            tables(),
            self.journal,
            keeper,
            port=self.port,
            drain_s=0,
            time=TimeControl(initial_ms=600_000),
        )
        await self.server.start()
        self.port = self.server.port

    async def stop(self) -> None:
        await self.server.stop()
        self.journal.close()

    def url(self, rest: str = "") -> str:
        return f"http://127.0.0.1:{self.port}/{rest}"

    @property
    def host(self) -> GameHost:
        (host,) = self.server._hosting.games.values()
        return host

    async def begin(self) -> str:
        """Begin a game of two players, one of a hostile name; return its id."""
        names = "ann", HOSTILE
        self.players = [await Client.login(f"ws://127.0.0.1:{self.port}", name) for name in names]
        for player in self.players:
            await player.seek(names[player is self.players[0]])
        game = await self.players[0].get_ready()
        await self.players[1].get_ready()
        if self.host.book.opened.players[0] != names[0]:
            self.players.reverse()
        for player in self.players:
            await player.expect(Started)
        return game

    async def play(self, move: str | None = None) -> None:
        """Have who is to move say what it thinks, and play the best move, or another."""
        mover = self.players[1 - self.host.book.next_seq % 2]
        turn = await mover.expect(YourTurn)
        book = self.host.book
        assert book.game is not None
        best = legal_moves_of(book.game.position, load_lexicon(), book.rules)[0]
        move = move or format_move(best, book.rules.distribution.alphabet)
        thought = Info(
            game=turn.game,
            seq=turn.seq,
            text=HOSTILE,
            candidates=(Candidate(move=move, win=0.75, win_error=0.01, score=12),),
            search=Search(phase=HOSTILE),
            belief=Belief(
                tiles={"Q": 0.5},
                top=(LeaveChance(leave="QU", prior=0.1, posterior=0.2),),
                note=HOSTILE,
            ),
        )
        await mover.channel.send(thought)
        await mover.play(turn, move)
        for player in self.players:
            await player.expect(Played)

    async def finish(self) -> GameOver:
        """Have the players hear that the game is over, and go."""
        for player in self.players:
            over = await player.expect(GameOver)
            await player.close()
        return over

    async def play_a_game(self) -> str:
        game = await self.begin()
        for turn in range(1, TURNS + 1):
            await self.play(None if turn <= PLACEMENTS else "-")
        await self.finish()
        return game


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def running(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Running]:
    server = Running(tmp_path_factory.mktemp("page") / "games.db")
    await server.start()
    yield server
    await server.stop()


async def state(shown: Opened) -> dict[str, Any]:
    """What the page shows of a game."""
    told: dict[str, Any] = await shown.page.evaluate(SHOWN)
    return told


def state_of(host: GameHost) -> dict[str, Any]:
    """What a page ought to show of a game that is on."""
    book = host.book
    assert book.game is not None
    text = book.rules.distribution.alphabet.tile_text
    squares = book.game.position.board.squares
    assert book.on_turn is not None, "the game is over"
    waits_s = book.clocks(now_ms())[1 - book.on_turn] // 1_000
    return {
        # A blank is shown as the tile that it stands for.
        "board": [text(tile).upper() if tile != EMPTY else "." for tile in squares],
        "scores": list(book.scores),
        "moves": len(book.turns),
        "toMove": book.on_turn,
        "waits": f"{waits_s // 60}:{waits_s % 60:02}",
    }


async def test_two_pages_watch_a_game_from_the_first_move_to_the_last(
    running: Running, shown: Opened, browser: Browser
) -> None:
    first, late = shown, await opened(browser, PHONE)
    await first.go(running.url())
    await first.page.get_by_text("An example of two bots: no game is on now").wait_for()
    await first.page.locator("tile-board .tile").first.wait_for()
    size = "performance.getEntries().reduce((sum, each) => sum + (each.transferSize ?? 0), 0)"
    assert 20_000 < await first.page.evaluate(size) < FIRST_VIEW_BYTES
    game = await running.begin()
    await first.page.get_by_role("heading", name="A game in progress").wait_for()
    names = await first.page.locator(".who bdi").all_inner_texts()
    assert names == [*running.host.book.opened.players]
    await first.page.get_by_role("link", name="Follow this game").press("Enter")
    await first.shows("turn 0 of 0")
    for turn in range(1, TURNS):
        await running.play(None if turn <= PLACEMENTS else "-")
        if turn == LATE:
            await late.go(running.url(f"#/game/{game}"))
        for each in (first, late) if turn >= LATE else (first,):
            await each.shows(f"turn {turn} of {turn}")
            assert await state(each) == state_of(running.host), f"turn {turn}"
    assert not await first.page.locator(".rack", has_text="rack").count(), "racks are hidden"
    await find_faults(late.page)
    await look_back_and_return(running, first, game)
    await first.page.get_by_role("button", name="Link").focus()
    await running.play("-")
    over = await running.finish()
    at = "document.activeElement.textContent"
    for each, width in ((first, DESK), (late, PHONE)):
        await each.page.locator(".status", has_text="six scoreless turns").wait_for()
        await each.page.locator(".rack", has_text="rack").first.wait_for()
        await each.page.get_by_role("button", name="GCG").wait_for()
        assert (await state(each))["scores"] == list(over.scores)
        assert await each.page.evaluate("document.documentElement.scrollWidth") <= width
        assert {url.split("/")[2] for url in each.asked} == {f"127.0.0.1:{running.port}"}
    assert await first.page.evaluate(at) == "Link", "the keyboard stays where it was"
    assert late.said == []
    await late.page.close()


async def look_back_and_return(running: Running, shown: Opened, game: str) -> None:
    """Step back; the game goes on meanwhile, and the page shows that it does."""
    page, turn = shown.page, TURNS - 1
    await page.keyboard.press("ArrowLeft")
    await page.keyboard.press("ArrowLeft")
    await shown.shows(f"turn {turn - 2} of {turn}")
    assert await page.evaluate("location.hash") == f"#/game/{game}/{turn - 2}"
    await page.keyboard.press("Home")
    await shown.shows("turn 0 of")
    assert await page.locator("tile-board .tile").count() == 0
    await page.get_by_role("button", name=f"{turn} later turns").click()
    await shown.shows(f"turn {turn} of {turn}")
    assert await page.evaluate("location.hash") == f"#/game/{game}"
    assert await state(shown) == state_of(running.host)


async def test_a_past_game_shows_racks_and_thoughts_and_nothing_of_it_is_markup(
    running: Running, shown: Opened
) -> None:
    await running.play_a_game()
    page = shown.page
    await page.set_viewport_size({"width": NARROWEST, "height": 800})
    await shown.go(running.url("#/games"))
    await page.locator(".games a").first.click()
    await shown.shows(f"turn {TURNS} of {TURNS}")
    game = await page.evaluate("location.hash")
    await shown.go(running.url(f"{game}/3"))
    await shown.shows(f"turn 3 of {TURNS}")
    thoughts = page.locator("turn-thoughts")
    text = await thoughts.inner_text()
    assert "75.0 % ± 1.0" in text
    assert "It really held" in text
    assert text.count(HOSTILE) >= 3, "phase, note, text"
    assert await page.locator("turn-graph svg").count() == 2
    assert await page.locator("main img, main script").count() == 0
    await thoughts.locator("tr[aria-current]", has_text="played").wait_for()
    await page.locator(".rounds a").nth(4).press("Enter")
    await shown.shows(f"turn 5 of {TURNS}")
    focused = await page.evaluate("document.activeElement.getAttribute('aria-label')")
    assert focused.startswith("Turn 5: "), "the keyboard goes on from where it was"
    said = page.locator("[aria-live=polite]")
    assert (await said.inner_text()).startswith("Turn 5: ")
    await page.reload()
    await shown.shows(f"turn 5 of {TURNS}")
    assert await page.evaluate("document.documentElement.scrollWidth") <= NARROWEST
    gcg = page.get_by_role("link", name="The game as GCG")
    assert await gcg.count() == 1
    address = f"**/api/games/{game.removeprefix('#/game/')}"
    await page.route(address, hide_racks)
    await page.reload()
    await shown.shows(f"turn 5 of {TURNS}")
    assert await gcg.count() == 0
    await page.unroute(address)
    await page.reload()
    await gcg.wait_for()
    await find_faults(page)


async def hide_racks(route: Route) -> None:
    """Answer as if the game were void, or one of a pair."""
    told = await (await route.fetch()).json()
    await route.fulfill(json=told | {"turns": None})


async def payload_game(url: str, shown: Opened) -> dict[str, Any]:
    """Give a past game whose every text is a payload, with tiles of several characters."""
    told: dict[str, Any] = await (await shown.page.request.get(url)).json()
    told["tiles"] += [{"tile": "[CH]", "count": 4, "points": 8}]
    offer = told["offer"]
    offer |= {"seq": 4, "players": PAYLOADS[:2], "lexicon": PAYLOADS[2]}
    offer["rules"] |= {"name": PAYLOADS[3], "challenge": PAYLOADS[4]}
    moves = "8G [CH]O.[ll]", "-", "-[CH]O"
    for shown_to in (offer["history"], told["turns"]):
        del shown_to[len(moves) :]
        for played, move in zip(shown_to, moves, strict=True):
            played["move"] = move
    told["over"] |= {"message": PAYLOADS[5], "racks": PAYLOADS[6:8]}
    leaves = tuple(LeaveChance(leave=text, prior=0.1, posterior=0.2) for text in PAYLOADS)
    thoughts = {
        "notes": PAYLOADS,
        "candidates": (Candidate(move="8G [CH]O", win=0.5),),
        "search": Search(phase=PAYLOADS[9]),
        "belief": Belief(tiles=dict.fromkeys(PAYLOADS, 0.5), top=leaves, note=PAYLOADS[8]),
    }
    told["turns"][2] |= to_builtins(thoughts)
    return told


async def test_names_and_texts_of_all_kinds_are_text(running: Running, shown: Opened) -> None:
    page, game = shown.page, await running.play_a_game()
    told = await payload_game(running.url(f"api/games/{game}"), shown)
    for address, answer in (PAYLOAD_ANSWERS | {"api/games/payloads": told}).items():
        await page.route(f"**/{address}", partial(tell, answer))
    for address, (places, view) in PAYLOAD_VIEWS.items():
        await shown.go(running.url(address))
        await page.locator(view).wait_for(state="attached")  # the one before shows till then
        await page.locator(places, has_text=PAYLOADS[-1]).last.wait_for()
        text = await page.locator("main").inner_text()
        assert [payload for payload in PAYLOADS if payload not in text] == [], address
        assert await page.evaluate(MARKUP) == [], address
        if view == "game-view":
            board = page.locator("tile-board .tile > span:first-child")
            assert await board.all_inner_texts() == ["CH", "O", "LL"], "tiles of any alphabet"
    assert {url.split("/")[2] for url in shown.asked} == {f"127.0.0.1:{running.port}"}
    assert shown.said == []
    markup = (
        "() => { try { document.body.innerHTML = '<b>'; } catch (error) { return error.name } }"
    )
    assert await page.evaluate(markup) == "TypeError", "the browser takes no text for markup"
    shown.said.clear()  # of that


async def test_nobody_is_kept_out(running: Running, shown: Opened) -> None:
    if not AXE.exists():
        pytest.skip("axe-core is not here; install it with: npm ci --prefix tests/page")
    page = shown.page
    for address, told in TOLD.items():
        await page.route(f"**/{address}", partial(tell, told))
    for address, heading in VIEWS.items():
        await shown.go(running.url(address))
        await page.get_by_role("heading", name=heading).wait_for()
        await check_layout(shown, PHONE, NARROWEST)
        assert await page.evaluate(TOO_WIDE) == [], "no list scrolls sideways"
    # A ladder says how games ended as other lists do.
    assert await page.locator("turn-graph svg").count() == 1
    await page.set_viewport_size({"width": DESK, "height": 800})
    await page.get_by_role("cell", name=OUTCOMES["out"].sentence, exact=True).wait_for()
    await page.get_by_text("time (2)", exact=False).first.wait_for()
    await page.get_by_text("not a word (1)").wait_for()
    await page.get_by_text("5 opponents, 67 % of them with the one it met most").wait_for()
    assert (await page.evaluate(ENDINGS)).keys() == OUTCOMES.keys()


async def tell(told: dict[str, Any], route: Route) -> None:
    await route.fulfill(json=told)


async def test_it_comes_back_by_itself_when_the_server_does(
    running: Running, shown: Opened
) -> None:
    game = await running.begin()
    await running.play()
    await shown.go(running.url(f"#/game/{game}"))
    await shown.shows("turn 1 of 1")
    await running.stop()
    await shown.page.get_by_text("The connection to the server is lost").wait_for()
    await shown.page.get_by_role("button", name="Try now").click()
    await running.start()
    await shown.page.locator("[aria-live=polite]", has_text="Connected again").wait_for()
    assert await state(shown) == state_of(running.host)
    assert not await shown.page.get_by_text("is lost").is_visible()
    shown.said.clear()  # of the lost connection


async def test_an_old_or_broken_address_is_a_sentence_and_a_way_on(
    running: Running, shown: Opened
) -> None:
    for address, sentence in {
        "#/game/0123456789abcdef": "This game can't be shown",
        "#/game/%3Cimg%20src=x%3E/7": "This game can't be shown",
        "#/nowhere/%": "There is nothing at #/nowhere/%",
        "#/ladder/blitz/nobody": "nobody",
        "#/review/0123456789abcdef": "This server does not analyse games",
    }.items():
        await shown.go("about:blank")  # or the page would not be loaded again
        await shown.go(running.url(address))
        await shown.page.get_by_role("heading", name=sentence).wait_for()
        await shown.page.get_by_role("link", name="To the games").click()
        await shown.page.get_by_text("Past games").wait_for()
    shown.said.clear()  # of what is not there

"""The first view; no server is needed."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from e2e.browsing import ADDRESS, NARROWEST, PHONE, Opened, check_layout, opened, serve

from engine.rules.rules import standard_rules
from harness.page import FOLDER
from harness.server.answers import board_and_tiles

if TYPE_CHECKING:
    from playwright.async_api import Browser

pytestmark = pytest.mark.asyncio(loop_scope="module")

HOSTILE = "<img src=x onerror=alert(1)>&amp;"
GAME = Path(__file__).parents[1] / "fixtures" / "games" / "static_greedy.gcg"
RATED = {"kind": "bot", "error": 31.2, "provisional": False}
BOTS = {"sim": 1700, "static": 1500, "elsewhere": 1450, "greedy": 1300, "mc": 1290}
ANSWERS: dict[str, Any] = {
    "/api/games": {
        **dict.fromkeys(("ladder", "analysis", "study"), True),
        **{"tournament": False, "own": None, "on": [], "before": None},
        "past": [{"game": "g", "players": ["ann", HOSTILE], "scores": [400, 380], "turns": 22}],
    },
    "/api/ladder": {
        "table": "ladder",
        "bots": [RATED | {"name": name, "rating": rating} for name, rating in BOTS.items()],
        "persons": [RATED | {"name": "ann", "rating": 1350}],
    },
    "/api/play": {
        **{"opponent": None, "token": False, "name": None, "tables": []},
        "bots": [{"name": name, "about": ""} for name in sorted(BOTS) if name != "elsewhere"],
    },
}
"""What a server with all that there is tells the first view."""
ALONE: dict[str, Any] = {"ladder": False, "past": []}
ABOUT = "a bot of this server's own"
MISTAKE = {"position": "", "played": "-", "best": "-A"}


async def test_the_first_view_says_what_can_be_done_here(shown: Opened) -> None:
    page = shown.page
    await page.route("**/*", partial(serve, ANSWERS))
    kept = {"mistakes": [MISTAKE], "name": "ann", "puzzles": {"a": "solved", "b": "missed"}}
    for key, value in kept.items():
        told = json.dumps(json.dumps(value))
        await page.add_init_script(f"localStorage['tilewire.{key}'] = {told}")
    await shown.go(f"{ADDRESS}/")
    buttons = page.locator(".card").first.get_by_role("button")
    await buttons.first.wait_for()
    names = await buttons.all_inner_texts()
    assert names == ["Play mc (1290)", "Play greedy (1300)", "Play static (1500)"], "about 1350"
    assert await page.locator(".card .main").all_inner_texts() == ["Play greedy (1300)"]
    links = {await each.inner_text(): each for each in await page.locator(".card a").all()}
    for text, address in {
        "Choose another opponent": "#/play",
        "Set up a board": "#/study",
        "Review a game": "#/review",
        "Go on (1 solved)": "#/puzzles",
        "Your own mistakes: 1 due": "#/drill",
        "The whole ladder": "#/ladder",
        f"ann – {HOSTILE}": "#/game/g",
        "All games": "#/games",
    }.items():
        assert await links[text].get_attribute("href") == address
    first = await page.locator(".card ol li").all_inner_texts()
    order = ["sim", "static", "elsewhere", "ann", "greedy"]
    assert first == [f"{name} {(BOTS | {'ann': 1350})[name]} ± 31" for name in order]
    board, back = page.locator("tile-board .tile"), page.get_by_role("button", name="One turn back")
    tiles = await board.count()
    await back.press("Enter")
    assert await board.count() < tiles
    await page.get_by_role("button", name="To the last turn").press("Enter")
    assert await page.locator("small-game .score").all_inner_texts() == ["487", "370"]
    assert await page.locator("main img").count() == 0
    await check_layout(shown, PHONE, NARROWEST)


async def test_who_has_no_rating_chooses_between_three(shown: Opened) -> None:
    page, told = shown.page, ANSWERS["/api/play"]
    await page.route("**/*", partial(serve, ANSWERS))
    await page.route("**/api/games", lambda it: it.fulfill(json=ANSWERS["/api/games"] | ALONE))
    bots = [{"name": name, "about": ABOUT} for name in ("beginner", "mc", "club", "expert")]
    await page.route("**/api/play", lambda it: it.fulfill(json=told | {"bots": bots}))
    await shown.go(f"{ADDRESS}/")
    buttons = page.locator(".card").first.get_by_role("button")
    await buttons.first.wait_for()
    assert await buttons.all_inner_texts() == ["Play beginner", "Play club", "Play expert"]
    assert await page.locator(".card .main").all_inner_texts() == ["Play club"]
    del bots[1:]
    await page.reload()
    await page.get_by_text(f"beginner is {ABOUT}.").wait_for()


async def test_a_page_that_does_not_start_says_so(browser: Browser) -> None:
    shown = await opened(browser, locale="pl-PL")
    page = shown.page
    await page.route("**/*", partial(serve, ANSWERS))
    broken: list[dict[str, Any]] = [{"body": "let let;", "content_type": "text/javascript"}]
    await page.route("**/dom.js", lambda it: it.fulfill(**broken[-1]))
    for _ in range(2):  # as an old browser reads it; where a part does not come
        await shown.go(f"{ADDRESS}/")
        await page.get_by_role("alert").filter(has_text="Wczytaj ją ponownie").wait_for()
        broken.append({"status": 503})
    await page.close()


async def test_the_example_is_a_game_that_was_played() -> None:
    told = (FOLDER / "example.json").read_bytes()
    assert len(told) <= 3_000
    example, sheet = json.loads(told), GAME.read_text("utf-8").splitlines()
    lines = [line.split() for line in sheet if line.startswith(">")][:-1]
    assert example["moves"] == [[" ".join(line[2:4]), int(line[4])] for line in lines]
    known = board_and_tiles(standard_rules())
    assert example["board"]["letter"] == [*known["board"]["letter"]]
    assert [each["count"] for each in example["tiles"]] == [t["count"] for t in known["tiles"]]

"""The page of a match of one's own, in a browser: the code, then all of a game as it happens."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from e2e.browsing import PHONE, Opened, find_faults, opened
from own_screens import LATER, Shown, shown
from passing_seats import Waiter

from protocol.messages import Info, Move, Resign
from protocol.parts import Belief, Candidate, LeaveChance, Search

if TYPE_CHECKING:
    from playwright.async_api import Browser

pytestmark = pytest.mark.asyncio(loop_scope="module")

HOSTILE = "<img src=x onerror=alert(1)>"


def thinks(seat: Waiter, seq: int, move: str, win: float, **others: object) -> None:
    """Have a seat say what it considers."""
    candidates = (Candidate(move=move, win=win, win_error=0.01, score=12, samples=99),)
    search = Search(phase="simulation", rollouts=1_234)
    seat.say(Info(game="g1", seq=seq, candidates=candidates, search=search, **others))  # type: ignore[arg-type]


async def enter(own: Shown, page: Opened) -> None:
    """Type a wrong code, and then the right one."""
    await page.go(f"{own.screen.url}/#/")
    await page.page.get_by_role("heading", name="This page is yours alone").wait_for()
    code = page.page.get_by_label("Code")
    await code.fill("AAAA-AAAA")
    await code.press("Enter")
    await page.page.get_by_text("that is not the code").wait_for()
    await code.fill(f" {own.screen.code.replace('-', ' ')} ")  # as it is typed or pasted
    await code.press("Enter")
    await page.page.get_by_role("heading", name="Watch the games").wait_for()


async def test_racks_and_thoughts_of_both_show_as_they_are(
    browser: Browser, tmp_path: Path
) -> None:
    async with shown(tmp_path) as own:
        page = await opened(browser)
        await enter(own, page)
        ann, bob, playing = await own.begin()
        held = (await ann.turns.get()).rack
        await page.page.get_by_role("link", name="Now").click()
        await page.shows("turn 0 of 0")
        thoughts, racks = page.page.locator("turn-thoughts"), page.page.locator(".rack")
        await page.page.locator(".rack", has_text=held).wait_for()
        thinks(ann, 1, f"-{held[:2]}", 0.5, text=HOSTILE)
        await thoughts.get_by_text("50.0 % ± 1.0").wait_for()
        belief = Belief(
            tiles={held[0]: 0.25}, top=(LeaveChance(leave=held[:2], prior=0.1, posterior=0.2),)
        )
        thinks(ann, 1, f"-{held[:3]}", 0.75, belief=belief)
        await thoughts.get_by_text("75.0 % ± 1.0").wait_for()
        theirs = (await racks.nth(1).inner_text()).removeprefix("rack ")
        text = await thoughts.inner_text()
        assert "What ann thinks in turn 1" in text
        assert f"It really holds {theirs}." in text
        assert HOSTILE in text
        late = await opened(browser, storage_state=await page.page.context.storage_state())
        await late.go(f"{own.screen.url}/#/game/g1")
        await late.page.locator("turn-thoughts", has_text="75.0 %").wait_for()
        ann.say(Move(game="g1", seq=1, move=f"-{held[:3]}"))
        assert (await bob.turns.get()).rack == theirs
        for each in (page.page, late.page):
            await each.locator(".where", has_text="turn 1 of 1").wait_for()
            await each.locator(".rounds", has_text=f"exchanges {held[:3]}").wait_for()
            await each.locator("turn-thoughts", has_text="What ann thought in turn 1").wait_for()
            assert await each.locator(".rack").nth(1).inner_text() == f"rack {theirs}"
        thinks(bob, 2, "-", 0.25)
        await thoughts.get_by_text("What bob thinks in turn 2").wait_for()
        await page.page.keyboard.press("Home")
        await page.shows("turn 0 of 1")
        assert await racks.nth(0).inner_text() == f"rack {held}"
        await page.page.keyboard.press("End")
        await thoughts.get_by_text("25.0 % ± 1.0").wait_for()
        await find_faults(page.page)
        await page.page.set_viewport_size({"width": PHONE, "height": 700})
        assert await page.page.evaluate("document.documentElement.scrollWidth") <= PHONE
        connection = "document.querySelector('game-view').following.connection"
        await page.page.evaluate(f"{connection}.drop()")
        thinks(bob, 2, "-", 0.125)
        bob.say(Move(game="g1", seq=2, move="-"))
        await ann.turns.get()
        await page.page.evaluate(f"{connection}.connect()")
        await page.shows("turn 2 of 2")
        await thoughts.get_by_text("12.5 % ± 1.0").wait_for()
        ann.say(Resign(game="g1", seq=3))
        await playing
        await page.page.locator(".status", has_text="bob wins").wait_for()
        await own.begin("g2")
        await page.page.evaluate("document.querySelector('now-view').overSince -= 60000")
        await page.shows("turn 0 of 0")
        # It may be coming back by itself already when it is told to: the browser says so.
        expected = ("401", "403", "closed before the connection is established")
        assert [line for line in page.said if not any(part in line for part in expected)] == []
        assert late.said == []
        await late.page.close()
        await page.page.close()


async def test_where_racks_have_to_wait_the_page_says_why(browser: Browser, tmp_path: Path) -> None:
    async with shown(tmp_path, LATER) as own:
        page = await opened(browser)
        await page.go(own.screen.url)
        await find_faults(page.page)
        await enter(own, page)
        await page.page.get_by_text(f"show after each game: {LATER.why}.").wait_for()
        ann, _, playing = await own.begin()
        thinks(ann, 1, "-", 0.5)
        await ann.turns.get()
        await page.page.get_by_role("link", name="Now").click()
        await page.shows("turn 0 of 0")
        assert await page.page.locator(".rack").all_inner_texts() == ["", ""]
        assert "50.0 %" not in await page.page.inner_text("main")
        playing.cancel()
        await page.page.close()

"""A tournament's director on the page: in by a token, and all that ``tilewire direct`` does."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from directed_events import event
from e2e.browsing import DESK, PHONE, check_layout, opened

if TYPE_CHECKING:
    from playwright.async_api import Browser

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_a_director_directs(tmp_path: Path, browser: Browser) -> None:
    async with event(tmp_path, "ann", "bob", "cem", open_=True, rounds=3) as there:
        shown = await opened(browser)
        page, banner = shown.page, shown.page.locator("direct-view > .banner:visible")

        async def press(name: str) -> None:
            await page.get_by_role("button", name=name, exact=True).press("Enter")

        async def done() -> None:
            await page.get_by_text("Done; it is in the record.").wait_for()

        address = there.url.replace("ws:", "http:")
        await shown.go(f"{address}/#/standings")
        await page.get_by_role("link", name="For directors").press("Enter")
        for token, said in (("wrong", "no director .hannah. has this token"), ("h", "")):
            await page.get_by_label("Director").fill("hannah")
            await page.get_by_label("Token").fill(token)
            await press("Log in")
            if said:
                await banner.get_by_text(re.compile(said)).wait_for()
        await press("Pause")
        await done()
        assert (await there.until(lambda it: it.paused)).round == 0
        await page.get_by_label("Reason").fill("lunch")
        await page.get_by_label("Newcomer").fill("dee")
        await press("Let join")
        await page.get_by_role("button", name="Withdraw dee").press("Enter")
        await page.get_by_role("button", name="Withdraw dee").wait_for(state="detached")
        ann, bob, cem = await there.guests("ann", "bob", "cem")
        await page.locator("#pair-one").select_option("ann")
        await page.get_by_label("meets").select_option("ann")
        await press("Pair in the next round")
        await banner.get_by_text("an entrant can't play itself").wait_for()
        await page.get_by_label("meets").select_option("cem")
        await press("Pair in the next round")
        await done()
        await page.get_by_label("Entrant", exact=True).first.select_option("bob")
        await page.get_by_label("round", exact=True).fill("2")
        await press("Give half a point a game")
        await page.get_by_role("button", name="Take back bob in round 2").press("Enter")
        await page.get_by_role("button", name="Take back bob").wait_for(state="detached")
        await check_layout(shown, DESK, PHONE)
        for guest in (ann, cem):
            guest.moves.clear()
        await press("Go on")
        listed = await there.until(lambda it: it.games)
        assert {*listed.games[0].players} == {"ann", "cem"}
        await page.get_by_role("button", name="Withdraw bob").press("Enter")
        await page.get_by_role("button", name="Bring bob back").press("Enter")
        await page.get_by_role("button", name="Withdraw bob").wait_for()
        await bob.come()
        for guest in (ann, cem):
            guest.moves.set()
        listed = await there.until(lambda it: it.over)
        game = listed.games[0]
        await page.get_by_role("button", name=f"Correct game {game.number}").press("Enter")
        for name, score in zip(game.players, ("312", "400"), strict=True):
            await page.get_by_label(f"Score of {name}").fill(score)
        await press("Correct")
        await done()
        corrected = await there.until(lambda it: it.games[0].outcome == "corrected")
        assert corrected.games[0].scores == (312, 400)
        for name in ("Void: play it again", "Void: sure?"):
            await press(name)
        await there.until(lambda it: it.over and it.games[0].outcome != "corrected")
        for name in ("End after this round", "End: sure?"):
            await press(name)
        await banner.get_by_text("the tournament is over already").wait_for()
        await page.get_by_role("button", name="Release the name ann").press("Enter")
        await done()
        await page.reload()
        assert there.folder.joinpath("decisions.jsonl").read_text("utf-8").count("lunch") == 1
        await press("Log out")
        await page.get_by_label("Director").fill("hannah")
        await page.get_by_label("Token").fill("h")
        await press("Log in")
        await page.get_by_role("button", name="Log out").wait_for()
        assert shown.said == []
    await banner.get_by_text("The connection to the server is lost").wait_for()
    await page.close()

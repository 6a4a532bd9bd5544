"""A ladder on a real server: bots that come and go, and what is told over HTTP."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from e2e.processes import Server, serving
from guests import Guest

from harness.lab.bench.client import Client
from protocol.messages import Error, Seek

SETTINGS = """
max_games = 3
[ladder.tables.blitz]
initial_ms = 20000
[ladder.tables.slow]
[ladder.anchors]
greedy = 1500
"""


async def ask(server: Server, address: str) -> str:
    """Ask over HTTP, as a page would."""
    status, text = await asyncio.to_thread(server.get, address)
    assert status == 200, text
    return text


async def until(server: Server, address: str, holds: Callable[[Any], object]) -> Any:
    """Ask until that holds."""
    async with asyncio.timeout(120):
        while True:
            told = json.loads(await ask(server, address))
            if holds(told):
                return told
            await asyncio.sleep(0.2)


async def test_bots_come_and_go_and_the_ladder_goes_on(tmp_path: Path) -> None:
    with serving(tmp_path, "--ladder", "--drain", "0s", settings=SETTINGS) as server:
        guests = {name: Guest(server.url, name, 11 * name) for name in ("ann", "bob", "cem")}
        await guests["ann"].come()
        await guests["bob"].come()
        await until(server, "/api/ladder", lambda told: told["games"])
        await guests["cem"].come()
        told = await until(
            server,
            "/api/ladder?table=blitz",
            lambda told: told["rated_games"] > 1 and len(told["bots"]) == 4,
        )
        anchor = next(row for row in told["bots"] if row["name"] == "greedy")
        assert (anchor["rating"], anchor["rank"], anchor["kind"]) == (1500, 1, "anchor")
        assert json.loads(await ask(server, "/api/ladder?table=slow"))["games"] == 0

        stranger = await Client.login(server.url, "eve")
        await stranger.channel.send(Seek())
        assert (await stranger.expect(Error)).code == "forbidden"
        await stranger.close()

        server.kill()
        for guest in guests.values():
            await guest.leave()
        server.start()
        again = await until(server, "/api/ladder", lambda again: again["rated_games"])
        assert again["games"] >= told["games"]
        await guests["bob"].come()
        bob = await until(server, "/api/ladder/players/bob", lambda bob: bob["state"] != "away")
        assert {"greedy", "ann", "cem"} & {row["name"] for row in bob["opponents"]}
        game = json.loads(await ask(server, "/api/ladder/games?player=bob"))["games"][-1]
        gcg = await ask(server, f"/api/games/{game['game']}.gcg")
        assert f"#player1 {game['players'][0]}" in gcg
        for guest in guests.values():
            await guest.leave()

"""A ladder on a real server: its settings, and what is told over HTTP once it was killed."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from e2e.processes import PATIENCE_S, Server, serving
from guests import Guest

SETTINGS = """
max_games = 3
[ladder.tables.blitz]
initial_ms = 20000
[ladder.tables.slow]
[ladder.anchors]
greedy = 1500
"""


async def until(server: Server, address: str, holds: Callable[[Any], object]) -> Any:
    """Ask over HTTP, as a page would, until that holds."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            status, text = await asyncio.to_thread(server.get, f"/api/ladder{address}")
            assert status == 200, text
            if holds(told := json.loads(text)):
                return told
            await asyncio.sleep(0.1)


def anchors(told: dict[str, Any]) -> dict[str, float]:
    return {row["name"]: row["rating"] for row in told["bots"] if row["kind"] == "anchor"}


async def test_a_ladder_goes_on_after_a_kill(tmp_path: Path) -> None:
    with serving(tmp_path, "--ladder", "--drain", "0s", settings=SETTINGS) as server:
        ann, bob = (Guest(server.url, name, 11 * name) for name in ("ann", "bob"))
        await ann.come()
        await bob.come()
        told = await until(
            server, "?table=blitz", lambda told: told["rated_games"] and anchors(told)
        )
        assert anchors(told) == {"greedy": 1500}
        assert (await until(server, "?table=slow", lambda _: True))["games"] == 0
        server.kill()
        for guest in (ann, bob):
            await guest.leave()
        server.start()
        again = await until(server, "?table=blitz", lambda told: told["rated_games"])
        assert again["games"] >= told["games"]
        await bob.come()
        row = await until(server, "/players/bob?table=blitz", lambda row: row["state"] != "away")
        assert {"greedy", "ann"} & {each["name"] for each in row["opponents"]}
        await bob.leave()

"""A connection's reader: nobody's messages wait for all that another has sent."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from bot_table import MemoryChannel

from bot.seat.link import Link
from protocol.messages import Message, Standings


async def test_of_two_talkative_peers_each_is_heard_in_turn() -> None:
    heard: list[str] = []
    all_heard = asyncio.Event()

    async def run(name: str) -> None:
        ours, theirs = MemoryChannel.pair()
        for _ in range(20):
            await theirs.send(Standings())
        await Link(ours, hear(name)).run()

    def hear(name: str) -> Callable[[Message, int], None]:
        def heard_one(_message: Message, _at_ms: int) -> None:
            heard.append(name)
            if len(heard) == 40:
                all_heard.set()

        return heard_one

    runs = [asyncio.create_task(run(name)) for name in ("first", "second")]
    await all_heard.wait()
    assert heard == ["first", "second"] * 20
    for each in runs:
        each.cancel()
    await asyncio.gather(*runs, return_exceptions=True)

"""Putting two channels through to each other: a bot of one place at the table of another.

Each side has said its hello already; what is relayed is the games. Pings are answered on the
side they come from, so that each connection's health is its own.
"""

from __future__ import annotations

import asyncio
import contextlib

from harness.seats.link import ERRORS_LIMIT
from protocol.channel import Channel, ChannelClosed
from protocol.errors import PeerError
from protocol.messages import GameOver, Goodbye, Ping, Pong

__all__ = ["PLAYED", "relay"]

PLAYED = "all games are over"


async def relay(arbiter: Channel, bot: Channel, games: int | None = None) -> str:
    """Carry messages both ways until one side closes; close both and say why.

    What one side sends that can't be read is answered to that side and goes no further.

    Args:
        arbiter: runs the games.
        bot: plays them.
        games: after so many it is over, and ``PLAYED`` is why.
    """
    tasks = [
        asyncio.create_task(_carry(arbiter, bot, games)),
        asyncio.create_task(_carry(bot, arbiter)),
    ]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        return done.pop().result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for channel in (arbiter, bot):
            with contextlib.suppress(ChannelClosed):
                await channel.send(Goodbye(code="closed", message="the other side is gone"))
            await channel.close()


async def _carry(source: Channel, target: Channel, games: int | None = None) -> str:
    errors, over = 0, set[str]()  # a verdict may be told twice
    try:
        while len(over) != games:
            content, _ = await source.receive()
            if isinstance(content, PeerError):
                await source.send(content.reply)
                errors += 1
                if content.close is not None or errors >= ERRORS_LIMIT:
                    return f"{source.peer}: {content}"
            elif isinstance(content, Ping):
                await source.send(Pong(id=content.id))
            elif not isinstance(content, Pong | Goodbye):
                await target.send(content)
                if isinstance(content, GameOver):
                    over.add(content.game)
        return PLAYED
    except ChannelClosed as closed:
        return str(closed)

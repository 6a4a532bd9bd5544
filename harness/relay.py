"""Putting two channels through to each other: a bot of one place at the table of another.

Each side has said its hello already; what is relayed is the games. Pings are answered on the
side they come from, so that each connection's health is its own.
"""

from __future__ import annotations

import asyncio
import contextlib

from protocol.channel import Channel, ChannelClosed
from protocol.errors import PeerError
from protocol.messages import Goodbye, Ping, Pong

__all__ = ["relay"]


async def relay(arbiter: Channel, bot: Channel) -> str:
    """Carry messages both ways until one side closes; close both and say why.

    What one side sends that can't be read is answered to that side and goes no further.
    """
    tasks = [
        asyncio.create_task(_carry(arbiter, bot)),
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


async def _carry(source: Channel, target: Channel) -> str:
    try:
        while True:
            content, _ = await source.receive()
            if isinstance(content, PeerError):
                await source.send(content.reply)
                if content.close is not None:
                    return f"{source.peer}: {content}"
            elif isinstance(content, Ping):
                await source.send(Pong(id=content.id))
            elif not isinstance(content, Pong | Goodbye):
                await target.send(content)
    except ChannelClosed as closed:
        return str(closed)

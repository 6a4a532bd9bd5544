"""Connecting two channels: a bot of one server at the table of another.

Both sides have exchanged hellos; only games are relayed. Pings are answered on their own side, so
that each connection's health is its own.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable

from bot.seat.link import Link
from protocol.channel import Channel, ChannelClosed
from protocol.messages import GameOver, Goodbye, Message

PLAYED = "all games are over"


async def relay(
    arbiter: Channel,
    bot: Channel,
    games: int | None = None,
    hear: Callable[[Message], None] = lambda _message: None,
) -> str:
    """Carry messages both ways until one side closes; close both and return why.

    Unreadable messages are only answered. After ``games`` games (None: any) return ``PLAYED``.
    ``hear`` is called with each message that is carried; what it raises ends the relay.
    """
    over = set[str]()  # a verdict may be sent twice
    played: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    def to_bot(message: Message, _at_ms: int) -> None:
        if isinstance(message, Goodbye) or played.done():
            return
        links[1].send(message)
        hear(message)
        if isinstance(message, GameOver):
            over.add(message.game)
            if len(over) == games:
                played.set_result(PLAYED)

    def to_arbiter(message: Message, _at_ms: int) -> None:
        if not isinstance(message, Goodbye):
            links[0].send(message)
            hear(message)

    links = Link(arbiter, to_bot), Link(bot, to_arbiter)
    runs = [asyncio.create_task(link.run()) for link in links]
    try:
        ends: list[asyncio.Future[str]] = [played, *runs]
        done, _ = await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        why = done.pop().result()
        for link, run in zip(links, runs, strict=True):
            if not run.done():
                await link.flush()
            elif link.closing:
                why = f"{link.channel.peer}: {link.closing}"
        return why
    finally:
        for run in runs:
            run.cancel()
        await asyncio.gather(*runs, return_exceptions=True)
        for channel in (arbiter, bot):
            with contextlib.suppress(ChannelClosed):
                await channel.send(Goodbye(code="closed", message="the other side is gone"))
            await channel.close()

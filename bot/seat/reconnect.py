"""Keeping a bot connected: a lost connection is dialled again, with patience and with manners."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable

import structlog

from protocol.channel import Channel, ChannelClosed

from .connection import BotRunner

__all__ = ["run_player"]

log = structlog.get_logger(__name__)

FIRST_WAIT_S = 0.2
LONGEST_WAIT_S = 10.0


async def run_player(
    dial: Callable[[], Awaitable[Channel]],
    runner: BotRunner,
    *,
    patience_s: float = 300.0,
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    jitter: Callable[[], float] = random.random,
) -> str:
    """Play over connections that may be lost; return the reason for the end.

    Waits double and are never quite the same, so that a server that comes back is not run over by
    all its bots at once. A bot that was never welcome does not try again.

    Args:
        dial: opens a channel.
        runner: the bot.
        patience_s: seconds of waits, since the bot was last welcome, before it gives up.
        sleep: waits for some seconds.
        jitter: a number from 0 to 1, another each time.

    Raises:
        ChannelClosed: nobody answers at the first time, or for as long as there is patience.
        TurnedAway: the other side does not want us.
        Exception: whatever the player's own code raises.
    """
    welcomes, wait_s, waited_s = 0, FIRST_WAIT_S, 0.0
    while True:
        try:
            return await runner.converse(await dial())
        except ChannelClosed as closed:
            if runner.welcomes > welcomes:
                welcomes, wait_s, waited_s = runner.welcomes, FIRST_WAIT_S, 0.0
            if welcomes == 0 or waited_s >= patience_s:
                raise
            pause_s = wait_s * (0.5 + jitter() / 2)
            log.warning("connection lost", why=str(closed), dial_again_in_s=round(pause_s, 2))
        await sleep(pause_s)
        waited_s += pause_s
        wait_s = min(2 * wait_s, LONGEST_WAIT_S)

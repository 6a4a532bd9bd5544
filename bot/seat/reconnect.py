"""Reconnection: a lost connection is dialled again, with growing waits."""

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

    Waits double and vary randomly, so that a restarted server is not overrun. A bot that was never
    welcome does not retry.

    Args:
        dial: opens a channel.
        runner: the bot.
        patience_s: seconds of waiting since the last welcome before it gives up.
        sleep: waits the given seconds.
        jitter: returns a random number from 0 to 1.

    Raises:
        ChannelClosed: nobody answers at first, or before patience ends.
        TurnedAway: the other side rejects us.
        Exception: any error of the player's code.
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

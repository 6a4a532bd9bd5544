"""How a conversation with a peer begins."""

from __future__ import annotations

import asyncio

from bot.seat.runtime import software
from protocol.channel import Channel
from protocol.errors import PeerError
from protocol.messages import PROTOCOL_VERSION, Hello, Welcome

HELLO_S = 10.0
"""Time for a connection to say hello."""


async def read_hello(channel: Channel, patience_s: float = HELLO_S) -> Hello:
    """Return a peer's hello.

    Raises:
        PeerError: silence, another message, or another version.
    """
    try:
        async with asyncio.timeout(patience_s):
            content = (await channel.receive()).content
    except TimeoutError:
        raise PeerError("no_hello", f"no hello within {patience_s:.0f} s", close=1008) from None
    if isinstance(content, PeerError):
        try:
            raise content
        finally:
            del content  # it leads to this frame
    if not isinstance(content, Hello):
        raise PeerError("no_hello", "a conversation begins with 'hello'", close=1008)
    if content.protocol != PROTOCOL_VERSION:
        why = f"version {content.protocol} is not spoken here, version {PROTOCOL_VERSION} is"
        raise PeerError("bad_version", why, retry="no", close=1008)
    if not content.name.isprintable():
        raise PeerError("bad_message", "a name has printable characters only", close=1008)
    return content


def welcome() -> Welcome:
    """Return the answer to a hello that is let in."""
    return Welcome(name="tilewire", software=software())

"""Bare ``websockets`` servers, which a server is compared with; each is a process of its own.

``echo`` sends each message back. ``push`` reads numbers from its input, a line each, and sends as
many bytes to all connections. Both print their port first.
"""

from __future__ import annotations

import asyncio
import logging
import sys
from contextlib import suppress

import uvloop
from websockets.asyncio.server import ServerConnection, broadcast, serve
from websockets.typing import Subprotocol

PROTOCOLS = [Subprotocol("tilewire.v1.json")]


async def _echo(connection: ServerConnection) -> None:
    async for message in connection:
        await connection.send(message)


async def _greet(connection: ServerConnection) -> None:
    """Send as many messages as a new spectator gets, and then nothing."""
    await connection.send("{}")
    await connection.send("{}")
    async for _ in connection:
        pass


async def _serve(what: str) -> None:
    lines = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    handler, protocols = (_echo, None) if what == "echo" else (_greet, PROTOCOLS)
    async with serve(handler, "127.0.0.1", 0, compression=None, subprotocols=protocols) as server:
        print(next(iter(server.sockets)).getsockname()[1], flush=True)
        async for line in lines:
            broadcast(server.connections, "x" * int(line))


def main() -> None:
    """Serve until the input ends; the argument is ``echo`` or ``push``."""
    logging.disable()
    with suppress(KeyboardInterrupt), asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve(sys.argv[1]))


if __name__ == "__main__":
    main()

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
from websockets.asyncio.server import Server, ServerConnection, broadcast, serve
from websockets.typing import Subprotocol

HOST = "127.0.0.1"


async def _echo() -> None:
    async with serve(_send_back, HOST, 0, compression=None) as server:
        _print_port(server)
        await server.serve_forever()


async def _send_back(connection: ServerConnection) -> None:
    async for message in connection:
        await connection.send(message)


async def _push() -> None:
    lines = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    protocols = [Subprotocol("tilewire.v1.json")]
    async with serve(_greet, HOST, 0, compression=None, subprotocols=protocols) as server:
        _print_port(server)
        async for line in lines:
            broadcast(server.connections, "x" * int(line))


async def _greet(connection: ServerConnection) -> None:
    """Send as many messages as a new spectator gets, and then nothing."""
    await connection.send("{}")
    await connection.send("{}")
    async for _ in connection:
        pass


def _print_port(server: Server) -> None:
    print(next(iter(server.sockets)).getsockname()[1], flush=True)


def main() -> None:
    """Serve until killed; the argument is ``echo`` or ``push``."""
    logging.disable()
    serves = {"echo": _echo, "push": _push}[sys.argv[1]]
    with suppress(KeyboardInterrupt), asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(serves())


if __name__ == "__main__":
    main()

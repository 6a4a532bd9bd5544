"""Hundreds of pages that watch a game, in a process of its own: raw connections that speak JSON.

It obeys lines of its input: ``watch PORT GAME`` opens the connections and answers ``watching``;
``stop`` closes them and answers with how many were gone by then and, for each message, the time at
which the last connection had it.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from contextlib import suppress
from functools import partial

import uvloop
from load.attackers import HANDSHAKE, frame
from load.idle import Peer, open_peers

from harness.server.admission import raise_files
from protocol.codec import JSON
from protocol.messages import Hello, Message, Watch

JOINING = 2
"""Messages to a new spectator: ``welcome``, ``new_game``."""


def as_text(message: Message) -> bytes:
    """Return a message as a page sends it."""
    content = JSON.encode(message)
    assert isinstance(content, str)
    return frame(1, content.encode())


class Watcher(Peer):
    """A connection that watches a game and notes when messages come."""

    def __init__(self, game: str) -> None:
        protocol = f"Sec-WebSocket-Protocol: {JSON.subprotocol}\r\n\r\n"
        hello = as_text(Hello(role="spectator", name="page")) + as_text(Watch(game=game))
        super().__init__(HANDSHAKE[:-2] + protocol.encode() + hello)
        self.times: list[float] = []

    def message(self) -> None:
        self.times.append(time.perf_counter())
        super().message()


def _last_times(watchers: list[Watcher]) -> list[float]:
    """Return when the last watcher had each message, as far as all have the same count."""
    fewest = min(len(watcher.times) for watcher in watchers)
    return [max(watcher.times[at] for watcher in watchers) for at in range(fewest)]


async def _obey(count: int) -> None:
    raise_files(count + 100)
    lines = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    watchers: list[Watcher] = []
    async for line in lines:
        match line.decode().split():
            case ["watch", port, game]:
                watch = partial(Watcher, game)
                watchers = await open_peers(int(port), count, watch, JOINING)
                print("watching", flush=True)
            case ["stop"]:
                gone = sum(not watcher.is_open for watcher in watchers)
                for watcher in watchers:
                    watcher.close()
                print(json.dumps([gone, _last_times(watchers)]), flush=True)


def main() -> None:
    """Obey until the input ends; the argument is the COUNT of connections."""
    with suppress(KeyboardInterrupt), asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_obey(int(sys.argv[1])))


if __name__ == "__main__":
    main()

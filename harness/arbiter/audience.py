"""The spectators of a game: hundreds of them must not delay the players."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterator
from itertools import islice
from typing import TypeAlias

from protocol.messages import Message

Spectator: TypeAlias = Callable[[Message], None]

AT_ONCE = 16
"""Spectators told per turn of the loop; writing to a socket takes about 20 µs."""


class Audience:
    """Tells spectators what happens, each in order, a few in each turn of the loop."""

    def __init__(self) -> None:
        self._since: dict[Spectator, int] = {}
        """By spectator, the number of messages before it came."""
        self._count = 0
        self._all_sent = asyncio.Event()
        self._all_sent.set()
        self._unsent: deque[tuple[int, Message, Iterator[Spectator]]] = deque()

    def __len__(self) -> int:
        """Return the number of spectators."""
        return len(self._since)

    def join(self, spectator: Spectator) -> None:
        """Tell a spectator what happens from now on."""
        self._since[spectator] = self._count

    def leave(self, spectator: Spectator) -> None:
        """Tell a spectator nothing more."""
        self._since.pop(spectator, None)

    def send(self, message: Message) -> None:
        """Tell all who are there now, in the next turns of the loop."""
        if not self._since:
            return
        self._count += 1
        self._unsent.append((self._count, message, iter(tuple(self._since))))
        if self._all_sent.is_set():
            self._all_sent.clear()
            asyncio.get_running_loop().call_soon(self._send_some)

    async def all_sent(self) -> None:
        """Wait until all are told."""
        await self._all_sent.wait()

    def _send_some(self) -> None:
        number, message, spectators = self._unsent[0]
        some = tuple(islice(spectators, AT_ONCE))
        for spectator in some:
            if self._since.get(spectator, number) < number:  # it is here now, and was then
                spectator(message)
        if len(some) < AT_ONCE:
            self._unsent.popleft()
        if self._unsent:
            asyncio.get_running_loop().call_soon(self._send_some)
        else:
            self._all_sent.set()

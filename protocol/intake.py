"""Reading from many peers: how much each may send, and how much is read in a turn of the loop.

Bytes that arrive at once may hold 40,000 pings, each of which is answered, and keep one callback
busy for half a second. So bytes are handed on in slices, and a turn of the event loop does little
of this work. The rest is read in later turns, first from the peers that owe least.
"""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import Protocol, TypeAlias

from websockets.http11 import Request

SLICE = 512
"""Bytes handed on at a time; they hold 85 frames of a client at most, or 256 of a server."""

TURN_WORK = 192
"""Work in a turn before other work of the loop comes first, in WebSocket pings: about 2 ms."""

MESSAGE_WORK = 8
HANDSHAKE_WORK = 48
"""Work that a message and an opening request take, in pings."""


class Bucket:
    """A leaky bucket: ``burst`` at once, ``per_second`` in the long run."""

    __slots__ = ("_at", "_burst", "_owed", "_per_second")

    def __init__(self, burst: float, per_second: float) -> None:
        self._burst = burst
        self._per_second = per_second
        self._owed = 0.0
        self._at = 0.0

    def owed(self, now: float) -> float:
        """Return what was spent and has not leaked out by ``now``, in seconds."""
        return max(0.0, self._owed - (now - self._at) * self._per_second)

    def spend(self, amount: float, now: float) -> bool:
        """Spend an amount, or give back one that was spent (below 0); return whether it was there.

        Spending beyond the burst counts only up to twice the burst, so that the bucket recovers.
        """
        left = self._owed - (now - self._at) * self._per_second  # as ``owed``, without a call
        owed = amount + (left if left > 0 else 0.0)
        self._at = now
        if owed <= self._burst:
            self._owed = owed
            return True
        self._owed = min(owed, 2 * self._burst)
        return False

    def has(self, amount: float, now: float) -> bool:
        """Return whether the bucket has an amount, without spending it."""
        return self.owed(now) + amount <= self._burst


@dataclass(frozen=True)
class Rates:
    """What a peer may send: each frame and each byte takes its share of a second."""

    frames_per_s: float = 1_000
    bytes_per_s: float = 64 << 10
    burst_s: float = 8
    """Seconds' worth that may come at once; the largest message must fit."""

    def cost(self, frames: int, size: int) -> float:
        """Return the cost of frames and bytes, in seconds."""
        return frames / self.frames_per_s + size / self.bytes_per_s

    def bucket(self, share: float = 1) -> Bucket:
        """Return a bucket of seconds, ``share`` times as large."""
        return Bucket(self.burst_s * share, share)


TRUSTED = Rates(frames_per_s=20_000, bytes_per_s=1 << 20)
"""Rates of peers that were dialled, and of processes of this machine."""


class Visit(Protocol):
    """A peer's connection as the gate sees it, from the moment that its socket opens."""

    address: str
    """Where it comes from, without a port."""

    def ask(self, request: Request) -> str | None:
        """Take the opening request; return the reason if it is refused."""
        ...

    def spend(self, frames: int, size: int, now: float) -> bool:
        """Pay for frames and bytes; return whether the peer may go on."""
        ...

    def owed(self, now: float) -> float:
        """Return what it owes; whoever owes less is read first."""
        ...

    def leave(self) -> None:
        """Note that the socket is closed; may be repeated."""
        ...


@dataclass(frozen=True)
class Later:
    """A socket is not let in yet; it may wait until it is."""

    why: str
    queue: str
    """Which sockets wait for the same room."""
    note_refusal: Callable[[], None]
    """To be called if it is refused after all."""


Gate: TypeAlias = Callable[[str], Visit | Later | str]
"""Lets a socket from an address in, or returns why not, which its peer may be told."""


class OpenVisit:
    """A visit to a listener that lets everybody in, with a budget of its own."""

    def __init__(self, address: str, rates: Rates) -> None:
        self.address = address
        self._rates = rates
        self._bucket = rates.bucket()

    def ask(self, request: Request) -> str | None:
        """Refuse nobody."""
        return None

    def spend(self, frames: int, size: int, now: float) -> bool:
        """Pay from its own budget."""
        return self._bucket.spend(self._rates.cost(frames, size), now)

    def owed(self, now: float) -> float:
        """Return what it owes, in seconds."""
        return self._bucket.owed(now)

    def leave(self) -> None:
        """Keep nothing."""


def open_gate(address: str) -> OpenVisit:
    """Let everybody in, with the usual budget."""
    return OpenVisit(address, Rates())


def trusting_gate(address: str) -> OpenVisit:
    """Let everybody in, with ``TRUSTED`` rates."""
    return OpenVisit(address, TRUSTED)


class Reader(Protocol):
    """A connection with bytes that were not handed on yet."""

    def read_slice(self) -> tuple[int, bool]:
        """Hand a slice on; return its work, and whether more can be handed on now."""
        ...

    def owed(self) -> float:
        """Return what its peer owes."""
        ...


class Intake:
    """Shares the turns of one event loop among the connections of a listener."""

    def __init__(self) -> None:
        self.left = TURN_WORK
        """Work that this turn of the loop still has room for."""
        self._waiting: list[tuple[float, int, Reader]] = []
        self._numbers = count()  # if two owe the same, the earlier one comes first
        self._next_turn: asyncio.Handle | None = None

    def note(self, work: int) -> None:
        """Note that a slice was handed on in this turn."""
        self.left -= max(1, work)
        if self.left < TURN_WORK / 2:  # with little to read, turns need not be told apart
            self._turn_soon()

    def add(self, reader: Reader) -> None:
        """Queue a connection to be read in later turns."""
        heapq.heappush(self._waiting, (reader.owed(), next(self._numbers), reader))
        self._turn_soon()

    def _turn_soon(self) -> None:
        if self._next_turn is None:
            self._next_turn = asyncio.get_running_loop().call_soon(self._turn)

    def _turn(self) -> None:
        self._next_turn = None
        self.left = TURN_WORK
        try:
            while self._waiting and self.left > 0:
                _, _, reader = heapq.heappop(self._waiting)
                work, more = reader.read_slice()
                self.left -= max(1, work)
                if more:
                    self.add(reader)
        finally:  # also if one failed
            if self._waiting:
                self._turn_soon()

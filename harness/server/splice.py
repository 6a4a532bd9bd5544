"""Two connections that are one conversation: what comes from either is written to the other."""

from __future__ import annotations

import asyncio
from typing import cast

from protocol.metered import STALLED_S


class End(asyncio.Protocol):
    """One of two ends: what comes from it is written to the other."""

    transport: asyncio.Transport

    def __init__(self, other: End | None = None) -> None:
        self.other = other
        self._is_lost = False
        self._aborting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        self.transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        """Write what came to the other end."""
        if self.other is not None:
            self.other.transport.write(data)

    def pause_writing(self) -> None:
        """Read no more from the other end: this one reads too slowly."""
        if self.other is not None:
            self.other.transport.pause_reading()

    def resume_writing(self) -> None:
        """Read from the other end again."""
        if self.other is not None:
            self.other.transport.resume_reading()

    def eof_received(self) -> bool:
        """End the conversation: this end sends no more, and hears no more."""
        if self.other is not None:
            self.other.finish()
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        """End the other end, and let go of it, so that both are freed now."""
        self._is_lost = True
        if self._aborting is not None:
            self._aborting.cancel()
        other, self.other = self.other, None
        if other is not None:
            other.finish()

    def finish(self) -> None:
        """Close once all that was written is sent; abort after ``STALLED_S``."""
        if self._aborting is None and not self._is_lost:
            self.transport.close()
            self._aborting = asyncio.get_running_loop().call_later(STALLED_S, self.transport.abort)

    def abort(self) -> None:
        """Close now, unless the connection is lost: some event loops would raise an error."""
        if not self._is_lost:
            self.transport.abort()

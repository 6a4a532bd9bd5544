"""The bridge's listener: loopback only, and only for the pages of the allowed origins."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from websockets.asyncio.server import ServerConnection
from websockets.http11 import Request, Response

from harness.figures import once
from protocol.accepting import serve
from protocol.intake import OpenVisit, Rates
from protocol.websocket import drop_ended

from .config import BridgeConfig
from .page import NO_TOKENS, BridgeState, PageConnection
from .pairing import TokenFile

LOOPBACK = "127.0.0.1"
MAX_LINE = 1 << 16  # bytes; as of an engine
MAX_PAGES = 64
REVOKED_S = 0.5
"""Interval between checks for revoked tokens of connected pages."""

_OUR_NAMES = re.compile(r"(localhost|127\.0\.0\.1)(:\d+)?", re.IGNORECASE)


class Bridge:
    """A bridge, while ``listening``.

    ``notice`` shows a message at the terminal; it may be a code, so it must not be logged.
    """

    def __init__(self, config: BridgeConfig, notice: Callable[[str], None]) -> None:
        self.port = config.port
        self._config = config
        tokens = TokenFile(Path(config.tokens))
        self._state = BridgeState(config.engines, tokens, config.max_engines, notice)
        self._pages: set[PageConnection] = set()
        self._tell_once = once(notice)  # so that nobody floods the terminal

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[None]:
        """Listen inside ``async with``; then close the connections and end the engines.

        Raises:
            OSError: the port can't be had, or the file of tokens can't be read.
            ValueError: the file of tokens is invalid, or others may write it.
        """
        self._state.tokens.read()
        server = await serve(
            self._serve,
            LOOPBACK,
            self._config.port,
            self._respond,
            gate=lambda address: OpenVisit(address, Rates(burst_s=4)),
            max_size=MAX_LINE,
        )
        self.port = next(iter(server.sockets)).getsockname()[1]
        watch = asyncio.create_task(self._dismiss_revoked())
        try:
            yield
        finally:
            watch.cancel()
            server.close(code=1001, reason="the bridge is closing")
            await server.wait_closed()

    async def _respond(self, connection: ServerConnection, request: Request) -> Response | None:
        response = self._check(connection, request)
        await drop_ended(connection)
        return response

    def _check(self, connection: ServerConnection, request: Request) -> Response | None:
        """Refuse unauthorized requests before a WebSocket opens.

        Any page may try to reach loopback; the header ``Origin`` names it. A page whose own name
        resolves to loopback (DNS rebinding) is recognized by the header ``Host``.
        """
        names = request.headers.get_all("Host")
        if len(names) != 1 or not _OUR_NAMES.fullmatch(names[0]):
            whom = names[0] if names else "no host"
            self._tell_once(f"a request to {whom} was refused; the bridge is {LOOPBACK}")
            return connection.respond(403, "this is a bridge of localhost\n")
        origins = request.headers.get_all("Origin")
        if len(origins) != 1 or origins[0] not in self._config.origins:
            whose = origins[0] if origins else "no origin"
            self._tell_once(f"a page of {whose} was refused; it is not among the origins")
            return connection.respond(403, "this origin is not among those of the bridge\n")
        if len(self._pages) >= MAX_PAGES:
            return connection.respond(503, "too many pages are connected\n")
        return None

    async def _serve(self, connection: ServerConnection) -> None:
        assert connection.request is not None
        page = PageConnection(connection, connection.request.headers["Origin"], self._state)
        self._pages.add(page)
        try:
            await page.serve()
        finally:
            self._pages.discard(page)

    async def _dismiss_revoked(self) -> None:
        """Disconnect pages whose token was revoked or can't be checked, even mid-search."""
        dismissed = set[PageConnection]()
        async with asyncio.TaskGroup() as dismissals:
            while True:
                await asyncio.sleep(REVOKED_S)
                code, why = "revoked", "the token of this page was revoked"
                try:
                    tokens = self._state.tokens.read()
                except (ValueError, OSError) as error:
                    self._tell_once(str(error))
                    tokens, code, why = {}, "no-tokens", NO_TOKENS
                dismissed &= self._pages
                for page in self._pages - dismissed:
                    if page.paired and page.paired.id not in tokens:
                        dismissed.add(page)
                        dismissals.create_task(page.dismiss(code, f"bridge error {code} {why}"))

"""The conversation with one page: it authenticates, and then drives one engine at a time.

    page                     bridge
    bridge hello token T     bridge ok 0.2
    bridge engines           bridge engine ID …, bridge enginesok
    bridge open ID           bridge opened ID
    siu, go, …               the engine's lines, unchanged
    bridge close             bridge closed ID

A page without a token sends ``bridge pair``, gets ``bridge pairing SECONDS``, asks its user for the
code that the bridge shows, sends ``bridge hello code C``, and gets ``bridge token T`` before
``bridge ok 0.2``. Failures are ``bridge error CODE sentence``; an engine that ends by itself is
``bridge closed ID reason``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

import structlog
from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosed

from harness.figures import plain
from harness.seats.engines.process import EngineFailed

from .config import Launch
from .driven import BURST, Driven, is_ours
from .pairing import CODE_S, Code, Codes, Paired, TokenFile

__all__ = ["House", "Page"]

log = structlog.get_logger(__name__)

VERSION = "0.2"
"""The SIU version."""

HELLO_S = 10.0
"""Time for a page to authenticate, if it does not ask for a code."""

STALLED_S = 10.0
"""Time that a page may leave output unread."""


@dataclass
class House:
    """State shared by the pages of a bridge."""

    engines: Mapping[str, Launch]
    tokens: TokenFile
    free: int
    """Engines that may still be started."""
    notice: Callable[[str], None]
    codes: Codes = field(default_factory=Codes)


class _Refused(Exception):
    """A page's request is refused; ``ends`` also ends the conversation."""

    def __init__(self, code: str, sentence: str, *, ends: bool = False) -> None:
        super().__init__(sentence)
        self.line = f"bridge error {code} {sentence}"
        self.code = code
        self.ends = ends


class Page:
    """A connected page."""

    def __init__(self, connection: ServerConnection, origin: str, house: House) -> None:
        self.paired: Paired | None = None
        self._connection = connection
        self._origin = origin
        self._house = house
        self._engine: Driven | None = None
        self._heard = 0

    async def serve(self) -> None:
        """Converse until either side ends it; no engine is left when this returns."""
        try:
            await self._greet()
            while True:
                try:
                    await self._obey(await self._hear())
                except _Refused as refused:
                    if refused.ends:
                        raise
                    await self._say(refused.line)
        except _Refused as refused:
            await self.dismiss(refused.code, refused.line)
        except ConnectionClosed as closed:
            log.info("page left", origin=self._origin, reason=plain(str(closed)))
        finally:
            if self._engine is not None:
                await self._engine.close()

    async def dismiss(self, code: str, line: str) -> None:
        """Send the reason and close the connection."""
        log.info("page dismissed", origin=self._origin, code=code)
        try:
            await self._say(line)
        except ConnectionClosed:
            return
        await self._connection.close(1008, code)

    # --- authentication --------------------------------------------------------------------------

    async def _greet(self) -> None:
        code: Code | None = None
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(HELLO_S) as limit:
                while self.paired is None:
                    match (await self._hear()).split():
                        case ["bridge", "pair"]:
                            code = self._show_code(loop.time())
                            limit.reschedule(code.until)
                            await self._say(f"bridge pairing {CODE_S}")
                        case ["bridge", "hello", "code", guess]:
                            await self._pair(code, guess, loop.time())
                        case ["bridge", "hello", "token", token]:
                            self.paired = self._find(token)
                        case _:
                            raise _Refused(
                                "no-hello", "say 'bridge hello token T' or 'bridge pair'", ends=True
                            )
        except TimeoutError:
            raise _Refused("no-hello", "no token or code came in time", ends=True) from None
        log.info("page let in", origin=self._origin, id=self.paired.id)
        await self._say(f"bridge ok {VERSION}")

    def _show_code(self, now: float) -> Code:
        code = self._house.codes.make(now)
        if code is None:
            raise _Refused("busy", "too many codes were asked for; wait two minutes", ends=True)
        self._house.notice(
            f"a page of {self._origin} asks to use the engines of this machine; if you want that, "
            f"type the code {code.text} there, within {CODE_S} s"
        )
        return code

    async def _pair(self, code: Code | None, guess: str, now: float) -> None:
        if code is None:
            raise _Refused("bad-code", "no code was asked for; say 'bridge pair'", ends=True)
        if not code.accepts(guess, now):
            sentence = f"this is not the code; tries left: {code.tries}"
            if not code.tries:
                raise _Refused("bad-code", sentence, ends=True)
            await self._say(f"bridge error bad-code {sentence}")
            return
        try:
            token, self.paired = self._house.tokens.add(self._origin, datetime.now(UTC))
        except (ValueError, OSError) as error:
            raise self._no_tokens(error) from None
        self._house.notice(f"paired with {self._origin} as {self.paired.id}")
        await self._say(f"bridge token {token}")

    def _find(self, token: str) -> Paired:
        try:
            paired = self._house.tokens.find(token, self._origin)
        except (ValueError, OSError) as error:
            raise self._no_tokens(error) from None
        if paired is None:
            raise _Refused(
                "bad-token", "this token is not known, or was revoked; pair again", ends=True
            )
        return paired

    def _no_tokens(self, error: Exception) -> _Refused:
        self._house.notice(str(error))
        return _Refused("no-tokens", "the bridge can't use its file of tokens", ends=True)

    # --- requests ---------------------------------------------------------------------------------

    async def _obey(self, line: str) -> None:
        engine = None if self._engine is None or self._engine.is_over else self._engine
        if not is_ours(line):
            if engine is None:
                raise _Refused("no-engine", "no engine is open; say 'bridge open ID'")
            await engine.tell(line)
            return
        match line.split():
            case ["bridge", "engines"]:
                for known in self._house.engines:
                    await self._say(f"bridge engine {known}")
                await self._say("bridge enginesok")
            case ["bridge", "open", id]:
                if engine is not None:
                    raise _Refused("already-open", f"{engine.id} is open; close it first")
                self._engine = await self._open(id)
                await self._say(f"bridge opened {id}")
                self._engine.begin()
            case ["bridge", "close"]:
                if engine is None:
                    raise _Refused("no-engine", "no engine is open")
                await engine.close()
                await self._say(f"bridge closed {engine.id}")
            case _:
                raise _Refused("unknown-command", "the bridge knows: engines, open ID, close")

    async def _open(self, id: str) -> Driven:
        house = self._house
        if id not in house.engines:
            raise _Refused("unknown-engine", f"no engine is called {plain(id)[:64]} here")
        if house.free < 1:
            raise _Refused("busy", "as many engines run as may; close one first")
        house.free -= 1
        try:
            engine = await Driven.open(house.engines[id], self._say, self._over)
        except (EngineFailed, OSError) as error:
            self._over()
            raise _Refused("not-started", plain(str(error))) from None
        log.info("engine opened", origin=self._origin, engine=id)
        return engine

    def _over(self) -> None:
        self._house.free += 1

    # --- lines ------------------------------------------------------------------------------------

    async def _hear(self) -> str:
        self._heard += 1
        if self._heard % BURST == 0:
            await asyncio.sleep(0)
        message = await self._connection.recv()
        if not isinstance(message, str):
            raise _Refused("bad-line", "a line is a text message", ends=True)
        line = message.rstrip("\r\n")
        if "\n" in line or "\r" in line:
            raise _Refused("bad-line", "one message is one line", ends=True)
        return line

    async def _say(self, line: str) -> None:
        try:
            async with asyncio.timeout(STALLED_S):
                await self._connection.send(line)
        except TimeoutError:
            log.warning("page does not read", origin=self._origin)
            self._connection.transport.abort()
            await self._connection.wait_closed()
            raise ConnectionClosed(None, None) from None

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
import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import structlog
from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosed

from bot.seat.child_process import Limits
from harness.figures import plain
from harness.seats.engines.process import EngineFailed, EngineProcess

from .config import Launch
from .pairing import CODE_S, Code, Codes, PairedPage, TokenFile

log = structlog.get_logger(__name__)

VERSION = "0.2"
"""The SIU version."""

HELLO_S = 10.0
"""Time for a page to authenticate, if it does not ask for a code."""

STALLED_S = 10.0
"""Time that a page may leave output unread."""

MAX_UNREAD = 1 << 17
"""Bytes that an engine may leave unread before it counts as hung."""

BURST = 32
"""Lines relayed before other tasks get their turn."""

NO_TOKENS = "the bridge can't use its file of tokens"


@dataclass
class BridgeState:
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


@dataclass(eq=False)
class PageConnection:
    """A connected page."""

    connection: ServerConnection
    origin: str
    state: BridgeState
    paired: PairedPage | None = None
    _engine: EngineProcess | None = None
    _relaying: asyncio.Task[None] | None = None
    _heard: int = 0

    async def serve(self) -> None:
        """Converse until either side ends it; no engine is left when this returns."""
        try:
            await self._greet()
            while True:
                try:
                    await self._obey(await self._receive())
                except _Refused as refused:
                    if refused.ends:
                        raise
                    await self._send(refused.line)
        except _Refused as refused:
            await self.dismiss(refused.code, refused.line)
        except ConnectionClosed as closed:
            log.info("page left", origin=self.origin, reason=plain(str(closed)))
        finally:
            if self._engine is not None:
                await self._close(self._engine)

    async def dismiss(self, code: str, line: str) -> None:
        """Send the reason and close the connection."""
        log.info("page dismissed", origin=self.origin, code=code)
        try:
            await self._send(line)
        except ConnectionClosed:
            return
        await self.connection.close(1008, code)

    # --- authentication --------------------------------------------------------------------------

    async def _greet(self) -> None:
        code: Code | None = None
        loop, tokens = asyncio.get_running_loop(), self.state.tokens
        try:
            async with asyncio.timeout(HELLO_S) as limit:
                while self.paired is None:
                    match (await self._receive()).split():
                        case ["bridge", "pair"]:
                            code = self._show_code(loop.time())
                            limit.reschedule(code.until)
                            await self._send(f"bridge pairing {CODE_S}")
                        case ["bridge", "hello", "code", guess]:
                            await self._pair(code, guess, loop.time())
                        case ["bridge", "hello", "token", token]:
                            self.paired = tokens.find(token, self.origin)
                            if self.paired is None:
                                sentence = "this token is not known, or was revoked; pair again"
                                raise _Refused("bad-token", sentence, ends=True)
                        case _:
                            raise _Refused(
                                "no-hello", "say 'bridge hello token T' or 'bridge pair'", ends=True
                            )
        except TimeoutError:
            raise _Refused("no-hello", "no token or code came in time", ends=True) from None
        except (ValueError, OSError) as error:
            self.state.notice(str(error))
            raise _Refused("no-tokens", NO_TOKENS, ends=True) from None
        log.info("page let in", origin=self.origin, id=self.paired.id)
        await self._send(f"bridge ok {VERSION}")

    def _show_code(self, now: float) -> Code:
        code = self.state.codes.make(now)
        if code is None:
            raise _Refused("busy", "too many codes were asked for; wait two minutes", ends=True)
        self.state.notice(
            f"a page of {self.origin} asks to use the engines of this machine; if you want that, "
            f"type the code {code.text} there, within {CODE_S} s"
        )
        return code

    async def _pair(self, code: Code | None, guess: str, now: float) -> None:
        """Pair with the page, and send it a token, if its guess is the code that was shown."""
        if code is None:
            raise _Refused("bad-code", "no code was asked for; say 'bridge pair'", ends=True)
        if not code.accepts(guess, now):
            sentence = f"this is not the code; tries left: {code.tries}"
            if not code.tries:
                raise _Refused("bad-code", sentence, ends=True)
            await self._send(f"bridge error bad-code {sentence}")
            return
        token, self.paired = self.state.tokens.add(self.origin, datetime.now(UTC))
        self.state.notice(f"paired with {self.origin} as {self.paired.id}")
        await self._send(f"bridge token {token}")

    # --- requests ---------------------------------------------------------------------------------

    async def _obey(self, line: str) -> None:
        engine = self._engine
        match line.split():
            case _ if not _is_ours(line):
                if engine is None:
                    raise _Refused("no-engine", "no engine is open; say 'bridge open ID'")
                engine.send(line)
                if engine.unread > MAX_UNREAD:
                    await self._close(engine)
                    why = "the engine does not read its input"
                    await self._send(f"bridge closed {engine.name} {why}")
            case ["bridge", "engines"]:
                for engine_name in self.state.engines:
                    await self._send(f"bridge engine {engine_name}")
                await self._send("bridge enginesok")
            case ["bridge", "open", id]:
                if engine is not None:
                    raise _Refused("already-open", f"{engine.name} is open; close it first")
                self._engine = engine = await self._open(id)
                await self._send(f"bridge opened {id}")
                self._relaying = asyncio.create_task(self._relay(engine))
            case ["bridge", "close"]:
                if engine is None:
                    raise _Refused("no-engine", "no engine is open")
                await self._close(engine)
                await self._send(f"bridge closed {engine.name}")
            case _:
                raise _Refused("unknown-command", "the bridge knows: engines, open ID, close")

    # --- the engine -------------------------------------------------------------------------------

    async def _open(self, id: str) -> EngineProcess:
        state = self.state
        if id not in state.engines:
            raise _Refused("unknown-engine", f"no engine is called {plain(id)[:64]} here")
        if state.free < 1:
            raise _Refused(
                "busy", "the bridge runs no more engines at once (max_engines); close one first"
            )
        state.free -= 1
        launch = state.engines[id]
        try:
            engine = await EngineProcess.start(
                launch.command,
                name=id,
                folder=None if launch.folder is None else Path(launch.folder),
                environment=launch.environment,
                limits=Limits(launch.memory, launch.cores),
            )
        except (EngineFailed, OSError) as error:
            state.free += 1
            raise _Refused("not-started", plain(str(error))) from None
        log.info("engine opened", origin=self.origin, engine=id)
        return engine

    async def _relay(self, engine: EngineProcess) -> None:
        with contextlib.suppress(ConnectionClosed):  # ``serve`` then ends the engine
            try:
                async for line in engine.lines():
                    if not _is_ours(line):
                        await self._send(line)
            except EngineFailed as failed:
                reason = plain(str(failed))
            await self._end(engine)
            log.info("engine ended", engine=engine.name, reason=reason)
            await self._send(f"bridge closed {engine.name} {reason}")

    async def _close(self, engine: EngineProcess) -> None:
        if self._relaying is not None:
            self._relaying.cancel()
            await asyncio.gather(self._relaying, return_exceptions=True)
        await self._end(engine)

    async def _end(self, engine: EngineProcess) -> None:
        """End the engine's process and all its children."""
        await engine.quit("quit")
        if self._engine is engine:
            self._engine = None
            self.state.free += 1

    # --- lines ------------------------------------------------------------------------------------

    async def _receive(self) -> str:
        self._heard += 1
        if self._heard % BURST == 0:
            await asyncio.sleep(0)
        message = await self.connection.recv()
        if not isinstance(message, str):
            raise _Refused("bad-line", "a line is a text message", ends=True)
        line = message.rstrip("\r\n")
        if "\n" in line or "\r" in line:
            raise _Refused("bad-line", "one message is one line", ends=True)
        return line

    async def _send(self, line: str) -> None:
        try:
            async with asyncio.timeout(STALLED_S):
                await self.connection.send(line)
        except TimeoutError:
            log.warning("page does not read", origin=self.origin)
            self.connection.transport.abort()
            await self.connection.wait_closed()
            raise ConnectionClosed(None, None) from None


def _is_ours(line: str) -> bool:
    """Check whether a line belongs to the bridge's own protocol, whoever sends it."""
    return line.lstrip().startswith("bridge")

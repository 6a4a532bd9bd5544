"""The conversation with a page that asks for analysis: JSON in text frames, of a page and of us."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Annotated, Any, TypeAlias

import msgspec
from msgspec import Meta, Struct
from websockets.asyncio.server import ServerConnection, broadcast
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request

from harness.server.play import is_own_page
from protocol.errors import PeerError

from .queue import Analyse, AnalysisQueue, Asked, Job, Moves, Read, Words

SUBPROTOCOL = "tilewire.analysis.v1"

MOST_DATA = 100_000
"""Bytes of a game or a position, as base64."""


class Cancel(Struct, frozen=True, kw_only=True, tag="cancel"):
    """End a request; its ``done`` follows."""

    id: Annotated[int, Meta(ge=0, le=2**31)]


class PagePing(Struct, frozen=True, kw_only=True, tag="ping"):
    """Ask for a ``pong``: a network that is gone answers nothing."""


Said: TypeAlias = Asked | Cancel | PagePing

_DECODER: msgspec.json.Decoder[Said] = msgspec.json.Decoder(Said)


def decode(frame: str | bytes) -> Said:
    """Read a request.

    Raises:
        ValueError: it is none; the message says why.
    """
    if isinstance(frame, bytes):
        raise ValueError("this conversation is in text frames")
    if len(frame) > MOST_DATA * 4 // 3 + 1_000:
        raise ValueError(f"a game or a position has at most {MOST_DATA:,} bytes")
    try:
        return _DECODER.decode(frame)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def encode(kind: str, id: int | None, **known: Any) -> str:
    """Write an answer.

    ``waiting`` says how many requests are ``ahead`` of this one; ``game`` what was read, ``so_far``
    and ``turn`` what a turn came to, ``left_out`` why one was not analysed; ``moves`` and ``words``
    are what was asked for; ``done`` is the end, and so is ``error``, with a ``code`` and a
    sentence; ``pong`` answers a ping.
    """
    return msgspec.json.encode({"type": kind, "id": id, **known}).decode()


async def converse(
    connection: ServerConnection,
    request: Request,
    queue: AnalysisQueue | None,
    address: str,
    check: Callable[[], None],
    attach: Callable[[Callable[[str, str], None]], None] = lambda _end: None,
) -> None:
    """Answer a page's requests until it leaves; then end those that are not done.

    ``check`` raises PeerError if the page is to be turned away; ``attach`` takes what ends the
    conversation, with a code and a sentence.
    """

    def tell(id: int | None, kind: str, **known: Any) -> None:
        broadcast((connection,), encode(kind, id, **known))

    def refuse(id: int | None, error: PeerError) -> None:
        tell(id, "error", code=error.code, message=error.reply.message)

    try:
        check()
        _check_origin(request)
        if queue is None:
            raise PeerError("no_engine", "this server offers no analysis", retry="no")
    except PeerError as error:
        refuse(None, error)
        return
    limit = asyncio.timeout(None)

    def end(code: str, message: str) -> None:
        refuse(None, PeerError(code, message))
        limit.reschedule(asyncio.get_running_loop().time())

    jobs: dict[int, Job] = {}
    try:
        async with limit:
            attach(end)
            async for frame in connection:
                jobs = {id: job for id, job in jobs.items() if not job.is_over}
                try:
                    asked = decode(frame)
                except ValueError as error:
                    refuse(None, PeerError("bad_message", str(error)))
                    continue
                match asked:
                    case PagePing():
                        tell(None, "pong")
                    case Cancel(id=id) if id in jobs:
                        queue.cancel(jobs[id])
                    case Read(id=id) | Moves(id=id) | Words(id=id) | Analyse(id=id):
                        job = Job(asked, address, partial(tell, id))
                        try:
                            if id in jobs:
                                raise PeerError("bad_message", f"request {id} is not done yet")
                            await queue.submit(job)
                            jobs[id] = job
                        except PeerError as error:
                            refuse(id, error)
    except TimeoutError:
        if not limit.expired():
            raise
    except ConnectionClosed:
        pass
    finally:
        for job in jobs.values():
            queue.cancel(job)


def _check_origin(request: Request) -> None:
    """Check that the page is this server's own: no other site may use its analysis.

    Raises:
        PeerError: it is not.
    """
    origins = request.headers.get_all("Origin")
    if len(origins) != 1 or not is_own_page(request):
        whose = f"a page of {origins[0]}" if origins else "a request without Origin"
        why = f"{whose[:200]} is not answered here; only this server's own page is"
        raise PeerError("forbidden", why, retry="no")

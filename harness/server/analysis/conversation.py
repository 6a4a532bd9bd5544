"""The conversation with a page that asks for analysis, from its first frame to its last."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from websockets.asyncio.server import ServerConnection, broadcast
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request

from protocol.errors import PeerError

from .messages import Cancel, Ping, decode, encode
from .queue import AnalysisQueue, Job


async def converse(
    connection: ServerConnection,
    request: Request,
    queue: AnalysisQueue | None,
    address: str,
    check: Callable[[], None],
) -> None:
    """Answer a page's requests until it leaves; then end those that are not done.

    ``check`` raises PeerError if the page is to be turned away.
    """
    try:
        check()
        _check_origin(request)
        if queue is None:
            raise PeerError("no_engine", "this server offers no analysis", retry="no")
    except PeerError as error:
        with contextlib.suppress(ConnectionClosed):
            await connection.send(_refusal(None, error))
        return
    jobs: dict[int, Job] = {}
    try:
        async for frame in connection:
            await _hear(connection, frame, queue, address, jobs)
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
    origins, hosts = request.headers.get_all("Origin"), request.headers.get_all("Host")
    try:
        theirs = [urlsplit(origin).netloc for origin in origins]
    except ValueError:
        theirs = []
    if len(theirs) != 1 or theirs != hosts:
        whose = f"a page of {origins[0]}" if origins else "a request without Origin"
        why = f"{whose[:200]} is not answered here; only this server's own page is"
        raise PeerError("forbidden", why, retry="no")


async def _hear(
    connection: ServerConnection,
    frame: str | bytes,
    queue: AnalysisQueue,
    address: str,
    jobs: dict[int, Job],
) -> None:
    for id in [id for id, job in jobs.items() if job.is_over]:
        del jobs[id]
    try:
        if isinstance(frame, bytes):
            raise ValueError("this conversation is in text frames")
        asked = decode(frame)
    except ValueError as error:
        broadcast((connection,), _refusal(None, PeerError("bad_message", str(error))))
        return
    if isinstance(asked, Ping):
        _tell(connection, None, "pong")
        return
    if isinstance(asked, Cancel):
        if asked.id in jobs:
            queue.cancel(jobs[asked.id])
        return
    job = Job(asked, address, partial(_tell, connection, asked.id))
    try:
        if asked.id in jobs:
            raise PeerError("bad_message", f"request {asked.id} is not done yet")
        await queue.submit(job)
        jobs[asked.id] = job
    except PeerError as error:
        broadcast((connection,), _refusal(asked.id, error))


def _tell(connection: ServerConnection, id: int | None, kind: str, **known: Any) -> None:
    broadcast((connection,), encode(kind, id, **known))


def _refusal(id: int | None, error: PeerError) -> str:
    return encode("error", id, code=error.code, message=error.reply.message)

"""A server that waits for the journal, which another host writes, or wrote until now.

Meanwhile it listens, and tells a balancer, as everybody else, to go to the host that serves.
"""

from __future__ import annotations

import asyncio
import signal
from contextlib import suppress
from typing import Any

from websockets.asyncio.server import Server
from websockets.http11 import Request

from harness.arbiter.database import InUse, JournalError, NoAnswer
from harness.arbiter.journal import Journal
from harness.server.admission import Admission, Admissions
from harness.server.answers import AGAIN_SOON, as_json
from protocol.websocket import HttpAnswer, listen

from .access_files import AccessFiles, renew
from .serving import RESERVE_BYTES, tell

RETRY_S = 0.5


class Standby:
    """A host that waits for the journal ``db``; it listens as long as a block with it lasts."""

    def __init__(
        self, db: str, access: AccessFiles, admission: Admission, host: str, port: int
    ) -> None:
        self.port = port
        """0 for any free port; once it listens, its actual port."""
        self._db, self._access, self._admission, self._host = db, access, admission, host
        self._serves = ""
        """Which host has the journal."""
        self._unsure = "who serves is not known yet"
        """Why that is not known for certain; empty if it is."""
        self._said = ""
        self._server: Server | None = None

    async def __aenter__(self) -> Standby:
        """Listen; raise OSError if the address can't be had."""

        async def converse(*_: object) -> None:
            raise AssertionError("every request is answered")

        self._server = await listen(
            self._host,
            self.port,
            converse,
            on_http=self._answer,
            tls=self._access.tls,
            gate=Admissions(self._admission).enter,
        )
        self.port = next(iter(self._server.sockets)).getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        """Listen no more, and don't wait for those whose request is still to come."""
        assert self._server is not None
        self._server.close()
        for handler in self._server.handler_tasks:
            handler.cancel()
        await self._server.wait_closed()

    def _answer(self, request: Request) -> HttpAnswer:
        if request.path != "/healthz":
            why = "this host stands by for another; come again soon\n"
            return HttpAnswer(503, why, headers=(AGAIN_SOON,))
        health = {"status": "standby", "serves": self._serves or None}
        if self._unsure:
            return as_json(health | {"why": self._unsure})._replace(status=503)
        return as_json(health)

    async def wait(self, told: asyncio.Future[asyncio.Event], *, patient: bool) -> Journal | None:
        """Return the journal once no other host has it; None if a signal, ``told``, ends the wait.

        A ``patient`` host had the journal before; it waits also for a database that can't be
        reached, as does one that has found the journal in use. Every host waits for a slow one.

        Raises:
            JournalError: it can't be used, and waiting would not help.
        """
        asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, self._reread)
        while not told.done():
            opening = asyncio.ensure_future(asyncio.to_thread(Journal, self._db, RESERVE_BYTES))
            ends: set[asyncio.Future[Any]] = {told, opening}
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            if not opening.done():
                with suppress(JournalError):
                    (await opening).close()  # or it would have the lease as long as this lives
                break
            try:
                journal = opening.result()
            except InUse as error:
                patient, self._serves, self._unsure = True, error.holder, ""
                self._tell(str(error))
            except JournalError as error:
                if not (patient or isinstance(error, NoAnswer)):
                    raise
                self._unsure = str(error)
                self._tell(str(error))
                await asyncio.wait({told}, timeout=RETRY_S)
            else:
                return journal
        return None

    def _tell(self, sentence: str) -> None:
        if sentence != self._said:
            tell(f"standing by at port {self.port}: {sentence}")
        self._said = sentence

    def _reread(self) -> None:
        if self._access.certificate is not None:
            renew(self._access.certificate, tell)
        tell("standing by; all other files are read again when this host serves")

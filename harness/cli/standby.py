"""A server that waits for the journal, which another host writes, or wrote until now.

Meanwhile it listens, and tells a balancer, as everybody else, to go to the host that serves.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any, Self

from websockets.http11 import Request

from harness.arbiter.database import InUse, JournalError, NoAnswer
from harness.arbiter.journal import Journal
from harness.server.admission import Admission, Admissions
from harness.server.answers import AGAIN_SOON, as_json
from protocol.websocket import HttpAnswer, listen

from .access_files import AccessFiles, renew
from .serving import RESERVE_BYTES, log_line

RETRY_S = 0.5


@dataclass(eq=False)
class Standby:
    """A host that waits for the journal ``db``."""

    db: str
    access: AccessFiles
    admission: Admission
    host: str
    port: int
    """0 for any free port; once it listens, its actual port."""
    _serves: str = ""
    """Which host has the journal."""
    _unsure: str = "who serves is not known yet"
    """Why that is not known for certain; empty if it is."""

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[Self]:
        """Listen inside ``async with``; raise OSError if the address can't be had."""

        async def converse(*_: object) -> None:
            raise AssertionError("every request is answered")

        server = await listen(
            self.host,
            self.port,
            converse,
            on_http=self._answer,
            tls=self.access.tls,
            gate=Admissions(self.admission).enter,
        )
        self.port = next(iter(server.sockets)).getsockname()[1]
        try:
            yield self
        finally:  # which does not wait for those whose request is still to come
            server.close()
            for handler in server.handler_tasks:
                handler.cancel()
            await server.wait_closed()

    def _answer(self, request: Request, _address: str) -> HttpAnswer:
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
        printed = ""
        while not told.done():
            opening = asyncio.ensure_future(asyncio.to_thread(Journal, self.db, RESERVE_BYTES))
            ends: set[asyncio.Future[Any]] = {told, opening}
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            if not opening.done():
                with suppress(JournalError):
                    (await opening).close()  # or it would have the lease as long as this lives
                break
            try:
                return opening.result()
            except InUse as error:
                patient, self._serves, self._unsure = True, error.holder, ""
                why = str(error)
            except JournalError as error:
                if not (patient or isinstance(error, NoAnswer)):
                    raise
                why = self._unsure = str(error)
            if why != printed:
                log_line(f"standing by at port {self.port}: {why}")
                printed = why
            if self._unsure:
                await asyncio.wait({told}, timeout=RETRY_S)
        return None

    def _reread(self) -> None:
        if self.access.certificate is not None:
            renew(self.access.certificate, log_line)
        log_line("standing by; all other files are read again when this host serves")

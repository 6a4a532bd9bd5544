"""A server that waits for the journal, which another host writes, or wrote until now.

Meanwhile it passes conversations on to that host.
"""

from __future__ import annotations

import asyncio
import signal
from contextlib import suppress
from typing import Any

from harness.arbiter.database import InUse, JournalError, NoAnswer
from harness.arbiter.journal import Journal
from harness.server.passing_on import PassingOn

from .access_files import AccessFiles, renew
from .serving import RESERVE_BYTES, advertised, tell

RETRY_S = 0.5


class Standby:
    """A host that waits for the journal."""

    def __init__(
        self, db: str, access: AccessFiles, passing_on: PassingOn, advertise: str | None
    ) -> None:
        self._db, self._access, self._passing_on = db, access, passing_on
        self._address = advertised(advertise, passing_on.host, passing_on.port)
        self._said = ""

    async def wait(self, told: asyncio.Future[asyncio.Event], *, patient: bool) -> Journal | None:
        """Return the journal once no other host has it; None if a signal, ``told``, ends the wait.

        A ``patient`` host had the journal before; it waits also for a database that can't be
        reached, as does one that has found the journal in use. Every host waits for a slow one.

        Raises:
            JournalError: it can't be used, and waiting would not help.
        """
        asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, self._reread)
        while not told.done():
            opening = asyncio.ensure_future(
                asyncio.to_thread(Journal, self._db, RESERVE_BYTES, self._address)
            )
            ends: set[asyncio.Future[Any]] = {told, opening}
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            if not opening.done():
                with suppress(JournalError):
                    (await opening).close()  # or it would have the lease as long as this lives
                break
            try:
                journal = opening.result()
            except InUse as error:
                patient = True
                self._note(error)
            except JournalError as error:
                if not (patient or isinstance(error, NoAnswer)):
                    raise
                self._passing_on.unsure = str(error)
                self._tell(str(error))
                await asyncio.wait({told}, timeout=RETRY_S)
            else:
                return journal
        return None

    def _note(self, error: InUse) -> None:
        """Pass conversations on to the host that has the journal, unless it says it is this one."""
        self._passing_on.unsure = ""
        if error.serving and error.serving == self._address:
            self._passing_on.pass_to("")
            self._tell(
                f"{error}, which this host advertises as its own: give each an --advertise of its "
                "own; until then nothing is passed on here"
            )
            return
        self._passing_on.pass_to(error.serving)
        self._tell(str(error))

    def _tell(self, sentence: str) -> None:
        if sentence != self._said:
            tell(f"standing by at port {self._passing_on.port}: {sentence}")
        self._said = sentence

    def _reread(self) -> None:
        if self._access.certificate is not None:
            renew(self._access.certificate, tell)
        tell("standing by; all other files are read again when this host serves")

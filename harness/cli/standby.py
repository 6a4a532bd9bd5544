"""A server that waits until it may have the journal: another host writes it, or did until now."""

from __future__ import annotations

import asyncio
import signal

from harness.arbiter.database import InUse, JournalError
from harness.arbiter.journal import Journal

from . import options
from .serving import RESERVE_BYTES, tell

RETRY_S = 0.5


async def stand_by(db: str, *, patient: bool) -> Journal | None:
    """Return a journal once no other host has it; None if a signal ends the wait.

    ``patient`` is who had it before, and waits for a database that can't be reached as well.

    Raises:
        JournalError: it can't be used, not only by now.
    """
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGHUP, tell, "standing by; files are read again at a start")
    told = asyncio.ensure_future(options.until_told_to_stop())
    said = ""
    while not told.done():
        opening = asyncio.ensure_future(asyncio.to_thread(Journal, db, RESERVE_BYTES))
        await asyncio.wait({told, opening}, return_when=asyncio.FIRST_COMPLETED)
        if not opening.done():
            opening.cancel()
            break
        try:
            journal = opening.result()
        except JournalError as error:
            patient = patient or isinstance(error, InUse)
            if not patient:
                told.cancel()
                raise
            if str(error) != said:
                tell(f"standing by: {error}")
            said = str(error)
            await asyncio.wait({told}, timeout=0 if isinstance(error, InUse) else RETRY_S)
        else:
            told.cancel()
            return journal
    return None

"""``tilewire backup``."""

from __future__ import annotations

from pathlib import Path

from harness.figures import counted

from .failing import CommandFailed, sentences
from .options import say
from .positions import is_file


def backup(journal: Path, file: Path, /) -> None:
    """Copy a journal as it is at this moment, while a server writes it too, and check the copy.

    The copy has the secrets of games that are on; only you can read it. Of a damaged journal it
    has what can be read, and the exit status is 1.

    Args:
        journal: The file of `tilewire serve --db`, or a match's match.db.
        file: The copy; a file that isn't there yet.
    """
    if not is_file(journal):
        raise CommandFailed(f"there is no journal {journal}")
    if file.exists():
        raise CommandFailed(f"{file} is there already; name a new file")
    from harness.arbiter.database import JournalError
    from harness.arbiter.journal_copy import copy_journal

    with sentences(kinds=(JournalError, OSError), status=1):
        copied = copy_journal(journal, file)
    has = f"{file} has {counted(copied.games, 'game')}"
    if copied.damage is not None:
        raise CommandFailed(f"{copied.damage}; {has}", status=1)
    say(f"{has}, and is whole")

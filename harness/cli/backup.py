"""``tilewire backup``."""

from __future__ import annotations

from pathlib import Path

from harness.figures import counted

from .failing import CommandFailed, sentences
from .journals import journal_at
from .options import say


def backup(journal: str, file: str, /) -> None:
    """Copy a journal as it is at this moment, while a server writes it too, and check the copy.

    The copy has the secrets of games that are on; only you can read it. Of a damaged journal it
    has what can be read, and the exit status is 1. To a PostgreSQL database or from one, a journal
    moves: a server goes on with the copy.

    Args:
        journal: The journal of `tilewire serve --db`, or the folder of a match or tournament.
        file: The copy; a file that isn't there yet, or postgresql://USER@HOST/DATABASE.
    """
    source = journal_at(journal)
    from harness.arbiter.database import JournalError
    from harness.arbiter.journal_copy import carry_journal, copy_journal
    from harness.arbiter.journal_reading import database_at, is_url

    if not is_url(file) and Path(file).exists():
        raise CommandFailed(f"{file} is there already; name a new file")
    with sentences(kinds=(JournalError, OSError), status=1):
        if isinstance(source, Path) and not is_url(file):
            copied = copy_journal(source, Path(file))
        else:
            copied = carry_journal(source, file)
    has = f"{database_at(file).name} has {counted(copied.games, 'game')}"
    if copied.damage is not None:
        raise CommandFailed(f"{copied.damage}; {has}", status=1)
    say(f"{has}, and is whole")

"""Journals on the command line: files, and URLs of databases."""

from __future__ import annotations

from pathlib import Path

from .failing import CommandFailed
from .positions import is_file


def journal_at(text: str) -> Path | str:
    """Return the address of a journal, or of that in a match's folder; fail if it isn't there."""
    from harness.arbiter.journal_reading import is_url

    if is_url(text):
        return text
    path = Path(text)
    if is_file(path / "match.db"):
        return path / "match.db"
    if not is_file(path):
        raise CommandFailed(f"there is no journal {text}")
    return path

"""``tilewire report``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from .failing import UNREADABLE, CommandFailed, sentences

_FILES = {"html": "report.html", "markdown": "report.md", "csv": "report.csv"}


def report(
    folder: Path,
    /,
    *,
    format_: Annotated[
        Literal["html", "markdown", "csv"], Parameter(name="--format", show_default="html")
    ] = "html",
    out: Path | None = None,
) -> None:
    """Write a report of a match or tournament: a page in one file, Markdown or CSV.

    The match may be running; the report has the games that are over.

    Args:
        folder: The folder of `tilewire match` or `tilewire tournament`.
        format_: A page with charts and boards; the same tables as Markdown; or as CSV, a line for
            each value.
        out: The file. [default: report.html, report.md or report.csv in the folder]
    """
    from harness.arbiter.database import JournalError
    from harness.matches.config import MatchError
    from harness.matches.event_report.event import read_event
    from harness.matches.event_report.formats import as_csv, as_html, as_markdown
    from lexicons.cache import replacing

    if not folder.is_dir():
        raise CommandFailed(f"there is no folder {folder}")
    with sentences(kinds=(MatchError, JournalError, *UNREADABLE)):
        event = read_event(folder)
    write = {"html": as_html, "markdown": as_markdown, "csv": as_csv}[format_]
    path = out or folder / _FILES[format_]
    if path.is_dir():
        raise CommandFailed(f"--out {path} is a folder; name a file")
    with sentences(f"{path} can't be written: ", (OSError,), 1), replacing(path) as temporary:
        temporary.write_text(write(event), encoding="utf-8")
    print(f"report: {path}")

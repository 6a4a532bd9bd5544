"""Named data: words, tiles, boards and tables, embedded, by path, or in data folders.

A name is looked up in each folder and in the subfolders of MAGPIE and Macondo, whatever its case.
Only names are compared; contents are checked on loading.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

__all__ = ["find", "name_of"]

_BELOW = ("", "lexica", "lexica/gaddag", "strategy", "letterdistributions", "layouts")
_SUFFIXES = {
    "lexicon": (".kwg", ".kbwg", ".txt"),
    "letter distribution": (".csv",),
    "leave table": (".klv2",),
    "win % table": (".csv",),
    "board": (".txt",),
}
_NAMED = 20  # per sentence

STANDARD_BOARDS = {"standard", "crosswordgame"}
"""Names of the embedded board, ours and others' (CGP's own example), in lower case."""


def find(
    what: str, text: str, folders: Sequence[Path], *, now: str = "", paths: bool = True
) -> str:
    """Return the embedded name or the path of some data.

    Args:
        what: ``lexicon``, ``letter distribution``, ``leave table``, ``win % table`` or ``board``.
        text: name or path.
        folders: data folders.
        now: a lexicon in use, also known by its file's name.
        paths: whether ``text`` may be a path.

    Raises:
        ValueError: not found; the message lists what exists.
    """
    if now and text.casefold() == name_of(now).casefold():
        return now
    if what == "board" and text.casefold() in STANDARD_BOARDS:
        return "standard"
    embedded, suffixes = _embedded(what), _SUFFIXES[what]
    for name in embedded:
        if name.casefold() == text.casefold():
            return name
    with suppress(OSError, ValueError):  # it may be too long for a file's name
        if paths and text and Path(text).is_file():
            return str(Path(text).resolve())
    wanted = [f"{text}{suffix}".casefold() for suffix in ("", *suffixes)]
    there = list(_files(folders, lambda path: path.name.casefold() in wanted))
    if there:
        return str(min(there, key=lambda path: wanted.index(path.name.casefold())))
    in_use = [name_of(now)] if now and now not in embedded else []
    others = (path.stem for path in _files(folders, lambda path: path.suffix.lower() in suffixes))
    known = list(dict.fromkeys((*embedded, *in_use, *others)))
    listed = ", ".join(known[:_NAMED]) + (", …" if len(known) > _NAMED else "")
    raise ValueError(f"no {what} is called {text[:60]!r}; there are: {listed}")


def _embedded(what: str) -> Sequence[str]:
    if what == "letter distribution":
        return ("english",)
    if what == "board":
        return ("CrosswordGame",)
    if what == "lexicon":
        from lexicons.store import lexicon_names  # imports numpy

        return lexicon_names()
    from lexicons.tables import LEAVE_TABLES, WIN_PROBABILITY_TABLES

    return LEAVE_TABLES if what == "leave table" else WIN_PROBABILITY_TABLES


def name_of(location: str) -> str:
    """Return a file's name without suffix, or an embedded name as it is."""
    return Path(location).name.partition(".")[0] or location


def _files(folders: Sequence[Path], wanted: Callable[[Path], bool]) -> Iterator[Path]:
    for folder in folders:
        for below in _BELOW:
            with suppress(OSError):
                yield from sorted(
                    path for path in (folder / below).iterdir() if wanted(path) and path.is_file()
                )

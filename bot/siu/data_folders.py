"""Named data: words, tiles, boards and tables, embedded, by path, or in data folders.

A name is looked up in each folder and in the subfolders of MAGPIE and Macondo, whatever its case.
Only names are compared; contents are checked on loading.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

__all__ = ["find", "find_lexicon", "name_of"]

_BELOW = ("", "lexica", "lexica/gaddag", "strategy", "letterdistributions", "layouts")
_WORDS = (".kwg", ".kbwg", ".txt")
_SUFFIXES = {
    "letter distribution": ".csv",
    "leave table": ".klv2",
    "win % table": ".csv",
    "board": ".txt",
}
_NAMED = 20  # per sentence

STANDARD_BOARDS = {"standard", "crosswordgame"}
"""Names of the embedded board, ours and others' (CGP's own example), in lower case."""


def find_lexicon(text: str, folders: Sequence[Path], now: str, *, paths: bool = True) -> str:
    """Return a lexicon's embedded name or path.

    Args:
        text: name or path.
        folders: data folders.
        now: the lexicon in use, also known by its file's name.
        paths: whether ``text`` may be a path.

    Raises:
        ValueError: not found; the message lists what exists.
    """
    if text.casefold() == name_of(now).casefold():
        return now
    from lexicons.store import lexicon_names  # imports numpy

    embedded = lexicon_names()
    named = [*embedded, *([] if now in embedded else [name_of(now)])]
    return _first("lexicon", text, embedded, named, folders, _WORDS, paths)


def find(what: str, text: str, folders: Sequence[Path], *, paths: bool = True) -> str:
    """Return the embedded name or the path of other data.

    Args:
        what: ``letter distribution``, ``leave table``, ``win % table`` or ``board``.
        text: name or path.
        folders: data folders.
        paths: whether ``text`` may be a path.

    Raises:
        ValueError: not found; the message lists what exists.
    """
    if what == "board" and text.casefold() in STANDARD_BOARDS:
        return "standard"
    embedded = _embedded(what)
    return _first(what, text, embedded, embedded, folders, (_SUFFIXES[what],), paths)


def _embedded(what: str) -> Sequence[str]:
    if what == "letter distribution":
        return ("english",)
    if what == "board":
        return ("CrosswordGame",)
    from lexicons.tables import LEAVE_TABLES, WIN_PROBABILITY_TABLES

    return LEAVE_TABLES if what == "leave table" else WIN_PROBABILITY_TABLES


def name_of(location: str) -> str:
    """Return a file's name without suffix, or an embedded name as it is."""
    return Path(location).name.partition(".")[0] or location


def _first(
    what: str,
    text: str,
    embedded: Sequence[str],
    named: Sequence[str],
    folders: Sequence[Path],
    suffixes: Sequence[str],
    paths: bool,
) -> str:
    location = _found(text, embedded, folders, suffixes, paths)
    if location is None:
        there = _listed([*named, *_names(folders, suffixes)])
        raise ValueError(f"no {what} is called {text[:60]!r}; there are: {there}")
    return location


def _found(
    text: str, names: Sequence[str], folders: Sequence[Path], suffixes: Sequence[str], paths: bool
) -> str | None:
    for name in names:
        if name.casefold() == text.casefold():
            return name
    with suppress(OSError, ValueError):  # it may be too long for a file's name
        if paths and text and Path(text).is_file():
            return str(Path(text).resolve())
    wanted = [f"{text}{suffix}".casefold() for suffix in ("", *suffixes)]
    there = _files(folders, lambda path: path.name.casefold() in wanted)
    first = min(there, key=lambda path: wanted.index(path.name.casefold()), default=None)
    return None if first is None else str(first)


def _files(folders: Sequence[Path], wanted: Callable[[Path], bool]) -> Iterator[Path]:
    for folder in folders:
        for below in _BELOW:
            with suppress(OSError):
                yield from sorted(
                    path for path in (folder / below).iterdir() if wanted(path) and path.is_file()
                )


def _names(folders: Sequence[Path], suffixes: Sequence[str]) -> list[str]:
    return [path.stem for path in _files(folders, lambda path: path.suffix.lower() in suffixes)]


def _listed(names: Sequence[str]) -> str:
    some = list(dict.fromkeys(names))
    return ", ".join(some[:_NAMED]) + (", …" if len(some) > _NAMED else "")

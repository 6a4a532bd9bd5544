"""Where words, tiles, boards and tables are found by name: embedded, by path, or in data folders.

A name is looked for in each folder and in those below it that MAGPIE and Macondo put theirs in,
whatever its case. Finding looks at names only; what is in a file shows when it is loaded.
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
_NAMED = 20  # in a sentence

STANDARD_BOARDS = {"standard", "crosswordgame"}
"""What the embedded board is called here and by others (CGP's own example), in lower case."""


def find_lexicon(text: str, folders: Sequence[Path], now: str, *, paths: bool = True) -> str:
    """Find a lexicon: an embedded name or a path.

    Args:
        text: its name or path.
        folders: where else to look.
        now: the lexicon in use, which is known by its name too.
        paths: whether ``text`` may be a path.

    Raises:
        ValueError: there is none; names those that there are.
    """
    if text.casefold() == name_of(now).casefold():
        return now
    from lexicons.store import lexicon_names  # brings numpy in

    embedded = lexicon_names()
    named = [*embedded, *([] if now in embedded else [name_of(now)])]
    return _first("lexicon", text, embedded, named, folders, _WORDS, paths)


def find(what: str, text: str, folders: Sequence[Path], *, paths: bool = True) -> str:
    """Find what is embedded by name, or a file.

    Args:
        what: ``letter distribution``, ``leave table``, ``win % table`` or ``board``.
        text: its name or path.
        folders: where else to look.
        paths: whether ``text`` may be a path.

    Raises:
        ValueError: there is none; names those that there are.
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
    """Return the name of a file without its suffix, or the name itself."""
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
    with suppress(OSError, ValueError):  # it may be too long for any file's name
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

"""Where words, tiles, boards and tables are found by name: embedded, by path, or in data folders.

A name is looked for in each folder and in those below it that MAGPIE and Macondo put theirs in,
whatever its case. Finding looks at names only; what is in a file shows when it is loaded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

__all__ = [
    "find_distribution",
    "find_layout",
    "find_leaves",
    "find_lexicon",
    "find_win_probabilities",
    "name_of",
]

_BELOW = ("", "lexica", "lexica/gaddag", "strategy", "letterdistributions", "layouts")
_WORDS = (".kwg", ".kbwg", ".txt")
_NAMED = 20  # in a sentence

STANDARD_BOARDS = {"standard", "crosswordgame"}
"""What the embedded board is called here and by others (CGP's own example), in lower case."""


def find_lexicon(text: str, folders: Sequence[Path], now: str, *, paths: bool = True) -> str:
    """Find a lexicon: an embedded name or a path.

    Args:
        text: its name or path.
        folders: where else to look.
        now: the one that is in use, which is known by its name too.
        paths: whether it may be a path; here and below.

    Raises:
        ValueError: there is none; says which there are.
    """
    if text.casefold() == name_of(now).casefold():
        return now
    from lexicons.store import lexicon_names  # brings numpy in

    embedded = lexicon_names()
    found = _found(text, embedded, folders, _WORDS, paths)
    if found is not None:
        return found
    there = [*embedded, *([] if now in embedded else [name_of(now)]), *_names(folders, _WORDS)]
    raise ValueError(f"no lexicon is called {text[:60]!r}; there are: {_listed(there)}")


def find_distribution(text: str, folders: Sequence[Path], *, paths: bool = True) -> str:
    """Find a distribution of tiles.

    Raises:
        ValueError: there is none.
    """
    return _find("letter distribution", text, ("english",), folders, (".csv",), paths)


def find_leaves(text: str, folders: Sequence[Path], *, paths: bool = True) -> str:
    """Find a leave table.

    Raises:
        ValueError: there is none.
    """
    from lexicons.tables import LEAVE_TABLES

    return _find("leave table", text, LEAVE_TABLES, folders, (".klv2",), paths)


def find_win_probabilities(text: str, folders: Sequence[Path], *, paths: bool = True) -> str:
    """Find a table of win probabilities.

    Raises:
        ValueError: there is none.
    """
    from lexicons.tables import WIN_PROBABILITY_TABLES

    return _find("win % table", text, WIN_PROBABILITY_TABLES, folders, (".csv",), paths)


def find_layout(text: str, folders: Sequence[Path], *, paths: bool = True) -> str:
    """Find a board.

    Raises:
        ValueError: there is none.
    """
    if text.casefold() in STANDARD_BOARDS:
        return "standard"
    return _find("board", text, ("CrosswordGame",), folders, (".txt",), paths)


def name_of(location: str) -> str:
    """Say what a file is called, or a name."""
    return Path(location).name.partition(".")[0] or location


def _find(
    what: str,
    text: str,
    names: Sequence[str],
    folders: Sequence[Path],
    suffixes: Sequence[str],
    paths: bool,
) -> str:
    found = _found(text, names, folders, suffixes, paths)
    if found is None:
        there = [*names, *_names(folders, suffixes)]
        raise ValueError(f"no {what} is called {text[:60]!r}; there are: {_listed(there)}")
    return found


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

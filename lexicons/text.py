"""Text files, in UTF-8 with a byte order mark or without, and names that are misspelt."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

_MOST_SHOWN = 60


def read_named(name_or_path: str | Path, suffix: str, what: str, form: str) -> tuple[str, str, str]:
    """Return the name and text of embedded data or of a file, and its name for errors.

    An embedded name as a string means the embedded data; a file of that name is ``./NAME``. For
    errors ``what`` is the noun for the data, ``form`` says what such a file holds.

    Raises:
        ValueError: the file is not UTF-8, or a folder.
        FileNotFoundError: neither an embedded name nor a file.
        OSError: the file cannot be read.
    """
    path, name, embedded = Path(name_or_path), str(name_or_path), embedded_names(suffix)
    if isinstance(name_or_path, str) and name in embedded:  # even if there is a file of that name
        return name, embedded[name].read_text(encoding="utf-8"), name
    is_file = is_folder = False
    with suppress(OSError):  # the name is too long for a file
        is_file, is_folder = path.is_file(), path.is_dir()
    if is_file:
        return path.stem, read_text(path), str(path)
    if is_folder:
        raise ValueError(f"{name} is a folder; name a {what} or {form}")
    raise FileNotFoundError(
        f"no {what} is called {name!r} (known: {', '.join(sorted(embedded))}), and no file is "
        f"there; name {form}"
    )


def embedded_names(suffix: str) -> dict[str, Traversable]:
    """Return the embedded files whose names end in ``suffix``, by name without it."""
    data = files("lexicons") / "data"
    return {
        entry.name.removesuffix(suffix): entry
        for entry in data.iterdir()
        if entry.name.endswith(suffix)
    }


def shown(text: str) -> str:
    """Quote foreign text for an error message, shortened to 60 characters."""
    return repr(text) if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]!r}…"


def name_of(location: str | Path) -> str:
    """Return a file's name without folders and suffixes; an embedded name stays as it is."""
    return Path(location).name.partition(".")[0] or str(location)


def read_text(path: Path) -> str:
    """Read a text file; ValueError as ``decode_text``, OSError if it cannot be read."""
    return decode_text(path.read_bytes(), str(path))


def decode_text(content: bytes, source: str) -> str:
    """Decode a file's content; ``source`` names it in errors.

    Raises:
        ValueError: names ``source``, the line and the byte that is not UTF-8.
    """
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise ValueError(
            f"{source}, line {line}: byte 0x{error.object[error.start]:02X} is not UTF-8; "
            "save it as UTF-8 text"
        ) from None


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """Return a question that ends an error about an unknown name; empty if no name is close."""
    from difflib import get_close_matches

    close = get_close_matches(name, list(names), 1)
    return f"; did you mean {close[0]}?" if close else ""

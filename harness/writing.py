"""Files that are written whole or not at all, some while others read them; errors name the file."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lexicons import cache


@contextmanager
def naming(path: Path | str) -> Iterator[None]:
    """Have an OSError of the block name this file, not none, as on a full disk, or a temporary."""
    try:
        yield
    except OSError as error:
        if error.strerror and (not error.filename or Path(error.filename).name[0] == "."):
            error.filename, error.filename2 = str(path), None
        raise


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary path that replaces ``path``, atomically; an OSError names ``path``."""
    with naming(path), cache.replacing(path) as temporary:
        yield temporary


def write_file(path: Path, content: str | bytes, *, private: bool = False) -> None:
    """Write or replace a file, atomically, a text in UTF-8; an OSError names it.

    If it is ``private``, only its owner can read it, from the first byte on.
    """
    with replacing(path) as temporary:
        if private:
            temporary.touch(mode=0o600)
        temporary.write_bytes(content if isinstance(content, bytes) else content.encode())


def append_line(file: int, line: bytes, path: Path) -> None:
    """Append a line to an open file whole or not at all: half a line would spoil the next.

    Raises:
        OSError: the line can't be written; the error names ``path``.
    """
    end = os.lseek(file, 0, os.SEEK_END)
    with naming(path):
        if os.write(file, line) != len(line):
            os.ftruncate(file, end)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def whole_lines(content: bytes) -> bytes:
    """Return a file's content without a last line that is cut short or still being written."""
    return content[: content.rfind(b"\n") + 1]

"""Append-only files of lines, which others may read while they grow."""

from __future__ import annotations

import errno
import os
from pathlib import Path


def append_line(file: int, line: bytes, path: Path) -> None:
    """Append a line to an open file whole or not at all: half a line would spoil the next.

    Raises:
        OSError: the line can't be written; the error names ``path``.
    """
    end = os.lseek(file, 0, os.SEEK_END)
    try:
        written = os.write(file, line)
    except OSError as error:
        error.filename = str(path)
        raise
    if written != len(line):
        os.ftruncate(file, end)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))


def whole_lines(content: bytes) -> bytes:
    """Return a file's content without a last line that is cut short or still being written."""
    return content[: content.rfind(b"\n") + 1]

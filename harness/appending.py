"""Files that grow by lines, which others read meanwhile."""

from __future__ import annotations

import errno
import os
from pathlib import Path


def append_line(file: int, line: bytes, path: Path) -> None:
    """Append a line to an open file, or nothing: half of one would spoil the next.

    OSError, with the file's ``path``, if the disk has no room for it.
    """
    end = os.lseek(file, 0, os.SEEK_END)
    if os.write(file, line) != len(line):
        os.ftruncate(file, end)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))


def whole_lines(content: bytes) -> bytes:
    """Return what a file holds but for its last line if that is cut short or being written."""
    return content[: content.rfind(b"\n") + 1]

"""The user's cache, of files that can be made again: deleting it costs only time."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def user_cache() -> Path:
    """Return ``TILEWIRE_CACHE``, else ``tilewire`` under ``XDG_CACHE_HOME`` or ``~/.cache``.

    The directory may not exist yet.
    """
    own = os.environ.get("TILEWIRE_CACHE")
    if own:
        return Path(own).expanduser().absolute()
    shared = os.environ.get("XDG_CACHE_HOME")
    # The XDG specification has relative paths ignored.
    base = Path(shared) if shared and Path(shared).is_absolute() else Path.home() / ".cache"
    return base / "tilewire"


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary path that replaces ``path``, atomically, if the block succeeds."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        yield temporary
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)

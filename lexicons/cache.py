"""The user's cache: compiled kernels, built word graphs and other files that can be made again.

Deleting it costs only time.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def user_cache() -> Path:
    """Return the user's cache directory, which may not exist yet.

    ``TILEWIRE_CACHE`` where it is set, else ``tilewire`` under ``XDG_CACHE_HOME`` or ``~/.cache``.
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
    """Yield a temporary path that replaces ``path`` if the block succeeds.

    Readers see the old file or the whole new one, also when several processes write at once.
    """
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        yield temporary
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)

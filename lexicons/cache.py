"""The user's cache, of files that can be made again: deleting it costs only time."""

from __future__ import annotations

import hashlib
import os
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from .arrays import DAMAGED

Arrays: TypeAlias = Sequence[npt.NDArray[Any]]
Form: TypeAlias = tuple[npt.DTypeLike, tuple[int, ...] | None]
"""Type and shape of an array; None where the shape is not known before it is made."""


def user_cache() -> Path:
    """Return ``TILEWIRE_CACHE``, else ``tilewire`` under ``XDG_CACHE_HOME`` or ``~/.cache``.

    The directory may not exist yet.

    Raises:
        OSError: it is in a home folder, and there is none.
    """
    own = os.environ.get("TILEWIRE_CACHE")
    shared = os.environ.get("XDG_CACHE_HOME")
    try:
        if own:
            return Path(own).expanduser().absolute()
        # The XDG specification says to ignore relative paths.
        base = Path(shared) if shared and Path(shared).is_absolute() else Path.home() / ".cache"
    except RuntimeError:
        raise OSError(
            "there is no home folder for the cache; set TILEWIRE_CACHE to a folder that may be "
            "written"
        ) from None
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


def mapped_arrays(
    folder: str, what: object, make: Callable[[], Arrays], forms: Sequence[Form]
) -> Arrays:
    """Return arrays from a folder of the user's cache, or make them and keep them there.

    Processes map the files into memory and so share them. ``repr(what)`` identifies the arrays in
    their folder; kept arrays of other ``forms`` are made again.

    Raises:
        OSError: as ``user_cache``.
    """
    digest = hashlib.sha256(repr(what).encode()).hexdigest()[:32]
    kept = _mapped(user_cache() / folder, digest)
    if kept and _are(kept, forms):
        return kept
    made = make()
    if not _kept(user_cache() / folder, digest, made):
        return made
    return _mapped(user_cache() / folder, digest) or made


def _are(arrays: Arrays, forms: Sequence[Form]) -> bool:
    return len(arrays) == len(forms) and all(
        array.dtype == dtype and shape in (None, array.shape)
        for array, (dtype, shape) in zip(arrays, forms, strict=True)
    )


def _mapped(folder: Path, digest: str) -> Arrays:
    paths = sorted(folder.glob(f"{digest}.*.npy"))
    with suppress(*DAMAGED):  # a damaged file counts as missing
        return [np.asarray(np.load(path, mmap_mode="r")) for path in paths]
    return ()


def _kept(folder: Path, digest: str, arrays: Arrays) -> bool:
    with suppress(OSError):  # without a cache they are made again each time
        folder.mkdir(parents=True, exist_ok=True)
        for number, array in enumerate(arrays):
            path = folder / f"{digest}.{number}.npy"
            with replacing(path) as temporary, temporary.open("wb") as file:
                np.save(file, array)
                # Kernels trust the indexes in these, so no name may appear before its content.
                os.fsync(file.fileno())
        return True
    return False

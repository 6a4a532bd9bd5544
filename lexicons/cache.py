"""The user's cache, of files that can be made again: deleting it costs only time."""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
import time
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

_DAY_S = 86_400.0
_UNUSED = 60.0  # days without use, after which a file counts as left over
_UNFINISHED = 1.0  # days, likewise for a temporary file, whose process was killed


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


def sync_folder(folder: Path) -> None:
    """Write a folder's names to disk; without this a power cut may take new files away."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def remove_unused(folder: Path, pattern: str) -> None:
    """Remove what matches and was not used for 60 days, and temporary files older than a day.

    Only age counts, since other processes may be loading the rest; so users touch what they load.
    They touch folders: a bot that sees the cache through an overlay would copy a file for that.
    """
    now, paths = time.time(), list[Path]()
    with suppress(OSError):  # another process may be removing them
        paths = [*folder.glob(pattern), *folder.rglob(".*")]
    for path in paths:
        limit = _UNFINISHED if path.name.startswith(".") else _UNUSED
        with suppress(OSError):
            if now - path.stat().st_mtime <= limit * _DAY_S:
                continue
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()


def mapped_arrays(
    kind: str, what: object, make: Callable[[], Arrays], forms: Sequence[Form]
) -> Arrays:
    """Return arrays from the user's cache, or make them and keep them there.

    Processes map the files into memory and so share them. ``repr(what)`` identifies the arrays
    among those of their kind; kept arrays of other ``forms`` are made again.

    Raises:
        OSError: as ``user_cache``.
    """
    digest = hashlib.sha256(repr(what).encode()).hexdigest()[:32]
    folder = user_cache() / kind / f"{digest}.arrays"
    if _match(kept := _mapped(folder), forms):
        return kept
    made = make()
    if _store(folder, made):
        remove_unused(folder.parent, "*.arrays")
        if _match(kept := _mapped(folder), forms):
            return kept
    return made


def _match(arrays: Arrays, forms: Sequence[Form]) -> bool:
    return len(arrays) == len(forms) and all(
        array.dtype == dtype and shape in (None, array.shape)
        for array, (dtype, shape) in zip(arrays, forms, strict=True)
    )


def _mapped(folder: Path) -> Arrays:
    with suppress(OSError):  # there is none, or a cache that may only be read
        os.utime(folder)
    paths = sorted(folder.glob("*.npy"))
    with suppress(*DAMAGED):  # a damaged file counts as missing
        return [np.asarray(np.load(path, mmap_mode="r")) for path in paths]
    return ()


def _store(folder: Path, arrays: Arrays) -> bool:
    with suppress(OSError):  # without a cache they are made again each time
        folder.mkdir(parents=True, exist_ok=True)
        for number, array in enumerate(arrays):
            path = folder / f"{number}.npy"
            with replacing(path) as temporary, temporary.open("wb") as file:
                np.save(file, array)
                # Kernels trust the indexes in these, so no name may appear before its content.
                os.fsync(file.fileno())
        return True
    return False

"""A training's state in one file, written atomically.

The first line is the format and the SHA-256 of the rest, which detects truncation and changes. The
second line is JSON: the caller's data, and the names, types and shapes of arrays. Their bytes
follow one after another.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.writing import naming, replacing
from lexicons.cache import sync_folder

_FORMAT = b"tilewire checkpoint 1"

Arrays = Mapping[str, npt.NDArray[Any]]


class CheckpointError(ValueError):
    """A checkpoint can't be resumed or written; the message names it and the reason."""


def write_checkpoint(path: Path, about: Mapping[str, Any], arrays: Arrays) -> None:
    """Replace a file atomically and durably; ``about`` has JSON values, the arrays plain numbers.

    Raises:
        CheckpointError: the file can't be written, for example because the disk is full.
    """
    shapes = [[name, array.dtype.str, array.shape] for name, array in arrays.items()]
    parts: list[Any] = [json.dumps({"about": about, "arrays": shapes}).encode() + b"\n"]
    parts += [np.ascontiguousarray(array).data.cast("B") for array in arrays.values() if array.size]
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    try:
        with replacing(path) as temporary, temporary.open("wb") as file:
            file.write(_FORMAT + b" " + digest.hexdigest().encode() + b"\n")
            for part in parts:
                file.write(part)
            file.flush()
            os.fsync(file.fileno())
        sync_folder(path.parent)
    except OSError as error:
        advice = "the last complete one is kept; --resume continues from it"
        raise CheckpointError(
            f"{path} can't be written: {error.strerror or error}; "
            + (advice if path.exists() else "there is none yet")
        ) from None


def read_checkpoint(path: Path) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
    """Return what a checkpoint says about the training, as JSON has it, and its arrays, writable.

    Raises:
        CheckpointError: the file is no checkpoint, or incomplete.
        OSError: it cannot be read.
    """
    content = path.read_bytes()
    head, _, _ = content[:128].partition(b"\n")
    format_name, _, digest = head.rpartition(b" ")
    if format_name != _FORMAT:
        raise CheckpointError(f"{path} is no checkpoint of a training; those begin {_FORMAT!r}")
    body_start = len(head) + 1
    if hashlib.sha256(memoryview(content)[body_start:]).hexdigest().encode() != digest:
        raise CheckpointError(
            f"{path} is damaged or was cut short ({len(content):,} bytes); delete it to begin anew"
        )
    offset = content.index(b"\n", body_start) + 1  # of the first array
    index = json.loads(content[body_start:offset])
    arrays = {}
    for name, kind, shape in index["arrays"]:
        count = int(np.prod(shape))
        array = np.frombuffer(content, np.dtype(kind), count, offset).reshape(shape).copy()
        arrays[name] = array
        offset += array.nbytes
    return index["about"], arrays


@contextmanager
def locked(out: Path) -> Iterator[None]:
    """Keep other trainings from writing the same table during the block.

    Raises:
        CheckpointError: another training is under way.
        OSError: the lock can't be written.
    """
    path = out.with_name(f".{out.name}.lock")
    with path.open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # The lock's last holder may have removed the file since it was opened.
            is_ours = os.path.samestat(os.fstat(file.fileno()), path.stat())
        except (BlockingIOError, FileNotFoundError):
            is_ours = False
        if not is_ours:
            file.seek(0)
            raise CheckpointError(
                f"another training (process {file.read() or 'unknown'}) writes {out}; wait for it, "
                "or name another file"
            )
        with naming(path):
            file.truncate(0)
            file.write(str(os.getpid()))
            file.flush()
        try:
            yield
        finally:
            path.unlink(missing_ok=True)

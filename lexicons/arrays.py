"""Types of numpy arrays for annotations, and small functions on arrays."""

from __future__ import annotations

import tokenize
import zipfile
import zlib
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Bools: TypeAlias = npt.NDArray[np.bool_]
U8: TypeAlias = npt.NDArray[np.uint8]
U32: TypeAlias = npt.NDArray[np.uint32]
U64: TypeAlias = npt.NDArray[np.uint64]
I32: TypeAlias = npt.NDArray[np.int32]
I64: TypeAlias = npt.NDArray[np.int64]
F32: TypeAlias = npt.NDArray[np.float32]
F64: TypeAlias = npt.NDArray[np.float64]

READ_ONLY = "read-only"
"""Marks an array in a kernel's annotations (``lexicons.jit``) that the kernel may not write."""

DAMAGED: tuple[type[Exception], ...] = (
    *(ValueError, TypeError, KeyError, OverflowError, OSError, EOFError),
    *(SyntaxError, tokenize.TokenError),  # from the header, which is a Python literal
    *(RuntimeError, zipfile.BadZipFile, zlib.error),
    MemoryError,  # if a damaged header states an absurd size
)
"""What ``np.load`` raises for a damaged file."""


def read_only(array: npt.NDArray[Any], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """Return an array as contiguous, read-only and of this type; copied only if need be."""
    fixed = np.ascontiguousarray(array, dtype).view()
    fixed.flags.writeable = False
    return fixed


def dot(first: npt.NDArray[Any], second: npt.NDArray[Any]) -> float:
    """Return the dot product, the same on every processor, unlike that of BLAS."""
    return float((first * second).sum())


def highest(values: npt.NDArray[Any], top: int) -> list[int]:
    """Return the indexes of the ``top`` highest values, the highest first; ties by index."""
    places: list[int] = np.argsort(-values.astype(np.float64), kind="stable")[:top].tolist()
    return places

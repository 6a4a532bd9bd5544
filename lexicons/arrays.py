"""Types of numpy arrays, for annotations, and what several modules do with arrays."""

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
I16: TypeAlias = npt.NDArray[np.int16]
I32: TypeAlias = npt.NDArray[np.int32]
I64: TypeAlias = npt.NDArray[np.int64]
F32: TypeAlias = npt.NDArray[np.float32]
F64: TypeAlias = npt.NDArray[np.float64]

DAMAGED: tuple[type[Exception], ...] = (
    *(ValueError, TypeError, KeyError, OverflowError, OSError, EOFError),
    *(SyntaxError, tokenize.TokenError),  # of a header, which is written as Python
    *(RuntimeError, zipfile.BadZipFile, zlib.error),
    MemoryError,  # for arrays of a size that is none
)
"""What ``np.load`` raises for a damaged file."""


def read_only(array: npt.NDArray[Any], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """Return an array as contiguous, of this type, and not to be written; copied if need be."""
    fixed = np.ascontiguousarray(array, dtype).view()
    fixed.flags.writeable = False
    return fixed


def dot(first: npt.NDArray[Any], second: npt.NDArray[Any]) -> float:
    """Return the sum of products, the same on every processor; that of BLAS is not."""
    return float((first * second).sum())


def highest(values: npt.NDArray[Any], top: int) -> list[int]:
    """Return the places of the highest values, the highest first, of equal ones the first."""
    places: list[int] = np.argsort(-values.astype(np.float64), kind="stable")[:top].tolist()
    return places

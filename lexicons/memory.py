"""Access to large arrays by address in kernels: our only raw pointers.

Passing an array to a helper costs two atomic updates of its reference count, half the time of a
search that looks words up all the time; an address costs nothing. In return the maker of an address
must keep the array alive, and the reader must know that its index is valid.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from llvmlite import ir

from .jit import PLAIN
from .lean_numba import intrinsic, types


def address_of(array: npt.NDArray[Any]) -> int:
    """Return the address of a contiguous array; the caller must keep the array alive."""
    if not array.flags.c_contiguous:
        raise ValueError("an array that is read by its address has to be contiguous")
    return array.ctypes.data


if TYPE_CHECKING or PLAIN:

    def word_at(address: Any, index: Any) -> Any:
        """Read a 64-bit word of an array by its index."""
        return np.uint64(ctypes.c_uint64.from_address(int(address) + 8 * int(index)).value)

    def byte_at(address: Any, index: Any) -> Any:
        """Read a byte of an array by its index."""
        return ctypes.c_uint8.from_address(int(address) + int(index)).value

    def put_word(address: Any, index: Any, value: Any) -> None:
        """Write a 64-bit word of an array by its index."""
        ctypes.c_uint64.from_address(int(address) + 8 * int(index)).value = int(value)

    def put_int(address: Any, index: Any, value: Any) -> None:
        """Write a 32-bit integer of an array by its index."""
        ctypes.c_int32.from_address(int(address) + 4 * int(index)).value = int(value)

    def put_byte(address: Any, index: Any, value: Any) -> None:
        """Write a byte of an array by its index."""
        ctypes.c_uint8.from_address(int(address) + int(index)).value = int(value)

else:

    def _reader(bits: int, result: Any) -> Any:
        def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            address, index = arguments
            array = builder.inttoptr(address, ir.IntType(bits).as_pointer())
            return builder.load(builder.gep(array, [index]))

        return result(types.uint64, types.uint64), generate

    def _writer(bits: int) -> Any:
        def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            address, index, value = arguments
            array = builder.inttoptr(address, ir.IntType(bits).as_pointer())
            if bits < value.type.width:
                value = builder.trunc(value, ir.IntType(bits))
            builder.store(value, builder.gep(array, [index]))
            return context.get_dummy_value()

        return types.void(types.uint64, types.uint64, types.int64), generate

    @intrinsic
    def word_at(_typing: Any, address: Any, index: Any) -> Any:
        """Read a 64-bit word of an array by its index."""
        return _reader(64, types.uint64)

    @intrinsic
    def byte_at(_typing: Any, address: Any, index: Any) -> Any:
        """Read a byte of an array by its index."""
        return _reader(8, types.uint8)

    @intrinsic
    def put_word(_typing: Any, address: Any, index: Any, value: Any) -> Any:
        """Write a 64-bit word of an array by its index."""
        return _writer(64)

    @intrinsic
    def put_int(_typing: Any, address: Any, index: Any, value: Any) -> Any:
        """Write a 32-bit integer of an array by its index."""
        return _writer(32)

    @intrinsic
    def put_byte(_typing: Any, address: Any, index: Any, value: Any) -> Any:
        """Write a byte of an array by its index."""
        return _writer(8)

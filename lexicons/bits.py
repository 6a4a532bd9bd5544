"""Counting and finding bits in kernels: the two processor instructions that numba has no name for.

Sets of letters and of rack tiles are bits of an integer; a member's place among the members is the
count of the bits below its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numba.core.config
from numba import types
from numba.extending import intrinsic

__all__ = ["bit_count", "lowest_bit"]

if TYPE_CHECKING or numba.core.config.DISABLE_JIT:

    def bit_count(bits: Any) -> Any:
        """Count the bits that are set in an unsigned 64-bit integer."""
        return int(bits).bit_count()

    def lowest_bit(bits: Any) -> Any:
        """Give the place of the lowest bit that is set; 64 if none is."""
        return (int(bits) & -int(bits)).bit_length() - 1 if bits else 64

else:

    @intrinsic
    def bit_count(_typing: Any, bits: Any) -> Any:
        """Count the bits that are set in an unsigned 64-bit integer."""

        def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            return builder.ctpop(arguments[0])

        return types.uint64(types.uint64), generate

    @intrinsic
    def lowest_bit(_typing: Any, bits: Any) -> Any:
        """Give the place of the lowest bit that is set; 64 if none is."""

        def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            defined_for_zero = context.get_constant(types.boolean, False)
            return builder.cttz(arguments[0], defined_for_zero)

        return types.uint64(types.uint64), generate

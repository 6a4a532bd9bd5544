"""Bit operations and wrap-around arithmetic on 64-bit words, for kernels.

Sums and products of keys and hashes wrap around modulo 2⁶⁴. In kernels that run uncompiled numpy
would warn of that, so kernels use the functions here. They take signed integers too, which numba
would turn into floats.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .jit import PLAIN, helper
from .lean_numba import intrinsic, types

GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # 2⁶⁴ / golden ratio (Knuth 6.4, Fibonacci hashing)

if TYPE_CHECKING or PLAIN:
    _MASK = (1 << 64) - 1

    def bit_count(bits: Any) -> Any:
        """Count the bits that are set in an unsigned 64-bit integer."""
        return np.uint64(int(bits).bit_count())

    def lowest_bit(bits: Any) -> Any:
        """Return the place of the lowest bit that is set; 64 if none is."""
        return np.uint64((int(bits) & -int(bits)).bit_length() - 1 if bits else 64)

    def wrapping_add(first: Any, second: Any) -> Any:
        """Add unsigned 64-bit integers modulo 2⁶⁴."""
        return np.uint64(int(first) + int(second) & _MASK)

    def wrapping_sub(first: Any, second: Any) -> Any:
        """Subtract unsigned 64-bit integers modulo 2⁶⁴."""
        return np.uint64(int(first) - int(second) & _MASK)

    def wrapping_mul(first: Any, second: Any) -> Any:
        """Multiply unsigned 64-bit integers modulo 2⁶⁴."""
        return np.uint64(int(first) * int(second) & _MASK)

else:

    @intrinsic
    def bit_count(_typing: Any, bits: Any) -> Any:
        """Count the bits that are set in an unsigned 64-bit integer."""

        def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            return builder.ctpop(arguments[0])

        return types.uint64(types.uint64), generate

    @intrinsic
    def lowest_bit(_typing: Any, bits: Any) -> Any:
        """Return the place of the lowest bit that is set; 64 if none is."""

        def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            defined_for_zero = context.get_constant(types.boolean, False)
            return builder.cttz(arguments[0], defined_for_zero)

        return types.uint64(types.uint64), generate

    @helper
    def wrapping_add(first: Any, second: Any) -> Any:
        """Add unsigned 64-bit integers modulo 2⁶⁴."""
        return np.uint64(first) + np.uint64(second)

    @helper
    def wrapping_sub(first: Any, second: Any) -> Any:
        """Subtract unsigned 64-bit integers modulo 2⁶⁴."""
        return np.uint64(first) - np.uint64(second)

    @helper
    def wrapping_mul(first: Any, second: Any) -> Any:
        """Multiply unsigned 64-bit integers modulo 2⁶⁴."""
        return np.uint64(first) * np.uint64(second)


@helper
def lowest_set(bits: Any) -> Any:
    """Return the lowest set bit alone; 0 for 0."""
    return bits & wrapping_add(~bits, np.uint64(1))


@helper
def mixed(key: Any) -> Any:
    """Mix the bits of an integer (the finalizer of SplitMix64, Steele, Lea and Flood 2014)."""
    key = wrapping_mul(key ^ key >> np.uint64(30), np.uint64(0xBF58476D1CE4E5B9))
    key = wrapping_mul(key ^ key >> np.uint64(27), np.uint64(0x94D049BB133111EB))
    return key ^ key >> np.uint64(31)


@helper
def next_random(state: Any) -> Any:
    """Return the next state of SplitMix64, whose ``mixed`` bits are random."""
    return wrapping_add(state, GOLDEN)


@helper
def random_below(state: Any, count: Any) -> Any:
    """Return a number below ``count``, uniform to within ``count`` / 2³², by a random state."""
    return np.int64((mixed(state) >> np.uint64(32)) * np.uint64(count) >> np.uint64(32))

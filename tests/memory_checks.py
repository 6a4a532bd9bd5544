"""Reading and writing by address, and counting bits: what holds compiled and plain."""

from __future__ import annotations

from typing import Any

import numpy as np

from lexicons.bits import bit_count, lowest_bit
from lexicons.jit import kernel
from lexicons.memory import address_of, byte_at, put_byte, put_int, put_word, word_at

PATTERNS = [0, 1, 2, 3, 1 << 31, 1 << 32, 1 << 63, (1 << 63) | 1, (1 << 64) - 1, 0xF0F0 << 40]


@kernel
def _read(words: Any, octets: Any, index: Any) -> Any:
    return word_at(words, index), byte_at(octets, index)


@kernel
def _write(words: Any, integers: Any, octets: Any, index: Any, value: Any) -> None:
    put_word(words, index, value)
    put_int(integers, index, value)
    put_byte(octets, index, value)


@kernel
def _bits(patterns: Any, counts: Any, lowest: Any) -> None:
    for at in range(len(patterns)):
        counts[at] = bit_count(patterns[at])
        lowest[at] = lowest_bit(patterns[at])


def check_memory() -> None:
    words = np.array(PATTERNS, np.uint64)
    integers, octets = np.arange(-5, 5, dtype=np.int32), np.arange(250, 260).astype(np.uint8)
    at_words, at_integers, at_octets = (
        np.uint64(address_of(array)) for array in (words, integers, octets)
    )
    for at, pattern in enumerate(PATTERNS):
        index = np.uint64(at)
        assert _read(at_words, at_octets, index) == (pattern, (250 + at) % 256)
    for value in (0, 7, 200, -1):
        _write(at_words, at_integers, at_octets, np.uint64(3), np.int64(value))
        assert words[3] == value % (1 << 64)
        assert integers[3] == value
        assert octets[3] == value % 256
    # Whatever lies beside them is left alone.
    assert words.tolist() == [*PATTERNS[:3], words[3], *PATTERNS[4:]]
    assert integers.tolist() == [-5, -4, -3, -1, -1, 0, 1, 2, 3, 4]
    assert octets.tolist() == [250, 251, 252, 255, 254, 255, 0, 1, 2, 3]
    chance = np.random.default_rng(3)
    masks = np.uint64(1) << chance.integers(0, 64, 1_000, np.uint64)
    bits = np.concatenate((np.array(PATTERNS, np.uint64), masks, masks | np.roll(masks, 1)))
    counts, lowest = np.zeros(len(bits), np.int64), np.zeros(len(bits), np.int64)
    _bits(bits, counts, lowest)
    assert counts.tolist() == [each.bit_count() for each in bits.tolist()]
    assert lowest.tolist() == [
        next((place for place in range(64) if each >> place & 1), 64) for each in bits.tolist()
    ]

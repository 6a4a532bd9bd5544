"""The transposition table: bounds of positions met before, in a fixed size.

An entry is two words: the position's key, and data. Threads share the table without locks: the key
is stored XORed with the data (Hyatt and Mann, A lock-less transposition table implementation for
parallel search, 2002), so that a mix of two writers' words matches no position.

=====  ================================================================
bits   of the data
0–15   floor: the mover gains at least this, plus 2¹⁵
16–31  ceiling, likewise
32–36  depth of the floor in plies; 31: to the end
37–41  depth of the ceiling
42–46  work, as a power of two
47–50  age: which search wrote it, modulo 16
51–63  a part of the hash of the best move
=====  ================================================================

Four entries share a cache line; an entry of another search is replaced first, then the one of the
least work.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np

from lexicons.arrays import U64
from lexicons.bits import GOLDEN, wrapping_mul
from lexicons.jit import helper
from lexicons.memory import put_word, word_at

Table: TypeAlias = U64  # [words]

BUCKET_BYTES = 64
BUCKET_WORDS = 8
PROVEN = 31  # the depth of a search to the end of the game
UNKNOWN = 30_000  # a value that no position has

_BUCKET = 4
_LIFT = 1 << 15
_ONE = np.uint64(1)
_TWO = np.uint64(2)
_SIXTEEN_BITS = (1 << 16) - 1
_FIVE_BITS = 31
_AGE_SHIFT = np.uint64(47)
_AGES = 15
_SIGNATURE_SHIFT = np.uint64(51)
_OTHER_AGE = 1 << 10  # more than any work


class Known(NamedTuple):
    """Bounds of a position."""

    floor: Any  # the mover gains at least this; −``UNKNOWN``: none
    ceiling: Any  # … at most this; ``UNKNOWN``: none
    floor_depth: Any
    ceiling_depth: Any
    work: Any
    best: Any  # signature of the best move


@helper
def signature(move: Any) -> Any:
    """Return a part of a packed move's hash, to recognise it among others."""
    return np.int64(wrapping_mul(move, GOLDEN) >> _SIGNATURE_SHIFT)


@helper
def recall(table: Any, buckets: Any, key: Any) -> Any:
    """Return the bounds of a position; ``table`` is an address."""
    first = _first(buckets, key)
    for nth in range(_BUCKET):
        at = first + _TWO * np.uint64(nth)
        data = word_at(table, at + _ONE)
        if word_at(table, at) ^ data == key and data:
            return _unpacked(data)
    return Known(-UNKNOWN, UNKNOWN, 0, 0, 0, -1)


@helper
def remember(table: Any, buckets: Any, key: Any, known: Known, age: Any) -> None:
    """Store bounds in place of the position's older ones, an empty entry, or the cheapest."""
    age = np.uint64(age & _AGES)
    first = _first(buckets, key)
    chosen, least = first, np.int64(1 << 62)
    for nth in range(_BUCKET):
        at = first + _TWO * np.uint64(nth)
        data = word_at(table, at + _ONE)
        if word_at(table, at) ^ data == key or not data:
            chosen = at
            break
        work = np.int64(_unpacked(data).work)
        if data >> _AGE_SHIFT & np.uint64(_AGES) != age:
            work -= _OTHER_AGE
        if work < least:
            chosen, least = at, work
    data = _packed(known) | age << _AGE_SHIFT
    put_word(table, chosen, np.int64(key ^ data))
    put_word(table, chosen + _ONE, np.int64(data))


@helper
def _first(buckets: Any, key: Any) -> Any:
    scaled = (key >> np.uint64(32)) * np.uint64(buckets) >> np.uint64(32)
    return scaled * np.uint64(2 * _BUCKET)


@helper
def _packed(known: Known) -> Any:
    low = (known.floor + _LIFT) | (known.ceiling + _LIFT) << 16
    depths = known.floor_depth << 32 | known.ceiling_depth << 37
    best = np.uint64(np.int64(known.best))  # may be −1
    return np.uint64(low | depths | known.work << 42) | best << _SIGNATURE_SHIFT


@helper
def _unpacked(data: Any) -> Any:
    return Known(
        np.int64(data & np.uint64(_SIXTEEN_BITS)) - _LIFT,
        np.int64(data >> np.uint64(16) & np.uint64(_SIXTEEN_BITS)) - _LIFT,
        np.int64(data >> np.uint64(32) & np.uint64(_FIVE_BITS)),
        np.int64(data >> np.uint64(37) & np.uint64(_FIVE_BITS)),
        np.int64(data >> np.uint64(42) & np.uint64(_FIVE_BITS)),
        np.int64(data >> _SIGNATURE_SHIFT),
    )

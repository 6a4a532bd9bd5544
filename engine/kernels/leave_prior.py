"""Racks that a player may hold, listed or drawn, and the prior of each before its play is judged.

What a player kept has weights (``LeavePriorTable``); what it drew is random, as physical tiles from
the unseen. So the prior of a rack R is, over all parts K that it may have kept,

    Σ w(K) · Π C(Uₜ − Kₜ, Rₜ − Kₜ) / C(|U| − |K|, |R| − |K|)

with U the unseen, over tiles t: hypergeometric (Feller 1968, II.6).
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np

from lexicons.arrays import F64, I64, U8, U64
from lexicons.bits import bit_count, mixed, next_random
from lexicons.jit import helper, kernel

from .racks import extended, place_of

_ONE = np.uint64(1)


class LeavePriorTable(NamedTuple):
    """Multisets of one size that may have been kept, by code (open addressing)."""

    codes: U64  # [places, a power of two, at least twice the multisets] 0: none
    weights: F64  # [places]
    size: int  # tiles of each; 0: the empty multiset is the only one


@kernel
def enter_prior(tiles: Annotated[U8, 2], weights: F64, table: LeavePriorTable) -> None:
    """Enter multisets, [count, size] sorted tiles, with their weights into an empty table."""
    for row in range(len(tiles)):
        code = np.uint64(0)
        for tile in tiles[row]:
            code = extended(code, tile)
        place = place_of(table.codes, code)
        table.codes[place] = code
        table.weights[place] += weights[row]


@kernel
def list_multisets(counts: I64, size: int, multisets: Annotated[U8, 2]) -> None:
    """Write all multisets of ``size`` tiles from ``counts``, in order.

    ``multisets``, [number of them, size], is modified in place.
    """
    chosen = np.zeros(max(size, 1), np.int64)
    used = np.zeros(len(counts), np.int64)
    listed, depth = 0, 0
    tile: Any = 0
    while True:
        if depth == size:
            for nth in range(size):
                multisets[listed, nth] = chosen[nth]
            listed += 1
            tile = len(counts)  # no tile fits, so that the last is given back
        while tile < len(counts) and used[tile] >= counts[tile]:
            tile += 1
        if tile < len(counts):
            chosen[depth] = tile
            used[tile] += 1
            depth += 1
            continue
        # Give the last tile back, and try those after it.
        if depth == 0:
            return
        depth -= 1
        used[chosen[depth]] -= 1
        tile = chosen[depth] + 1


@kernel
def rack_priors(
    racks: Annotated[U8, 2],
    counts: I64,
    table: LeavePriorTable,
    binomials: Annotated[F64, 2],
    priors: F64,
) -> None:
    """Compute the prior of each rack, up to a common factor.

    ``racks``, [racks, size], are sorted, ``counts``, [tiles], unseen. ``binomials``, [n, k], are
    C(n, k) for every count of a tile and k up to a rack. ``priors``, [racks], is modified in place.
    """
    size = racks.shape[1]
    held = np.zeros(len(counts), np.int64)
    kept = np.zeros(len(counts), np.int64)
    for row in range(len(racks)):
        rack: Any = racks[row]
        for tile in rack:
            held[tile] += 1
        if table.size == 0:
            priors[row] = _ways(rack, held, kept, counts, binomials)
        else:
            priors[row] = _mixed(rack, size, held, kept, counts, table, binomials)
        for tile in rack:
            held[tile] = 0


@helper
def _ways(rack: Any, held: Any, kept: Any, counts: Any, binomials: Any) -> Any:
    ways = 1.0
    for at in range(len(rack)):
        tile = rack[at]
        if at == 0 or rack[at - 1] != tile:
            ways *= binomials[counts[tile] - kept[tile], held[tile] - kept[tile]]
    return ways


@helper
def _mixed(
    rack: Any, size: Any, held: Any, kept: Any, counts: Any, table: LeavePriorTable, binomials: Any
) -> Any:
    prior = 0.0
    repeats = np.uint64(0)
    for at in range(1, size):
        repeats |= np.uint64(rack[at] == rack[at - 1]) << np.uint64(at)
    for part in range(1 << size):
        bits = np.uint64(part)
        if bit_count(bits) != np.uint64(table.size) or bits & repeats & ~(bits << _ONE):
            continue
        code = np.uint64(0)
        for at in range(size):
            if part >> at & 1:
                code = extended(code, rack[at])
        place = place_of(table.codes, code)
        if table.codes[place]:
            weight = table.weights[place]
            for at in range(size):
                kept[rack[at]] += part >> at & 1
            prior += weight * _ways(rack, held, kept, counts, binomials)
            for at in range(size):
                kept[rack[at]] = 0
    return prior


@kernel
def draw_racks(
    kept: Annotated[U8, 2],
    sums: F64,
    counts: I64,
    played: I64,
    size: int,
    seed: np.uint64,
    racks: Annotated[U8, 2],
    odds: F64,
) -> None:
    """Draw racks that contain ``played``; ``racks`` and ``odds`` are modified in place.

    What was kept is drawn by weight, the missing tiles of ``played`` are added, and the rest is
    random. A rack with extra tiles of a letter of ``played`` can arise in several ways, and is
    drawn that many times as often; ``odds``, [draws], corrects this.

    ``kept``, [count, size], are multisets that may have been kept; ``sums``, [count], are their
    cumulative weights, each times the number of ways to add what is missing of ``played``.
    ``counts``, unseen, and ``played`` are [tiles]; ``racks`` are [draws, size], each sorted.
    """
    pool = np.zeros(counts.sum(), np.uint8)
    drawn = np.zeros(len(counts), np.int64)
    chance = seed
    for row in range(len(racks)):
        chance, wanted = _uniform(chance)
        which = np.searchsorted(sums, wanted * sums[-1], side="right")
        which = min(which, len(sums) - 1)
        held = _begin_rack(kept[which], played, drawn, racks[row])
        left = 0
        for tile in range(len(counts)):
            for _ in range(counts[tile] - drawn[tile]):
                pool[left] = tile
                left += 1
        while held < size:
            chance, wanted = _uniform(chance)
            at: Any = min(np.int64(wanted * left), left - 1)
            racks[row, held] = pool[at]
            drawn[pool[at]] += 1
            left -= 1
            pool[at] = pool[left]
            held += 1
        odds[row] = 1.0 / _repeated(kept[which], played, drawn)
        racks[row].sort()


@helper
def _uniform(chance: Any) -> Any:
    chance = next_random(chance)
    return chance, np.float64(mixed(chance) >> np.uint64(11)) / 9007199254740992.0


@helper
def _begin_rack(kept: Any, played: Any, drawn: Any, rack: Any) -> Any:
    """Put the kept tiles and the missing ones of ``played`` on a rack; return its size."""
    held = 0
    drawn[:] = 0
    for tile in kept:
        rack[held] = tile
        drawn[tile] += 1
        held += 1
    for tile in range(len(played)):
        while drawn[tile] < played[tile]:
            rack[held] = tile
            drawn[tile] += 1
            held += 1
    return held


@helper
def _repeated(kept: Any, played: Any, held: Any) -> Any:
    """Count the ways in which the drawn tiles of a rack hold the missing ones of ``played``."""
    ways = 1.0
    for tile in range(len(played)):
        had: Any = 0
        for other in kept:
            had += np.int64(other == tile)
        missing = played[tile] - had
        for nth in range(max(missing, 0)):
            ways *= (held[tile] - had - nth) / (nth + 1)
    return ways

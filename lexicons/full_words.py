"""Full-length words, those of as many letters as a rack: how likely the first draw makes one.

A draw of ``b`` blanks and some letters makes a word if the letters and ``b`` more are the word's.
So each word gives racks: the word less each choice of ``b`` letters, for each ``b`` that the bag's
blanks allow. A rack is packed into one number, six bits per letter, sorted. Chances are exact but
for rounding.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import NamedTuple

import numpy as np

from .alphabet import BLANK, Alphabet, TileDistribution
from .arrays import F64, I64, U8, U64, highest
from .word_map import spelled

_LETTER_BITS = np.uint64(6)
_MOST_TILES = 10  # of a rack: what fits into 64 bits


@dataclass(frozen=True)
class FullRack:
    """A rack and how many full-length words it makes; ``words`` are given if it has no blank."""

    rack: str
    count: int
    words: tuple[str, ...]


@dataclass(frozen=True)
class FullWords:
    """Words of the same letters, and the chance that the first draw can make them."""

    words: tuple[str, ...]
    chance: float


@dataclass(frozen=True)
class FullDraw:
    """First draws with a number of blanks: their chance, and the share of them that make a word."""

    blanks: int
    chance: float
    full: float


@dataclass(frozen=True)
class FullStatistics:
    """Chances that the first draw makes a full-length word, the best racks and likeliest words."""

    chance: float
    draws: tuple[FullDraw, ...]  # by blanks
    racks: tuple[tuple[FullRack, ...], ...]  # by blanks, most words first
    likeliest: tuple[FullWords, ...]


class _Racks(NamedTuple):
    """The racks with a given number of blanks that make a word."""

    letters: U8  # [racks, tiles] without the blanks, sorted
    words: I64  # [racks] how many each makes
    ways: F64  # [racks] to draw its letters
    makers: I64  # [pairs of a set of words and a rack that makes it] the set
    made: I64  # [pairs] the rack


def full_statistics(
    words: U8, distribution: TileDistribution, rack_size: int, top: int
) -> FullStatistics:
    """Compute the statistics of words, given as rows of ``spell_words``.

    Raises:
        ValueError: a rack of more than ten tiles, or more than the bag has.
    """
    if not rack_size <= min(_MOST_TILES, distribution.total):
        raise ValueError(
            f"racks of {rack_size} tiles; statistics go up to {_MOST_TILES}, and the bag of "
            f"{distribution.name} has {distribution.total}"
        )
    full = words[words[:, -1] == rack_size]
    sets, of_word, sizes = np.unique(
        _packed(np.sort(full[:, :rack_size], axis=1)), return_inverse=True, return_counts=True
    )
    letters = _unpacked(sets, rack_size)
    alphabet, counts = distribution.alphabet, np.array(distribution.counts)
    blanks = int(counts[BLANK])
    draws, racks, chances = [], [], np.zeros(len(sets))
    for used in range(min(blanks, rack_size) + 1):
        statistics = _racks(letters, sizes, counts, used)
        ways = statistics.ways * comb(blanks, used) / comb(distribution.total, rack_size)
        chances += np.bincount(statistics.makers, ways[statistics.made], len(sets))
        others = comb(distribution.total - blanks, rack_size - used)
        chance = comb(blanks, used) * others / comb(distribution.total, rack_size)
        draws.append(FullDraw(used, chance, float(ways.sum()) / chance if chance else 0.0))
        # Without blanks a rack is one of the sets of letters.
        racks.append(
            tuple(
                FullRack(
                    alphabet.text([*statistics.letters[index].tolist(), *[BLANK] * used]),
                    int(statistics.words[index]),
                    () if used else _spelled(full[of_word == index], alphabet),
                )
                for index in highest(np.where(statistics.ways > 0, statistics.words, 0), top)
                if statistics.ways[index]
            )
        )
    return FullStatistics(
        sum(draw.chance * draw.full for draw in draws),
        tuple(draws),
        tuple(racks),
        tuple(
            FullWords(_spelled(full[of_word == index], alphabet), float(chances[index]))
            for index in highest(chances, top)
            if chances[index]
        ),
    )


def _racks(letters: U8, words: I64, counts: I64, blanks: int) -> _Racks:
    """Return the racks of ``blanks`` blanks that make one of the sets of letters.

    ``words`` counts the words of each set.
    """
    keys, makers, size = [], [], letters.shape[1]
    for letters_kept in combinations(range(size), size - blanks):
        # Of equal letters the last are kept, so that no rack counts twice.
        wanted = np.ones(len(letters), np.bool_)
        for index in letters_kept:
            if index + 1 < size and index + 1 not in letters_kept:
                wanted &= letters[:, index] != letters[:, index + 1]
        rows = np.flatnonzero(wanted)
        keys.append(_packed(letters[rows][:, letters_kept]))
        makers.append(rows)
    owners = np.concatenate(makers)
    racks, made = np.unique(np.concatenate(keys), return_inverse=True)
    apart = _unpacked(racks, size - blanks)
    makes = np.bincount(made, words[owners], len(racks)).astype(np.int64)
    # The ways to draw a rack: for each letter, copies left in the bag by copies drawn so far.
    ways, same = np.ones(len(racks)), np.zeros(len(racks))
    for index, column in enumerate(apart.T):
        same = np.where(column == apart[:, index - 1], same + 1, 0) if index else same
        ways *= (counts[column] - same).clip(0) / (same + 1)
    return _Racks(apart, makes, ways, owners, made)


def _packed(letters: U8) -> U64:
    keys = np.zeros(len(letters), np.uint64)
    for column in letters.T:
        keys = keys << _LETTER_BITS | column
    return keys


def _unpacked(keys: U64, size: int) -> U8:
    shifts = _LETTER_BITS * np.arange(size, dtype=np.uint64)[::-1]
    return (keys[:, np.newaxis] >> shifts & np.uint64(63)).astype(np.uint8)


def _spelled(words: U8, alphabet: Alphabet) -> tuple[str, ...]:
    return tuple(spelled(word, alphabet) for word in words)

"""Full-length words, those of as many letters as a rack: how likely the first draw makes one.

A draw of ``b`` blanks and some letters makes a word if the letters and ``b`` more are the word's.
So each word gives racks: the word less each choice of ``b`` letters, for each ``b`` that the bag's
blanks allow. A rack is packed into one number, six bits per letter, sorted. Chances are exact but
for rounding.
"""

from __future__ import annotations

from collections.abc import Iterator
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
        found = _racks(letters, sizes, counts, used)
        ways = found.ways * comb(blanks, used) / comb(distribution.total, rack_size)
        chances += np.bincount(found.makers, ways[found.made], len(sets))
        draws.append(_draw(float(ways.sum()), used, distribution, rack_size))
        racks.append(tuple(_most_words(found, used, full, of_word, alphabet, top)))
    return FullStatistics(
        sum(draw.chance * draw.full for draw in draws),
        tuple(draws),
        tuple(racks),
        tuple(
            FullWords(_spelled(full[of_word == at], alphabet), float(chances[at]))
            for at in highest(chances, top)
            if chances[at]
        ),
    )


def _draw(making: float, blanks: int, distribution: TileDistribution, rack_size: int) -> FullDraw:
    """Return the draws with ``blanks`` blanks; ``making``: chance of one that makes a word."""
    has = distribution.counts[BLANK]
    others = comb(distribution.total - has, rack_size - blanks)
    chance = comb(has, blanks) * others / comb(distribution.total, rack_size)
    return FullDraw(blanks, chance, making / chance if chance else 0.0)


def _racks(letters: U8, words: I64, counts: I64, blanks: int) -> _Racks:
    """Return the racks of ``blanks`` blanks that make one of the sets of letters.

    ``words`` counts the words of each set.
    """
    keys, makers, size = [], [], letters.shape[1]
    for kept in combinations(range(size), size - blanks):
        rows = _unrepeated(letters, kept)
        keys.append(_packed(letters[rows][:, kept]))
        makers.append(rows)
    owners = np.concatenate(makers)
    racks, made = np.unique(np.concatenate(keys), return_inverse=True)
    apart = _unpacked(racks, size - blanks)
    makes = np.bincount(made, words[owners], len(racks)).astype(np.int64)
    return _Racks(apart, makes, _ways(apart, counts), owners, made)


def _unrepeated(letters: U8, kept: tuple[int, ...]) -> I64:
    """Return the rows where ``kept`` keeps the last of equal letters, so that none counts twice."""
    wanted = np.ones(len(letters), np.bool_)
    for at in kept:
        if at + 1 < letters.shape[1] and at + 1 not in kept:
            wanted &= letters[:, at] != letters[:, at + 1]
    return np.flatnonzero(wanted)


def _ways(letters: U8, counts: I64) -> F64:
    """Return the number of ways to draw each row's sorted letters from the bag."""
    ways = np.ones(len(letters))
    same = np.zeros(len(letters))
    for at in range(letters.shape[1]):
        again = letters[:, at] == letters[:, at - 1] if at else np.zeros(len(letters), np.bool_)
        same = np.where(again, same + 1, 0)
        ways *= (counts[letters[:, at]] - same).clip(0) / (same + 1)
    return ways


def _packed(letters: U8) -> U64:
    keys = np.zeros(len(letters), np.uint64)
    for column in letters.T:
        keys = keys << _LETTER_BITS | column
    return keys


def _unpacked(keys: U64, size: int) -> U8:
    shifts = _LETTER_BITS * np.arange(size, dtype=np.uint64)[::-1]
    return (keys[:, np.newaxis] >> shifts & np.uint64(63)).astype(np.uint8)


def _most_words(
    found: _Racks, blanks: int, full: U8, of_word: I64, alphabet: Alphabet, top: int
) -> Iterator[FullRack]:
    """Yield the racks that make most words, if the bag has their letters.

    ``of_word`` is the set of each of the ``full`` words, and so its rack if there are no blanks.
    """
    for at in highest(np.where(found.ways > 0, found.words, 0), top):
        if found.ways[at]:
            rack = alphabet.text([*found.letters[at].tolist(), *[BLANK] * blanks])
            own = () if blanks else _spelled(full[of_word == at], alphabet)
            yield FullRack(rack, int(found.words[at]), own)


def _spelled(words: U8, alphabet: Alphabet) -> tuple[str, ...]:
    return tuple(spelled(word, alphabet) for word in words)

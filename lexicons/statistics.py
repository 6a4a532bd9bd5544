"""Statistics of a lexicon: letters compared with the bag, lengths, hooks, anagrams, best plays.

Turek (2014) asked these questions of Polish. Words come as ``lexicons.word_map.spell_words`` writes
them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .alphabet import BLANK, TileDistribution
from .arrays import I64, U8, highest
from .full_words import FullStatistics, full_statistics
from .hooks import Chains, Hooked, find_hooks, longest_chains, most_hooks
from .kwg import MAX_WORD
from .layout import BoardLayout
from .opening_plays import OpeningPlays, best_openings
from .store import Lexicon
from .word_map import KEYS, spell_words, spelled

SHORT = 3
"""Length of the longest words that count as short."""


@dataclass(frozen=True)
class Letter:
    """A letter in the words and in the bag; shares are of all letters there, without blanks.

    ``short`` is its share in words of two and three letters, ``full`` in words as long as
    a rack or one letter longer: the words that Lewis (Valett, 2012) finds to matter most.
    """

    letter: str
    share: float
    short: float
    full: float
    in_bag: float
    tiles: int
    tiles_by_share: int
    points: int
    points_by_share: int


@dataclass(frozen=True)
class Length:
    """Number of words of a length, and how many have hooks in front or behind, or anagrams."""

    letters: int
    words: int
    front: int
    back: int
    hooked: int  # in front, behind, or both
    anagrams: int


@dataclass(frozen=True)
class LexiconStatistics:
    """Statistics of a lexicon for given tiles, board and rack size."""

    letters: tuple[Letter, ...]
    lengths: tuple[Length, ...]
    hooks: tuple[Hooked, ...]
    chains: Chains
    anagrams: tuple[tuple[str, ...], ...]
    openings: OpeningPlays
    full: FullStatistics


def lexicon_statistics(
    lexicon: Lexicon, layout: BoardLayout, rack_size: int, bonus: int, top: int
) -> LexiconStatistics:
    """Compute a lexicon's statistics; lists have ``top`` entries, ``bonus`` is a bingo's.

    Raises:
        ValueError: as ``search_nodes`` and ``full_statistics``.
    """
    tiles = lexicon.distribution
    words = spell_words(lexicon.search_nodes, len(tiles.alphabet), MAX_WORD)
    hooks = find_hooks(words)
    # Words of the same letters have the same sum of keys. The keys have 64 random bits: in 4.5
    # million words two sets share a sum with a probability below one in a million.
    keys = np.zeros(len(words), np.uint64)
    for column in words[:, :-1].T:
        keys += KEYS[column]
    order = np.argsort(keys, kind="stable")
    starts = np.flatnonzero(np.diff(keys[order], prepend=~keys[order[:1]]))
    sizes = np.diff(starts, append=len(words))  # 1 for a word without an anagram
    has_anagrams = np.empty(len(words), np.bool_)
    has_anagrams[order] = np.repeat(sizes > 1, sizes)
    front, back = hooks.front > 0, hooks.back > 0
    kinds = (front, back, front | back, has_anagrams)
    return LexiconStatistics(
        letters=tuple(_letters(words, tiles, rack_size)),
        lengths=tuple(
            Length(length, *(int(np.count_nonzero(of & rows)) for of in (rows, *kinds)))
            for length in range(1, words.shape[1])
            if (rows := words[:, -1] == length).any()
        ),
        hooks=tuple(most_hooks(words, hooks, tiles.alphabet, top)),
        chains=longest_chains(words, hooks, tiles.alphabet, top),
        anagrams=tuple(
            tuple(
                spelled(words[row], tiles.alphabet)
                for row in order[starts[index] : starts[index] + sizes[index]]
            )
            for index in highest(sizes, top)
            if sizes[index] > 1
        ),
        openings=best_openings(words, tiles, layout, rack_size, bonus, top),
        full=full_statistics(words, tiles, rack_size, top),
    )


def _letters(words: U8, distribution: TileDistribution, rack_size: int) -> list[Letter]:
    """Return the letters' shares in words, and the tiles and points that these would suggest."""
    kinds, lengths = len(distribution.counts), words[:, -1]
    full = (lengths == rack_size) | (lengths == rack_size + 1)
    counts = np.array(distribution.counts)
    counts[BLANK] = 0
    occurrences = _occurrences(words, kinds)
    tiles = tiles_by_share(occurrences, counts)
    points = points_by_share(occurrences, counts, np.array(distribution.points))
    short, fulls = _occurrences(words[lengths <= SHORT], kinds), _occurrences(words[full], kinds)
    shares = (of / max(of.sum(), 1) for of in (occurrences, short, fulls, counts))
    return [
        Letter(letter, *of_letter)
        for letter, *of_letter in zip(
            distribution.alphabet.letters,
            *(share.tolist() for share in shares),
            distribution.counts,
            tiles.tolist(),
            distribution.points,
            points.tolist(),
            strict=True,
        )
        if letter != distribution.alphabet.letters[BLANK]
    ]


def _occurrences(words: U8, kinds: int) -> I64:
    counts = np.zeros(kinds, np.int64)
    for column in words[:, :-1].T:  # column by column, since bincount widens its input
        counts += np.bincount(column, minlength=kinds)
    counts[BLANK] = 0
    return counts


def tiles_by_share(occurrences: I64, counts: I64) -> I64:
    """Distribute the bag's letters in proportion to the words, by Webster's method; by tile number.

    Each letter in the bag keeps one tile. Each further tile goes to the letter with the greatest
    ratio of occurrences to its tiles so far plus one half.
    """
    tiles = np.minimum(counts, 1)
    for _ in range(int(counts.sum() - tiles.sum())):
        tiles[np.argmax(occurrences / (tiles + 0.5))] += 1
    return tiles


def points_by_share(occurrences: I64, counts: I64, points: I64) -> I64:
    """Reassign the points of the letters in the bag: the rarer in words, the more points."""
    dealt = points.copy()
    letters = np.flatnonzero(counts)
    by_share = letters[np.argsort(-occurrences[letters], kind="stable")]
    dealt[by_share] = np.sort(points[letters])
    return dealt

"""Hooks, the letters that make another word in front of a word or behind it; and chains of them.

Words come as ``lexicons.word_map.spell_words`` writes them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np

from .alphabet import Alphabet
from .arrays import I32, U8, U64, highest
from .bits import mixed, wrapping_add, wrapping_mul
from .jit import helper, kernel
from .word_map import WordRows, spelled

_PRIME = np.uint64(0x100000001B3)  # of the hash FNV-1a, by Fowler, Noll and Vo


@dataclass(frozen=True)
class Hooked:
    """A word, and the letters that make another word in front of it or behind it."""

    word: str
    front: str
    back: str


@dataclass(frozen=True)
class Chains:
    """The longest chains: each word is the one before and a hook, in front or behind.

    Cutting letters off is called beheadment and curtailment (Borgmann, *Language on Vacation*,
    1965). ``count`` words end a chain of ``length`` words; ``chains`` are the first of these.
    """

    length: int
    count: int
    chains: tuple[tuple[str, ...], ...]


class Hooks(NamedTuple):
    """The hooks of each word, and the words that it extends by a hook; one row per word."""

    front: U64  # [words] bit mask of the letters that make a word in front of it
    back: U64  # [words]
    shorter: I32  # [words, 2] the word without its first, its last letter; -1 if none


def find_hooks(words: U8) -> Hooks:
    """Find the hooks of words, given as rows of ``spell_words``."""
    count = len(words)
    hooks = Hooks(
        np.zeros(count, np.uint64), np.zeros(count, np.uint64), np.full((count, 2), -1, np.int32)
    )
    table = np.full(1 << (count * 3 // 2).bit_length(), -1, np.int32)
    _find_hooks(words, table, *hooks)
    return hooks


@kernel
def _find_hooks(
    words: WordRows, table: I32, front: U64, back: U64, shorter: Annotated[I32, 2]
) -> None:
    """Fill in the hooks, in place.

    ``table`` is scratch: a hash table of rows, −1 where free, its length a power of two.
    """
    for row in range(len(words)):
        place, _ = _look_up(words, table, words[row, : words[row, -1]])
        table[place] = row
    for row in range(len(words)):
        length = np.int64(words[row, -1])
        for end in range(2):
            rest = words[row, 1 - end : length - end]
            _, other = _look_up(words, table, rest)
            shorter[row, end] = other
            if other >= 0:
                hooks = back if end else front
                hooks[other] |= np.uint64(1) << np.uint64(words[row, (length - 1) * end])


@helper
def _look_up(words: U8, table: I32, word: U8) -> Any:
    """Return a word's place in the table, and its row; −1 for the row of an absent word."""
    key = np.uint64(0)
    for letter in word:
        key = wrapping_mul(key ^ np.uint64(letter), _PRIME)
    last = np.uint64(len(table) - 1)
    place = mixed(key) & last
    while table[place] >= 0:
        row = table[place]
        if words[row, -1] == len(word) and np.all(words[row, : len(word)] == word):
            return place, row
        place = wrapping_add(place, 1) & last
    return place, -1


def most_hooks(words: U8, hooks: Hooks, alphabet: Alphabet, top: int) -> list[Hooked]:
    """Return the words that take most hooks, in front and behind."""
    counts = np.bitwise_count(hooks.front) + np.bitwise_count(hooks.back)
    return [
        Hooked(
            spelled(words[row], alphabet),
            alphabet.text(_tiles(int(hooks.front[row]))),
            alphabet.text(_tiles(int(hooks.back[row]))),
        )
        for row in highest(counts, top)
        if counts[row]
    ]


def longest_chains(words: U8, hooks: Hooks, alphabet: Alphabet, top: int) -> Chains:
    """Return the longest chains, one for each word that ends one."""
    links = np.zeros(len(words) + 1, np.int64)  # by the word that ends the chain; last: no word
    for length in range(1, words.shape[1]):
        rows = np.flatnonzero(words[:, -1] == length)
        links[rows] = 1 + links[hooks.shorter[rows]].max(axis=1)
    longest = int(links.max())
    ends = np.flatnonzero(links[:-1] == longest)
    chains = []
    for end in ends[:top].tolist():
        chain: list[str] = []
        row = end
        while row >= 0:
            chain.append(spelled(words[row], alphabet))
            row = max(hooks.shorter[row].tolist(), key=lambda other: links[other])
        chains.append(tuple(chain[::-1]))
    return Chains(longest, len(ends), tuple(chains))


def _tiles(bits: int) -> list[int]:
    return [tile for tile in range(bits.bit_length()) if bits >> tile & 1]

"""The word map: from any tiles to the words that are made of exactly these.

Each letter has a key of 64 random bits, a multiset of letters the sum of its letters' keys modulo
2⁶⁴, and the words are in a hash table by that sum (MAGPIE's idea). A filter (Bloom 1970, within one
64-bit word, so that a query reads memory once) rules out nearly all queries before that.

A second filter answers for tiles with a blank: it has every word with any one letter removed. A
third one has every run of three or more letters in a word, with its place in the word and the
word's length: it tells where tiles on a board can't be a part of any word.

Filters and table can match falsely, so the reader compares letters; they never miss a word.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from .alphabet import MAX_LETTERS, Alphabet
from .arrays import U8, U64
from .bits import GOLDEN, lowest_bit, wrapping_add, wrapping_mul, wrapping_sub
from .jit import helper, kernel, record_dtype
from .kwg import MAX_WORD
from .memory import address_of, byte_at, word_at
from .search_graph import (
    DAWG_ROOT,
    SearchNodes,
    ends_word,
    first_child,
    letters_after,
    shift_of,
)

FORMAT = "word map 2"
"""Names keys, filters and table; change it with them, since they are kept in the cache."""

_BITS_A_WORD = 16  # of the filter of whole words: 1 query in 500 passes in vain
_SHORTER_A_WORD = 8  # words with a letter removed, per word
_RUNS_A_WORD = 6  # 96 bits for some 15 runs that no other word has: 1 query in 30 passes in vain
SHORTEST_RUN = 3  # letters; shorter runs are in words nearly everywhere
_MIN_LENGTH = 64


def _letter_keys() -> U64:
    keys = np.random.Generator(np.random.PCG64(20070401)).integers(
        1 << 62, 1 << 64, MAX_LETTERS + 1, dtype=np.uint64
    )
    keys[0] = 0  # the blank, and an empty square
    return keys


KEYS = _letter_keys()  # [64] by letter; the same for all lexicons: boards and racks depend on none


WORDS = record_dtype(
    [
        ("nodes", np.uint64),  # address of the graph (``lexicons.search_graph``)
        ("shift", np.uint64),  # … the lowest bit of the indexes in it
        ("filters", np.uint64, (3,)),  # addresses: of words, of words less a letter, of runs
        ("masks", np.uint64, (3,)),  # their lengths, powers of two, less 1
        ("rows", np.uint64),  # address of the table
        ("row_mask", np.uint64),  # number of its rows, a power of two, less 1
        ("row_shift", np.uint64),  # a row has 1 << row_shift bytes
    ],
)
WordsRecord: TypeAlias = Any
WordsArray: TypeAlias = Annotated[Any, WORDS]  # [1]
WordRows: TypeAlias = Annotated[U8, 2]  # [words, width] letters, zeros, last the length


@dataclass(frozen=True, eq=False)
class WordMap:
    """A graph's words as kernels read them, by the addresses in ``words`` of the other arrays."""

    nodes: SearchNodes
    letters: int  # in the alphabet
    whole: U64
    shorter: U64
    runs: U64
    rows: U8  # [places, width] one word per row: letters, zeros, last its length; 0: no word
    words: npt.NDArray[Any] = field(init=False)

    def __post_init__(self) -> None:
        words = np.zeros(1, WORDS)
        filters = self.whole, self.shorter, self.runs
        for array in (self.nodes, *filters, self.rows):
            array.flags.writeable = False
        words["nodes"] = address_of(self.nodes)
        words["shift"] = shift_of(self.letters)
        words["filters"] = [address_of(each) for each in filters]
        words["masks"] = [len(each) - 1 for each in filters]
        words["rows"] = address_of(self.rows)
        words["row_mask"] = len(self.rows) - 1
        words["row_shift"] = self.rows.shape[1].bit_length() - 1
        object.__setattr__(self, "words", words)


def word_map(nodes: SearchNodes, letters: int, longest: int) -> WordMap:
    """Map a graph's words of up to ``longest`` letters; 0.3 s and 13 MiB for 180,000 words.

    ``letters`` is the size of the alphabet.
    """
    words = spell_words(nodes, letters, longest)
    count, width = words.shape
    whole = np.zeros(_power(count * _BITS_A_WORD // 64), np.uint64)
    shorter = np.zeros(_power(count * _BITS_A_WORD * _SHORTER_A_WORD // 64), np.uint64)
    runs = np.zeros(_power(count * _BITS_A_WORD * _RUNS_A_WORD // 64), np.uint64)
    rows = np.zeros((_power(count * 5 // 4), width), np.uint8)
    _enter(words, whole, shorter, runs, rows)
    return WordMap(nodes, letters, whole, shorter, runs, rows)


def spell_words(nodes: SearchNodes, letters: int, longest: int) -> U8:
    """Return a graph's words of up to ``longest`` letters in tile order, one per row.

    ``letters`` is the size of the alphabet. A row has the word's letters, zeros and, last, its
    length; its size in bytes is a power of two.
    """
    shift = np.uint64(shift_of(letters))
    count, longest_length = _write_words(nodes, shift, longest, np.zeros((0, 1), np.uint8))
    width = 16
    while width <= longest_length:
        width *= 2
    words = np.zeros((count, width), np.uint8)
    _write_words(nodes, shift, longest, words)
    return words


def spelled(word: U8, alphabet: Alphabet) -> str:
    """Return the text of a word, given as a row of ``spell_words``."""
    return alphabet.text(word[: word[-1]].tolist())


def _power(least: int) -> int:
    return max(_MIN_LENGTH, 1 << max(least - 1, 0).bit_length())


@helper
def _filter_bits(key: Any) -> Any:
    low = np.uint64(63)
    bit = np.uint64(1)
    return (
        bit << (key >> np.uint64(58))
        | bit << (key >> np.uint64(52) & low)
        | bit << (key >> np.uint64(46) & low)
    )


@helper
def _place_of(key: Any, mask: Any) -> Any:
    """Return the place of a key in a filter or a table; ``_filter_bits`` uses its high bits."""
    return key >> np.uint64(8) & mask


@helper
def may_be_word(words: WordsRecord, key: Any, short: Any) -> Any:
    """Return whether letters may be a word (``short`` 0) or a word less one letter (1)."""
    bits = _filter_bits(key)
    place = _place_of(key, words.masks[short])
    return word_at(words.filters[short], place) & bits == bits


@helper
def extend_run(run: Any, letter: Any) -> Any:
    """Return the key of a run of letters, 0 at first, with one more letter at its end."""
    return wrapping_add(wrapping_mul(run, GOLDEN), KEYS[letter])


@helper
def may_have_run(words: WordsRecord, run: Any, place: Any, length: Any) -> Any:
    """Return whether a word of ``length`` letters may have a run, by its key, from ``place`` on.

    The run has ``SHORTEST_RUN`` letters or more.
    """
    return may_be_word(words, _placed_run(run, place, length), 2)


@helper
def _placed_run(run: Any, place: Any, length: Any) -> Any:
    return wrapping_add(run, wrapping_mul(place * (MAX_WORD + 1) + length, GOLDEN))


@helper
def first_row(words: WordsRecord, key: Any) -> Any:
    """Return the first row that may have a word of these letters.

    They are in the rows from there (``next_row``) up to one without a word; other words may be
    among them.
    """
    return _place_of(key, words.row_mask)


@helper
def next_row(words: WordsRecord, row: Any) -> Any:
    """Return the row after a row; after the last comes the first."""
    return row + np.uint64(1) & words.row_mask


@helper
def length_in(words: WordsRecord, row: Any) -> Any:
    """Return the number of letters of a row's word; 0 if it has none."""
    return byte_at(words.rows, (row + np.uint64(1) << words.row_shift) - np.uint64(1))


@helper
def letter_in(words: WordsRecord, row: Any, at: Any) -> Any:
    """Return the letter at index ``at`` of a row's word."""
    return byte_at(words.rows, (row << words.row_shift) + np.uint64(at))


@kernel
def _write_words(
    nodes: SearchNodes, shift: np.uint64, longest: int, words: WordRows
) -> tuple[int, int]:
    """Write a graph's words of up to ``longest`` letters into ``words``, until its rows are full.

    Return the number of all such words, written or not, and the length of the longest.
    """
    unvisited = np.zeros(MAX_WORD + 2, np.uint64)  # by depth, letters of children still to visit
    next_child = np.zeros(MAX_WORD + 2, np.uint64)  # by depth, the first of these children
    letters = np.zeros(MAX_WORD + 2, np.uint8)  # by depth, those on the path to the present node
    unvisited[0] = letters_after(nodes[DAWG_ROOT], shift)
    next_child[0] = first_child(nodes[DAWG_ROOT], shift)
    depth = 0
    count = 0
    longest_length = 0
    while depth >= 0:
        if not unvisited[depth]:
            depth -= 1
            continue
        node = nodes[next_child[depth]]
        letters[depth] = lowest_bit(unvisited[depth])
        unvisited[depth] &= unvisited[depth] - np.uint64(1)
        next_child[depth] += np.uint64(1)
        if ends_word(node, shift):
            if count < len(words):
                for at in range(depth + 1):  # slices would take a second more to compile
                    words[count, at] = letters[at]
                words[count, -1] = depth + 1
            count += 1
            longest_length = max(longest_length, depth + 1)
        if depth + 1 < longest:
            depth += 1
            unvisited[depth] = letters_after(node, shift)
            next_child[depth] = first_child(node, shift)
    return count, longest_length


@kernel
def _enter(words: WordRows, whole: U64, shorter: U64, runs: U64, rows: WordRows) -> None:
    """Enter words, as ``_write_words`` writes them, into the filters and the table, in place."""
    mask = np.uint64(len(rows) - 1)
    for at in range(len(words)):
        key = np.uint64(0)
        for letter in words[at, : words[at, -1]]:
            key = wrapping_add(key, KEYS[letter])
        _add(whole, key)
        for letter in words[at, : words[at, -1]]:
            _add(shorter, wrapping_sub(key, KEYS[letter]))
        length = np.int64(words[at, -1])
        for place in range(length):
            run = np.uint64(0)
            for end in range(place, length):
                run = extend_run(run, words[at, end])
                if end - place + 1 >= SHORTEST_RUN:
                    _add(runs, _placed_run(run, place, length))
        row = _place_of(key, mask)
        while rows[row, -1]:
            row = row + np.uint64(1) & mask
        for column in range(words.shape[1]):
            rows[row, column] = words[at, column]


@helper
def _add(words: U64, key: Any) -> None:
    words[_place_of(key, np.uint64(len(words) - 1))] |= _filter_bits(key)

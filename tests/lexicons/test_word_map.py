"""The word map: every word is found by its letters, and little else."""

from __future__ import annotations

import pickle
import random
from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rollout_positions import scowl

from lexicons.build import build_word_graph
from lexicons.jit import kernel
from lexicons.layout import MAX_SIDE
from lexicons.search_graph import search_nodes
from lexicons.store import Lexicon
from lexicons.word_map import (
    KEYS,
    SHORTEST_RUN,
    WordMap,
    extend_run,
    first_row,
    length_in,
    letter_in,
    may_be_word,
    may_have_run,
    next_row,
    word_map,
)

U64 = npt.NDArray[np.uint64]
Word = tuple[int, ...]
LETTERS = 41


@kernel
def _ask(words_array: Any, keys: Any, short: Any, answers: Any) -> None:
    for at in range(len(keys)):
        answers[at] = may_be_word(words_array[0], keys[at], short)


@kernel
def _ask_of_run(words_array: Any, letters: Any, place: Any, length: Any) -> Any:
    run = np.uint64(0)
    for letter in letters:
        run = extend_run(run, letter)
    return may_have_run(words_array[0], run, place, length)


@kernel
def _read_rows(words_array: Any, key: Any, rows: Any) -> Any:
    """Write the words that lie where those of a key begin, length first; give their number."""
    words = words_array[0]
    row, count = first_row(words, key), 0
    while length_in(words, row):
        length = length_in(words, row)
        rows[count, 0] = length
        for at in range(length):
            rows[count, 1 + at] = letter_in(words, row, at)
        row = next_row(words, row)
        count += 1
    return count


def key_of(letters: Word) -> np.uint64:
    return np.uint64(sum(KEYS[list(letters)].tolist()) % (1 << 64))


def keys_of(words: list[Word]) -> U64:
    """The keys of many, by length, for speed."""
    keys = np.zeros(len(words), np.uint64)
    lengths = np.array(list(map(len, words)))
    for length in set(lengths.tolist()):
        of_length = np.flatnonzero(lengths == length)
        letters = np.array([words[at] for at in of_length])
        keys[of_length] = KEYS[letters].sum(axis=1, dtype=np.uint64)
    return keys


def may_be(mapped: WordMap, keys: U64, short: int = 0) -> npt.NDArray[np.bool_]:
    answers = np.zeros(len(keys), np.bool_)
    _ask(mapped.words, keys, short, answers)
    return answers


def may_have(mapped: WordMap, run: Word, place: int, length: int) -> bool:
    return bool(_ask_of_run(mapped.words, np.array(run, np.uint8), place, length))


def runs_of(word: Word) -> Iterator[tuple[Word, int, int]]:
    """The runs of a word that its map knows, with their places and its length."""
    for place in range(len(word)):
        for end in range(place + SHORTEST_RUN, len(word) + 1):
            yield word[place:end], place, len(word)


def made_of(mapped: WordMap, letters: Word) -> set[Word]:
    """The words that are made of exactly these letters."""
    rows = np.zeros((500, MAX_SIDE + 1), np.uint8)
    count = _read_rows(mapped.words, key_of(letters), rows)
    found = [tuple(row[1 : 1 + row[0]].tolist()) for row in rows[:count]]
    assert len(set(found)) == count
    return {word for word in found if sorted(word) == sorted(letters)}


@cache
def scowl_words() -> list[Word]:
    return list(scowl().graph.words())


@cache
def scowl_letters() -> set[Word]:
    """The letters of each word, in order."""
    return {tuple(sorted(word)) for word in scowl_words()}


def mapped_of(*words: Word, longest: int = MAX_SIDE) -> WordMap:
    return word_map(search_nodes(build_word_graph(words), LETTERS), LETTERS, longest)


def test_every_word_of_scowl_is_in_the_table_once() -> None:
    mapped = scowl().word_map
    rows = mapped.rows[mapped.rows[:, -1] > 0]
    entered = [tuple(row[: row[-1]].tolist()) for row in rows]
    fitting = [word for word in scowl_words() if len(word) <= MAX_SIDE]
    assert len(entered) == len(fitting)
    assert set(entered) == set(fitting)
    assert len(fitting) < 0.85 * len(mapped.rows)  # so that a search for no word ends soon


@pytest.mark.parametrize("size", range(2, 10))
def test_of_letters_that_are_no_word_few_get_by_the_filters(size: int) -> None:
    chance = np.random.default_rng(size)
    bag = np.repeat(np.arange(27), scowl().distribution.counts)
    bag = bag[bag > 0]
    drawn = [tuple(sorted(chance.choice(bag, size, replace=False).tolist())) for _ in range(4_000)]
    words = scowl_letters()
    less_a_letter = {
        (*word[:at], *word[at + 1 :])
        for word in words
        if len(word) == size + 1
        for at in range(len(word))
    }
    for short, known in ((0, words), (1, less_a_letter)):
        others = sorted(set(drawn) - known)
        if others:
            assert may_be(scowl().word_map, keys_of(others), short).mean() < 0.02


def test_of_runs_that_are_in_no_word_few_get_by_the_filter() -> None:
    words = scowl_words()[::22]
    mapped, known = mapped_of(*words), {run for word in words for run in runs_of(word)}
    chance = random.Random(3)
    asked = [
        (run, place, length + chance.randint(0, 3))
        for run, place, length in chance.sample(sorted(known), 5_000)
    ]
    others = [run for run in asked if run not in known]
    assert all(may_have(mapped, *run) for run in asked if run in known)
    assert sum(may_have(mapped, *run) for run in others) < 0.06 * len(others)


@settings(max_examples=150)
@given(st.sets(st.lists(st.integers(1, LETTERS), min_size=1, max_size=6).map(tuple), max_size=60))
def test_any_words(words: set[Word]) -> None:
    mapped = mapped_of(*words)
    for word in words:
        same = {other for other in words if Counter(other) == Counter(word)}
        assert made_of(mapped, word) == same
        assert may_be(mapped, keys_of([word])).all()
        assert may_be(mapped, keys_of([word]) - KEYS[list(word)], 1).all()
        assert all(may_have(mapped, *run) for run in runs_of(word))
    assert np.count_nonzero(mapped.rows[:, -1]) == len(words)


@pytest.mark.parametrize(("length", "width"), [(14, 16), (15, 16), (16, 32), (17, 32), (26, 32)])
def test_words_as_long_as_the_largest_board(length: int, width: int) -> None:
    word = tuple(1 + at % 25 for at in range(length))
    mapped = mapped_of(word, (1, 2))
    assert mapped.rows.shape[1] == width
    assert made_of(mapped, word[::-1]) == {word}
    assert made_of(mapped, (2, 1)) == {(1, 2)}
    assert may_be(mapped, keys_of([word])).all()
    assert may_be(mapped, np.repeat(keys_of([word]), length) - KEYS[list(word)], 1).all()
    assert all(may_have(mapped, *run) for run in runs_of(word))


def test_words_that_fit_on_no_board_are_left_out() -> None:
    words = [tuple([1] * length) for length in (2, 14, 15, 16, 26, 27, 40)]
    mapped = mapped_of(*words)
    assert sorted(mapped.rows[:, -1][mapped.rows[:, -1] > 0].tolist()) == [2, 14, 15, 16, 26]
    assert sorted(set(mapped_of(*words, longest=15).rows[:, -1].tolist())) == [0, 2, 14, 15]


def test_keys_are_the_same_for_all_and_differ() -> None:
    assert KEYS[0] == 0
    assert len(set(KEYS.tolist())) == len(KEYS)
    assert hex(int(KEYS[1])) == "0xe89ffddde0eb945c"


def test_a_map_is_read_only_and_made_anew_after_pickling() -> None:
    lexicon = Lexicon("test", scowl().distribution, build_word_graph([(1, 2), (2, 1)]), "")
    mapped = lexicon.word_map
    for array in (mapped.nodes, mapped.whole, mapped.shorter, mapped.runs, mapped.rows):
        assert not array.flags.writeable
    again = pickle.loads(pickle.dumps(lexicon)).word_map
    assert np.array_equal(again.rows, mapped.rows)
    assert made_of(again, (1, 2)) == {(1, 2), (2, 1)}

"""64-bit nodes against the word graph that they are made of."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rollout_positions import scowl

from lexicons.build import build_word_graph
from lexicons.jit import kernel
from lexicons.kwg import NARROW, WIDE, NodeLayout, WordGraph
from lexicons.memory import address_of, word_at
from lexicons.search_graph import (
    DAWG_ROOT,
    GADDAG_ROOT,
    child_of,
    ends_word,
    search_nodes,
    shift_of,
)
from lexicons.word_map import WordMap, word_map

Strings = list[tuple[int, ...]]
WORDS: Strings = [(1,), (1, 2), (1, 2, 3), (2, 1), (3, 1, 2), (2, 2, 2, 2), (41, 1, 41)]
MANY = 41
"""Letters, as many as Slovak has."""
LAYOUTS = pytest.mark.parametrize("layout", [NARROW, WIDE], ids=["narrow", "wide"])


@kernel
def _spelled(words: Any, root: Any, strings: Any, lengths: Any, found: Any) -> None:
    """Tell of each string whether the graph has it from a root on."""
    graph = words[0]
    for at in range(len(strings)):
        node = word_at(graph.nodes, root)
        for place in range(lengths[at]):
            node = child_of(graph, node, strings[at, place])
        found[at] = ends_word(node, graph.shift)


def searched(graph: WordGraph, letters: int = MANY) -> WordMap:
    return word_map(search_nodes(graph, letters), letters, 15)


def spelled(words: WordMap, root: np.uint64, strings: Strings) -> list[bool]:
    lengths = np.array([len(string) for string in strings], np.int64)
    table = np.zeros((len(strings), max(lengths, default=0) + 1), np.uint8)
    for row, string in zip(table, strings, strict=True):
        row[: len(string)] = string
    found = np.zeros(len(strings), np.bool_)
    _spelled(words.words, root, table, lengths, found)
    answers: list[bool] = found.tolist()
    return answers


def gaddag_strings(word: tuple[int, ...]) -> Strings:
    """CARE: ERAC, RAC@E, AC@RE, C@ARE."""
    splits = ((*word[at::-1], 0, *word[at + 1 :]) for at in range(len(word) - 1))
    return [word[::-1], *splits]


@LAYOUTS
@settings(max_examples=100)
@given(
    st.lists(st.lists(st.integers(1, MANY), min_size=1, max_size=6).map(tuple)),
    st.lists(st.lists(st.integers(1, MANY), min_size=1, max_size=6).map(tuple)),
)
def test_any_words(layout: NodeLayout, words: Strings, others: Strings) -> None:
    nodes = searched(build_word_graph(words, layout))
    assert all(spelled(nodes, DAWG_ROOT, words))
    assert spelled(nodes, DAWG_ROOT, others) == [other in set(words) for other in others]
    turned = {string for word in words for string in gaddag_strings(word)}
    asked = [*turned, *(string for word in others for string in gaddag_strings(word))]
    assert spelled(nodes, GADDAG_ROOT, asked) == [string in turned for string in asked]


def test_a_node_has_the_letters_of_its_children_and_nodes_keep_their_indexes() -> None:
    graph = scowl().graph
    nodes, arcs = scowl().search_nodes, graph.arcs()
    assert nodes.dtype == np.uint64
    assert not nodes.flags.writeable
    shift = np.uint64(shift_of(26))
    assert np.array_equal(nodes >> shift, arcs.child)
    assert np.array_equal((nodes & np.uint64(1 << 27)) != 0, arcs.accepts)
    for at in range(0, len(nodes), 997):
        letters, child = 0, int(arcs.child[at])
        while child:
            letters |= 1 << int(arcs.tile[child])
            child = 0 if arcs.last[child] else child + 1
        assert int(nodes[at]) & (1 << 27) - 1 == letters


@pytest.mark.parametrize("letters", [57, 63])
def test_more_nodes_than_so_many_letters_leave_room_for_are_refused(letters: int) -> None:
    graph = build_word_graph(WORDS)
    assert 32 < len(graph.nodes) <= 64
    assert all(spelled(searched(graph, 56), DAWG_ROOT, WORDS))
    most = (1 << 64) >> letters + 2
    message = f"{len(graph.nodes)} nodes; with an alphabet of {letters} letters .* {most} at most"
    with pytest.raises(ValueError, match=message):
        search_nodes(graph, letters)


def test_the_address_of_an_array_with_gaps_is_refused() -> None:
    array = np.zeros((4, 4), np.uint64)
    assert address_of(array[1]) == address_of(array) + 32
    for gaps in (array[:, 1], array.T, array[::2]):
        with pytest.raises(ValueError, match="has to be contiguous"):
            address_of(gaps)

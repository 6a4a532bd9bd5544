from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from lexicon_parts import CHILD, LAST

from lexicons.build import build_word_graph
from lexicons.kwg import (
    NARROW,
    WIDE,
    NodeLayout,
    WordGraph,
    check_nodes,
    read_kwg,
    write_kwg,
)
from lexicons.wordlist import pack_words

Word = tuple[int, ...]

SEPARATOR = 0
LETTERS = st.integers(1, 4) | st.just(63)
WORDS = st.lists(st.lists(LETTERS, min_size=1, max_size=6).map(tuple), max_size=40)


def gaddag_by_hand(words: Iterable[Word]) -> set[Word]:
    """Spell all strings of a GADDAG as Gordon (1994) defines it."""
    strings = set()
    for word in words:
        strings.add(word[::-1])
        for cut in range(1, len(word)):
            strings.add((*word[:cut][::-1], SEPARATOR, *word[cut:]))
    return strings


def lists_of(graph: WordGraph) -> list[tuple[int, ...]]:
    """Read the siblings behind every child index that occurs."""
    nodes = graph.nodes.tolist()
    found = []
    for begin in {node & CHILD for node in nodes} - {0}:
        end = begin
        while not nodes[end] & LAST:
            end += 1
        found.append(tuple(nodes[begin : end + 1]))
    return found


GROWING: list[Word] = [
    (63, 63, 1, 1, 1, 1),
    (63, 63, 2, 63, 2),
    (1, 63, 1, 2, 1),
    (2, 1, 1, 2, 63),
    (63, 63, 63, 4, 1, 63),
    (1, 3, 1, 4, 63, 3),
]
"""Words whose table of lists grows while the separators go in."""


@given(WORDS, WORDS)
@example([], [])
@example(GROWING, [])
def test_a_graph_holds_its_words_and_no_others(words: list[Word], others: list[Word]) -> None:
    graph = build_word_graph(words)
    check_nodes(graph.nodes, "the graph")
    assert list(graph.words()) == sorted(set(words))
    strings = list(graph.strings(graph.gaddag_root))
    assert len(strings) == len(set(strings))
    assert set(strings) == gaddag_by_hand(words)
    lists = lists_of(graph)
    assert len(set(lists)) == len(lists), "no list is there twice"
    for word in [*words, *others]:
        assert graph.contains(word) == (word in words)


def test_the_order_of_words_and_repetitions_change_nothing() -> None:
    words = [(1, 2), (3,), (1, 2, 3), (2, 1)]
    graph = build_word_graph(words)
    for same in (words[::-1], words * 2, pack_words(words)):
        assert np.array_equal(build_word_graph(same).nodes, graph.nodes)


def test_the_longest_words() -> None:
    words = [(1,) * 63, (2,) * 62 + (1,)]
    graph = build_word_graph(words)
    check_nodes(graph.nodes, "the graph")
    assert list(graph.words()) == words


def test_many_words_outgrow_the_first_room() -> None:
    # Random words share little, so that cells are made far beyond the first estimate.
    generator = np.random.default_rng(7)
    matrix = generator.integers(1, 27, (3000, 9), dtype=np.uint8)
    graph = build_word_graph(matrix)
    check_nodes(graph.nodes, "the graph", 26)
    assert set(graph.words()) == set(map(tuple, matrix.tolist()))
    assert set(graph.strings(graph.gaddag_root)) == gaddag_by_hand(map(tuple, matrix.tolist()))


SMALL = NodeLayout(24, 0xFF, 1 << 23, 1 << 22, 0, 5)


def test_a_graph_that_the_layout_cannot_number() -> None:
    with pytest.raises(ValueError, match=r"needs \d+ nodes; the .kwg layout holds 6"):
        build_word_graph([(1, 2, 3)], SMALL)


def test_a_list_that_outgrows_the_narrow_layout_is_wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lexicons.cells.NARROW", NARROW._replace(child_mask=999))
    words = np.random.default_rng(11).integers(1, 33, (100, 12), dtype=np.uint8)
    graph = build_word_graph(words)
    assert graph.layout == WIDE
    assert set(graph.words()) == set(map(tuple, words.tolist()))
    assert build_word_graph(words[:1]).layout.max_nodes == 1_000


def test_nodes_beyond_the_narrow_layout_are_reached(tmp_path: Path) -> None:
    words, far = [(1, 2), (2, 1, 3)], NARROW.max_nodes
    roots, rest = np.split(build_word_graph(words, WIDE).nodes, [2])
    moved = np.uint32(far << WIDE.child_shift)
    nodes = np.full(2 + far + len(rest), WIDE.last, np.uint32)
    nodes[:2], nodes[2 + far :] = roots + moved, rest + moved * (rest >> WIDE.child_shift > 0)
    write_kwg(tmp_path / "far.kbwg", WordGraph(nodes, WIDE))
    read = read_kwg((tmp_path / "far.kbwg").rename(tmp_path / "far.kwg"), 32)
    assert (read.layout, list(read.words())) == (WIDE, words)
    assert set(read.strings(read.gaddag_root)) == gaddag_by_hand(words)
    assert all(map(read.contains, words))
    assert read.arcs().child[0] > NARROW.max_nodes

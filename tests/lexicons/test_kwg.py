from __future__ import annotations

import pickle
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lexicon_parts import ACCEPTS, LAST, TILE_SHIFT

from lexicons.build import build_word_graph
from lexicons.kwg import (
    MAX_WORD,
    NARROW,
    WIDE,
    NodeLayout,
    WordGraph,
    check_nodes,
    read_kwg,
    write_kwg,
)

WORDS = [(1, 2), (1, 2, 3), (2, 1), (3, 1, 2)]
LAYOUTS = pytest.mark.parametrize("layout", [NARROW, WIDE], ids=["narrow", "wide"])


def node(tile: int, child: int = 0, flags: int = LAST) -> int:
    return tile << TILE_SHIFT | flags | child


def written(path: Path, nodes: Sequence[int]) -> Path:
    path.write_bytes(np.array(nodes, "<u4").tobytes())
    return path


def test_a_wide_node_is_laid_out_as_wolges_does() -> None:
    # Tile in bits 0–5, last sibling 6, accepts 7, first child 8–31.
    graph = build_word_graph([(63,)], WIDE)
    assert graph.nodes.tolist() == [0x240, 0x240, 0xFF]
    assert build_word_graph([(63,)]).nodes.tolist() == [0x400002, 0x400002, 0x3FC00000]


@LAYOUTS
@pytest.mark.parametrize("name", ["a.kwg", "a.kbwg", "a.KBWG", "a.graph"])
def test_either_layout_is_read_under_any_name(
    tmp_path: Path, layout: NodeLayout, name: str
) -> None:
    for words in (WORDS, [(1, 2)], []):
        graph = build_word_graph(words, layout)
        path = written(tmp_path / name, graph.nodes.tolist())
        read = read_kwg(path)
        assert read.layout == layout
        assert list(read.words()) == words


@LAYOUTS
@pytest.mark.parametrize(
    ("name", "named"), [("a.kwg", NARROW), ("a.kbwg", WIDE), ("a.graph", None)]
)
def test_a_graph_is_written_as_its_name_says(
    tmp_path: Path, layout: NodeLayout, name: str, named: NodeLayout | None
) -> None:
    graph = build_word_graph(WORDS, layout)
    write_kwg(tmp_path / name, graph)
    expected = graph.in_layout(named or layout)
    assert (tmp_path / name).read_bytes() == expected.nodes.astype("<u4").tobytes()
    assert read_kwg(tmp_path / name).layout == (named or layout)


def test_a_graph_too_large_for_its_name_is_refused(tmp_path: Path) -> None:
    graph = WordGraph(np.zeros((1 << 22) + 1, np.uint32), WIDE)
    with pytest.raises(
        ValueError, match=r"4194305 nodes; the .kwg layout holds 4194304, the .kbwg"
    ):
        write_kwg(tmp_path / "large.kwg", graph)
    assert not list(tmp_path.iterdir())


@LAYOUTS
def test_arcs_are_the_nodes_taken_apart(layout: NodeLayout) -> None:
    graph = build_word_graph(WORDS, layout)
    arcs = graph.arcs()
    assert [array.dtype for array in arcs] == [np.uint8, np.bool_, np.bool_, np.uint32]
    narrow = graph.in_layout(NARROW).nodes
    for at, word in enumerate(narrow.tolist()):
        assert arcs.tile[at] == word >> TILE_SHIFT
        assert arcs.accepts[at] == bool(word & ACCEPTS)
        assert arcs.last[at] == bool(word & LAST)
        assert arcs.child[at] == word & (LAST - 1)
    assert np.array_equal(arcs.pack(layout), graph.nodes)


def test_a_graph_that_is_mapped_survives_its_replacement(tmp_path: Path) -> None:
    path = tmp_path / "small.kwg"
    write_kwg(path, build_word_graph(WORDS))
    old = read_kwg(path)
    write_kwg(path, build_word_graph([(1, 1)]))
    assert list(old.words()) == WORDS
    assert list(read_kwg(path).words()) == [(1, 1)]


def test_nodes_cannot_be_written_and_graphs_can_be_sent() -> None:
    graph = build_word_graph(WORDS)
    assert graph.contains(WORDS[0])
    with pytest.raises(ValueError, match="read-only"):
        graph.nodes[0] = 1
    for layout in (NARROW, WIDE):
        copy: WordGraph = pickle.loads(pickle.dumps(graph.in_layout(layout)))
        assert copy.layout == layout
        assert list(copy.words()) == WORDS
        assert not copy.nodes.flags.writeable


@pytest.mark.parametrize("word", [(), (0,), (1, 0), (1, 2 | 0x80), (4,), (1, 2, 3, 1), (1, 2, 9)])
def test_what_is_no_word_is_not_contained(word: tuple[int, ...]) -> None:
    assert not build_word_graph(WORDS).contains(word)


@pytest.mark.parametrize("size", [0, 4, 7, 41])
def test_a_file_of_the_wrong_size_is_refused(tmp_path: Path, size: int) -> None:
    path = tmp_path / "bad.kwg"
    path.write_bytes(bytes(size))
    with pytest.raises(ValueError, match=f"bad.kwg: {size} bytes"):
        read_kwg(path)


CHAIN = [node(0, 2), node(0, 2), *(node(1, at) for at in range(3, MAX_WORD + 4)), node(1)]


@pytest.mark.parametrize(
    ("nodes", "reason"),
    [
        ([node(0, 9), node(0)], "node 0 of 2 has its child at 9"),
        ([node(0, 2), node(0, 2), node(1, 1)], "node 2 of 3 has its child at 1"),
        ([node(0, 2), node(0, 2), node(1, flags=0)], "never ends"),
        ([node(0, 2), node(0), node(1, flags=ACCEPTS | LAST)], "a DAWG only"),
        ([node(0, 2), node(0), node(2, 3), node(1, flags=ACCEPTS | LAST)], "a DAWG only"),
        ([node(0, 2), node(0), node(1, 3), node(2, flags=ACCEPTS | LAST)], "sorted letters"),
        ([node(0), node(0, 2), node(1, flags=ACCEPTS | LAST)], "a GADDAG only"),
        ([node(0, 2), node(0, 2), node(64)], "node 2 has tile 64, but the highest is 63"),
        ([node(0, 2), node(0, 2), node(2, flags=0), node(1)], "node 2 .* not in tile order"),
        ([node(0, 2), node(0, 2), node(1, flags=0), node(1)], "node 2 .* not in tile order"),
        ([node(0, 2), node(0, 2), node(1, 2)], "node 0 leads back"),
        ([node(0), node(0, 3), node(1), node(1, 4), node(1, 3)], "node 1 leads back"),
        ([node(0), node(0, 3), node(1, 3, 0), node(2, 4), node(1, 2)], "leads back"),
        (CHAIN, "more than 63 letters"),
    ],
)
def test_a_graph_that_leads_astray_is_refused(
    tmp_path: Path, nodes: list[int], reason: str
) -> None:
    with pytest.raises(ValueError, match=reason):
        read_kwg(written(tmp_path / "bad.kwg", nodes))
    if "tile 64" not in reason:  # which six bits do not hold
        wide = WordGraph(np.array(nodes, np.uint32)).arcs().pack(WIDE)
        with pytest.raises(ValueError, match=reason):
            read_kwg(written(tmp_path / "bad.kbwg", wide.tolist()))


def test_a_graph_of_another_alphabet_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "small.kwg"
    write_kwg(path, build_word_graph(WORDS))
    with pytest.raises(ValueError, match="tile 3, but the highest is 2"):
        read_kwg(path, 2)


def test_too_many_nodes_are_refused() -> None:
    with pytest.raises(ValueError, match="4194305 nodes"):
        check_nodes(np.zeros((1 << 22) + 1, np.uint32), "large.kwg")
    with pytest.raises(ValueError, match="16777217 nodes"):
        check_nodes(np.zeros((1 << 24) + 1, np.uint32), "large.kbwg", layout=WIDE)


@given(st.integers(1, 200))
def test_a_file_that_was_cut_short_is_refused(missing: int) -> None:
    nodes = build_word_graph([(1, 2, 3, 4), (2, 3, 4, 5), (4, 5, 1)]).nodes
    with pytest.raises(ValueError, match=r"cut\.kwg: "):
        check_nodes(nodes[: max(len(nodes) - missing, 0)], "cut.kwg")

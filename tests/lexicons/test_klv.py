from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from lexicon_parts import ACCEPTS, CHILD, LAST, TILE_SHIFT, shorter_leaves

from lexicons.alphabet import Alphabet, TileDistribution, load_distribution
from lexicons.klv import parse_klv, read_klv, write_klv
from lexicons.leaves import possible_leaves, synthetic_leaves

LETTERS = ("?", *"ABC")
FEW = TileDistribution(
    "few", Alphabet(LETTERS, ("?", *"abc")), (2, 3, 0, 5), (0, 1, 1, 3), (False, True) * 2
)


def node(tile: int, child: int = 0, flags: int = LAST | ACCEPTS) -> int:
    return tile << TILE_SHIFT | flags | child


def packed(nodes: Sequence[int], values: Sequence[float]) -> bytes:
    counted = struct.pack(f"<I{len(nodes)}I", len(nodes), *nodes)
    return counted + struct.pack(f"<I{len(values)}f", len(values), *values)


def written(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def walked(content: bytes) -> dict[tuple[int, ...], float]:
    """Read a file the slow way: spell its graph, recursively, and count."""
    (count,) = struct.unpack_from("<I", content)
    nodes = struct.unpack_from(f"<{count}I", content, 4)
    (leaves,) = struct.unpack_from("<I", content, 4 + 4 * count)
    values = struct.unpack_from(f"<{leaves}f", content, 8 + 4 * count)

    def spell(at: int, before: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        while at:
            leave = (*before, nodes[at] >> TILE_SHIFT)
            if nodes[at] & ACCEPTS:
                yield leave
            yield from spell(nodes[at] & CHILD, leave)
            at = 0 if nodes[at] & LAST else at + 1

    return dict(zip(spell(nodes[0] & CHILD, ()), values, strict=True))


def leaves_of(distribution: TileDistribution, rack_size: int) -> list[tuple[int, ...]]:
    return [
        tuple(row) for leaves in possible_leaves(distribution, rack_size) for row in leaves.tolist()
    ]


def test_english_is_read_as_it_was_written(tmp_path: Path) -> None:
    table = synthetic_leaves(load_distribution(), 1)
    path = tmp_path / "english.klv2"
    write_klv(path, table)
    read = read_klv(path, table.distribution)
    assert np.array_equal(read.values, table.values)
    content = path.read_bytes()
    (nodes,) = struct.unpack_from("<I", content)
    assert len(content) == 8 + 4 * nodes + 4 * (len(leaves_of(table.distribution, 7)) - 1)
    assert nodes < 4000
    assert [entry.name for entry in tmp_path.iterdir()] == ["english.klv2"]


@pytest.mark.parametrize("rack_size", [1, 2, 4, 7])
@pytest.mark.parametrize("counts", [(2, 3, 0, 5), (0, 1, 1, 1), (9, 9, 9, 9), (0, 0, 0, 0)])
def test_a_file_spells_all_leaves_in_order(
    tmp_path: Path, rack_size: int, counts: tuple[int, ...]
) -> None:
    few = TileDistribution("few", FEW.alphabet, counts, FEW.points, FEW.vowels)
    table = shorter_leaves(synthetic_leaves(few, 5), rack_size)
    write_klv(tmp_path / "few.klv2", table)
    content = (tmp_path / "few.klv2").read_bytes()
    slow = walked(content)
    assert list(slow) == sorted(leaves_of(few, rack_size))[1:]
    for leave, worth in slow.items():
        assert worth == np.float32(table.value(leave))
    read = parse_klv(content, "few.klv2", few, rack_size)
    assert np.array_equal(read.values, table.values)


# ?, ?A, ?C and AC: a list that is the end of another, a node where no leave ends.
SOME = [node(0, 1, LAST), node(0, 3, ACCEPTS), node(1, 4, LAST), node(1, 0, ACCEPTS), node(3)]


def test_leaves_that_are_missing_are_worth_nothing(tmp_path: Path) -> None:
    content = packed(SOME, [25, 26.5, -1, 0.25])
    path = written(tmp_path / "some.klv2", content)
    table = read_klv(path, FEW)
    listed = walked(content)
    assert list(listed) == [(0,), (0, 1), (0, 3), (1, 3)]
    for leave in leaves_of(FEW, 7):
        assert table.value(leave) == listed.get(leave, 0)


@pytest.mark.parametrize("unused", [0, LAST])
def test_a_root_of_no_gaddag_does_no_harm(tmp_path: Path, unused: int) -> None:
    nodes = [node(0, 2, LAST), unused, node(0, 0, ACCEPTS), node(3)]
    table = read_klv(written(tmp_path / "some.klv2", packed(nodes, [20, -5])), FEW)
    assert (table.value((0,)), table.value((3,))) == (20, -5)


def test_blocks_that_are_filled_up_do_no_harm(tmp_path: Path) -> None:
    # As wolges lays lists out: zeros before a list that would cross the end of a block.
    nodes = [
        node(0, 4, LAST),
        0,
        0,
        0,
        node(0, 7, ACCEPTS),
        node(3),
        0,
        node(1, 0, ACCEPTS),
        node(2),
    ]
    path = written(tmp_path / "blocks.klv2", packed(nodes, [25, 26, 27, -1]))
    table = read_klv(path, FEW)
    assert [table.value(leave) for leave in [(0,), (0, 1), (3,)]] == [25, 26, -1]


@pytest.mark.parametrize("nodes", [[LAST], [0], [LAST, LAST]])
def test_a_table_of_no_leaves(tmp_path: Path, nodes: list[int]) -> None:
    table = read_klv(written(tmp_path / "none.klv2", packed(nodes, [])), FEW)
    assert not table.values.any()


def test_leaves_that_the_bag_cannot_give_are_left_out(tmp_path: Path) -> None:
    nodes = [node(0, 1, LAST), node(0, 3, ACCEPTS), node(2), node(0, 4), node(0)]
    path = written(tmp_path / "more.klv2", packed(nodes, [1, 2, 3, 4]))
    table = read_klv(path, FEW)
    assert (table.value((0,)), table.value((0, 0))) == (1, 2)
    assert np.count_nonzero(table.values) == 2


ROOT = node(0, 1, LAST)
CHAIN = [ROOT, *(node(3, at) for at in range(2, 8)), node(3)]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "0 bytes, but a count stands at byte 0"),
        (b"AA\nAB\n", "nodes; a leave table has 1 to 4194304"),
        (bytes(8), "0 nodes; a leave table has 1 to"),
        (packed(SOME, [1, 2, 3, 4])[:-1], "43 bytes, but 5 nodes and 4 values are 44"),
        (packed(SOME, [1, 2, 3, 4]) + b"\0", "45 bytes, but 5 nodes"),
        (packed(SOME, [1, 2, 3, 4])[:-8], "16 bits, the older KLV"),
        (packed(SOME, [1, 2, 3]), "a graph of 4 leaves and 3 values"),
        (packed(SOME, [0] * 210), "210 leaves; these tiles have 209"),
        (packed(SOME, [1, float("nan"), 3, 4]), "value 1 is nan"),
        (packed(SOME, [1, 2, 3, -1e9]), "value 3 is -1000000000.0; a worth is at most 10000"),
        (packed([node(0, 9, LAST)], []), "node 0 of 1 has its child at 9"),
        (packed([ROOT, node(1, flags=ACCEPTS)], [1]), "never ends"),
        (packed([ROOT, node(4)], [1]), "node 1 has tile 4, but the highest is 3"),
        (packed([ROOT, node(2, flags=ACCEPTS), node(1)], [1, 1]), "node 1 .* not in tile order"),
        (packed([ROOT, node(1, 1)], [1]), "leads back into itself"),
        (packed([ROOT, node(1, flags=LAST)], []), "node 1 leads to no leave"),
        (packed([ROOT, node(3, 2), node(1)], [1, 1]), "at node 2 a leave goes on with a tile less"),
        (packed(CHAIN, [1] * 7), "a leave of more than 6 tiles"),
    ],
)
def test_a_file_that_leads_astray_is_refused(tmp_path: Path, content: bytes, reason: str) -> None:
    with pytest.raises(ValueError, match=rf"bad\.klv2: .*{reason}"):
        read_klv(written(tmp_path / "bad.klv2", content), FEW)


def test_a_graph_that_spells_far_more_than_it_states(tmp_path: Path) -> None:
    # Six levels of 27 tiles each, in any order: 27 to the sixth leaves in 163 nodes.
    nodes = [ROOT]
    for level in range(6):
        child = 27 * level + 28 if level < 5 else 0
        nodes += [node(tile, child, ACCEPTS | (LAST if tile == 26 else 0)) for tile in range(27)]
    with pytest.raises(ValueError, match=r"a graph of \d+ leaves and 1000 values"):
        read_klv(written(tmp_path / "rich.klv2", packed(nodes, [0] * 1000)), load_distribution())


def test_a_file_that_is_far_too_large_is_not_read(tmp_path: Path) -> None:
    path = written(tmp_path / "huge.klv2", packed(SOME, [1, 2, 3, 4]))
    with path.open("r+b") as file:
        file.truncate(1 << 36)  # takes no room on the disk
    with pytest.raises(ValueError, match="no leave table for these tiles has over"):
        read_klv(path, FEW)

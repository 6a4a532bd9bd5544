"""Leave tables in files (KLV2, the format of wolges and MAGPIE).

A file is, little-endian, ``u32 n``, ``n`` nodes of a DAWG alone, in the narrow layout of word
graphs, ``u32 m`` and ``m`` ``f32``. The DAWG's words are leaves, their tiles sorted, the blank (0)
first; the worth of a leave, in points, is at its rank among them in sorted order. A missing leave,
and the empty one, is worth 0.

Reading trusts nothing: the graph is checked, then walked from each first tile with numpy, level by
level. No level has more leaves than the file states in all.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .alphabet import TileDistribution
from .arrays import I64, U32, Bools
from .cache import replacing
from .files import read_bounded
from .kwg import NARROW, Arcs, Nodes, WordGraph, check_ends, check_lists, list_ends
from .leaves import MAX_WORTH, RACK_SIZE, LeaveTable, count_places

_FIRST_LIST = 1  # node 0 points at the root; without a GADDAG no other does


class _Graph(NamedTuple):
    """A DAWG that is known to be sound."""

    arcs: Arcs
    after: U32  # [nodes] the end (exclusive) of the node's list
    before: I64  # [nodes + 1] how many leaves begin at all nodes before this one


class _Places(NamedTuple):
    """Leaves, each with its rank in the graph and its place in the flat table."""

    rank: I64
    place: I64
    possible: Bools  # a full bag can give it


class _Leaves(NamedTuple):
    """Beginnings of leaves, all of one size."""

    begin: I64  # the list of the tiles that can follow
    tile: I64  # the last
    taken: I64  # how many of the last tile
    rank: I64  # how many leaves come before those that follow
    place: I64  # in the flat table, from the first of this size
    possible: Bools  # a full bag can give it


def read_klv(path: str | Path, distribution: TileDistribution) -> LeaveTable:
    """Read a leave table for a distribution; skip leaves its bag can't give.

    Raises:
        ValueError: names the file and what is wrong with it, or that it is for other tiles.
        OSError: the file cannot be read.
    """
    path = Path(path)
    most = 8 + 4 * (NARROW.max_nodes + count_places(distribution, RACK_SIZE))
    content = read_bounded(path, most, "leave table for these tiles")
    return parse_klv(content, str(path), distribution)


def parse_klv(
    content: bytes, source: str, distribution: TileDistribution, rack_size: int = RACK_SIZE
) -> LeaveTable:
    """Read a leave table from a file's content, named ``source`` in errors; raises ValueError."""
    table = LeaveTable.zero(distribution, rack_size)
    nodes, worths = _split(content, source)
    graph = _checked(nodes, len(worths), table, source)
    bad = ~(np.abs(worths) <= MAX_WORTH)  # true for what is not a number, too
    if bad.any():
        bad_leave = int(bad.argmax())
        raise ValueError(
            f"{source}: value {bad_leave} is {worths[bad_leave]}; "
            f"a worth is at most {MAX_WORTH} points either way"
        )
    values = table.values.copy()
    for places in _find_places(graph, table, source):
        leave_values = worths[places.rank[places.possible]].astype(np.float64)
        values[places.place[places.possible]] = np.rint(leave_values * 1000)
    return LeaveTable(table.distribution, values, rack_size)


def write_klv(path: str | Path, table: LeaveTable) -> None:
    """Write all leaves that a full bag can give, atomically; OSError if that fails."""
    arcs = _all_leaves(table.distribution.counts, table.rack_size - 1)
    graph = _linked(arcs, table)
    worths = np.zeros(int(_spelled_from(graph, arcs.child[:1])[0]), "<f4")
    for places in _find_places(graph, table, "a leave table"):
        worths[places.rank] = table.values[places.place] / 1000
    nodes = arcs.pack(NARROW).astype("<u4", copy=False)
    parts = (np.array([len(nodes)], "<u4"), nodes, np.array([len(worths)], "<u4"), worths)
    with replacing(Path(path)) as temporary:
        temporary.write_bytes(b"".join(part.tobytes() for part in parts))


def _split(content: bytes, source: str) -> tuple[Nodes, npt.NDArray[np.float32]]:
    size = len(content)
    count = _number(content, 0, source)
    behind = 4 + 4 * count
    if not 1 <= count <= NARROW.max_nodes:
        raise ValueError(
            f"{source}: {count} nodes; a leave table has 1 to {NARROW.max_nodes} (is it one?)"
        )
    values = _number(content, behind, source)
    begin = behind + 4
    if size == begin + 2 * values and values:
        raise ValueError(
            f"{source}: values of 16 bits, the older KLV; only KLV2, with 32 bits, is read"
        )
    if size != begin + 4 * values:
        raise ValueError(
            f"{source}: {size} bytes, but {count} nodes and {values} values are "
            f"{begin + 4 * values} (cut short, or no leave table?)"
        )
    nodes = np.frombuffer(content, "<u4", count, 4).astype(np.uint32, copy=False)
    return nodes, np.frombuffer(content, "<f4", values, begin).astype(np.float32, copy=False)


def _number(content: bytes, at: int, source: str) -> int:
    if len(content) < at + 4:
        raise ValueError(
            f"{source}: {len(content)} bytes, but a count stands at byte {at} (cut short, or no "
            "leave table?)"
        )
    return int.from_bytes(content[at : at + 4], "little")


def _checked(nodes: Nodes, leaves: int, table: LeaveTable, source: str) -> _Graph:
    """Check that the graph is finite and spells as many leaves as there are values."""
    if leaves >= len(table.values):
        raise ValueError(
            f"{source}: {leaves} leaves; these tiles have {len(table.values) - 1} (is it for other "
            "tiles or a larger rack?)"
        )
    arcs = WordGraph(nodes).arcs()
    # The nodes that can be reached: from each child to the end of its list. Others do no harm:
    # some writers put the root of a missing GADDAG before the lists, and wolges pads blocks of 16
    # nodes with zeros.
    count, child = len(arcs.child), arcs.child
    entered = np.zeros(count, np.bool_)
    entered[child[(child > 0) & (child < count)]] = True
    so_far = np.cumsum(entered)
    after_a_last = np.concatenate(([True], arcs.last[:-1]))
    begin = np.maximum.accumulate(np.where(after_a_last, np.arange(count), 0))
    used: Bools = so_far - so_far[begin] + entered[begin] > 0
    check_lists(arcs, source, _FIRST_LIST, len(table.distribution.counts) - 1, used)
    longest = table.rack_size - 1
    if not check_ends(arcs.child, arcs.last, _FIRST_LIST, longest, source):
        raise ValueError(f"{source}: a leave of more than {longest} tiles")
    graph = _linked(arcs, table)
    empty = used & (graph.before[1:] == graph.before[:-1])
    if empty.any():
        raise ValueError(f"{source}: node {int(empty.argmax())} leads to no leave")
    spelled = _spelled_from(graph, arcs.child[:1])
    if int(spelled[0]) != leaves:
        raise ValueError(f"{source}: a graph of {int(spelled[0])} leaves and {leaves} values")
    return graph


def _linked(arcs: Arcs, table: LeaveTable) -> _Graph:
    """Count the leaves that begin at each node, in as many passes as a leave may have tiles."""
    after = list_ends(arcs.last, _FIRST_LIST)
    before = np.zeros(len(arcs.tile) + 1, np.int64)
    graph = _Graph(arcs, after, before)
    for _ in range(table.rack_size - 1):
        # Capped, since a graph could spell 64⁶ leaves; more than places are wrong anyway.
        behind = np.minimum(_spelled_from(graph, arcs.child), len(table.values))
        np.cumsum(arcs.accepts + behind, out=before[1:])
    return graph


def _spelled_from(graph: _Graph, first: U32) -> I64:
    """Count the leaves that lists spell, each given by its first node; 0 is the empty list."""
    counts: I64 = graph.before[graph.after[first]] - graph.before[first]
    return np.where(first > 0, counts, 0)


def _find_places(graph: _Graph, table: LeaveTable, source: str) -> Iterator[_Places]:
    """Yield the leaves of each size by their first tile; all at once would take much memory."""
    if table.rack_size == 1:
        return
    nothing = np.zeros(1, np.int64)
    begin = graph.arcs.child[:1].astype(np.int64)
    empty = _Leaves(begin, nothing, nothing, nothing, nothing, np.ones(1, np.bool_))
    single, places = _longer(empty, 1, graph, table, source)
    yield places
    for index in range(len(single.begin)):
        leaves = _Leaves._make(each[index : index + 1] for each in single)
        for size in range(2, table.rack_size):
            leaves, places = _longer(leaves, size, graph, table, source)
            yield places


def _longer(
    leaves: _Leaves, size: int, graph: _Graph, table: LeaveTable, source: str
) -> tuple[_Leaves, _Places]:
    """Return leaves extended by each tile that can follow, and the places of those accepted."""
    arcs, before, after = graph.arcs, graph.before, graph.after
    _, offsets, binomials = table.arrays
    begin = leaves.begin
    lengths = np.where(begin > 0, after[begin].astype(np.int64) - begin, 0)
    # A row for each tile that can follow: from which leave, and at which node of its list.
    row = np.repeat(np.arange(len(begin)), lengths)
    node = np.arange(len(row)) - (np.cumsum(lengths) - lengths - begin)[row]
    tile = arcs.tile[node].astype(np.int64)
    if (tile < leaves.tile[row]).any():
        bad_node = int(node[(tile < leaves.tile[row]).argmax()])
        raise ValueError(
            f"{source}: at node {bad_node} a leave goes on with a tile less than the one before; "
            "the tiles of a leave are sorted (is it a list of words?)"
        )
    repeats = np.where(tile == leaves.tile[row], leaves.taken[row], 0) + 1
    possible = leaves.possible[row] & (repeats <= np.array(table.distribution.counts)[tile])
    rank = leaves.rank[row] + before[node] - before[begin[row]]
    place = leaves.place[row] + binomials[size - 1][tile]
    is_leave = arcs.accepts[node]
    places = _Places(rank[is_leave], place[is_leave] + offsets[size], possible[is_leave])
    following = arcs.child[node].astype(np.int64)
    return _Leaves(following, tile, repeats, rank + is_leave, place, possible), places


def _all_leaves(counts: tuple[int, ...], longest: int) -> Arcs:
    """Make the DAWG of all leaves that a bag can give, without searching for equal lists.

    What can follow a leave depends on three things: its last tile, how many more of that there
    are, and for how many tiles there is room. For each room the list of all tiles is laid out
    first. What follows is an end of that list, unless some of the last tile are left, but fewer
    than there is room for and fewer than at first; then it is a list of its own.
    """
    tiles = [tile for tile, count in enumerate(counts) if count]
    nodes: list[tuple[int, int, bool]] = [(0, 0, True)]  # tile, child, last
    lists: dict[tuple[int, int, int], int] = {}  # by tile's position, copies left and room

    def following(position: int, left: int, room: int) -> int:
        left = min(left, room)
        return lists.get((position, left, room), 0) if left else fresh(position + 1, room)

    def fresh(position: int, room: int) -> int:
        if position == len(tiles):
            return 0
        return lists.get((position, min(counts[tiles[position]], room), room), 0)

    for room in range(1, longest + 1):
        begin = len(nodes)
        for position, tile in enumerate(tiles):
            lists[position, min(counts[tile], room), room] = len(nodes)
            child = following(position, counts[tile] - 1, room - 1)
            nodes.append((tile, child, position == len(tiles) - 1))
        whole = nodes[begin:]
        for position, tile in enumerate(tiles):
            for left in range(1, min(counts[tile], room)):
                lists[position, left, room] = len(nodes)
                child = following(position, left - 1, room - 1)
                nodes.append((tile, child, whole[position][2]))
                nodes.extend(whole[position + 1 :])
    nodes[0] = (0, fresh(0, longest), True)
    tile_of, child_of, last = zip(*nodes, strict=True)
    accepts = np.ones(len(nodes), np.bool_)
    accepts[0] = False
    return Arcs(np.array(tile_of, np.uint8), accepts, np.array(last), np.array(child_of, np.uint32))

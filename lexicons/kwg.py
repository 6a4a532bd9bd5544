"""Word graphs: the words of a lexicon as a DAWG and a GADDAG in one array (KWG and KBWG files).

A file, as wolges and MAGPIE have them, is an array of little-endian 32-bit nodes without a header,
in one of two layouts. ``NARROW`` (``.kwg``) numbers 4,194,304 nodes; richer languages outgrow it
and take ``WIDE`` (``.kbwg``), which numbers 16,777,216:

==============================================  =============  ============
what                                            narrow, bits   wide, bits
==============================================  =============  ============
tile                                            31–24          5–0
a word ends with this tile                      23             7
last of its siblings                            22             6
index of the first child, 0 where there is none  21–0          31–8
==============================================  =============  ============

Siblings lie next to each other, tiles ascending. The child of node 0 is the first node of the
DAWG, the child of node 1 the first node of the GADDAG. In the GADDAG tile 0 separates: CARE is
there as ``ERAC``, ``RAC@E``, ``AC@RE`` and ``C@ARE``; after a separator comes the DAWG.

Files don't state their layout. The suffix decides which one is tried first (narrow, if it is
neither); if the file is unsound in that, the other is tried. No lexicon is sound in both: read as
wide, the first node of a narrow one has a child beyond node 16,384; read as narrow, a wide node
without a child has tile 0 and a sibling after it, and two of these in a row are out of order.

Nothing here needs numba, so a host that only checks words compiles nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

import numpy as np

from .arrays import U8, U32, Bools
from .cache import replacing

MAX_WORD = 63
_MAX_DEPTH = MAX_WORD + 1  # with the separator
MAX_TILE = 63
_FIRST_LIST = 2  # nodes 0 and 1 only point at the two roots

Nodes: TypeAlias = U32


class NodeLayout(NamedTuple):
    """Where the fields of a 32-bit node are; kernels take it as it is."""

    tile_shift: int
    tile_mask: int  # of the shifted node
    accepts: int
    last: int
    child_shift: int
    child_mask: int  # of the shifted node: the highest index

    @property
    def suffix(self) -> str:
        """Suffix of files in this layout."""
        return ".kbwg" if self.child_shift else ".kwg"

    @property
    def max_nodes(self) -> int:
        """Most nodes that this layout can number."""
        return self.child_mask + 1


NARROW: Final = NodeLayout(24, 0xFF, 1 << 23, 1 << 22, 0, (1 << 22) - 1)
WIDE: Final = NodeLayout(0, 0x3F, 1 << 7, 1 << 6, 8, (1 << 24) - 1)
GRAPH_SUFFIXES: Final = (NARROW.suffix, WIDE.suffix)


class Arcs(NamedTuple):
    """The fields of all nodes, one array each, whatever the layout was."""

    tile: U8  # [nodes]
    accepts: Bools  # [nodes] a word ends here
    last: Bools  # [nodes] of its siblings
    child: U32  # [nodes] the first of them; 0: none

    def pack(self, layout: NodeLayout) -> Nodes:
        """Return the nodes in a layout, which must be able to number them."""
        nodes = self.tile.astype(np.uint32) << np.uint32(layout.tile_shift)
        nodes |= self.child << np.uint32(layout.child_shift)
        nodes |= self.accepts * np.uint32(layout.accepts)
        nodes |= self.last * np.uint32(layout.last)
        return nodes


class WordGraph:
    """The words of a lexicon: ``nodes`` is a read-only ``uint32`` array in ``layout``.

    The constructor trusts its arguments; ``check_nodes`` does not.
    """

    def __init__(self, nodes: Nodes, layout: NodeLayout = NARROW) -> None:
        self.nodes: Nodes = np.asarray(nodes, dtype=np.uint32).view()
        self.nodes.flags.writeable = False
        self.layout = layout

    def __reduce__(self) -> tuple[type[WordGraph], tuple[Nodes, NodeLayout]]:
        return WordGraph, (self.nodes, self.layout)

    @cached_property
    def dawg_root(self) -> int:
        """Index of the first node of the DAWG; 0 without words."""
        return int(self.nodes[0]) >> self.layout.child_shift & self.layout.child_mask

    @cached_property
    def gaddag_root(self) -> int:
        """Index of the first node of the GADDAG; 0 without words."""
        return int(self.nodes[1]) >> self.layout.child_shift & self.layout.child_mask

    @cached_property
    def _view(self) -> memoryview:
        return self.nodes.data  # indexed four times as fast as the array

    def arcs(self) -> Arcs:
        """Return the fields of all nodes, as new arrays."""
        nodes, layout = self.nodes, self.layout
        child = nodes >> np.uint32(layout.child_shift)
        child &= np.uint32(layout.child_mask)
        tile = nodes >> np.uint32(layout.tile_shift)
        return Arcs(
            tile=(tile & np.uint32(layout.tile_mask)).astype(np.uint8),
            accepts=nodes & np.uint32(layout.accepts) != 0,
            last=nodes & np.uint32(layout.last) != 0,
            child=child,
        )

    def in_layout(self, layout: NodeLayout) -> WordGraph:
        """Return this graph in a layout; itself if it has it already.

        Raises:
            ValueError: it has more nodes than the layout can number.
        """
        if layout == self.layout:
            return self
        if len(self.nodes) > layout.max_nodes:
            raise ValueError(
                f"the word graph has {len(self.nodes)} nodes; the {layout.suffix} layout holds "
                f"{layout.max_nodes}, the {WIDE.suffix} layout {WIDE.max_nodes}"
            )
        return WordGraph(self.arcs().pack(layout), layout)

    def contains(self, tiles: Sequence[int]) -> bool:
        """Return whether letters (blanks without ``BLANK_FLAG``) are a word; takes microseconds."""
        nodes = self._view
        shift, mask, accepting, last, child_shift, child_mask = self.layout
        at = self.dawg_root
        accepts = 0
        for tile in tiles:
            if not at:
                return False
            node = nodes[at]
            while node >> shift & mask < tile and not node & last:
                at += 1
                node = nodes[at]
            if node >> shift & mask != tile:
                return False
            at = node >> child_shift & child_mask
            accepts = node & accepting
        return accepts != 0

    def words(self) -> Iterator[tuple[int, ...]]:
        """Return every word once, in the order of tile numbers."""
        return self.strings(self.dawg_root)

    def strings(self, root: int) -> Iterator[tuple[int, ...]]:
        """Return every string from a root once, in the order of tile numbers."""
        nodes = self._view
        shift, mask, accepting, last, child_shift, child_mask = self.layout
        prefix: list[int] = []
        stack = [root] if root else []  # the node to read next at each depth, 0 when done
        while stack:
            at = stack[-1]
            if not at:
                stack.pop()
                if prefix:
                    prefix.pop()
                continue
            node = nodes[at]
            stack[-1] = 0 if node & last else at + 1
            prefix.append(node >> shift & mask)
            if node & accepting:
                yield tuple(prefix)
            stack.append(node >> child_shift & child_mask)


def read_kwg(path: str | Path, letters: int | None = None, sound: str | None = None) -> WordGraph:
    """Map a word graph file into memory and check it.

    ``letters`` is the size of the alphabet, if known. ``sound`` is the SHA-256 of a file that was
    checked before and is in the layout of its suffix; then only the SHA-256 is compared, in a
    hundredth of the time.

    Raises:
        ValueError: names the file and what is wrong with it.
        OSError: the file cannot be opened.
    """
    path = Path(path)
    size = path.stat().st_size
    if size % 4 or size < 4 * _FIRST_LIST:
        raise ValueError(
            f"{path}: {size} bytes; a word graph is a whole number of 4-byte nodes, two or more"
        )
    mapped = np.memmap(path, dtype="<u4", mode="r")
    nodes = np.asarray(mapped).astype(np.uint32, copy=False)  # a copy on big-endian hosts only
    likely, other = (WIDE, NARROW) if _named(path) == WIDE else (NARROW, WIDE)
    if sound is not None:
        if hashlib.sha256(nodes.data).hexdigest() != sound:
            raise ValueError(f"{path}: another file than the one that was checked")
        return WordGraph(nodes, likely)
    try:
        check_nodes(nodes, str(path), letters, likely)
    except ValueError as unsound:
        try:
            check_nodes(nodes, str(path), letters, other)
        except ValueError:
            raise unsound from None
        return WordGraph(nodes, other)
    return WordGraph(nodes, likely)


def write_kwg(path: str | Path, graph: WordGraph) -> None:
    """Write a word graph file, atomically.

    The suffix decides the layout; with another suffix it is the graph's own.

    Raises:
        ValueError: the name ends in ``.kwg`` and the graph has too many nodes for it.
        OSError: the file cannot be written.
    """
    path = Path(path)
    nodes = graph.in_layout(_named(path) or graph.layout).nodes
    with replacing(path) as temporary:
        temporary.write_bytes(nodes.astype("<u4", copy=False).data)


def _named(path: Path) -> NodeLayout | None:
    named = {NARROW.suffix: NARROW, WIDE.suffix: WIDE}
    return named.get(path.suffix.lower())


def check_nodes(
    nodes: Nodes, source: str, letters: int | None = None, layout: NodeLayout = NARROW
) -> None:
    """Check that walking from the roots stays inside ``nodes`` and comes to an end.

    Raises:
        ValueError: names ``source``, the node and what is wrong with it.
    """
    count = len(nodes)
    if not _FIRST_LIST <= count <= layout.max_nodes:
        raise ValueError(f"{source}: {count} nodes; a word graph has 2 to {layout.max_nodes}")
    arcs = WordGraph(nodes, layout).arcs()
    check_lists(arcs, source, _FIRST_LIST, MAX_TILE if letters is None else letters)
    if not arcs.child[1] and arcs.child[0]:
        parents = np.flatnonzero(arcs.child[_FIRST_LIST:]) + _FIRST_LIST
        if parents.size and (arcs.tile[arcs.child[parents]] >= arcs.tile[parents]).all():
            raise ValueError(
                f"{source}: words by sorted letters only (an alphagram graph, KAD); moves are "
                "found with the word graph of the same lexicon, a .kwg file"
            )
        raise ValueError(f"{source}: a DAWG only; the GADDAG that moves are found with is missing")
    if not check_ends(arcs.child, arcs.last, _FIRST_LIST, _MAX_DEPTH, source):
        raise ValueError(f"{source}: a word of more than {MAX_WORD} letters")
    if arcs.child[1] and not arcs.child[0]:
        raise ValueError(f"{source}: a GADDAG only; the DAWG that judges words is missing")


def check_lists(
    arcs: Arcs, source: str, first_list: int, highest: int, used: Bools | None = None
) -> None:
    """Check that children are in lists of siblings that end and are in tile order.

    Nodes before ``first_list`` are in no list; ``highest`` is the greatest tile. Nodes that are not
    ``used`` may be in any order; None: all are used.

    Raises:
        ValueError: names ``source``, the node and what is wrong with it.
    """
    tiles, child, count = arcs.tile, arcs.child, len(arcs.tile)
    outside = (child >= count) | (child > 0) & (child < first_list)
    if outside.any():
        at = int(outside.argmax())
        raise ValueError(f"{source}: node {at} of {count} has its child at {int(child[at])}")
    if count > first_list and not arcs.last[-1]:
        raise ValueError(f"{source}: the list of siblings at the end never ends (cut short?)")
    alien = tiles[first_list:] > highest
    if alien.any():
        at = int(alien.argmax()) + first_list
        raise ValueError(
            f"{source}: node {at} has tile {int(tiles[at])}, but the highest is {highest} (is it "
            "for another alphabet?)"
        )
    unordered = ~arcs.last[first_list:-1] & (tiles[first_list + 1 :] <= tiles[first_list:-1])
    if used is not None:
        unordered &= used[first_list:-1]
    if unordered.any():
        at = int(unordered.argmax()) + first_list
        raise ValueError(f"{source}: node {at} and the sibling after it are not in tile order")


def check_ends(
    child: U32,
    last: Bools,
    first_list: int,
    max_depth: int,
    source: str,
) -> bool:
    """Return whether no path has more than ``max_depth`` nodes after its first; refuse cycles.

    Each round settles the nodes whose descendants are settled: as many rounds as the longest word
    has letters, and one for the separator. Nodes before ``first_list`` are in no list.

    Raises:
        ValueError: names ``source`` and a node from which a path leads back into itself.
    """
    count = len(child)
    end_of = list_ends(last, first_list)
    open_before = np.zeros(count + 1, np.uint32)
    unsettled = np.flatnonzero(child)
    is_open = child != 0
    for _ in range(max_depth):
        if not unsettled.size:
            return True
        np.cumsum(is_open, dtype=np.uint32, out=open_before[1:])
        begin = child[unsettled]
        remaining = unsettled[open_before[end_of[begin]] != open_before[begin]]
        if remaining.size == unsettled.size:
            at = int(unsettled[0])
            raise ValueError(f"{source}: following children from node {at} leads back into itself")
        unsettled = remaining
        is_open[:] = False
        is_open[unsettled] = True
    return not unsettled.size


def list_ends(last: Bools, first_list: int) -> U32:
    """Return for each node the end (exclusive) of its list.

    ``last`` marks the last node of each list, and must mark the last node of all. Each node before
    ``first_list`` is a list of its own.
    """
    last_nodes = np.flatnonzero(last)
    ends = last_nodes[last_nodes >= first_list].astype(np.uint32) + np.uint32(1)
    lengths = np.diff(ends, prepend=np.uint32(first_list))
    end_of = np.arange(1, len(last) + 1, dtype=np.uint32)
    end_of[first_list:] = np.repeat(ends, lengths)
    return end_of

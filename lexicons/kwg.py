"""Word graphs: the words of a lexicon as a DAWG and a GADDAG in one array (KWG files).

A KWG file, the layout that wolges and MAGPIE use, is an array of little-endian 32-bit nodes
without a header:

========  =====================================================================
bits
31–24     tile
23        a word ends with this tile
22        last of its siblings
21–0      index of the first child, 0 where there is none
========  =====================================================================

Siblings lie next to each other, tiles ascending. The child of node 0 is the first node of the
DAWG, the child of node 1 the first node of the GADDAG. In the GADDAG tile 0 separates: CARE is
there as ``ERAC``, ``RAC@E``, ``AC@RE`` and ``C@ARE``; behind a separator comes the DAWG.

Nothing here needs numba, so that a host which only checks words need not compile.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from lexicons.cache import replacing

__all__ = [
    "ACCEPTS",
    "CHILD",
    "LAST",
    "MAX_NODES",
    "MAX_TILE",
    "MAX_WORD",
    "TILE_SHIFT",
    "Nodes",
    "WordGraph",
    "check_nodes",
    "read_kwg",
    "write_kwg",
]

TILE_SHIFT = 24
ACCEPTS = 1 << 23
LAST = 1 << 22
CHILD = LAST - 1
MAX_NODES = CHILD
MAX_WORD = 63
_MAX_DEPTH = MAX_WORD + 1  # with the separator
MAX_TILE = 63
_FIRST_LIST = 2  # nodes 0 and 1 only point at the two roots

Nodes: TypeAlias = npt.NDArray[np.uint32]


class WordGraph:
    """The words of a lexicon: ``nodes`` is a read-only ``uint32`` array in KWG layout.

    The constructor trusts its argument; ``check_nodes`` does not.
    """

    def __init__(self, nodes: Nodes) -> None:
        """Wrap nodes; they are not copied, and this view of them is read-only."""
        self.nodes: Nodes = np.asarray(nodes, dtype=np.uint32).view()
        self.nodes.flags.writeable = False

    def __reduce__(self) -> tuple[type[WordGraph], tuple[Nodes]]:
        """Pickle the nodes alone."""
        return WordGraph, (self.nodes,)

    @cached_property
    def dawg_root(self) -> int:
        """Index of the first node of the DAWG; 0 without words."""
        return int(self.nodes[0]) & CHILD

    @cached_property
    def gaddag_root(self) -> int:
        """Index of the first node of the GADDAG; 0 without words."""
        return int(self.nodes[1]) & CHILD

    @cached_property
    def _view(self) -> memoryview:
        return self.nodes.data  # indexed four times as fast as the array

    def contains(self, tiles: Sequence[int]) -> bool:
        """Tell whether these letters (blanks without ``BLANK_FLAG``) are a word. Microseconds."""
        nodes = self._view
        at = self.dawg_root
        accepts = 0
        for tile in tiles:
            if not at:
                return False
            node = nodes[at]
            while node >> TILE_SHIFT < tile and not node & LAST:
                at += 1
                node = nodes[at]
            if node >> TILE_SHIFT != tile:
                return False
            at = node & CHILD
            accepts = node & ACCEPTS
        return accepts != 0

    def words(self) -> Iterator[tuple[int, ...]]:
        """Give every word once, in the order of tile numbers."""
        return self._spell(self.dawg_root)

    def gaddag_strings(self) -> Iterator[tuple[int, ...]]:
        """Give every string of the GADDAG once; tile 0 separates."""
        return self._spell(self.gaddag_root)

    def _spell(self, root: int) -> Iterator[tuple[int, ...]]:
        nodes = self._view
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
            stack[-1] = 0 if node & LAST else at + 1
            prefix.append(node >> TILE_SHIFT)
            if node & ACCEPTS:
                yield tuple(prefix)
            stack.append(node & CHILD)


def read_kwg(path: str | Path, letters: int | None = None) -> WordGraph:
    """Map a KWG file into memory, after checking that no reader can be led astray by it.

    ``letters`` is the size of the alphabet, where it is known.

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
    check_nodes(nodes, str(path), letters)
    return WordGraph(nodes)


def write_kwg(path: str | Path, graph: WordGraph) -> None:
    """Write a KWG file; one that is there already is replaced whole or not at all."""
    with replacing(Path(path)) as temporary:
        temporary.write_bytes(graph.nodes.astype("<u4", copy=False).tobytes())


def check_nodes(nodes: Nodes, source: str, letters: int | None = None) -> None:
    """Make sure that walking from the roots stays inside ``nodes`` and comes to an end.

    Raises:
        ValueError: names ``source``, the node and what is wrong with it.
    """
    count = len(nodes)
    if not _FIRST_LIST <= count <= MAX_NODES + 1:
        raise ValueError(f"{source}: {count} nodes; a word graph has 2 to {MAX_NODES + 1}")
    child = (nodes & CHILD).astype(np.int64)
    outside = (child >= count) | (child == 1)
    if outside.any():
        at = int(outside.argmax())
        raise ValueError(f"{source}: node {at} of {count} has its child at {int(child[at])}")
    if count > _FIRST_LIST and not nodes[-1] & LAST:
        raise ValueError(f"{source}: the list of siblings at the end never ends (cut short?)")
    if not child[1] and child[0]:
        raise ValueError(f"{source}: a DAWG only; the GADDAG that moves are found with is missing")
    _check_tiles(nodes, source, MAX_TILE if letters is None else letters)
    _check_ends(nodes, child, source)


def _check_tiles(nodes: Nodes, source: str, highest: int) -> None:
    tiles = nodes[_FIRST_LIST:] >> TILE_SHIFT
    if tiles.size and int(tiles.max()) > highest:
        at = int((tiles > highest).argmax())
        raise ValueError(
            f"{source}: node {at + _FIRST_LIST} has tile {int(tiles[at])}, but the highest is "
            f"{highest} (is it for another alphabet?)"
        )
    joined = nodes[_FIRST_LIST:-1] & LAST == 0
    unordered = joined & (tiles[1:] <= tiles[:-1])
    if unordered.any():
        at = int(unordered.argmax()) + _FIRST_LIST
        raise ValueError(f"{source}: node {at} and the sibling after it are not in tile order")


def _check_ends(nodes: Nodes, child: npt.NDArray[np.int64], source: str) -> None:
    """Refuse cycles: settle, again and again, the nodes behind which everything is settled.

    A round is a few passes over the array and settles one more level, so that a graph takes as
    many as its longest word has letters, and one for the separator.
    """
    count = len(nodes)
    last = np.flatnonzero(nodes & LAST)
    # For each node the end (exclusive) of its list; the roots are lists of one.
    after = np.empty(count, np.int64)
    after[:_FIRST_LIST] = np.arange(1, _FIRST_LIST + 1)
    last = last[last >= _FIRST_LIST]
    lengths = np.diff(np.concatenate(([_FIRST_LIST - 1], last)))
    after[_FIRST_LIST:] = np.repeat(last + 1, lengths)
    open_before = np.empty(count + 1, np.int64)
    open_before[0] = 0
    unsettled = child != 0
    left = int(np.count_nonzero(unsettled))
    for _ in range(_MAX_DEPTH):
        if not left:
            return
        np.cumsum(unsettled, out=open_before[1:])
        list_open = open_before[after] != open_before[:-1]  # from each node to its list's end
        unsettled = (child != 0) & list_open[child]
        remaining = int(np.count_nonzero(unsettled))
        if remaining == left:
            at = int(unsettled.argmax())
            raise ValueError(f"{source}: following children from node {at} leads back into itself")
        left = remaining
    if left:
        raise ValueError(f"{source}: a word of more than {MAX_WORD} letters")

"""The word graph as kernels search it: 64-bit nodes that hold the set of their children.

The children of a KWG node have to be scanned. Here each node has the letters of its children as
bits, and a letter's child lies as far behind the first as there are set bits below its own. In an
alphabet of L letters:

============  =====================================================
bits
63 to L + 2   index of the first child
L + 1         a word ends with this node's tile
L to 0        tiles of the children; bit 0 is the GADDAG's separator
============  =====================================================

So the more letters, the fewer nodes can be indexed. Kernels get the lowest bit of the index, L + 2,
as ``shift``. Nodes keep the indexes they have in the KWG: 0 is the root of the DAWG, 1 that of the
GADDAG.
"""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

import numpy as np

from .arrays import READ_ONLY, U8, U32, U64, Bools
from .bits import bit_count
from .jit import helper, kernel
from .kwg import WordGraph
from .memory import word_at

SearchNodes: TypeAlias = Annotated[U64, READ_ONLY]  # [nodes]

FORMAT = "search nodes 2"
"""Names the layout of nodes; change it with the layout, since nodes are kept in the cache."""

DAWG_ROOT = np.uint64(0)
GADDAG_ROOT = np.uint64(1)

_ONE = np.uint64(1)
SEPARATOR = _ONE


def shift_of(letters: int) -> int:
    """Return the lowest bit of the index in nodes, given the alphabet's number of letters."""
    return letters + 2


def search_nodes(graph: WordGraph, letters: int) -> SearchNodes:
    """Return a graph's search nodes, read-only; ``letters`` is the size of its alphabet.

    Raises:
        ValueError: the graph has more nodes than their indexes can name.
    """
    shift, count = shift_of(letters), len(graph.nodes)
    most = (1 << 64) >> shift
    if count > most:
        raise ValueError(
            f"a word graph of {count:,} nodes; with an alphabet of {letters} letters moves can be "
            f"searched for with {most:,} at most"
        )
    arcs = graph.arcs()
    nodes = np.empty(count, np.uint64)
    _link(arcs.tile, arcs.accepts, arcs.last, arcs.child, np.uint64(shift), nodes)
    nodes.flags.writeable = False
    return nodes


@kernel
def _link(
    tile: U8,
    accepts: Bools,
    last: Bools,
    child: U32,
    shift: np.uint64,
    nodes: U64,
) -> None:
    ends = _ONE << shift - _ONE
    siblings = np.zeros(len(tile), np.uint64)  # the tiles from each node to the last of its list
    for at in range(len(tile) - 1, -1, -1):
        siblings[at] = _ONE << np.uint64(tile[at])
        if not last[at] and at + 1 < len(tile):
            siblings[at] |= siblings[at + 1]
    for at in range(len(tile)):
        first = np.uint64(child[at])
        node = first << shift
        if first:
            node |= siblings[first] & ends - _ONE
        if accepts[at]:
            node |= ends
        nodes[at] = node


@helper
def first_child(node: Any, shift: Any) -> Any:
    """Return the index of the first of a node's children."""
    return node >> shift


@helper
def ends_word(node: Any, shift: Any) -> Any:
    """Return whether a word ends with a node's tile."""
    return node >> shift - _ONE & _ONE != np.uint64(0)


@helper
def letters_after(node: Any, shift: Any) -> Any:
    """Return the tiles of a node's children as bits, the separator left out."""
    return node & (_ONE << shift - _ONE) - np.uint64(2)


@helper
def child_of(graph: Any, node: Any, tile: Any) -> Any:
    """Return the child of a node by its tile; 0, which has no children and ends no word, if none.

    ``graph`` is a record with the address of the ``nodes`` (``lexicons.memory``), whose indexes are
    sound, and their ``shift``.
    """
    letter = _ONE << np.uint64(tile)
    if not node & letter:
        return np.uint64(0)
    below = bit_count(node & (letter - _ONE))
    return word_at(graph.nodes, (node >> graph.shift) + below)

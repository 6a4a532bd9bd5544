"""The word graph as kernels search it: 64-bit nodes that hold the set of their children.

The children of a KWG node have to be scanned. Here each node has the letters of its children as
bits, and a letter's child lies as far behind the first as there are set bits below its own:

=====  =====================================================
bits
63–40  index of the first child
39     a word ends with this node's tile
38–0   tiles of the children; bit 0 is the GADDAG's separator
=====  =====================================================

Nodes keep the indexes they have in the KWG: 0 is the root of the DAWG, 1 that of the GADDAG.
Alphabets of up to 38 letters fit.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from .arrays import U8, U32, U64, Bools
from .bits import bit_count
from .jit import helper, kernel
from .kwg import WordGraph
from .memory import word_at

SearchNodes: TypeAlias = U64  # [nodes]

FORMAT = "search nodes 1"
"""Names the layout of nodes; change it with the layout, since nodes are kept in the cache."""

SEARCHED_LETTERS = 38
DAWG_ROOT = np.uint64(0)
GADDAG_ROOT = np.uint64(1)

_ONE = np.uint64(1)
_FIRST_SHIFT = np.uint64(40)
WORD_ENDS = _ONE << np.uint64(39)
CHILDREN = WORD_ENDS - _ONE  # all tiles of the children, the separator included
SEPARATOR = _ONE
LETTERS = CHILDREN - SEPARATOR


def search_nodes(graph: WordGraph, letters: int) -> SearchNodes:
    """Return a graph's search nodes, read-only; ``letters`` is the size of its alphabet.

    Raises:
        ValueError: the alphabet has more letters than a node can hold.
    """
    if letters > SEARCHED_LETTERS:
        raise ValueError(
            f"an alphabet of {letters} letters; moves can be searched for with "
            f"{SEARCHED_LETTERS} at most"
        )
    arcs = graph.arcs()
    nodes = np.empty(len(arcs.tile), np.uint64)
    _link(arcs.tile, arcs.accepts, arcs.last, arcs.child, nodes)
    nodes.flags.writeable = False
    return nodes


@kernel
def _link(
    tile: U8,
    accepts: Bools,
    last: Bools,
    child: U32,
    nodes: SearchNodes,
) -> None:
    siblings = np.zeros(len(tile), np.uint64)  # the tiles from each node to the last of its list
    for at in range(len(tile) - 1, -1, -1):
        siblings[at] = _ONE << np.uint64(tile[at])
        if not last[at] and at + 1 < len(tile):
            siblings[at] |= siblings[at + 1]
    for at in range(len(tile)):
        first = np.uint64(child[at])
        node = first << _FIRST_SHIFT
        if first:
            node |= siblings[first] & CHILDREN
        if accepts[at]:
            node |= WORD_ENDS
        nodes[at] = node


@helper
def first_child(node: Any) -> Any:
    """Return the index of the first of a node's children."""
    return node >> _FIRST_SHIFT


@helper
def child_of(nodes: Any, node: Any, tile: Any) -> Any:
    """Return the child of a node by its tile; 0, which has no children and ends no word, if none.

    ``nodes`` is the address of the graph (``lexicons.memory``), whose indexes are sound.
    """
    letter = _ONE << np.uint64(tile)
    if not node & letter:
        return np.uint64(0)
    below = bit_count(node & (letter - _ONE))
    return word_at(nodes, (node >> _FIRST_SHIFT) + below)

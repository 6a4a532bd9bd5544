"""Lists of siblings, each made once, and their layout as the nodes of a word graph.

A sibling is a cell: tile and accepting bit, first child, next sibling. Equal cells are found by
hash, so that equal lists and equal ends of lists are shared. A cell is made after its child and its
next sibling, so their numbers are smaller; cell 0 stands for the empty list.

In the layout the siblings of a list lie next to each other, longest lists first; lists that
are ends of longer ones are not laid out again.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np

from .arrays import I64, U8, U32
from .bits import GOLDEN, mixed, wrapping_add, wrapping_mul
from .jit import helper, kernel
from .kwg import NARROW, WIDE, NodeLayout, Nodes, WordGraph

CellIndexes: TypeAlias = U32

LABEL_TILE = 0x3F
LABEL_ACCEPTS = 0x80
_FIRST_CELL = 1
_FULLEST = 0.6  # greatest share of the hash table in use


class Cells(NamedTuple):
    """Siblings; ``child`` and ``next`` are cells, 0 where there is none."""

    label: U8  # [capacity] tile, LABEL_ACCEPTS
    child: CellIndexes  # [capacity]
    next: CellIndexes  # [capacity]
    used: I64  # [1] number of cells in use, with the empty cell 0
    table: CellIndexes  # [power of two] cells by hash, 0 where free


def make_room(capacity: int, old: Cells | None = None) -> Cells:
    """Make room for ``capacity`` cells, with those of ``old`` copied."""
    slots = 1 << int(capacity / _FULLEST).bit_length()
    cells = Cells(
        label=np.zeros(capacity, np.uint8),
        child=np.zeros(capacity, np.uint32),
        next=np.zeros(capacity, np.uint32),
        used=np.full(1, _FIRST_CELL, np.int64),
        table=np.zeros(slots, np.uint32),
    )
    if old is not None:
        used = int(old.used[0])
        cells.label[:used] = old.label[:used]
        cells.child[:used] = old.child[:used]
        cells.next[:used] = old.next[:used]
        cells.used[0] = used
        _fill_table(cells)
    return cells


def lay_out(
    cells: Cells, dawg_root: int, gaddag_root: int, layout: NodeLayout | None = None
) -> WordGraph:
    """Lay out all cells as a word graph; the roots are the first cells of its two root lists.

    Without ``layout`` it is the narrow one, or the wide one if there are too many nodes for that.

    Raises:
        ValueError: there are more nodes than the layout can number.
    """
    used = int(cells.used[0])
    place = np.zeros(used, np.uint32)
    lengths, order = _longest_first(cells, dawg_root, gaddag_root)
    total = _assign_places(cells, lengths, order, place)
    layout = layout or (NARROW if total <= NARROW.max_nodes else WIDE)
    if total > layout.max_nodes:
        raise ValueError(
            f"the word graph needs {total} nodes; the {layout.suffix} layout holds "
            f"{layout.max_nodes}, so the list must be shorter"
        )
    nodes = np.zeros(total, np.uint32)
    nodes[0] = layout.last | int(place[dawg_root]) << layout.child_shift
    nodes[1] = layout.last | int(place[gaddag_root]) << layout.child_shift
    _write_nodes(cells, order, place, layout, nodes)
    return WordGraph(nodes, layout)


def _longest_first(cells: Cells, dawg_root: int, gaddag_root: int) -> tuple[U8, I64]:
    used = int(cells.used[0])
    lengths = np.zeros(used, np.uint8)
    _measure(cells, lengths)
    begins = np.zeros(used, np.bool_)
    begins[cells.child[:used]] = True
    begins[[dawg_root, gaddag_root]] = True
    begins[0] = False
    heads = np.flatnonzero(begins)
    return lengths, heads[np.argsort(-lengths[heads].astype(np.int8), kind="stable")]


@helper
def intern(cells: Cells, label: int, child: int, following: int) -> int:
    """Find or make the cell with this content; there must be room for one."""
    mask = np.uint64(len(cells.table) - 1)
    slot = _hash(label, child, following) & mask
    while True:
        cell = cells.table[slot]
        if cell == 0:
            break
        if (
            cells.child[cell] == child
            and cells.next[cell] == following
            and cells.label[cell] == label
        ):
            return cell  # type: ignore[no-any-return]
        slot = (slot + np.uint64(1)) & mask
    made = np.uint32(cells.used[0])
    cells.used[0] += 1
    cells.label[made] = label
    cells.child[made] = child
    cells.next[made] = following
    cells.table[slot] = made
    return made  # type: ignore[return-value]


@helper
def _hash(label: int, child: int, following: int) -> np.uint64:
    content = wrapping_add(np.uint64(child) << np.uint64(32) | np.uint64(following), label)
    return mixed(wrapping_mul(content, GOLDEN))  # type: ignore[no-any-return]


@kernel
def _fill_table(cells: Cells) -> None:
    mask = np.uint64(len(cells.table) - 1)
    for cell in range(_FIRST_CELL, cells.used[0]):
        slot = _hash(cells.label[cell], cells.child[cell], cells.next[cell]) & mask
        while cells.table[slot] != 0:
            slot = (slot + np.uint64(1)) & mask
        cells.table[slot] = cell


@kernel
def _measure(cells: Cells, lengths: U8) -> None:
    """Fill ``lengths``, in place, with the length of the list that begins at each cell."""
    for cell in range(_FIRST_CELL, len(lengths)):
        lengths[cell] = lengths[cells.next[cell]] + 1  # the next cell was made earlier


@kernel
def _assign_places(
    cells: Cells,
    lengths: U8,
    heads: I64,
    place: CellIndexes,
) -> int:
    """Assign nodes to each list that is no end of a longer one; return the count of nodes.

    ``place`` is modified in place: the node of each cell, the first where it is laid out twice.
    """
    total: Any = np.int64(2)
    for head in heads:
        if place[head] != 0:
            continue
        cell, at = head, total
        while cell != 0:
            if place[cell] == 0:
                place[cell] = at
            at += 1
            cell = np.int64(cells.next[cell])
        total += np.int64(lengths[head])
    return total  # type: ignore[no-any-return]


@kernel
def _write_nodes(
    cells: Cells,
    heads: I64,
    place: CellIndexes,
    layout: NodeLayout,
    nodes: Nodes,
) -> None:
    at = 2
    for head in heads:
        if place[head] != at:  # it is the end of a longer list
            continue
        cell = head
        while cell != 0:
            label = np.int64(cells.label[cell])
            node = (label & LABEL_TILE) << layout.tile_shift
            node |= np.int64(place[cells.child[cell]]) << layout.child_shift
            if label & LABEL_ACCEPTS:
                node |= layout.accepts
            if cells.next[cell] == 0:
                node |= layout.last
            nodes[at] = node
            at += 1
            cell = np.int64(cells.next[cell])

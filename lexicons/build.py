"""Building word graphs: from a list of words to the smallest DAWG and GADDAG, in one pass each.

Sorted words are added from the last to the first, so that a list of siblings grows at its front and
each sibling is final when made (Daciuk et al. 2000; KWG allows equal ends of lists to be shared
too).

The GADDAG (Gordon 1994) needs no string behind the separator: for each proper prefix of a word the
reversed prefix is added, and then a separator whose child is the list of the DAWG where the prefix
leads. Whole words are added reversed.

A quarter of a million words take about a second; three million ten seconds and less than 1 GB.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .arrays import I64, U8
from .cells import (
    LABEL_ACCEPTS,
    LABEL_TILE,
    CellIndexes,
    Cells,
    intern,
    lay_out,
    make_room,
)
from .jit import helper, kernel
from .kwg import NARROW, NodeLayout, WordGraph
from .wordlist import WordMatrix, pack_words, sorted_words


class _Path(NamedTuple):
    """The cells being made, from the root down: one for each letter of the last string."""

    label: U8  # [width + 1]
    siblings: CellIndexes  # [width + 2] the list so far at each depth, of greater tiles only
    length: I64  # [1]


class _Words(NamedTuple):
    """Distinct words, sorted."""

    text: WordMatrix  # [words, width]
    lengths: I64  # [words]


class _Prefixes(NamedTuple):
    """Every prefix of a word, reversed, in the order in which the DAWG finished them."""

    text: WordMatrix  # [prefixes, width]
    accepting: U8  # [prefixes] LABEL_ACCEPTS where the prefix is a word, or 0
    behind: CellIndexes  # [prefixes] the DAWG's list after it; 0 if no word goes on
    filled: I64  # [1] number of rows filled so far


def build_word_graph(
    words: Sequence[Sequence[int]] | WordMatrix, layout: NodeLayout | None = None
) -> WordGraph:
    """Build the word graph of these words (letters from 1), given in any order.

    Without ``layout`` it is narrow, and wide if it has more nodes than the narrow layout holds.

    Raises:
        ValueError: a word has no letters, too many, or a number that is no letter; or the graph
            outgrows the layout.
    """
    matrix = sorted_words(words if isinstance(words, np.ndarray) else pack_words(words))
    if not len(matrix):
        layout = layout or NARROW
        return WordGraph(np.full(2, layout.last, np.uint32), layout)
    distinct = _Words(matrix, np.count_nonzero(matrix, axis=1))
    count = _count_prefixes(distinct)
    prefixes = _Prefixes(
        text=np.zeros((count, matrix.shape[1]), np.uint8),
        accepting=np.zeros(count, np.uint8),
        behind=np.zeros(count, np.uint32),
        filled=np.zeros(1, np.int64),
    )
    cells, dawg_root = _build_dawg(distinct, prefixes)
    cells, gaddag_root = _build_gaddag(cells, prefixes)
    return lay_out(cells, dawg_root, gaddag_root, layout)


def _new_path(width: int) -> _Path:
    return _Path(
        label=np.zeros(width + 1, np.uint8),
        siblings=np.zeros(width + 2, np.uint32),
        length=np.zeros(1, np.int64),
    )


def _build_dawg(words: _Words, prefixes: _Prefixes) -> tuple[Cells, int]:
    width = words.text.shape[1]
    # A prefix makes one cell at most, and most cells exist already.
    cells = make_room(len(prefixes.text) // 4 + width + 64)
    path = _new_path(width)
    at = len(words.text)
    while (at := _add_words(cells, path, words, prefixes, at)) >= 0:
        cells = make_room(2 * len(cells.label), cells)
    return cells, int(path.siblings[0])


def _build_gaddag(cells: Cells, prefixes: _Prefixes) -> tuple[Cells, int]:
    count, width = prefixes.text.shape
    order = np.argsort(prefixes.text.view(f"S{width}").ravel())
    cells = make_room(len(cells.label) + count, cells)
    path = _new_path(width)
    at = count
    while (at := _add_prefixes(cells, path, prefixes, order, at)) >= 0:
        cells = make_room(2 * len(cells.label), cells)
    return cells, int(path.siblings[0])


@kernel
def _count_prefixes(words: _Words) -> int:
    total: int = 0
    for row, length in enumerate(words.lengths):
        total += length
        if row > 0:
            total -= _shared(words.text[row - 1], words.text[row], words.lengths[row - 1])
    return total


@helper
def _shared(first: WordMatrix, second: WordMatrix, length: int) -> int:
    for at in range(length):
        if first[at] != second[at]:
            return at
    return length


@helper
def _close(cells: Cells, path: _Path, depth: int) -> None:
    path.siblings[depth] = intern(
        cells, path.label[depth], path.siblings[depth + 1], path.siblings[depth]
    )
    path.siblings[depth + 1] = 0


@helper
def _open(path: _Path, text: WordMatrix, shared: int, length: int) -> None:
    for depth in range(shared, length):
        path.label[depth] = text[depth]
    path.length[0] = length


@helper
def _shared_with_path(path: _Path, text: WordMatrix, length: int) -> int:
    most: int = min(length, path.length[0])
    for depth in range(most):
        if path.label[depth] & LABEL_TILE != text[depth]:
            return depth
    return most


@kernel
def _add_words(cells: Cells, path: _Path, words: _Words, prefixes: _Prefixes, at: int) -> int:
    """Add words to the DAWG, from the one before row ``at`` to the first.

    Return the row where room ran out, −1 when all are added. All but ``words`` is modified in
    place.
    """
    room = len(cells.label) - len(path.siblings)
    while at >= 0:
        if cells.used[0] > room:
            return at
        at -= 1
        length = words.lengths[at] if at >= 0 else 0  # in the end an empty word closes everything
        text = words.text[max(at, 0)]
        shared = _shared_with_path(path, text, length)
        for depth in range(path.length[0] - 1, shared - 1, -1):
            _record(prefixes, path, depth)
            _close(cells, path, depth)
        if at >= 0:
            _open(path, text, shared, length)
            path.label[length - 1] |= LABEL_ACCEPTS
    return at


@helper
def _record(prefixes: _Prefixes, path: _Path, depth: int) -> None:
    row = prefixes.filled[0]
    for back in range(depth + 1):
        prefixes.text[row, depth - back] = path.label[back] & LABEL_TILE
    prefixes.accepting[row] = path.label[depth] & LABEL_ACCEPTS
    prefixes.behind[row] = path.siblings[depth + 1]
    prefixes.filled[0] = row + 1


@kernel
def _add_prefixes(cells: Cells, path: _Path, prefixes: _Prefixes, order: I64, at: int) -> int:
    """Add reversed prefixes to the GADDAG, from the one before ``order[at]`` to the first.

    Return the place in ``order`` where room ran out, −1 when all are added. ``cells`` and ``path``
    are modified in place.
    """
    room = len(cells.label) - len(path.siblings)
    width = prefixes.text.shape[1]
    while at >= 0:
        if cells.used[0] > room:
            return at
        at -= 1
        row = order[max(at, 0)]
        text = prefixes.text[row]
        length = 0
        while at >= 0 and length < width and text[length] != 0:
            length += 1
        shared = _shared_with_path(path, text, length)
        for depth in range(path.length[0] - 1, shared - 1, -1):
            _close(cells, path, depth)
        if at < 0:
            break
        _open(path, text, shared, length)
        path.label[length - 1] |= prefixes.accepting[row]
        if prefixes.behind[row] != 0:
            # Every longer string is in by now, and the separator is the least of all tiles.
            path.siblings[length] = intern(cells, 0, prefixes.behind[row], path.siblings[length])
    return at

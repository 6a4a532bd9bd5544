"""One thread of an endgame search: its memory, laid out for the kernel, and its questions."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
import numpy.typing as npt

from engine.kernels.board import set_up
from engine.kernels.endgame import begin_endgame, search_endgame
from engine.kernels.endgame_moves import CANDIDATE_WORDS
from engine.kernels.endgame_stack import ENDGAME
from engine.kernels.line_cache import ENTRY_WORDS
from engine.kernels.moves import MAX_PLACED
from engine.kernels.transpositions import BUCKET_BYTES, BUCKET_WORDS, Table
from engine.movegen.generator import Generator
from engine.movegen.move_codec import pack, unpack
from engine.rules.moves import Move
from engine.rules.position import Position
from lexicons.memory import address_of

__all__ = ["LEAST_MEMORY", "OTHERWISE", "Searcher", "new_table"]

LEAST_MEMORY = 8 << 20
"""Bytes of which a searcher can live; a solver's least is twice that for each thread, and once more
for what is known of positions and for its lines."""

OTHERWISE = 2 << 20
"""Bytes that a searcher takes besides: the board, the stack."""

_WORD = 8
_PAGE = 4 << 10


def new_table(memory: int) -> Table:
    """Return a table in which nothing is known, of so many bytes at most."""
    buckets = memory // BUCKET_BYTES - 1
    words = np.zeros((buckets + 1) * BUCKET_WORDS, np.uint64)
    begin = -address_of(words) % BUCKET_BYTES // _WORD  # a bucket lies in one line of the cache
    _touch(words)
    return words[begin : begin + buckets * BUCKET_WORDS]


def _touch(array: npt.NDArray[Any]) -> None:
    """Have the memory there that an array has asked for; to wait for it later would cost time.

    Where pages are large, each first write to one takes a millisecond. To write to so many places
    at once numpy lets other threads go on.
    """
    array[:: _PAGE // array.itemsize] = 0


class Searcher:
    """What one thread has to itself; the table of positions is for all.

    Args:
        generator: for the board and the words; the searcher keeps it.
        table: what is known of positions.
        memory: bytes for what lines hold, and for candidates.
        noise: points by which the order of moves is disturbed.
    """

    def __init__(self, generator: Generator, table: Table, memory: int, noise: int = 0) -> None:
        self._state, self._words, self._leaves = generator.state, generator.words, generator.leaves
        listed = memory // 16 // 16
        places = 1 << (memory // 3 // (2 * _WORD)).bit_length() - 1
        candidates = memory // 16 // (CANDIDATE_WORDS * _WORD)
        entries = memory // 2 // (ENTRY_WORDS * _WORD)
        self._index = np.zeros(2 * places, np.uint64)
        self._kept = (
            table,
            np.empty(listed, np.uint64),
            np.empty(listed + 1, np.int32),
            np.empty(listed, np.uint8),
            self._index,
            np.empty(ENTRY_WORDS * entries, np.uint64),
            np.empty(CANDIDATE_WORDS * candidates, np.uint64),
        )
        for array in self._kept[1:]:
            _touch(array)
        self._search = np.zeros(1, ENDGAME)
        search, line_cache = self._search, self._search["line_cache"]
        (
            search["table"],
            line_cache["gaddag"]["moves"],
            line_cache["gaddag"]["scores"],
            line_cache["gaddag"]["subracks"],
            line_cache["index"],
            line_cache["entries"],
            search["candidates"],
        ) = (address_of(one) for one in self._kept)
        search["buckets"] = table.nbytes // BUCKET_BYTES
        search["room"], search["noise"] = candidates, noise
        line_cache["gaddag"]["capacity"] = listed
        line_cache["places"], line_cache["room"] = places, entries

    def begin(
        self,
        position: Position,
        turns: int,
        age: int,
        only: Collection[Move] = (),
        without: Collection[Move] = (),
    ) -> None:
        """Take a position up, both racks of which are known.

        Args:
            position: the position.
            turns: so many scoreless ones in a row will end the game.
            age: what is known of positions since an earlier one makes room first.
            only: the moves to choose from, ``MOST_LISTED`` at most; none: all.
            without: so many at most that are not to be chosen.
        """
        search = self._search
        for name, moves in (("only", only), ("without", without)):
            search[name][0, : len(moves)] = [pack(move) for move in moves]
            search[f"{name}_count"] = len(moves)
        search["is_restricted"] = bool(only or without)
        search["age"] = age
        self._forget_what_was_cut()
        racks = np.zeros((2, MAX_PLACED), np.uint8)
        for seat, rack in enumerate(position.racks):
            racks[seat, : len(rack)] = rack
        sizes = np.array([len(rack) for rack in position.racks])
        self._board = position.board
        self._begun = racks, sizes, position.on_turn, turns
        self.abandon()

    def _forget_what_was_cut(self) -> None:
        """Forget all lines, if there was no room for some: these would be taken for whole ones."""
        line_cache = self._search["line_cache"]
        if self.is_cut:
            self._index.fill(0)
            line_cache["used"] = line_cache["known"] = 0
            line_cache["forgotten"] += 1
        line_cache["overflowed"] = False

    def search(self, alpha: int, depth: int, nodes: int) -> int:
        """Go on with a question, or begin with this one; return the nodes that it took."""
        before = int(self._search["nodes"][0])
        search_endgame(self._search, self._state, self._words.words, alpha, depth, nodes)
        return int(self._search["nodes"][0]) - before

    def abandon(self) -> None:
        """Return the question up."""
        self._search["over"] = True
        set_up(self._state["board"], self._board)
        begin = self._begun
        begin_endgame(self._search, self._state, self._words.words, self._leaves.arrays, *begin)

    @property
    def is_over(self) -> bool:
        """Whether there is no question, or it has been answered."""
        return bool(self._search["over"][0])

    @property
    def value(self) -> int:
        """The bound that answered the last question."""
        return int(self._search["value"][0])

    @property
    def solved(self) -> bool:
        """Whether it rests on no guess."""
        return bool(self._search["solved"][0])

    @property
    def is_cut(self) -> bool:
        """Whether there was no room for all placements of some position, or for their points."""
        return bool(self._search["line_cache"]["overflowed"][0])

    def best(self) -> Move:
        """Return the move that was enough, when one last was."""
        (move,) = unpack(self._search["best_move"], self._board)
        return move

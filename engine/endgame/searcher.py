"""One thread of an endgame search: its memory, laid out for the kernel, and its questions."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
import numpy.typing as npt

from engine.kernels.board import set_up
from engine.kernels.endgame import begin_endgame, search_endgame
from engine.kernels.endgame_moves import CANDIDATE_WORDS
from engine.kernels.endgame_stack import ENDGAME, MAX_BAG
from engine.kernels.line_cache import ENTRY_WORDS
from engine.kernels.moves import MAX_PLACED
from engine.kernels.transpositions import BUCKET_BYTES, BUCKET_WORDS, Table
from engine.movegen.generator import Generator
from engine.movegen.move_codec import pack, unpack
from engine.rules.moves import Move
from engine.rules.position import Position, Rack
from lexicons.memory import address_of

LEAST_MEMORY = 8 << 20
"""Unit of a solver's least memory, in bytes: it is two units for each thread and two more, for the
principal variation and the transposition table. Each searcher gets half a unit or more."""

FIXED_MEMORY = 2 << 20  # bytes that a searcher takes besides, for the board and the stack

_WORD = 8
_PAGE = 4 << 10


def new_table(memory: int) -> Table:
    """Return an empty transposition table of at most ``memory`` bytes."""
    buckets = memory // BUCKET_BYTES - 1
    words = np.zeros((buckets + 1) * BUCKET_WORDS, np.uint64)
    begin = -address_of(words) % BUCKET_BYTES // _WORD  # a bucket fills one cache line
    _touch(words)
    return words[begin : begin + buckets * BUCKET_WORDS]


def _touch(array: npt.NDArray[Any]) -> None:
    """Fault in the pages of an array now; numpy's strided write releases the GIL."""
    array[:: _PAGE // array.itemsize] = 0


class Searcher:
    """The memory, generator and kernel state of one thread; the transposition table is shared.

    ``memory`` is in bytes, for the line cache and the candidates; ``noise`` is the limit, in
    points, of shifts in the move order.
    """

    def __init__(self, generator: Generator, table: Table, memory: int, noise: int = 0) -> None:
        self._state, self._words = generator.state, generator.words
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
        ) = (address_of(buffer) for buffer in self._kept)
        search["buckets"] = table.nbytes // BUCKET_BYTES
        search["room"], search["noise"] = candidates, noise
        line_cache["gaddag"]["capacity"] = listed
        line_cache["places"], line_cache["room"] = places, entries

    def begin(self, position: Position, turns: int, age: int, bag: Rack = ()) -> None:
        """Take up a position with both racks; ``turns`` more scoreless turns in a row end the game.

        Table entries of another ``age`` are replaced first. The first of the ``bag`` is drawn next.
        All moves may be chosen, until ``restrict`` is called.
        """
        search = self._search
        search["age"] = age
        line_cache = search["line_cache"]
        if self.is_cut:  # forget what is known only in part
            self._index.fill(0)
            line_cache["used"] = line_cache["known"] = 0
            line_cache["forgotten"] += 1
        line_cache["overflowed"] = False
        racks = np.zeros((2, MAX_PLACED), np.uint8)
        ever = np.zeros((2, MAX_PLACED + MAX_BAG), np.uint8)
        for seat, rack in enumerate(position.racks):
            racks[seat, : len(rack)] = rack
            ever[seat, : len(rack) + len(bag)] = sorted((*rack, *bag))
        sizes = np.array([len(rack) for rack in position.racks])
        self._board = position.board
        drawn = np.array(bag[::-1], np.uint8)
        self._begun = racks, sizes, ever, drawn, position.on_turn, turns
        search["is_restricted"] = False
        self.abandon()

    def restrict(self, only: Collection[Move], without: Collection[Move] = ()) -> None:
        """Restrict the first move, as in ``EndgameSolver.begin``; no question may be open."""
        search = self._search
        for name, moves in (("only", only), ("without", without)):
            search[name][0, : len(moves)] = [pack(move) for move in moves]
            search[f"{name}_count"] = len(moves)
        search["is_restricted"] = bool(only or without)

    def search(self, alpha: int, depth: int, nodes: int) -> int:
        """Resume the open question, or begin this one; return the number of nodes searched."""
        before = int(self._search["nodes"][0])
        search_endgame(self._search, self._state, self._words.words, alpha, depth, nodes)
        return int(self._search["nodes"][0]) - before

    def abandon(self) -> None:
        """Abandon the open question."""
        self._search["over"] = True
        set_up(self._state["board"], self._board)
        begin = self._begun
        begin_endgame(self._search, self._state, self._words.words, *begin)

    @property
    def is_over(self) -> bool:
        """Whether no question is open."""
        return bool(self._search["over"][0])

    @property
    def value(self) -> int:
        """The bound that answered the last question."""
        return int(self._search["value"][0])

    @property
    def solved(self) -> bool:
        """Whether ``value`` rests on no guess."""
        return bool(self._search["solved"][0])

    @property
    def is_cut(self) -> bool:
        """Whether placements or points exceeded their room."""
        return bool(self._search["line_cache"]["overflowed"][0])

    def best(self) -> Move:
        """Return the move that last beat alpha."""
        (move,) = unpack(self._search["best_move"], self._board)
        return move

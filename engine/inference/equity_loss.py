"""Equity losses of a play for many racks, laid out for ``engine.kernels.equity_loss``."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.kernels.board import set_up
from engine.kernels.equity_loss import (
    SlotOrder,
    SubrackTable,
    begin_losses,
    copy_table,
    find_losses,
)
from engine.kernels.moves import MAX_PLACED, PASS_MOVE
from engine.kernels.racks import LATE_TILES
from engine.movegen.evaluation import PLAIN, POINT
from engine.movegen.generator import Generator
from engine.movegen.move_codec import pack
from engine.rules.moves import Pass, Place
from engine.rules.position import Board, Rack
from engine.rules.rules import Rules, rack_tiles
from lexicons.arrays import I32, U8
from lexicons.leaves import LeaveTable, leave_places
from lexicons.store import Lexicon

from .likelihood import Judge

_FIRST_PLACES, _MOST_PLACES = 1 << 14, 1 << 22  # of a table


@dataclass(frozen=True)
class OpponentPlay:
    """An opponent's turn as seen from the other side of the table."""

    board: Board  # before the move
    move: Place | Pass | int  # an int is the number of tiles exchanged
    score: int  # points
    held: int  # tiles on the rack before the move
    bag: int  # tiles in the bag before the move, at least 1: with an empty bag nothing is hidden
    may_exchange: bool = True  # the player had an exchange left

    @property
    def tiles(self) -> Rack:
        """The tiles shown, sorted; none unless it is a placement."""
        return rack_tiles(self.move.placed) if isinstance(self.move, Place) else ()

    @property
    def kept(self) -> int:
        """Number of tiles kept."""
        if isinstance(self.move, Place):
            return self.held - len(self.move.placed)
        return self.held - (self.move if isinstance(self.move, int) else 0)


class Judges:
    """Generators that judge moves, for one thread at a time."""

    def __init__(self, lexicon: Lexicon, rules: Rules, leaves: LeaveTable | None = None) -> None:
        self._made: dict[Judge, Generator] = {"static": Generator(lexicon, rules, leaves)}
        self._lexicon = lexicon

    @property
    def rules(self) -> Rules:
        """The rules that moves are judged by."""
        return self._made["static"].rules

    def __getitem__(self, judge: Judge) -> Generator:
        """Return a judge's generator; the one for scores is made on first use."""
        if judge not in self._made:
            self._made[judge] = Generator(self._lexicon, self.rules, None, PLAIN)
        return self._made[judge]


class EquityLosses:
    """Losses of a play by one judge; remembers the values of subracks."""

    def __init__(self, generator: Generator, play: OpponentPlay, reach: int) -> None:
        self._generator, self._play, self._reach = generator, play, reach
        self._table = SubrackTable.empty(_FIRST_PLACES)
        set_up(generator.state["board"], play.board)
        self._order = SlotOrder.empty(generator.state["slots"]["slots"].shape[1])
        packed = pack(play.move) if isinstance(play.move, Place) else int(PASS_MOVE)
        words = generator.words.words
        self._own = play.score * POINT
        self._own += begin_losses(generator.state, words, np.uint64(packed), self._order)
        if isinstance(play.move, Place):
            left = play.bag - len(play.move.placed) + MAX_PLACED
            if left < LATE_TILES:
                self._own += int(generator.state["evaluation"]["late"][0, left])

    def of(self, racks: U8, leaves: U8) -> I32:
        """Return by how much the best move with each of the racks was better than the play.

        The losses, [racks], are thousandths of a point, ``reach`` + 1 for any greater loss.
        ``racks``, [racks, size], and ``leaves``, [racks, kept], are sorted.
        """
        own = np.full(len(racks), self._own, np.int32)
        arrays = self._generator.leaves.arrays
        if 0 < leaves.shape[1] < self._generator.leaves.rack_size:
            own += arrays.values[leave_places(leaves, arrays)]
        racks, losses = np.ascontiguousarray(racks), np.empty(len(racks), np.int32)
        begin = 0
        while begin < len(racks):
            begin += find_losses(
                self._generator.state,
                self._generator.words.words,
                arrays,
                self._play.bag,
                self._play.may_exchange,
                self._order,
                self._table,
                racks[begin:],
                own[begin:],
                self._reach,
                losses[begin:],
            )
            if begin < len(racks):  # the table is full: grow it; at its largest size empty it
                table, places = self._table, len(self._table.codes)
                if places >= _MOST_PLACES:
                    self._table = SubrackTable.empty(places)
                else:
                    self._table = SubrackTable.empty(4 * places)
                    copy_table(table, self._table)
        return losses


def best_kept(leaves: LeaveTable, racks: U8, size: int) -> U8:
    """Return the best leave of ``size`` tiles of each rack, [racks, size] of [racks, held]."""
    held, arrays = racks.shape[1], leaves.arrays
    if size in (0, held) or size >= leaves.rack_size:
        return racks[:, :size]
    masks = [part for part in range(1 << held) if part.bit_count() == size]
    parts = [[at for at in range(held) if part >> at & 1] for part in masks]
    values = [arrays.values[leave_places(racks[:, part], arrays)] for part in parts]
    best = np.argmax(np.stack(values), axis=0)
    return np.take_along_axis(racks, np.array(parts)[best], axis=1)

"""All legal moves of a position, or the best of them by equity."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple, overload

import numpy as np

from engine.kernels.board import new_board, set_up
from engine.kernels.gaddag_movegen import list_into
from engine.kernels.moves import MAX_KEPT, MAX_PLACED
from engine.kernels.search_state import MoveArrays, TurnState, list_moves, new_state, search_moves
from engine.rules.moves import PASS, Move, Place
from engine.rules.position import Board, Position, Rack, bag_count, unseen
from engine.rules.rules import Rules, may_exchange
from lexicons.alphabet import BLANK
from lexicons.arrays import I32, I64, U64
from lexicons.leaves import MAX_WORTH, LeaveTable
from lexicons.store import Lexicon

from .evaluation import PASS_EQUITY, POINT, STANDARD, Evaluation
from .move_codec import leaves_of, unpack

# Room for nearly every position with 0, 1, 2 blanks; untouched pages cost nothing.
_FIRST_CAPACITIES = (1 << 12, 1 << 16, 1 << 20)
_KIND_SHIFT = np.uint64(60)
_HEAD = 32
"""Number of moves that are made into values at once when one of them is asked for."""


class ScoredMove(NamedTuple):
    """A move and the points it scores; exchanges and the pass score 0."""

    move: Move
    score: int


class RankedMove(NamedTuple):
    """A move, its score in points, its equity in thousandths of a point, and what it leaves."""

    move: Move
    score: int
    equity: int
    leave: Rack


class LegalMoves(Sequence[ScoredMove]):
    """Legal moves in the order of ``legal_moves``, made into values only when asked for."""

    def __init__(self, packed: U64, scores: I32, board: Board) -> None:
        self._packed, self._scores, self._board = packed, scores, board
        self._values: list[ScoredMove] = []
        """The first moves; the list is replaced, never changed, since threads may read it."""

    def __len__(self) -> int:
        """Count the moves."""
        return len(self._packed)

    @overload
    def __getitem__(self, at: int) -> ScoredMove: ...

    @overload
    def __getitem__(self, at: slice) -> list[ScoredMove]: ...

    def __getitem__(self, at: int | slice) -> ScoredMove | list[ScoredMove]:
        """Return a move, or a list of some; raise IndexError if there are fewer."""
        if isinstance(at, int) and not -len(self) <= at < len(self):
            raise IndexError(f"no legal move has the index {at}: there are fewer")
        chosen = range(len(self))[at]
        if isinstance(chosen, int):
            return self._first(chosen + 1)[chosen]
        values = self._first(max(chosen[0], chosen[-1]) + 1) if chosen else []
        return [values[each] for each in chosen]

    def __iter__(self) -> Iterator[ScoredMove]:
        """Make all moves, and go through them."""
        return iter(self._first(len(self)))

    def __repr__(self) -> str:
        return repr(self._first(len(self)))

    def _first(self, count: int) -> list[ScoredMove]:
        """Return at least the first ``count``."""
        values = self._values
        if count > len(values):
            end = _HEAD if count <= _HEAD else len(self)
            moves = unpack(self._packed[:end], self._board)
            self._values = values = list(map(ScoredMove, moves, self._scores[:end].tolist()))
        return values


def passing(position: Position) -> RankedMove:
    """Return the pass of the player on turn."""
    return RankedMove(PASS, 0, PASS_EQUITY, position.racks[position.on_turn])


def legal_moves(position: Position, lexicon: Lexicon, rules: Rules) -> list[ScoredMove]:
    """List every legal move of the player on turn once.

    Placements come first, by score (highest first), direction, row, column and tiles; then every
    exchange, fewest tiles first, if allowed; the pass last. A single tile that makes a word both
    ways is across.

    Raises:
        ValueError: a rack of more than seven tiles, a tile that the distribution lacks, more of a
            tile in sight than it has, or an alphabet too large to be searched.
    """
    return list(Generator(lexicon, rules).legal_moves(position))


class Generator:
    """Finds and ranks moves with one lexicon, one set of rules, one leave table.

    Moves are sorted by equity, the highest first, ties by packed move (``engine.kernels.moves``),
    so that the best are always the head of the full list. With an empty bag the opponent's rack
    counts: it is then what is unseen. Without a table leaves are worth nothing. Each thread needs a
    generator of its own, 0.8 MB.

    Raises:
        ValueError: lexicon, rules and leaves have different tiles, an alphabet that is too large to
            be searched, racks of more than seven tiles, or a square that multiplies too much.
    """

    def __init__(
        self,
        lexicon: Lexicon,
        rules: Rules,
        leaves: LeaveTable | None = None,
        evaluation: Evaluation = STANDARD,
    ) -> None:
        leaves = leaves or _no_leaves(rules.distribution)
        check_same_tiles(lexicon, rules, leaves)
        self.rules = rules
        self.leaves = leaves
        self.words = lexicon.word_map  # keeps the memory that kernels read by address
        record = evaluation.record(rules.distribution)
        self.state = new_state(_empty_board(rules), record, rules.exchange_minimum)

    def legal_moves(self, position: Position) -> LegalMoves:
        """Return every legal move in the order of the function ``legal_moves``; raises as that."""
        listed = self.arrays(position)
        kinds = listed.packed >> _KIND_SHIFT
        used = np.where(kinds, np.bitwise_count(listed.subracks), 0)
        order = np.lexsort((listed.packed, -listed.scores, used, kinds))
        return LegalMoves(listed.packed[order], listed.scores[order], position.board)

    def everything(self, position: Position, count: int | None = None) -> list[RankedMove]:
        """Rank all legal moves, the pass included, the best first; raises as ``legal_moves``.

        Only the first ``count`` are made into objects, which takes most of the time.
        """
        return ranked(self.arrays(position), position, count)

    def best(self, position: Position, count: int = 1) -> list[RankedMove]:
        """Return the first ``count`` moves of ``everything``, without the pass.

        Up to 128 are found without listing the others. A pass comes only if there is nothing else.

        Raises:
            ValueError: as ``legal_moves``, or ``count`` is below 1.
        """
        if count < 1:
            raise ValueError(f"count is {count}; it must be at least 1")
        if count <= MAX_KEPT:
            moves = self._search(position, count, self.leaves)
        else:
            every = self.everything(position, count + 1)
            moves = [candidate for candidate in every if candidate.move != PASS][:count]
        return moves or [passing(position)]

    def bingos(self, position: Position, count: int) -> list[RankedMove]:
        """Return the best ``count`` moves that place a full rack, 128 at most; raises as ``best``.

        They are found without listing the others, of which there are millions with many blanks.
        """
        if len(position.racks[position.on_turn]) < self.rules.rack_size:
            return []
        found = self._search(position, min(count, MAX_KEPT), _only_bingos(self.leaves))
        return [move for move in found if isinstance(move.move, Place) and not move.leave]

    def _search(self, position: Position, count: int, leaves: LeaveTable) -> list[RankedMove]:
        turn = self._turn(position)
        search_moves(self.state, self.words.words, leaves.arrays, turn, count)
        top = self.state["top"][0]
        arrays = MoveArrays(top["moves"], top["scores"], top["equities"], top["subracks"])
        return _ranked(_picked(arrays, slice(int(top["count"]))), position)

    def arrays(self, position: Position) -> MoveArrays:
        """Return all legal moves as arrays, in no particular order; raises as ``legal_moves``."""
        turn = self._turn(position)
        capacity = _FIRST_CAPACITIES[min(position.racks[position.on_turn].count(BLANK), 2)]
        while True:
            moves = MoveArrays(
                np.empty(capacity, np.uint64),
                np.empty(capacity, np.int32),
                np.empty(capacity, np.int32),
                np.empty(capacity, np.uint8),
            )
            list_into(self.state, moves.packed, moves.scores, moves.subracks)
            count = list_moves(self.state, self.words.words, self.leaves.arrays, turn, moves)
            if count <= capacity:
                return _picked(moves, slice(count))
            capacity = count

    def _turn(self, position: Position) -> TurnState:
        rules = self.rules
        rack = position.racks[position.on_turn]
        check_rack(rack, len(rules.distribution.counts))
        set_up(self.state["board"], position.board)
        hidden = unseen(position, position.on_turn, rules)
        bag = bag_count(position, rules, hidden)
        points = zip(hidden, rules.distribution.points, strict=True)
        tiles = np.zeros(MAX_PLACED, np.uint8)
        tiles[: len(rack)] = sorted(rack)
        return TurnState(
            rack=tiles,
            size=len(rack),
            bag=bag,
            opponent_points=0 if bag else sum(count * each for count, each in points),
            may_exchange=may_exchange(position, rules),
        )


_of_thread = threading.local()


def kept_generator(lexicon: Lexicon, rules: Rules, leaves: LeaveTable) -> Generator:
    """Return this thread's generator: the last one, if it was made of the same parts."""
    parts = lexicon, rules, leaves
    kept: tuple[tuple[Lexicon, Rules, LeaveTable], Generator] | None
    kept = getattr(_of_thread, "kept", None)
    if kept is None or any(a is not b for a, b in zip(kept[0], parts, strict=True)):
        kept = _of_thread.kept = parts, Generator(*parts)
    return kept[1]


def check_same_tiles(lexicon: Lexicon, rules: Rules, leaves: LeaveTable) -> None:
    """Check that words, rules and leaves have the same alphabet.

    Raises:
        ValueError: says which two differ, and how.
    """
    letters = rules.distribution.alphabet.letters
    for what, side in (
        (f"the lexicon {lexicon.name}", lexicon.distribution),
        ("the leave table", leaves.distribution),
    ):
        if side.alphabet.letters != letters:
            raise ValueError(
                f"{what} is of the {side.name} alphabet with {len(side.alphabet)} letters; the "
                f"game is played with {rules.distribution.name} tiles, {len(letters) - 1} letters"
            )


def _picked(moves: MoveArrays, which: slice | I64) -> MoveArrays:
    return MoveArrays._make(array[which] for array in moves)


def ranked(moves: MoveArrays, position: Position, count: int | None = None) -> list[RankedMove]:
    """Return the first ``count`` moves by equity, ties by packed move; None: all."""
    order = np.lexsort((moves.packed, -moves.equities))[:count]
    return _ranked(_picked(moves, order), position)


def _ranked(arrays: MoveArrays, position: Position) -> list[RankedMove]:
    moves = unpack(arrays.packed, position.board)
    leaves = leaves_of(arrays.subracks, tuple(sorted(position.racks[position.on_turn])))
    return list(map(RankedMove, moves, arrays.scores.tolist(), arrays.equities.tolist(), leaves))


def check_rack(rack: Rack, tiles: int) -> None:
    """Check that kernels can take a rack, where a game has ``tiles`` kinds of tiles.

    Raises:
        ValueError: more than seven tiles, or an unknown tile.
    """
    if len(rack) > MAX_PLACED:
        raise ValueError(f"a rack of {len(rack)} tiles; moves hold at most {MAX_PLACED}")
    if not all(0 <= tile < tiles for tile in rack):
        raise ValueError(f"the rack {rack} has a tile beyond the {tiles} of the distribution")


@lru_cache(maxsize=4)
def _only_bingos(leaves: LeaveTable) -> LeaveTable:
    """Return leaves so bad that all moves that keep a tile come after those that keep none."""
    values = np.full_like(leaves.values, -MAX_WORTH * POINT)
    values[0] = leaves.values[0]
    return LeaveTable(leaves.distribution, values, leaves.rack_size)


_empty_board = lru_cache(maxsize=16)(new_board)
_no_leaves = lru_cache(maxsize=4)(LeaveTable.zero)

"""Kernel entry points for one position. Few, for each recompiles all that it calls."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from lexicons.arrays import I32, U8, U64
from lexicons.bits import bit_count
from lexicons.jit import helper, kernel
from lexicons.leaves import LeaveArrays

from .crosses import cross_everywhere
from .equity_terms import PASS_EQUITY, POINT, opening_cost
from .gaddag_movegen import list_placements
from .moves import PASS_MOVE
from .racks import is_regular
from .search_state import exchange_of, find_moves, take_rack
from .shadow_placing import StateRecord
from .top_moves import keep_only

__all__ = ["MoveArrays", "Turn", "list_moves", "search_moves"]


class Turn(NamedTuple):
    """The state of the player on turn."""

    rack: U8  # [7] the first ``size`` are used, sorted
    size: int
    bag: int  # tiles in it
    opponent_points: int  # of its rack; known when the bag is empty


class MoveArrays(NamedTuple):
    """Moves (``engine.kernels.moves``), arrays of one length."""

    packed: U64
    scores: I32  # points
    equities: I32  # thousandths of a point
    subracks: U8  # bit n: the move uses the rack's nth tile


@kernel
def list_moves(
    state_array: Any, words_array: Any, leaves: LeaveArrays, turn: Turn, moves: MoveArrays
) -> int:
    """Write every move, in no particular order; return their number.

    The state's board was set up. ``moves`` and ``state_array`` are modified in place. Moves beyond
    the arrays' length are only counted: call again with longer arrays.
    """
    state, words = state_array[0], words_array[0]
    _begin(state, words, leaves, turn)
    list_placements(state, words)
    count = state.gaddag.count
    for at in range(min(count, len(moves.packed))):
        equity = moves.scores[at] * POINT + state.rack.equity_terms[moves.subracks[at]]
        if state.rack.opening:
            equity += opening_cost(state.board, state.evaluation, moves.packed[at])
        moves.equities[at] = equity
    return _add_others(state, moves, count)  # type: ignore[no-any-return]


@kernel
def search_moves(
    state_array: Any,
    words_array: Any,
    leaves: LeaveArrays,
    turn: Turn,
    limit: int,
    floor: int,
    enough: int,
) -> None:
    """Leave in ``state.top`` the best moves, up to ``limit``, of an equity of at least ``floor``.

    With ``enough`` moves the search ends early; they need not be the best then. A pass is not
    searched.
    """
    state, words = state_array[0], words_array[0]
    _begin(state, words, leaves, turn)
    keep_only(state.top, limit, floor, enough)
    find_moves(state, words)


@helper
def _begin(state: StateRecord, words: Any, leaves: LeaveArrays, turn: Turn) -> None:
    cross_everywhere(state.board, words.nodes)
    take_rack(
        state,
        turn.rack,
        turn.size,
        leaves,
        turn.bag,
        turn.opponent_points,
    )


@helper
def _add_others(state: StateRecord, moves: MoveArrays, count: Any) -> Any:
    """Write the exchanges and the pass behind ``count`` placements; return the new count."""
    rack = state.rack
    for subrack in range(1, 1 << rack.held):
        if bit_count(np.uint64(subrack)) <= np.uint64(rack.exchangeable) and is_regular(
            rack, subrack
        ):
            count = _add(moves, count, exchange_of(rack, subrack), rack.swaps[subrack], subrack)
    return _add(moves, count, PASS_MOVE, PASS_EQUITY, 0)


@helper
def _add(moves: MoveArrays, count: Any, move: Any, equity: Any, subrack: Any) -> Any:
    if count < len(moves.packed):
        moves.packed[count] = move
        moves.scores[count] = 0
        moves.equities[count] = equity
        moves.subracks[count] = subrack
    return count + 1

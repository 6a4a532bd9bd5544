"""The search state of one thread in one record, and the entry points for a position.

Entry points are few, since each recompiles everything that it calls.
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from lexicons.arrays import I32, U8, U64
from lexicons.bits import bit_count
from lexicons.jit import helper, kernel, record_dtype
from lexicons.leaves import LeaveArrays
from lexicons.word_map import WordsArray, WordsRecord

from .board import BOARD, is_empty
from .crosses import cross_everywhere
from .gaddag_movegen import GADDAG_SEARCH, list_placements
from .moves import (
    BLANK_CODE,
    EXCHANGE,
    PASS_MOVE,
    TILE_BITS,
    TOP_MOVES,
    keep_only,
    left_justified,
    offer,
)
from .racks import (
    EVALUATION,
    NEVER,
    PASS_EQUITY,
    POINT,
    RACK,
    SUBRACKS,
    fill_equity_terms,
    fill_rack,
    fill_subracks,
    is_regular,
    opening_adjustment,
)
from .shadow_movegen import QUEUE, StateRecord, search_slots
from .shadow_slots import SLOTS, update_slots

SEARCH_STATE = record_dtype(
    [
        ("board", BOARD),
        ("slots", SLOTS),
        ("rack", RACK),
        ("subracks", SUBRACKS),
        ("queue", QUEUE),
        ("top", TOP_MOVES),
        ("evaluation", EVALUATION),
        ("gaddag", GADDAG_SEARCH),
        ("exchange_minimum", np.int64),
    ],
)
StateArray: TypeAlias = Annotated[Any, SEARCH_STATE]  # [1]


def new_state(board: npt.NDArray[Any], evaluation: npt.NDArray[Any], exchange_minimum: int) -> Any:
    """Return an array of one ``SEARCH_STATE`` with a board and an evaluation (arrays of one)."""
    state = np.zeros(1, SEARCH_STATE)
    state["board"] = board
    state["evaluation"] = evaluation
    state["exchange_minimum"] = exchange_minimum
    return state


@helper
def take_rack(
    state: StateRecord,
    tiles: Any,
    size: Any,
    leaves: LeaveArrays,
    bag: Any,
    opponent_points: Any,
    may_exchange: Any,
) -> None:
    """Put the first ``size`` of sorted ``tiles`` on the rack, and fill in its equity terms."""
    board, rack = state.board, state.rack
    fill_rack(rack, tiles, size, board.points, leaves)
    fill_equity_terms(rack, state.evaluation, bag, opponent_points)
    allowed = may_exchange and bag >= state.exchange_minimum
    rack.exchangeable = min(rack.held, bag) if allowed else 0
    rack.opening = state.evaluation.opening_vowel != 0 and is_empty(board)


@helper
def find_moves(state: StateRecord, words: WordsRecord) -> None:
    """Offer every placement and exchange that may enter ``state.top``, which must be empty."""
    update_slots(state.slots, state.board, words)
    fill_subracks(state.subracks, state.rack, state.board, words)
    _offer_exchanges(state)
    search_slots(state, words)


@helper
def _offer_exchanges(state: StateRecord) -> None:
    rack, top = state.rack, state.top
    if not rack.exchangeable:
        return
    for subrack in range(1, 1 << rack.held):
        equity = np.int64(rack.swaps[subrack])
        possible = bit_count(np.uint64(subrack)) <= np.uint64(rack.exchangeable)
        if equity >= top.threshold and possible and is_regular(rack, subrack):
            offer(top, equity, np.int64(0), exchange_of(rack, subrack), subrack)


@helper
def exchange_of(rack: Any, subrack: Any) -> Any:
    """Pack the exchange of a subrack."""
    tiles = np.uint64(0)
    for at in range(rack.held):
        if subrack >> at & 1:
            tile = np.uint64(rack.tiles[at])
            tiles = tiles << np.uint64(TILE_BITS) | (tile if tile else BLANK_CODE)
    return EXCHANGE | left_justified(tiles, np.int64(bit_count(np.uint64(subrack))))


class TurnState(NamedTuple):
    """The state of the player on turn."""

    rack: U8  # [7] the first ``size`` are used, sorted
    size: int
    bag: int  # tiles in the bag
    opponent_points: int  # on the opponent's rack; used when the bag is empty
    may_exchange: bool  # the player has an exchange left; the bag is checked separately


class MoveArrays(NamedTuple):
    """Arrays of equal length with an entry for each move (``engine.kernels.moves``)."""

    packed: U64
    scores: I32  # points
    equities: I32  # thousandths of a point
    subracks: U8  # bit n: the move uses the rack's nth tile


@kernel
def list_moves(
    state_array: StateArray,
    words_array: WordsArray,
    leaves: LeaveArrays,
    turn: TurnState,
    moves: MoveArrays,
) -> int:
    """Write every move, in no particular order; return their number.

    The state's board must be set up. ``moves`` and ``state_array`` are modified in place. Moves
    beyond the arrays' length are only counted: call again with longer arrays.
    """
    state, words = state_array[0], words_array[0]
    _begin(state, words, leaves, turn)
    list_placements(state, words)
    count = state.gaddag.count
    for at in range(min(count, len(moves.packed))):
        equity = moves.scores[at] * POINT + state.rack.equity_terms[moves.subracks[at]]
        if state.rack.opening:
            equity += opening_adjustment(state.board, state.evaluation, moves.packed[at])
        moves.equities[at] = equity
    return _add_others(state, moves, count)  # type: ignore[no-any-return]


@kernel
def search_moves(
    state_array: StateArray,
    words_array: WordsArray,
    leaves: LeaveArrays,
    turn: TurnState,
    limit: int,
) -> None:
    """Write the best moves, up to ``limit``, to ``state.top``; a pass is not among them.

    The state's board must be set up.
    """
    state, words = state_array[0], words_array[0]
    _begin(state, words, leaves, turn)
    keep_only(state.top, limit, NEVER)
    find_moves(state, words)


@helper
def _begin(state: StateRecord, words: Any, leaves: LeaveArrays, turn: TurnState) -> None:
    cross_everywhere(state.board, words)
    take_rack(
        state, turn.rack, turn.size, leaves, turn.bag, turn.opponent_points, turn.may_exchange
    )


@helper
def _add_others(state: StateRecord, moves: MoveArrays, count: Any) -> Any:
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

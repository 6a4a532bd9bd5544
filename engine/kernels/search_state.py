"""A state: all that one thread needs to search, in one record."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from lexicons.bits import bit_count
from lexicons.jit import helper, record_dtype
from lexicons.leaves import LeaveArrays
from lexicons.word_map import WordsRecord

from .board import BOARD, is_empty
from .equity_terms import EVALUATION, fill_equity_terms
from .gaddag_movegen import GADDAG_SEARCH
from .moves import BLANK_CODE, EXCHANGE, TILE_BITS, left_justified
from .racks import RACK, fill_rack, is_regular
from .shadow_movegen import HEAP, search_slots
from .shadow_placing import StateRecord
from .shadow_slots import SLOTS, update_slots
from .subracks import SUBRACKS, fill_subracks
from .top_moves import TOP_MOVES, offer

__all__ = ["SEARCH_STATE", "exchange_of", "find_moves", "new_state", "take_rack"]

SEARCH_STATE = record_dtype(
    [
        ("board", BOARD),
        ("slots", SLOTS),
        ("rack", RACK),
        ("subracks", SUBRACKS),
        ("heap", HEAP),
        ("top", TOP_MOVES),
        ("evaluation", EVALUATION),
        ("gaddag", GADDAG_SEARCH),
        ("exchange_minimum", np.int64),
    ],
)


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
) -> None:
    """Put the first ``size`` of sorted ``tiles`` on the rack, and fill in its equity terms."""
    board, rack = state.board, state.rack
    fill_rack(rack, tiles, size, board.points, leaves)
    fill_equity_terms(rack, state.evaluation, bag, opponent_points, state.exchange_minimum)
    rack.opening = state.evaluation.opening_vowel != 0 and is_empty(board)


@helper
def find_moves(state: StateRecord, words: WordsRecord) -> None:
    """Offer ``state.top``, emptied before, every placement and exchange that may get in."""
    update_slots(state.slots, state.board)
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

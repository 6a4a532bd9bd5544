"""A desk: all that one thread needs to search, in one record."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from lexicons.bits import bit_count
from lexicons.jit import helper, record_dtype
from lexicons.leaves import LeaveArrays
from lexicons.word_map import Words1

from .board import BOARD, is_empty
from .equity_terms import EVALUATION, fill_worths
from .gaddag_movegen import LISTED
from .moves import BLANK_CODE, EXCHANGE, TILE_BITS, left_justified
from .racks import RACK, fill_rack, is_regular
from .shadow_movegen import HEAP, find_best
from .shadow_placing import Desk1
from .shadow_slots import SLOTS, update_slots
from .subracks import SIZES, fill_sizes
from .top_moves import FOUND, offer

__all__ = ["DESK", "exchange_of", "find_moves", "new_desk", "take_rack"]

DESK = record_dtype(
    [
        ("board", BOARD),
        ("slots", SLOTS),
        ("rack", RACK),
        ("sizes", SIZES),
        ("heap", HEAP),
        ("found", FOUND),
        ("evaluation", EVALUATION),
        ("listed", LISTED),
        ("exchange_minimum", np.int64),
    ],
)


def new_desk(board: npt.NDArray[Any], evaluation: npt.NDArray[Any], exchange_minimum: int) -> Any:
    """Give an array of one ``DESK``, with a board and an evaluation, arrays of one each."""
    desk = np.zeros(1, DESK)
    desk["board"] = board
    desk["evaluation"] = evaluation
    desk["exchange_minimum"] = exchange_minimum
    return desk


@helper
def take_rack(
    desk: Desk1,
    tiles: Any,
    size: Any,
    leaves: LeaveArrays,
    bag: Any,
    opponent_points: Any,
) -> None:
    """Put the first ``size`` of sorted ``tiles`` on the rack; say what playing each part is worth.

    ``bag`` counts tiles; ``opponent_points`` are those of the opponent's rack.
    """
    board, rack = desk.board, desk.rack
    fill_rack(rack, tiles, size, board.points, leaves)
    fill_worths(rack, desk.evaluation, bag, opponent_points, desk.exchange_minimum)
    rack.opening = desk.evaluation.opening_vowel != 0 and is_empty(board)


@helper
def find_moves(desk: Desk1, words: Words1) -> None:
    """Offer ``desk.found``, which has been emptied, what may get in of placements and exchanges."""
    update_slots(desk.slots, desk.board)
    fill_sizes(desk.sizes, desk.rack, desk.board, words)
    _offer_exchanges(desk)
    find_best(desk, words)


@helper
def _offer_exchanges(desk: Desk1) -> None:
    """Offer every exchange, each choice of tiles once."""
    rack, found = desk.rack, desk.found
    if not rack.exchangeable:
        return
    for part in range(1, 1 << rack.held):
        equity = np.int64(rack.swaps[part])
        possible = bit_count(np.uint64(part)) <= np.uint64(rack.exchangeable)
        if equity >= found.threshold and possible and is_regular(rack, part):
            offer(found, equity, np.int64(0), exchange_of(rack, part), part)


@helper
def exchange_of(rack: Any, part: Any) -> Any:
    """Pack the exchange of a part of a rack."""
    tiles = np.uint64(0)
    for at in range(rack.held):
        if part >> at & 1:
            tile = np.uint64(rack.tiles[at])
            tiles = tiles << np.uint64(TILE_BITS) | (tile if tile else BLANK_CODE)
    return EXCHANGE | left_justified(tiles, np.int64(bit_count(np.uint64(part))))

"""The value of a position after a move, by a network whose sums follow the board.

The network and its features are those of ``lexicons.value_net``. The first layer adds up a row of
weights for each feature that is there. A move changes few squares, and the board has written down
which (``engine.kernels.board``); so its sum is that of the board before, with few rows added and
taken away: an efficiently updated network (Nasu 2018), as chess engines have. The weights are
integers, so that sums are exact, in whatever order.

Two layers of floats follow, with ReLU between. Each output has a column of its own in the first
layer, too: what is linear in the features need not pass through the others.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lexicons.alphabet import MAX_LETTERS
from lexicons.bits import lowest_bit
from lexicons.jit import helper, kernel, record_dtype
from lexicons.value_net import (
    BAG_COUNTS,
    CROSSINGS,
    FIT_LIMITS,
    KEPT_COUNTS,
    MOST_HIDDEN,
    MOST_WIDE,
    OUTPUTS,
    SCORE_LIMITS,
    SCORELESS_COUNTS,
    UNIT,
    UNSEEN_COUNTS,
    VALUE,
    FeatureMap,
    NetArrays,
)

from .board import BORDERED, NO_CROSSING, BoardRecord, undo_to
from .crosses import play
from .moves import EXCHANGE, keep_only, offer, tile_count
from .racks import NEVER, POINT

NO_FEATURE = -1
_COLUMNS = MOST_WIDE + OUTPUTS

SUMS = record_dtype(
    [
        ("position", np.int32, (_COLUMNS,)),  # of what is the same before and after a move
        ("moved", np.int32, (_COLUMNS,)),  # of the position after a move
        ("looked_at", np.int64, (2 * BORDERED * BORDERED,)),  # when a square was, by ``looks``
        ("looks", np.int64),
        ("unseen", np.int64, (MAX_LETTERS + 1,)),  # by tile
        ("kept", np.int64, (MAX_LETTERS + 1,)),  # by tile
        ("hidden", np.float32, (MOST_HIDDEN,)),
        ("outputs", np.float32, (OUTPUTS,)),
    ],
)


@helper
def square_feature(features: FeatureMap, square: Any, here: Any, across: Any) -> Any:
    """Return the feature of a square as it is ``here``, or ``NO_FEATURE``."""
    number = np.int64(features.squares[square])
    none = np.int64(NO_FEATURE)
    if number < 0:
        return none
    if here.letter:
        letters = len(features.shares) - 1
        return number * letters + np.int64(here.letter) - 1 if across else none
    if here.cross_score == NO_CROSSING:
        return none
    fits = np.int64(0)
    left = here.cross_set
    while left:
        fits += features.shares[np.int64(lowest_bit(left))]
        left &= left - np.uint64(1)
    kind = np.int64(0)
    for limit in FIT_LIMITS:
        kind += fits > limit
    kind *= len(SCORE_LIMITS) + 1
    for limit in SCORE_LIMITS:
        kind += here.cross_score > limit
    begins = features.begins
    if not across:
        number += (begins[2] - begins[1]) // (2 * CROSSINGS)
    return begins[1] + number * CROSSINGS + kind


@helper
def kept_feature(features: FeatureMap, tile: Any, count: Any) -> Any:
    """Return the feature of so many of a tile on the mover's rack."""
    return features.begins[2] + np.int64(tile) * KEPT_COUNTS + count


@helper
def unseen_feature(features: FeatureMap, tile: Any, count: Any) -> Any:
    """Return the feature of so many of a tile unseen."""
    return features.begins[3] + np.int64(tile) * UNSEEN_COUNTS + min(count, UNSEEN_COUNTS - 1)


@helper
def bag_feature(features: FeatureMap, bag: Any) -> Any:
    """Return the feature of so many tiles in the bag."""
    return features.begins[4] + min(bag, BAG_COUNTS - 1)


@helper
def scoreless_feature(features: FeatureMap, turns: Any) -> Any:
    """Return the feature of so many scoreless turns in a row."""
    return features.begins[5] + min(turns, SCORELESS_COUNTS - 1)


@helper
def count_unseen(unseen: Any, game: Any, seat: Any) -> None:
    """Count the tiles that a seat does not see, by tile; modified in place."""
    unseen[:] = 0
    for at in range(game.front, game.back):
        unseen[game.bag[at]] += 1
    for at in range(game.held[1 - seat]):
        unseen[game.racks[1 - seat, at]] += 1


@helper
def count_kept(kept: Any, rack: Any, subrack: Any) -> None:
    """Count what a rack keeps after playing a subrack, by tile; modified in place."""
    kept[:] = 0
    for at in range(rack.held):
        if not subrack >> at & 1:
            kept[rack.tiles[at]] += 1


@helper
def list_features(
    features: FeatureMap,
    board: BoardRecord,
    unseen: Any,
    kept: Any,
    bag: Any,
    scoreless: Any,
    listed: Any,
) -> Any:
    """List all features of a position after a move; return their number."""
    count = np.int64(0)
    plane = board.side * board.side
    for square in range(2 * plane):
        feature = square_feature(features, square, board.squares[square], square < plane)
        if feature != NO_FEATURE:
            listed[count] = feature
            count += 1
    for tile in range(len(features.shares)):
        listed[count] = unseen_feature(features, tile, unseen[tile])
        count += 1
        if kept[tile]:
            listed[count] = kept_feature(features, tile, kept[tile])
            count += 1
    listed[count] = bag_feature(features, bag)
    listed[count + 1] = scoreless_feature(features, scoreless)
    return count + 2


@helper
def sum_position(net: NetArrays, sums: Any, board: BoardRecord) -> None:
    """Add up what is the same before and after a move; ``sums.unseen`` was counted."""
    columns = len(net.start)
    for column in range(columns):
        sums.position[column] = net.start[column]
    plane = board.side * board.side
    for square in range(2 * plane):
        feature = square_feature(net.features, square, board.squares[square], square < plane)
        if feature != NO_FEATURE:
            _add(sums.position, net.first[feature])
    for tile in range(len(net.features.shares)):
        _add(sums.position, net.first[unseen_feature(net.features, tile, sums.unseen[tile])])


@helper
def value_move(
    net: NetArrays, sums: Any, board: BoardRecord, since: Any, bag: Any, scoreless: Any
) -> None:
    """Leave in ``sums.outputs`` the values after a move, whose changes the board has ``since``.

    ``sum_position`` was called for the board before, and ``sums.kept`` counted; ``bag`` has so
    many tiles after the draw.
    """
    features, columns = net.features, len(net.start)
    for column in range(columns):
        sums.moved[column] = sums.position[column]
    sums.looks += 1
    plane = board.side * board.side
    for at in range(since, board.changes):
        square = np.int64(board.changed_square[at])
        if sums.looked_at[square] != sums.looks:
            sums.looked_at[square] = sums.looks
            across = square < plane
            before = square_feature(features, square, board.square_before[at], across)
            now = square_feature(features, square, board.squares[square], across)
            if before != now:
                if before != NO_FEATURE:
                    _take_away(sums.moved, net.first[before])
                if now != NO_FEATURE:
                    _add(sums.moved, net.first[now])
    for tile in range(len(features.shares)):
        if sums.kept[tile]:
            _add(sums.moved, net.first[kept_feature(features, tile, sums.kept[tile])])
    _add(sums.moved, net.first[bag_feature(features, bag)])
    _add(sums.moved, net.first[scoreless_feature(features, scoreless)])
    _put_out(net, sums)


@kernel
def rank_by_value(
    state_array: Any,
    words_array: Any,
    net: NetArrays,
    sums_array: Any,
    bag: int,
    scoreless: int,
) -> None:
    """Sort ``state.top`` by score, leave and value, which are its equities from here on.

    ``sums.unseen`` was filled in; ``bag`` and ``scoreless`` are of before the move.
    """
    state, words, sums = state_array[0], words_array[0], sums_array[0]
    board, rack, top = state.board, state.rack, state.top
    sum_position(net, sums, board)
    size = top.count
    keep_only(top, size, NEVER)
    for nth in range(size):  # what is offered goes among those before it
        move, subrack = top.moves[nth], np.int64(top.subracks[nth])
        count_kept(sums.kept, rack, subrack)
        if move < EXCHANGE:
            play(board, words, move)
            value_move(net, sums, board, 0, max(bag - tile_count(move), 0), 0)
            undo_to(board, 0)
        else:
            value_move(net, sums, board, 0, bag, scoreless + 1)
        value = np.int64(np.rint(np.float64(sums.outputs[VALUE]) * (UNIT * POINT)))
        leave = np.int64(rack.leaves[(1 << rack.held) - 1 ^ subrack])
        score = np.int64(top.scores[nth])
        offer(top, score * POINT + leave + value, score, move, subrack)


@helper
def _add(total: Any, row: Any) -> None:
    for column in range(len(row)):
        total[column] += row[column]


@helper
def _take_away(total: Any, row: Any) -> None:
    for column in range(len(row)):
        total[column] -= row[column]


@helper
def _put_out(net: NetArrays, sums: Any) -> None:
    width, hidden = net.second.shape
    unit = np.float32(net.unit)
    for unit_of in range(hidden):
        sums.hidden[unit_of] = net.second_start[unit_of]
    for column in range(width):
        if sums.moved[column] > 0:
            value = np.float32(sums.moved[column]) * unit
            row = net.second[column]
            for unit_of in range(hidden):
                sums.hidden[unit_of] += value * row[unit_of]
    for output in range(OUTPUTS):
        total = net.last_start[output] + np.float32(sums.moved[width + output]) * unit
        for unit_of in range(hidden):
            if sums.hidden[unit_of] > 0:
                total += net.last[output, unit_of] * sums.hidden[unit_of]
        sums.outputs[output] = total

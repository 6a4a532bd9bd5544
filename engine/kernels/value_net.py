"""The value of a position after a move, by a network that sees the lines of the board.

The network and what it sees are those of ``lexicons.value_net``. A play is made along one line and
depends on what that line has. So the net looks at each line by itself, together with the counts: it
adds up a row of weights for the content of each square and for each count. A layer of floats
follows, and only after it do the lines meet. Half of its numbers are summed over the lines, where
they are above 0; for the other half a smooth maximum is taken (the logarithm of the sum of
exponentials), since a player chooses one line. Each output also has a column of its own in the
first layer, so that what is linear need not pass through the others.

The sums of the first layer are updated with the board, as in chess engines (efficiently updated
networks, Nasu 2018): a move changes few lines, and the board has written down which
(``engine.kernels.board``). The weights are integers, so that sums are exact in any order.
"""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

import numpy as np

from lexicons.alphabet import MAX_LETTERS
from lexicons.bits import lowest_bit
from lexicons.jit import helper, kernel, record_dtype
from lexicons.value_net import (
    FIT_LIMITS,
    MOST_HIDDEN,
    MOST_WIDE,
    OUTPUTS,
    SCORE_LIMITS,
    UNIT,
    VALUE,
    NetArrays,
    Sights,
)
from lexicons.word_map import WordsArray

from .board import MAX_LINES, NO_CROSSING, BoardRecord, undo_to
from .crosses import play
from .moves import EXCHANGE, keep_only, offer, tile_count
from .racks import NEVER, POINT
from .search_state import StateArray

NOTHING = 0  # content of an empty square that no tiles cross
_COLUMNS = MOST_WIDE + OUTPUTS

SUMS = record_dtype(
    [
        ("lines", np.int32, (MAX_LINES, _COLUMNS)),  # by line, before the move
        ("moved", np.int32, (MAX_LINES, _COLUMNS)),  # of lines that a move changed
        ("counted", np.int32, (_COLUMNS,)),  # of tiles unseen
        ("with_move", np.int32, (_COLUMNS,)),  # of all counts after the move
        ("unseen", np.int64, (MAX_LETTERS + 1,)),  # by tile
        ("kept", np.int64, (MAX_LETTERS + 1,)),  # by tile
        ("hidden", np.float32, (MAX_LINES, MOST_HIDDEN)),
        ("together", np.float32, (MOST_HIDDEN,)),  # of all lines
        ("most", np.float32, (MOST_HIDDEN,)),  # of any line
        ("outputs", np.float32, (OUTPUTS,)),
    ],
)
SumsArray: TypeAlias = Annotated[Any, SUMS]  # [1]


@helper
def content_of(sights: Sights, here: Any) -> Any:
    """Return what a net sees of a square: nothing, a letter, or a crossing."""
    if here.letter:
        return np.int64(here.letter)
    if here.cross_score == NO_CROSSING or not here.on_board:
        return np.int64(NOTHING)
    fits = np.int64(0)
    left = here.cross_set
    while left:
        fits += sights.shares[np.int64(lowest_bit(left))]
        left &= left - np.uint64(1)
    kind = np.int64(0)
    for limit in FIT_LIMITS:
        kind += fits > limit
    kind *= len(SCORE_LIMITS) + 1
    for limit in SCORE_LIMITS:
        kind += here.cross_score > limit
    return len(sights.shares) + kind


@helper
def count_row(sights: Sights, nth: Any, count: Any) -> Any:
    """Return the row of weights of a count.

    ``nth`` numbers the counts: of each tile kept, of each tile unseen, the bag, scoreless turns.
    The last row of each also stands for higher counts.
    """
    begin = sights.begins[nth]
    return begin + min(count, sights.begins[nth + 1] - begin - 1)


@helper
def count_unseen(unseen: Any, game: Any, seat: Any) -> None:
    """Count into ``unseen``, by tile, the tiles that a seat does not see."""
    unseen[:] = 0
    for at in range(game.front, game.back):
        unseen[game.bag[at]] += 1
    for at in range(game.held[1 - seat]):
        unseen[game.racks[1 - seat, at]] += 1


@helper
def count_kept(kept: Any, rack: Any, subrack: Any) -> None:
    """Count into ``kept``, by tile, what a rack keeps after playing a subrack."""
    kept[:] = 0
    for at in range(rack.held):
        if not subrack >> at & 1:
            kept[rack.tiles[at]] += 1


@helper
def sum_position(net: NetArrays, sums: Any, board: BoardRecord) -> None:
    """Add up the lines before a move, and the unseen tiles; ``sums.unseen`` must be filled in."""
    sights, columns = net.sights, net.counts.shape[1]
    for line in range(2 * board.side):
        if sights.kinds[line] >= 0:
            _sum_line(net, board, line, sums.lines[line])
    for column in range(columns):
        sums.counted[column] = 0
    tiles = len(sights.shares)
    for tile in range(tiles):
        add_row(sums.counted, net.counts[count_row(sights, tiles + tile, sums.unseen[tile])])


@helper
def value_move(
    net: NetArrays, sums: Any, board: BoardRecord, since: Any, bag: Any, scoreless: Any
) -> None:
    """Write the values after a move to ``sums.outputs``.

    ``since`` is ``board.changes`` before the move; ``sum_position`` must have been called then, and
    ``sums.kept`` filled in. ``bag`` (tiles, after the draw) and ``scoreless`` (turns in a row) are
    those after the move.
    """
    sights, columns = net.sights, net.counts.shape[1]
    changed = np.uint64(0)
    for at in range(since, board.changes):
        changed |= np.uint64(1) << np.uint64(board.changed_square[at] // board.side)
    for column in range(columns):
        sums.with_move[column] = sums.counted[column]
    tiles = len(sights.shares)
    for tile in range(tiles):
        if sums.kept[tile]:
            add_row(sums.with_move, net.counts[count_row(sights, tile, sums.kept[tile])])
    add_row(sums.with_move, net.counts[count_row(sights, 2 * tiles, bag)])
    add_row(sums.with_move, net.counts[count_row(sights, 2 * tiles + 1, scoreless)])
    _begin_outputs(net, sums)
    for line in range(2 * board.side):
        if sights.kinds[line] >= 0:
            if changed >> np.uint64(line) & np.uint64(1):
                _sum_line(net, board, line, sums.moved[line])
                _look_at_line(net, sums, line, sums.moved[line])
            else:
                _look_at_line(net, sums, line, sums.lines[line])
    _put_out(net, sums, 2 * board.side)


@kernel
def rank_by_value(
    state_array: StateArray,
    words_array: WordsArray,
    net: NetArrays,
    sums_array: SumsArray,
    bag: int,
    scoreless: int,
) -> None:
    """Sort ``state.top`` by the sum of score, leave and value, which replaces its equities.

    ``sums.unseen`` must be filled in; ``bag`` and ``scoreless`` are those before the move.
    """
    state, words, sums = state_array[0], words_array[0], sums_array[0]
    board, rack, top = state.board, state.rack, state.top
    sum_position(net, sums, board)
    size = top.count
    keep_only(top, size, NEVER)
    for nth in range(size):  # in place: each move is inserted among those before it
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
def _sum_line(net: NetArrays, board: BoardRecord, line: Any, total: Any) -> None:
    kind = np.int64(net.sights.kinds[line])
    for column in range(net.start.shape[1]):
        total[column] = net.start[kind, column]
    first = line * board.side + 1
    for place in range(net.sights.places):
        content = content_of(net.sights, board.squares[first + place])
        if content != NOTHING:
            add_row(total, net.lines[kind, place, content])


@helper
def add_row(total: Any, row: Any) -> None:
    """Add a row of numbers to a total."""
    for column in range(len(row)):
        total[column] += row[column]


@helper
def _begin_outputs(net: NetArrays, sums: Any) -> None:
    """Begin the outputs with the linear part of the counts, and empty the sums over lines."""
    width, hidden = net.second.shape
    for output in range(OUTPUTS):
        own = np.float32(sums.with_move[width + output]) * np.float32(net.unit)
        sums.outputs[output] = net.last_start[output] + own
    for nth in range(hidden):
        sums.together[nth] = 0
        sums.most[nth] = -np.inf


@helper
def _look_at_line(net: NetArrays, sums: Any, line: Any, total: Any) -> None:
    """Compute a line's hidden numbers; add its linear part to the outputs."""
    width, hidden = net.second.shape
    unit, numbers = np.float32(net.unit), sums.hidden[line]
    together, most = sums.together, sums.most
    for nth in range(hidden):
        numbers[nth] = net.second_start[nth]
    for column in range(width):
        whole = total[column] + sums.with_move[column]
        if whole > 0:
            value, row = np.float32(whole) * unit, net.second[column]
            for nth in range(hidden):
                numbers[nth] += value * row[nth]
    for nth in range(hidden):
        together[nth] += max(numbers[nth], np.float32(0))
        most[nth] = max(most[nth], numbers[nth])
    for output in range(OUTPUTS):
        sums.outputs[output] += np.float32(total[width + output]) * unit


@helper
def _put_out(net: NetArrays, sums: Any, lines: Any) -> None:
    """Add the part of all lines together to the outputs."""
    hidden = len(net.second_start)
    half, together, most = hidden // 2, sums.together, sums.most
    for nth in range(half, hidden):
        together[nth] = 0
    for line in range(lines):
        if net.sights.kinds[line] >= 0:
            numbers = sums.hidden[line]
            for nth in range(half, hidden):
                together[nth] += np.exp(numbers[nth] - most[nth])
    for nth in range(half, hidden):
        together[nth] = most[nth] + np.log(together[nth])
    for output in range(OUTPUTS):
        for nth in range(hidden):
            sums.outputs[output] += net.last[output, nth] * together[nth]

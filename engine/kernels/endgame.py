"""The endgame search: both racks are known, and what is drawn; best play can be proven.

Most endgames have an empty bag. Else it is known which tile is drawn next, and a placement takes as
many from the bag as it lays down.

A search answers one question: can the side on turn gain more than ``alpha`` points in spread from
here to the end? It is a negamax search with a null window (Pearl's Scout, 1980). The answer is a
bound on the value, and whether it is *solved*: rests only on games played to their end.

A node is entered in these steps, each of which may be the last:

1. The transposition table knows enough.
2. A pass ends the game.
3. With an empty bag, a play of all tiles left ends the game; the highest-scoring is a floor of the
   value.
4. The *replies*: the other side's best plays in the position as it is. They survive a move that
   stays off their footprints (``engine.kernels.replies``). A surviving reply that goes out gives a
   ceiling for that move, and refutes most moves before they are played.
5. The remaining moves, ordered by a guess: points, less the best surviving reply, and less what
   stays on either rack.

At the horizon, depth 0, only the first move of that order is followed, to the end of the game.

**Passes.** Six scoreless turns in a row end the game. Let w be the mover's best without a pass, −w′
the other side's best reply without one, seen by the mover, and T the settlement of the racks. With
one turn left to six a pass is worth T. With two left the position is worth max(w, min(−w′, T)).
Substituting this formula into itself gives the same formula, so the value is the same with four or
six left, and with three or five, where the other side's pass would end the game. So two passes in a
row may end the game here; a single pass does only after five scoreless turns.

The stack is in ``frames``, and nodes are counted: a search can stop after any node and be resumed.
"""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from lexicons.arrays import I64, U8
from lexicons.bits import wrapping_add
from lexicons.jit import helper, kernel
from lexicons.word_map import WordsArray

from .board import undo_to
from .crosses import cross_everywhere, play
from .endgame_moves import (
    POINTS_BITS,
    POINTS_MASK,
    is_allowed,
    list_own,
    list_replies,
    look_at_lines,
    put_in_order,
    reach,
    take_first,
)
from .endgame_stack import (
    MAX_PLIES,
    EndgameArray,
    EndgameRecord,
    FrameRecord,
    bag_key,
    position_key,
    replace_tiles,
    square_key,
    tile_key,
)
from .gaddag_movegen import look_up_graph, look_up_points
from .line_cache import count_of, set_units
from .moves import PASS_MOVE
from .search_state import StateArray
from .transpositions import PROVEN, UNKNOWN, Known, recall, remember, signature

_NEVER = -UNKNOWN
_MOST_WORK = 31


@kernel
def begin_endgame(
    search_array: EndgameArray,
    state_array: StateArray,
    words_array: WordsArray,
    racks: Annotated[U8, 2],
    sizes: I64,
    ever: Annotated[U8, 2],
    bag: U8,
    seat: int,
    turns: int,
) -> None:
    """Take up a position on the state's board; ``search_array`` and ``state_array`` are modified.

    ``racks``, [2, 7], are sorted tiles by seat, ``sizes`` their numbers; ``ever``, [2, 14], are
    these and the tiles of the bag, sorted together; ``bag`` are at most 7 tiles, the next to be
    drawn last. ``turns`` more scoreless turns in a row end the game.
    """
    search, state, words = search_array[0], state_array[0], words_array[0]
    board, line_cache = state.board, search.line_cache
    cross_everywhere(board, words)
    root = search.frames[0]
    root.racks_key = 0
    root.bag = len(bag)
    for at in range(len(bag)):
        search.bag[at] = bag[at]
        root.racks_key = wrapping_add(root.racks_key, bag_key(at + 1, np.uint64(bag[at])))
    for player in range(2):
        look_up_points(line_cache.gaddag[player], board)
        look_up_graph(line_cache.gaddag[player], words)
        set_units(line_cache, player, ever[player], sizes[player] + len(bag))
        root.held[player] = count_of(line_cache, player, racks[player], sizes[player])
        root.whole[player] = root.held[player]
        root.points[player] = 0
        for at in range(sizes[player]):
            root.points[player] += board.points[racks[player, at]]
            share = tile_key(player, np.uint64(racks[player, at]))
            root.racks_key = wrapping_add(root.racks_key, share)
    root.board_key = 0
    for square in range(board.side * board.side):
        here = board.squares[square]
        if here.letter:
            share = square_key(square, np.uint64(here.letter), np.int64(here.value))
            root.board_key = wrapping_add(root.board_key, share)
    root.seat = seat
    root.pass_ends = turns == 1
    root.move = 0
    search.turns = turns
    for line in range(2 * board.side):
        root.hashes[line] = 0
        for player in range(2):
            root.where[player, line] = 0
    search.ply = 0
    search.over = True
    search.best_move = 0
    board.changed_lines = 0
    for ply in range(MAX_PLIES):
        for nth in range(2):
            search.refuters[ply, nth] = 0


@kernel
def search_endgame(
    search_array: EndgameArray,
    state_array: StateArray,
    words_array: WordsArray,
    alpha: int,
    depth: int,
    nodes: int,
) -> None:
    """Search up to ``nodes`` more nodes; begin this question if the last one is answered.

    If ``over``, then ``value`` and ``solved`` are the answer; else call again (``alpha`` and
    ``depth`` are then ignored).
    """
    search, state, words = search_array[0], state_array[0], words_array[0]
    if search.over:
        search.over = False
        search.entering = True
        search.returning = False
        search.ply = 0
        search.frames[0].alpha = alpha
        search.frames[0].depth = depth
    last = search.nodes + nodes
    while not search.over and (search.nodes < last or search.returning):
        if search.entering:
            _enter(search, state)
        elif search.returning:
            _take_back(search, state)
        else:
            _go_on(search, state, words)


@helper
def _enter(search: EndgameRecord, state: Any) -> None:
    frame = search.frames[search.ply]
    search.entering = False
    frame.began = search.nodes
    search.nodes += 1
    frame.best = _NEVER
    frame.best_move = 0
    frame.count = 0
    frame.key = position_key(frame)
    known = recall(search.table, search.buckets, frame.key)
    if search.ply and _is_enough(search, frame, known):
        return
    look_at_lines(search, state.board, frame)
    frame.solved = not search.line_cache.overflowed
    if frame.pass_ends and is_allowed(search, PASS_MOVE):
        reach(frame, frame.points[1 - frame.seat] - frame.points[frame.seat], PASS_MOVE)
    list_own(search, frame, state.board.side)
    if frame.best <= frame.alpha:
        list_replies(search, state.board, frame)
        put_in_order(search, state.board, frame, known.best)


@helper
def _is_enough(search: EndgameRecord, frame: FrameRecord, known: Known) -> Any:
    depth = min(max(frame.depth, 0), PROVEN)
    if known.floor_depth >= depth and known.floor > frame.alpha:
        search.value = known.floor
        search.solved = known.floor_depth == PROVEN
    elif known.ceiling_depth >= depth and known.ceiling <= frame.alpha:
        search.value = known.ceiling
        search.solved = known.ceiling_depth == PROVEN
    else:
        return False
    search.ply -= 1
    search.returning = True
    return True


@helper
def _go_on(search: EndgameRecord, state: Any, words: Any) -> None:
    frame = search.frames[search.ply]
    if frame.best > frame.alpha or not frame.count:
        _leave(search, frame)
        return
    order, move = take_first(search, frame)
    frame.move = move
    frame.score = np.int64(order >> POINTS_BITS & POINTS_MASK)
    frame.changes = state.board.changes
    if frame.depth <= 0 and frame.count:  # one guess will do
        frame.count = 0
        frame.solved = False
    child = search.frames[search.ply + 1]
    child.board_key = frame.board_key
    child.racks_key = frame.racks_key
    for seat in range(2):
        child.held[seat] = frame.held[seat]
        child.whole[seat] = frame.whole[seat]
        child.points[seat] = frame.points[seat]
    child.bag = frame.bag
    child.seat = 1 - frame.seat
    child.pass_ends = move == PASS_MOVE and _is_shortcut(search)
    child.depth = frame.depth - 1
    child.alpha = frame.score - frame.alpha - 1
    child.first = frame.first + frame.count
    state.board.changed_lines = 0
    if move != PASS_MOVE:
        replace_tiles(search, state.board, child, frame.seat, move)
        play(state.board, words, move)
    search.ply += 1
    search.entering = True


@helper
def _is_shortcut(search: EndgameRecord) -> Any:
    """Return whether, after this pass, the next may end the game.

    The formula above is about the best of all moves: it does not hold for a pass at a restricted
    first ply, nor for the pass that leads back to an unrestricted choice.
    """
    if not search.is_restricted or search.ply > 1 or search.frames[0].move != PASS_MOVE:
        return True
    return search.turns == 2 + search.ply


@helper
def _take_back(search: EndgameRecord, state: Any) -> None:
    frame = search.frames[search.ply]
    search.returning = False
    undo_to(state.board, frame.changes)
    value = frame.score - search.value
    if value > frame.alpha:
        frame.best = value
        frame.best_move = frame.move
        frame.solved = search.solved and not search.line_cache.overflowed
        refuters = search.refuters[search.ply]
        if refuters[0] != frame.move:
            refuters[1] = refuters[0]
            refuters[0] = frame.move
    else:
        frame.best = max(frame.best, value)
        frame.solved &= search.solved


@helper
def _leave(search: EndgameRecord, frame: FrameRecord) -> None:
    enough = frame.best > frame.alpha
    if search.ply or not search.is_restricted:
        _store_bound(search, frame, enough)
    search.value = frame.best
    search.solved = frame.solved
    if search.ply:
        search.ply -= 1
        search.returning = True
        return
    search.over = True
    if enough:
        search.best_move = frame.best_move


@helper
def _store_bound(search: EndgameRecord, frame: FrameRecord, enough: Any) -> None:
    """Store a bound, if in range; an unproven one replaces a proven one only if it is tighter."""
    if abs(frame.best) >= UNKNOWN:
        search.line_cache.overflowed = True
        return
    known = recall(search.table, search.buckets, frame.key)
    floor, ceiling, best = known.floor, known.ceiling, known.best
    floor_depth, ceiling_depth = known.floor_depth, known.ceiling_depth
    depth = PROVEN if frame.solved else min(max(frame.depth, 0), PROVEN - 1)
    if enough:
        if floor_depth == PROVEN and depth != PROVEN and frame.best <= floor:
            return
        floor, floor_depth, best = frame.best, depth, signature(frame.best_move)
        if ceiling < floor:
            if ceiling_depth == PROVEN and depth != PROVEN:
                return
            ceiling, ceiling_depth = UNKNOWN, 0
    else:
        if ceiling_depth == PROVEN and depth != PROVEN and frame.best >= ceiling:
            return
        ceiling, ceiling_depth = frame.best, depth
        if floor > ceiling:
            if floor_depth == PROVEN and depth != PROVEN:
                return
            floor, floor_depth = _NEVER, 0
    work: Any = 0
    nodes = search.nodes - frame.began
    while nodes and work < _MOST_WORK:
        work, nodes = work + 1, nodes >> 1
    updated = Known(floor, ceiling, floor_depth, ceiling_depth, work, best)
    remember(search.table, search.buckets, frame.key, updated, search.age)

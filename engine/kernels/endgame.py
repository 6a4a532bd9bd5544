"""Endgames: both racks are known, nothing is drawn any more, and the best play can be proved.

A search answers one question about a position: can the side on turn gain more than ``alpha`` points
in spread from here to the end? It is a negamax search with a null window (Pearl's Scout, 1980), so
that every node is asked the same kind of question; whoever calls asks for several alphas and depths
(``engine.endgame``). What comes back is a bound of the value, and whether it is *solved*: rests on
games that were played to their end alone, on no guess.

A node is entered in this order, and each step may be the last:

1. The table of positions met before knows enough.
2. Who may end the game by a pass may do just that.
3. A play of all tiles that are left ends the game; the dearest of them is a floor of the value.
4. The *replies* that the other side has already: its best plays in the position as it is. A move
   that touches the zone of none (``engine.kernels.zones``) leaves them be. If one of them goes
   out, that is a ceiling of what the move can come to: most moves are refuted by it, unplayed.
5. The moves that are left are searched in order of a guess: their points, less what the best reply
   that they leave brings, and what stays on either rack.

At the horizon, where no depth is left, only the first move of that order is gone on with, to the
end of the game: the guess at a leaf is what such greedy play comes to.

**Passes.** Six scoreless turns in a row end the game. Let w be the best that the mover has but a
pass, −w′ the worst that the other can do to him with anything but a pass, and T what the racks come
to. With one turn left to six a pass is worth T. With two, he has max(w, min(−w′, T)); put into
itself, this formula gives itself again, so that with four or six left the value is the same, and
with three or five, where it is the other whose pass would end the game, it is that too. So two
passes in a row may end the game here; only where five turns were scoreless already does one.

The search keeps its stack in ``frames`` and counts nodes: it can be left after any number of them,
and gone on with.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from engine.kernels.board import Board1, other_direction, undo_to
from engine.kernels.crosses import cross_everywhere, first_square, play
from engine.kernels.everything import look_up_rack
from engine.kernels.lines import (
    ENTRY_WORDS,
    HALF,
    LINES,
    LOWER,
    MAX_LINES,
    fits_in,
    hash_line,
    placements_along,
    units_of,
)
from engine.kernels.moves import (
    BLANK_CODE,
    LETTER_MASK,
    MAX_PLACED,
    PASS_MOVE,
    move_tile,
    tile_count,
)
from engine.kernels.racks import fill_rack
from engine.kernels.replies import (
    NOT_OUT,
    REPLIES,
    best_reply,
    best_way_out,
    clear_replies,
    mark_replies,
    note_reply,
    note_way_out,
)
from engine.kernels.transpositions import PROVEN, UNKNOWN, Known, recall, remember, signature
from engine.kernels.zones import line_of
from lexicons.alphabet import BLANK
from lexicons.bits import lowest_bit
from lexicons.jit import helper, kernel
from lexicons.leaves import LeaveArrays
from lexicons.memory import put_word, word_at

__all__ = ["CANDIDATE_WORDS", "ENDGAME", "MAX_PLIES", "begin_endgame", "search_endgame"]

MAX_PLIES = 4 * MAX_PLACED + 6
"""Every tile a play of its own, a pass before and after each, and some."""
CANDIDATE_WORDS = 2
"""64-bit words of a candidate: how it is ordered, with its points and those of its tiles; and the
packed move."""
MOST_LISTED = 64
"""Moves of the first ply that may be left out, or to which it may be restricted."""

_NEVER = -UNKNOWN
_LIFT = 1 << 24  # what makes the order of a candidate positive
_REMEMBERED_FIRST = 1 << 23
_REFUTED_FIRST = 1 << 12
_POINTS_BITS = np.uint64(16)
_POINTS_MASK = np.uint64((1 << 16) - 1)
_ONE = np.uint64(1)
_TWO = np.uint64(CANDIDATE_WORDS)
_THREE = np.uint64(ENTRY_WORDS)
_STIR = np.uint64(0x9E3779B97F4A7C15)
_MIX = np.uint64(0xBF58476D1CE4E5B9)
_MIX_AGAIN = np.uint64(0x94D049BB133111EB)
_ON_TURN = np.uint64(0xD1342543DE82EF95)
_PASSED = np.uint64(0xA0761D6478BD642F)

FRAME = np.dtype(
    [
        ("board_key", np.uint64),
        ("racks_key", np.uint64),
        ("key", np.uint64),  # of all that decides what the position is worth
        ("held", np.uint64, (2,)),  # by seat: the tiles, as a count (``engine.kernels.lines``)
        ("points", np.int64, (2,)),  # … and what they are worth
        ("seat", np.int64),  # on turn
        ("pass_ends", np.bool_),  # a pass ends the game
        ("depth", np.int64),  # plies to the horizon; 0: greedy play begins
        ("alpha", np.int64),
        ("best", np.int64),  # what is reached so far, or is the most that could be
        ("best_move", np.uint64),
        ("solved", np.bool_),  # ``best`` rests on no guess
        ("first", np.int64),  # candidate, a heap of so many
        ("count", np.int64),
        ("move", np.uint64),  # that is being searched
        ("score", np.int64),
        ("changes", np.int64),  # of the board before it
        ("began", np.int64),  # nodes before this one
        ("forgotten", np.int64),  # when ``where`` was written
        ("hashes", np.uint64, (MAX_LINES,)),
        ("where", np.uint64, (2, MAX_LINES)),  # placements by seat and line
    ],
    align=True,
)
ENDGAME = np.dtype(
    [
        ("lines", LINES),
        ("replies", REPLIES),
        ("frames", FRAME, (MAX_PLIES,)),
        ("ply", np.int64),
        ("entering", np.bool_),  # the node of this ply
        ("returning", np.bool_),  # to the node of this ply, from the one below
        ("over", np.bool_),
        ("value", np.int64),  # of the node that was left, for its own mover
        ("solved", np.bool_),
        ("nodes", np.int64),
        ("candidates", np.uint64),  # address
        ("room", np.int64),  # for so many
        ("table", np.uint64),  # address of what is known of positions
        ("buckets", np.int64),
        ("refuters", np.uint64, (MAX_PLIES, 2)),  # by ply: the last moves that were enough
        ("only", np.uint64, (MOST_LISTED,)),  # the moves to choose from, if there are any
        ("only_count", np.int64),
        ("is_restricted", np.bool_),  # some moves may not be chosen
        ("without", np.uint64, (MOST_LISTED,)),
        ("without_count", np.int64),
        ("turns", np.int64),  # scoreless ones in a row that end the game, at the first ply
        ("best_move", np.uint64),  # that was last enough at the first ply
        ("noise", np.int64),  # points by which the order is disturbed; each thread has its own
    ],
    align=True,
)
Endgame1: TypeAlias = Any
"""A record of ``ENDGAME`` in a kernel."""
Frame1: TypeAlias = Any


# --- the ways in ----------------------------------------------------------------------------------


@kernel
def begin_endgame(
    search_array: Any,
    desk_array: Any,
    words_array: Any,
    leaves: LeaveArrays,
    racks: Any,
    sizes: Any,
    seat: int,
    turns: int,
) -> None:
    """Take a position up: the desk's board was set up, ``racks`` are sorted tiles by seat.

    So many scoreless ``turns`` in a row will end the game.

    ``search_array`` and ``desk_array`` are modified in place.
    """
    search, desk, words = search_array[0], desk_array[0], words_array[0]
    board, lines = desk.board, search.lines
    cross_everywhere(board, words.nodes)
    root = search.frames[0]
    root.racks_key = 0
    for one in range(2):
        fill_rack(desk.rack, racks[one], sizes[one], board.points, leaves)
        look_up_rack(lines.listed[one], board, desk.rack)
        lines.listed[one].nodes = words.nodes
        root.held[one] = units_of(lines, one, racks[one], sizes[one])
        root.points[one] = 0
        for at in range(sizes[one]):
            root.points[one] += board.points[racks[one, at]]
            root.racks_key += _tile_key(one, np.uint64(racks[one, at]))
    root.board_key = 0
    for square in range(board.side * board.side):
        here = board.squares[square]
        if here.letter:
            root.board_key += _square_key(square, np.uint64(here.letter), np.int64(here.value))
    root.seat = seat
    root.pass_ends = turns == 1
    root.move = 0
    search.turns = turns
    for line in range(2 * board.side):
        root.hashes[line] = 0
        for one in range(2):
            root.where[one, line] = 0
    search.ply = 0
    search.over = True
    search.best_move = 0
    board.changed_lines = 0
    for ply in range(MAX_PLIES):
        for nth in range(2):
            search.refuters[ply, nth] = 0


@kernel
def search_endgame(
    search_array: Any, desk_array: Any, words_array: Any, alpha: int, depth: int, nodes: int
) -> None:
    """Search on for so many nodes; ask the question first if the last one has been answered.

    ``over`` tells whether it is: then ``value`` and ``solved`` are the answer. A search that is not
    over is gone on with, whatever ``alpha`` and ``depth`` are.
    """
    search, desk, words = search_array[0], desk_array[0], words_array[0]
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
            _enter(search, desk)
        elif search.returning:
            _take_back(search, desk)
        else:
            _go_on(search, desk, words)


# --- a node ---------------------------------------------------------------------------------------


@helper
def _enter(search: Endgame1, desk: Any) -> None:
    """Come to a position: leave it at once, or list its candidates."""
    frame = search.frames[search.ply]
    search.entering = False
    frame.began = search.nodes
    search.nodes += 1
    frame.best = _NEVER
    frame.best_move = 0
    frame.count = 0
    frame.key = _key(frame)
    known = recall(search.table, search.buckets, frame.key)
    if search.ply and _is_enough(search, frame, known):
        return
    _look_at_lines(search, desk.board, frame)
    frame.solved = not search.lines.overflowed
    if frame.pass_ends and _is_allowed(search, PASS_MOVE):
        _reach(frame, frame.points[1 - frame.seat] - frame.points[frame.seat], PASS_MOVE)
    _list_own(search, frame, desk.board.side)
    if frame.best <= frame.alpha:
        _list_replies(search, desk.board, frame)
        _order(search, desk.board, frame, known.best)


@helper
def _is_enough(search: Endgame1, frame: Frame1, known: Known) -> Any:
    """Leave a node, if what is known of it answers the question."""
    depth = max(frame.depth, 0)
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
def _reach(frame: Frame1, value: Any, move: Any) -> None:
    """Take note that a move comes to a value for certain."""
    if value > frame.best:
        frame.best = value
        frame.best_move = move


@helper
def _go_on(search: Endgame1, desk: Any, words: Any) -> None:
    """Play the next candidate, or leave the node: there is none, or the last was enough."""
    frame = search.frames[search.ply]
    if frame.best > frame.alpha or not frame.count:
        _leave(search, frame)
        return
    order, move = _take_first(search, frame)
    frame.move = move
    frame.score = np.int64(order >> _POINTS_BITS & _POINTS_MASK)
    frame.changes = desk.board.changes
    if frame.depth <= 0 and frame.count:  # one guess will do
        frame.count = 0
        frame.solved = False
    child = search.frames[search.ply + 1]
    child.board_key = frame.board_key
    child.racks_key = frame.racks_key
    for seat in range(2):
        child.held[seat] = frame.held[seat]
        child.points[seat] = frame.points[seat]
    child.seat = 1 - frame.seat
    child.pass_ends = move == PASS_MOVE and _is_shortcut(search)
    child.depth = frame.depth - 1
    child.alpha = frame.score - frame.alpha - 1
    child.first = frame.first + frame.count
    desk.board.changed_lines = 0
    if move != PASS_MOVE:
        child.points[frame.seat] -= np.int64(order & _POINTS_MASK)
        _take_tiles(search.lines, desk.board, child, frame.seat, move)
        play(desk.board, words.nodes, move)
    search.ply += 1
    search.entering = True


@helper
def _is_shortcut(search: Endgame1) -> Any:
    """Tell whether the next pass may end the game, after this one.

    The formula above is about the best of all moves. So a pass at the first ply, where others may
    not be chosen, takes no shortcut, nor does the one that leads back to a choice of all.
    """
    if not search.is_restricted or search.ply > 1 or search.frames[0].move != PASS_MOVE:
        return True
    return search.turns == 2 + search.ply


@helper
def _take_tiles(lines: Any, board: Board1, child: Frame1, seat: Any, move: Any) -> None:
    """Take the tiles of a placement off a seat's rack, and note them on the board's key."""
    side = board.side
    square = first_square(side, move)
    down = square >= side * side
    for nth in range(tile_count(move)):
        while board.squares[square].letter:
            square += 1
        code = move_tile(move, nth)
        letter = code & LETTER_MASK
        tile = np.uint64(BLANK) if code & BLANK_CODE else letter
        child.held[seat] -= lines.units[seat, tile]
        child.racks_key -= _tile_key(seat, tile)
        across = other_direction(side, square) if down else square
        child.board_key += _square_key(across, letter, board.points[tile])
        square += 1


@helper
def _take_back(search: Endgame1, desk: Any) -> None:
    """Take the move back that was searched, and note what it has come to."""
    frame = search.frames[search.ply]
    search.returning = False
    undo_to(desk.board, frame.changes)
    value = frame.score - search.value
    if value > frame.alpha:
        frame.best = value
        frame.best_move = frame.move
        frame.solved = search.solved
        refuters = search.refuters[search.ply]
        if refuters[0] != frame.move:
            refuters[1] = refuters[0]
            refuters[0] = frame.move
    else:
        frame.best = max(frame.best, value)
        frame.solved &= search.solved


@helper
def _leave(search: Endgame1, frame: Frame1) -> None:
    """Leave a node with what it has come to, and write that down."""
    enough = frame.best > frame.alpha
    if search.ply or not search.is_restricted:
        _write_down(search, frame, enough)
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
def _write_down(search: Endgame1, frame: Frame1, enough: Any) -> None:
    """Put a bound into the table; one that is proven gives way to a better one only."""
    known = recall(search.table, search.buckets, frame.key)
    floor, ceiling, best = known.floor, known.ceiling, known.best
    floor_depth, ceiling_depth = known.floor_depth, known.ceiling_depth
    depth = PROVEN if frame.solved else min(max(frame.depth, 0), PROVEN - 1)
    if enough:
        if floor_depth == PROVEN and depth != PROVEN and frame.best <= floor:
            return
        floor, floor_depth, best = frame.best, depth, signature(frame.best_move)
        if ceiling < floor:
            ceiling, ceiling_depth = UNKNOWN, 0
    else:
        if ceiling_depth == PROVEN and depth != PROVEN and frame.best >= ceiling:
            return
        ceiling, ceiling_depth = frame.best, depth
        if floor > ceiling:
            floor, floor_depth = _NEVER, 0
    work: Any = 0
    nodes = search.nodes - frame.began
    while nodes:
        work, nodes = work + 1, nodes >> 1
    found = Known(floor, ceiling, floor_depth, ceiling_depth, work, best)
    remember(search.table, search.buckets, frame.key, found)


# --- what may be played ---------------------------------------------------------------------------


@helper
def _look_at_lines(search: Endgame1, board: Board1, frame: Frame1) -> None:
    """Find out where the placements along each line are: as before, but where lines changed."""
    lines, side = search.lines, board.side
    changed = board.changed_lines
    if search.ply:
        above = search.frames[search.ply - 1]
        for one in range(2 * side):
            frame.hashes[one] = above.hashes[one]
            frame.where[0, one] = above.where[0, one]
            frame.where[1, one] = above.where[1, one]
        frame.forgotten = above.forgotten
    else:
        changed = (_ONE << np.uint64(2 * side)) - _ONE
        frame.forgotten = lines.forgotten
    changed &= ~(_ONE | _ONE << np.uint64(side - 1))  # the border has none
    changed &= ~(_ONE << np.uint64(side) | _ONE << np.uint64(2 * side - 1))
    while changed:
        line = np.int64(lowest_bit(changed))
        changed &= changed - _ONE
        frame.hashes[line] = hash_line(board, line)
        for seat in range(2):
            frame.where[seat, line] = placements_along(
                lines, board, line, frame.hashes[line], seat, frame.held[seat]
            )
    tries = 0
    while frame.forgotten != lines.forgotten:
        frame.forgotten = lines.forgotten
        for one in range(2 * side):
            if frame.hashes[one]:
                for seat in range(2):
                    frame.where[seat, one] = placements_along(
                        lines, board, one, frame.hashes[one], seat, frame.held[seat]
                    )
        tries += 1
        if tries > 2:  # not even one position fits
            lines.overflowed = True
            return


@helper
def _list_own(search: Endgame1, frame: Frame1, side: Any) -> None:
    """Write the mover's placements down as candidates; those that go out are worth what they are.

    A candidate's first word has the places that it covers in its upper half until it is ordered.
    """
    lines, seat = search.lines, frame.seat
    entries, candidates = lines.entries, search.candidates
    held = frame.held[seat]
    twice = 2 * frame.points[1 - seat]
    at, end = np.uint64(frame.first), np.uint64(search.room - 1)
    for line in range(2 * side):
        where = frame.where[seat, line]
        entry = (where & LOWER) * _THREE
        last = entry + (where >> HALF) * _THREE
        while entry < last:
            tiles = word_at(entries, entry + _ONE)
            if fits_in(tiles & LOWER, held):
                move, points = word_at(entries, entry), word_at(entries, entry + np.uint64(2))
                if search.ply or _is_allowed(search, move):
                    if tiles & LOWER == held:
                        _reach(frame, np.int64(points & LOWER) + twice, move)
                    elif at < end:
                        packed = tiles & ~LOWER | (points & LOWER) << _POINTS_BITS | points >> HALF
                        put_word(candidates, at * _TWO, np.int64(packed))
                        put_word(candidates, at * _TWO + _ONE, np.int64(move))
                        at += _ONE
                    else:
                        frame.solved = False
            entry += _THREE
    if not frame.pass_ends and (search.ply or _is_allowed(search, PASS_MOVE)):
        put_word(candidates, at * _TWO, np.int64(0))
        put_word(candidates, at * _TWO + _ONE, np.int64(PASS_MOVE))
        at += _ONE
    frame.count = np.int64(at) - frame.first


@helper
def _is_allowed(search: Endgame1, move: Any) -> Any:
    """Tell whether a move may be chosen at the first ply; at others every one may."""
    if search.ply or not search.is_restricted:
        return True
    for nth in range(search.without_count):
        if search.without[nth] == move:
            return False
    for nth in range(search.only_count):
        if search.only[nth] == move:
            return True
    return search.only_count == 0


@helper
def _list_replies(search: Endgame1, board: Board1, frame: Frame1) -> None:
    """Note the best that the other side could play, were it its turn."""
    lines, replies, seat = search.lines, search.replies, 1 - frame.seat
    entries, held, own = lines.entries, frame.held[1 - frame.seat], frame.points[1 - frame.seat]
    clear_replies(replies, own)
    for line in range(2 * board.side):
        where = frame.where[seat, line]
        entry = (where & LOWER) * _THREE
        last = entry + (where >> HALF) * _THREE
        while entry < last:
            need = word_at(entries, entry + _ONE) & LOWER
            if fits_in(need, held):
                points = word_at(entries, entry + np.uint64(2))
                score = np.int64(points & LOWER)
                if need == held:
                    note_way_out(replies, score, word_at(entries, entry))
                else:
                    left = own - np.int64(points >> HALF)
                    note_reply(replies, score, left, word_at(entries, entry))
            entry += _THREE
    mark_replies(replies, board)


# --- in which order -------------------------------------------------------------------------------


@helper
def _order(search: Endgame1, board: Board1, frame: Frame1, remembered: Any) -> None:
    """Drop the candidates that the replies refute, and make the others a heap by a guess."""
    candidates, own = search.candidates, frame.points[frame.seat]
    replies, refuters = search.replies, search.refuters[search.ply]
    kept = np.uint64(frame.first)
    for nth in range(frame.first, frame.first + frame.count):
        packed = word_at(candidates, np.uint64(nth) * _TWO)
        move = word_at(candidates, np.uint64(nth) * _TWO + _ONE)
        score = np.int64(packed >> _POINTS_BITS & _POINTS_MASK)
        left = own - np.int64(packed & _POINTS_MASK)
        line, squares = line_of(board.side, move), packed >> HALF
        guess = score - 2 * left - NOT_OUT - best_reply(replies, line, squares)
        out = best_way_out(replies, line, squares)
        if out >= 0:
            ceiling = score - out - 2 * left
            if ceiling <= frame.alpha:
                frame.best = max(frame.best, ceiling)
                continue
            guess = min(guess, ceiling)
        if signature(move) == remembered:
            guess += _REMEMBERED_FIRST
        elif move == refuters[0] or move == refuters[1]:
            guess += _REFUTED_FIRST
        if search.noise:
            guess += np.int64(move * _STIR >> np.uint64(50)) % search.noise
        order = np.uint64(guess + _LIFT) << HALF | packed & LOWER
        put_word(candidates, kept * _TWO, np.int64(order))
        put_word(candidates, kept * _TWO + _ONE, np.int64(move))
        kept += _ONE
    frame.count = np.int64(kept) - frame.first
    for at in range(frame.count // 2 - 1, -1, -1):
        _sift_down(candidates, frame.first, frame.count, at)


@helper
def _take_first(search: Endgame1, frame: Frame1) -> Any:
    """Take the first of the candidates off: its order and points, and the move."""
    candidates, first = search.candidates, np.uint64(frame.first) * _TWO
    order, move = word_at(candidates, first), word_at(candidates, first + _ONE)
    frame.count -= 1
    last = first + np.uint64(frame.count) * _TWO
    put_word(candidates, first, np.int64(word_at(candidates, last)))
    put_word(candidates, first + _ONE, np.int64(word_at(candidates, last + _ONE)))
    _sift_down(candidates, frame.first, frame.count, 0)
    return order, move


@helper
def _sift_down(candidates: Any, first: Any, count: Any, at: Any) -> None:
    """Let a candidate sink until neither of those under it comes before it (Williams 1964)."""
    base = np.uint64(first) * _TWO
    order = word_at(candidates, base + np.uint64(at) * _TWO)
    move = word_at(candidates, base + np.uint64(at) * _TWO + _ONE)
    child = 2 * at + 1
    while child < count:
        here = word_at(candidates, base + np.uint64(child) * _TWO)
        if child + 1 < count:
            beside = word_at(candidates, base + np.uint64(child + 1) * _TWO)
            if beside > here:
                child += 1
                here = beside
        if here <= order:
            break
        below = base + np.uint64(child) * _TWO
        put_word(candidates, base + np.uint64(at) * _TWO, np.int64(here))
        put_word(
            candidates,
            base + np.uint64(at) * _TWO + _ONE,
            np.int64(word_at(candidates, below + _ONE)),
        )
        at = child
        child = 2 * at + 1
    put_word(candidates, base + np.uint64(at) * _TWO, np.int64(order))
    put_word(candidates, base + np.uint64(at) * _TWO + _ONE, np.int64(move))


# --- keys -----------------------------------------------------------------------------------------


@helper
def _key(frame: Frame1) -> Any:
    key = frame.board_key + frame.racks_key + np.uint64(frame.seat) * _ON_TURN
    if frame.pass_ends:
        key += _PASSED
    return _mixed(key)


@helper
def _square_key(square: Any, letter: Any, points: Any) -> Any:
    """Give the share of a tile on a square, across, in a board's key; a blank has its points."""
    return _mixed(np.uint64(square) << np.uint64(32) | letter << np.uint64(16) | np.uint64(points))


@helper
def _tile_key(seat: Any, tile: Any) -> Any:
    """Give the share of a tile on a rack in the key of both."""
    return _mixed(_ON_TURN + np.uint64(2 * tile + seat))


@helper
def _mixed(key: Any) -> Any:
    """Mix the bits of an integer (the finalizer of SplitMix64, Steele, Lea and Flood 2014)."""
    key = (key ^ key >> np.uint64(30)) * _MIX
    key = (key ^ key >> np.uint64(27)) * _MIX_AGAIN
    return key ^ key >> np.uint64(31)

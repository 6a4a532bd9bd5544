"""Candidates of an endgame position, and the order in which they are tried.

Placements that go out have exact values. Others that the replies refute are dropped
(``engine.kernels.replies``); the rest becomes a heap, ordered by a guess: points, less the best
reply that a move leaves, and less what stays on either rack. While tiles are in the bag no
placement goes out, and a reply only if the move before it drew the last of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lexicons.bits import GOLDEN, lowest_bit, wrapping_mul
from lexicons.jit import helper
from lexicons.memory import put_word, word_at

from .board import BoardRecord
from .endgame_stack import EndgameRecord, FrameRecord, drawn_points
from .line_cache import ENTRY_WORDS, HALF, LOWER, fits_in, hash_line, placements_along
from .moves import PASS_MOVE, tile_count
from .racks import NOT_OUT
from .replies import (
    best_reply,
    best_way_out,
    clear_replies,
    line_of,
    mark_replies,
    note_reply,
    note_way_out,
)
from .transpositions import signature

CANDIDATE_WORDS = 2  # of 64 bits: the order, above the points and the tiles' points; the move
POINTS_BITS = np.uint64(16)
POINTS_MASK = np.uint64((1 << 16) - 1)

_LIFT = 1 << 24  # makes a candidate's order positive
_REMEMBERED_FIRST = 1 << 23
_REFUTED_FIRST = 1 << 12
_ONE = np.uint64(1)
_TWO = np.uint64(CANDIDATE_WORDS)
_THREE = np.uint64(ENTRY_WORDS)


@helper
def reach(frame: FrameRecord, value: Any, move: Any) -> None:
    """Note that a move is certain to reach a value."""
    if value > frame.best:
        frame.best = value
        frame.best_move = move


@helper
def look_at_lines(search: EndgameRecord, board: BoardRecord, frame: FrameRecord) -> None:
    """Look up the placements along each line; unchanged lines are copied from the ply above."""
    line_cache, side = search.line_cache, board.side
    changed = board.changed_lines
    if search.ply:
        above = search.frames[search.ply - 1]
        for index in range(2 * side):
            frame.hashes[index] = above.hashes[index]
            frame.where[0, index] = above.where[0, index]
            frame.where[1, index] = above.where[1, index]
        frame.forgotten = above.forgotten
        if frame.bag != above.bag:  # the other side has other tiles now
            _list_anew(line_cache, board, frame, 1 - frame.seat, changed)
    else:
        changed = (_ONE << np.uint64(2 * side)) - _ONE
        frame.forgotten = line_cache.forgotten
    changed &= ~(_ONE | _ONE << np.uint64(side - 1))  # the border has no placements
    changed &= ~(_ONE << np.uint64(side) | _ONE << np.uint64(2 * side - 1))
    while changed:
        line = np.int64(lowest_bit(changed))
        changed &= changed - _ONE
        frame.hashes[line] = hash_line(board, line)
        for seat in range(2):
            frame.where[seat, line] = _listed(line_cache, board, frame, seat, line)
    tries = 0
    while frame.forgotten != line_cache.forgotten:
        frame.forgotten = line_cache.forgotten
        for seat in range(2):
            _list_anew(line_cache, board, frame, seat, np.uint64(0))
        tries += 1
        if tries > 2:  # no room for the placements of one position
            line_cache.overflowed = True
            for index in range(2 * side):
                frame.where[0, index] = 0
                frame.where[1, index] = 0
            return


@helper
def _list_anew(
    line_cache: Any, board: BoardRecord, frame: FrameRecord, seat: Any, but: Any
) -> None:
    for line in range(2 * board.side):
        if frame.hashes[line] and not but >> np.uint64(line) & _ONE:
            frame.where[seat, line] = _listed(line_cache, board, frame, seat, line)


@helper
def _listed(line_cache: Any, board: BoardRecord, frame: FrameRecord, seat: Any, line: Any) -> Any:
    hashed, held, whole = frame.hashes[line], frame.held[seat], frame.whole[seat]
    return placements_along(line_cache, board, line, hashed, seat, held, whole)


@helper
def list_own(search: EndgameRecord, frame: FrameRecord, side: Any) -> None:
    """List the mover's placements as candidates; those that go out have exact values.

    Until it is ordered, the upper half of a candidate's first word has the places that it covers.
    """
    line_cache, seat = search.line_cache, frame.seat
    entries, candidates = line_cache.entries, search.candidates
    held, guards = frame.held[seat], line_cache.guards[seat]
    twice = 2 * frame.points[1 - seat]
    at, end = np.uint64(frame.first), np.uint64(search.room - 1)
    for line in range(2 * side):
        where = frame.where[seat, line]
        entry = (where & LOWER) * _THREE
        last = entry + (where >> HALF) * _THREE
        while entry < last:
            tiles = word_at(entries, entry + _ONE)
            if fits_in(tiles & LOWER, held, guards):
                move, points = word_at(entries, entry), word_at(entries, entry + np.uint64(2))
                if is_allowed(search, move):
                    if tiles & LOWER == held and not frame.bag:
                        reach(frame, np.int64(points & LOWER) + twice, move)
                    elif at < end:
                        packed = tiles & ~LOWER | (points & LOWER) << POINTS_BITS | points >> HALF
                        put_word(candidates, at * _TWO, np.int64(packed))
                        put_word(candidates, at * _TWO + _ONE, np.int64(move))
                        at += _ONE
                    else:
                        frame.solved = False
            entry += _THREE
    if not frame.pass_ends and is_allowed(search, PASS_MOVE):
        put_word(candidates, at * _TWO, np.int64(0))
        put_word(candidates, at * _TWO + _ONE, np.int64(PASS_MOVE))
        at += _ONE
    frame.count = np.int64(at) - frame.first


@helper
def is_allowed(search: EndgameRecord, move: Any) -> Any:
    """Return whether a move may be chosen; only the first ply has restrictions."""
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
def list_replies(search: EndgameRecord, board: BoardRecord, frame: FrameRecord) -> None:
    """Note the best plays that the other side would have if it were on turn."""
    line_cache, replies, seat = search.line_cache, search.replies, 1 - frame.seat
    entries, held, own = line_cache.entries, frame.held[seat], frame.points[seat]
    guards = line_cache.guards[seat]
    clear_replies(replies, own)
    for line in range(2 * board.side):
        where = frame.where[seat, line]
        entry = (where & LOWER) * _THREE
        last = entry + (where >> HALF) * _THREE
        while entry < last:
            need = word_at(entries, entry + _ONE) & LOWER
            if fits_in(need, held, guards):
                points = word_at(entries, entry + np.uint64(2))
                score = np.int64(points & LOWER)
                if need == held:
                    note_way_out(replies, score, word_at(entries, entry))
                else:
                    left = own - np.int64(points >> HALF)
                    note_reply(replies, score, left, word_at(entries, entry))
            entry += _THREE
    mark_replies(replies, board)


@helper
def put_in_order(
    search: EndgameRecord, board: BoardRecord, frame: FrameRecord, remembered: Any
) -> None:
    """Drop the candidates that the replies refute; make the others a heap by a guess."""
    candidates, own = search.candidates, frame.points[frame.seat]
    replies, refuters = search.replies, search.refuters[search.ply]
    kept = np.uint64(frame.first)
    for nth in range(frame.first, frame.first + frame.count):
        packed = word_at(candidates, np.uint64(nth) * _TWO)
        move = word_at(candidates, np.uint64(nth) * _TWO + _ONE)
        score = np.int64(packed >> POINTS_BITS & POINTS_MASK)
        left, draws_last = own - np.int64(packed & POINTS_MASK), True
        if frame.bag:
            placed = np.int64(0) if move == PASS_MOVE else tile_count(move)
            left += drawn_points(search, board, frame, placed)
            draws_last = placed >= frame.bag
        line, squares = line_of(board.side, move), packed >> HALF
        guess = score - 2 * left - NOT_OUT - best_reply(replies, line, squares)
        out = best_way_out(replies, line, squares)
        if out >= 0 and draws_last:
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
            guess += np.int64(wrapping_mul(move, GOLDEN) >> np.uint64(50)) % search.noise
        order = np.uint64(guess + _LIFT) << HALF | packed & LOWER
        put_word(candidates, kept * _TWO, np.int64(order))
        put_word(candidates, kept * _TWO + _ONE, np.int64(move))
        kept += _ONE
    frame.count = np.int64(kept) - frame.first
    for at in range(frame.count // 2 - 1, -1, -1):
        _sift_down(candidates, frame.first, frame.count, at)


@helper
def take_first(search: EndgameRecord, frame: FrameRecord) -> Any:
    """Remove the first candidate; return its order with its points, and the move."""
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
    """Sink a candidate until neither of its children comes before it (Williams 1964)."""
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
